#include "workers/command/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::workers {
namespace {

using test::read_text;
using test::TemporaryDirectory;
using test::write_text;
using testing::HasSubstr;

ProcessSpec shell(const std::string& script, const std::string& dir) {
  return {.executable = "/bin/sh", .argv = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}, .working_dir = dir};
}

// Its whole output and status.
std::pair<std::string, ExitStatus> outcome_of(Process& process) {
  std::string output;
  pollfd wait{process.output_fd(), POLLIN, 0};
  char buffer[4096];
  while (true) {
    ::poll(&wait, 1, -1);
    const ssize_t count = ::read(process.output_fd(), buffer, sizeof buffer);
    if (count > 0) output.append(buffer, static_cast<std::size_t>(count));
    if (count == 0) break;
  }
  pollfd ended{process.exit_fd(), POLLIN, 0};
  ::poll(&ended, 1, -1);
  return {output, *process.poll_exit()};
}

bool gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

bool no_children_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

TEST(Process, RunsInItsDirectoryAndGroupWithItsOutputInOrder) {
  const TemporaryDirectory dir;
  auto process = Process::start(
      shell("pwd; echo err >&2; echo $$; read -r _ _ _ _ group _ < /proc/$$/stat; echo $group; cat; exit 3", dir.path()));
  ASSERT_TRUE(process) << process.error().message;
  const auto [output, status] = outcome_of(*process);
  std::istringstream lines(output);
  std::string pwd;
  std::string err;
  int pid = 0;
  int group = 0;
  lines >> pwd >> err >> pid >> group;
  EXPECT_EQ(pwd, std::filesystem::canonical(dir.path()).string());
  EXPECT_EQ(err, "err");
  EXPECT_EQ(pid, group);
  EXPECT_EQ(status.code, 3);
  EXPECT_EQ(status.signal, 0);
  EXPECT_TRUE(no_children_left());
}

