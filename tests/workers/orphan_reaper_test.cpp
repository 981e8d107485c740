#include "workers/command/orphan_reaper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "os/pidfd.hpp"
#include "os/process_table.hpp"
#include "workers/command/process.hpp"

namespace tuneband::workers {
namespace {

std::string read_line(int fd) {
  std::string line;
  char byte = 0;
  pollfd wait{fd, POLLIN, 0};
  while (::poll(&wait, 1, -1) > 0 && ::read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

constexpr int kOrphanPatienceMs = 60'000;

bool ends(const os::UniqueFd& process) {
  pollfd wait{process.get(), POLLIN, 0};
  const bool ended = ::poll(&wait, 1, kOrphanPatienceMs) == 1;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;  // orphans come to us, once a Process was started here
  return ended;
}

// A worker, whose command has a process in a session of its own. Its first line is that process's number.
struct SimulatedWorker {
  pid_t pid = 0;
  os::UniqueFd output;
};

SimulatedWorker start_worker() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  os::UniqueFd output(ends[0]);
  os::UniqueFd input(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    auto process = Process::start({.executable = "/bin/sh",
                                   .argv = {"sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!; wait"},
                                   .environment = {"PATH=/usr/bin:/bin"},
                                   .working_dir = "/"});
    const std::string line = (process ? read_line(process->output_fd()) : "0") + "\n";
    [[maybe_unused]] const ssize_t written = ::write(input.get(), line.data(), line.size());
    while (true) ::pause();
  }
  return {pid, std::move(output)};
}

void kill_worker(const SimulatedWorker& worker) {
  ::kill(worker.pid, SIGKILL);
  ::waitpid(worker.pid, nullptr, 0);
}

TEST(OrphanReaper, WhatTheCommandOfAKilledWorkerHasStartedIsEnded) {
  const SimulatedWorker worker = start_worker();
  const os::UniqueFd left = os::open_pidfd(std::stoi(read_line(worker.output.get())));
  ASSERT_TRUE(left);
  kill_worker(worker);
  end_orphans();  // of how many is not asked: any other worker that starts on this machine may have been the first
  EXPECT_TRUE(ends(left));
}

TEST(OrphanReaper, NothingOfAWorkerThatLivesIsEnded) {
  const SimulatedWorker worker = start_worker();
  const os::UniqueFd its = os::open_pidfd(std::stoi(read_line(worker.output.get())));
  ASSERT_TRUE(its);
  end_orphans();
  pollfd wait{its.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  kill_worker(worker);
  end_orphans();
  EXPECT_TRUE(ends(its));
}

// Its worker lives: it may have been stopped for longer than its lease.
TEST(OrphanReaper, WhatStillRunsForAnEarlierSegmentOfATrialIsEndedAndNothingElse) {
  const auto started_for = [](const char* trial_dir, const char* epoch) {
    const std::string directory = std::string("TUNEBAND_TRIAL_DIR=") + trial_dir;
    const std::string number = std::string("TUNEBAND_EPOCH=") + epoch;
    auto process = Process::start({.executable = "/bin/sleep",
                                   .argv = {"sleep", "1000"},
                                   .environment = {"PATH=/usr/bin:/bin", directory, number},
                                   .working_dir = "/"});
    return process ? std::make_unique<Process>(std::move(*process)) : nullptr;
  };
  const auto lives = [](const Process& process) {
    pollfd wait{process.exit_fd(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 0;
  };
  const auto earlier = started_for("/jobs/7/trials/3", "11");
  const auto held = started_for("/jobs/7/trials/3", "10");
  const auto same = started_for("/jobs/7/trials/3", "12");
  const auto another = started_for("/jobs/7/trials/33", "11");
  held->signal_group(SIGSTOP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PIDFD, static_cast<id_t>(held->exit_fd()), &info, WSTOPPED | WNOWAIT), 0);

  EXPECT_EQ(end_processes_of_earlier_segments("/jobs/7/trials/3", 12), 1);
  pollfd wait{earlier->exit_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, kOrphanPatienceMs), 1);
  for (const auto& [process, what] :
       {std::pair(&held, "held at its rung: its worker ends it"), std::pair(&same, "another rank of the same segment"),
        std::pair(&another, "another trial")}) {
    EXPECT_TRUE(lives(**process)) << what;
  }
}

}  // namespace
}  // namespace tuneband::workers