TEST(Process, StartsWithSignalsAsByDefaultAndNoFilesOfOurs) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  const TemporaryDirectory dir;
  const os::UniqueFd leaking(::open("/dev/null", O_RDONLY));  // not close-on-exec, as a library may do it
  auto process = Process::start(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd", dir.path()));
  ASSERT_TRUE(process);
  const std::string output = outcome_of(*process).first;
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_THAT(output, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(output, HasSubstr("SigIgn:\t0000000000000000"));
  EXPECT_EQ(output.find(std::to_string(leaking.get()) + "\n4"), std::string::npos);
  EXPECT_THAT(output, testing::EndsWith("0\n1\n2\n3\n"));  // 3 is the listing's own
}

TEST(Process, ReportsTheSignalThatEndedIt) {
  const TemporaryDirectory dir;
  auto process = Process::start(shell("kill -SEGV $$", dir.path()));
  EXPECT_EQ(outcome_of(*process).second.signal, SIGSEGV);
}

TEST(Process, KillTreeEndsChildrenThatHaveTheirOwnSessionAndIgnoreSigterm) {
  const TemporaryDirectory dir;
  auto process =
      Process::start(shell("trap '' TERM; for i in 1 2; do setsid sh -c \"trap '' TERM; echo \\$\\$ > t$i; mv t$i stray$i; while "
                           ":; do sleep 100; done\" & done;"
                           "while [ ! -e stray1 ] || [ ! -e stray2 ]; do :; done; echo ready; while :; do sleep 100; done",
                           dir.path()));
  ASSERT_TRUE(process);
  pollfd wait{process->output_fd(), POLLIN, 0};
  ::poll(&wait, 1, -1);
  const pid_t first = std::stoi(read_text(dir / "stray1"));
  const pid_t second = std::stoi(read_text(dir / "stray2"));
  EXPECT_FALSE(gone(first));
  process->signal_group(SIGTERM);
  process->kill_tree();
  EXPECT_TRUE(gone(first));
  EXPECT_TRUE(gone(second));
  EXPECT_EQ(process->poll_exit()->signal, SIGKILL);
  EXPECT_TRUE(no_children_left());
}

TEST(Process, KillTreeEndsWhatACommandLeftBehindWhenItEnded) {
  const TemporaryDirectory dir;
  auto process = Process::start(
      shell("setsid sh -c 'echo $$ > t; mv t stray; exec sleep 1000' & while [ ! -e stray ]; do :; done", dir.path()));
  pollfd ended{process->exit_fd(), POLLIN, 0};
  ::poll(&ended, 1, -1);
  EXPECT_EQ(process->poll_exit()->code, 0);
  const pid_t stray = std::stoi(read_text(dir / "stray"));
  EXPECT_FALSE(gone(stray));
  process->kill_tree();
  EXPECT_TRUE(gone(stray));
  EXPECT_TRUE(no_children_left());
}

TEST(Process, KillTreeEndsAStoppedProcess) {
  const TemporaryDirectory dir;
  auto process = Process::start(shell("echo ready; while :; do :; done", dir.path()));
  pollfd wait{process->output_fd(), POLLIN, 0};
  ::poll(&wait, 1, -1);
  process->signal_group(SIGSTOP);
  process->kill_tree();
  EXPECT_EQ(process->poll_exit()->signal, SIGKILL);
}

TEST(Process, IsBoundedInMemoryAndCpuTime) {
  const TemporaryDirectory dir;
  ProcessSpec spec = shell("ulimit -v; ulimit -t; ulimit -c; while :; do :; done", dir.path());
  spec.memory_bytes_max = 512LL * 1024 * 1024;
  spec.cpu_ms_max = 300;
  auto process = Process::start(spec);
  ASSERT_TRUE(process);
  const auto [output, status] = outcome_of(*process);
  EXPECT_EQ(output, "524288\n1\n0\n");
  EXPECT_EQ(status.signal, SIGXCPU);
}

TEST(Process, SaysWhyAProgramCannotBeExecuted) {
  const TemporaryDirectory dir;
  const auto message_of = [&](const std::string& text) {
    write_text(dir / "program", text);
    ::chmod((dir / "program").c_str(), 0755);
    const auto process =
        Process::start({.executable = dir / "program", .argv = {"program"}, .environment = {}, .working_dir = dir.path()});
    EXPECT_FALSE(process);
    EXPECT_EQ(process.error().code, ErrorCode::invalid_argument);
    return process.error().message;
  };
  EXPECT_THAT(message_of("#!/no/such/interpreter\n"), HasSubstr("interpreter"));
  EXPECT_THAT(message_of("echo no first line\n"), HasSubstr("#!/bin/sh"));
  const auto nowhere =
      Process::start({.executable = "/bin/true", .argv = {"true"}, .environment = {}, .working_dir = dir / "none"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("working directory"));
  EXPECT_TRUE(no_children_left());
}

TEST(FindExecutable, LooksAlongThePathAndTellsWhatIsWrong) {
  const TemporaryDirectory dir;
  write_text(dir / "run", "#!/bin/sh\n");
  write_text(dir / "plain", "text");
  ::chmod((dir / "run").c_str(), 0755);
  EXPECT_EQ(*find_executable("run", "/nonexistent:" + dir.path(), "/"), dir / "run");
  EXPECT_EQ(*find_executable("./run", "", dir.path()), dir / "run") << "no step that leads nowhere is shown";
  EXPECT_EQ(*find_executable(dir / "run", "", "/"), dir / "run");
  EXPECT_EQ(find_executable("none", "/bin:/nowhere", "/").error().message,
            "the command `none` is on no folder of PATH (/bin:/nowhere)");
  EXPECT_EQ(find_executable("none", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "/").error().message,
            "the command `none` is on no folder of PATH")
      << "a whole PATH fills several lines";
  EXPECT_THAT(find_executable("./plain", "", dir.path()).error().message, HasSubstr("not executable"));
  EXPECT_THAT(find_executable("./none", "", dir.path()).error().message, HasSubstr("not there"));
  EXPECT_THAT(find_executable(dir.path(), "", "/").error().message, HasSubstr("directory"));
  EXPECT_FALSE(find_executable("", "/bin", "/"));
}

}  // namespace
}  // namespace tuneband::workers
