#include "server/local/supervisor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "core/json.hpp"
#include "server/log.hpp"
#include "tests/os/limited_group.hpp"
#include "tests/server/loop_until.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::server {
namespace {

using test::loop_until;
using test::read_text;
using test::TemporaryDirectory;

// The process control is under test here, not the worker: a shell that waits on a fifo for ever is easier to make misbehave.
constexpr const char* kWaits = "echo started\nread line < \"$(dirname \"$0\")/fifo\"\n";
constexpr const char* kIgnoresTerm = "trap '' TERM\necho started\nread line < \"$(dirname \"$0\")/fifo\"\n";
// One of them that is given a line takes 200 MB.
constexpr const char* kEatsMemory = R"(fifo=$(dirname "$0")/fifo
until read line < "$fifo"; do :; done
x=$(head -c 200000000 /dev/zero | tr '\0' x)
read line < "$fifo"
)";
constexpr const char* kDiesAtOnce = "echo started\nexit 3\n";

class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    set_log_level(LogLevel::off);
    ::mkfifo((directory_ / "fifo").c_str(), 0600);
  }

  ~SupervisorTest() override {
    if (supervisor_) stop_all();
  }

  Supervisor& start(SupervisorOptions options, const std::string& program_text = kWaits) {
    options.worker_program = directory_.write_script("worker.sh", program_text);
    if (options.server_url.empty()) options.server_url = "http://127.0.0.1:1";
    supervisor_ = std::make_unique<Supervisor>(loop_, data_dir_, options,
                                               [this](const Supervisor::WorkerEnd& end) { ended_.push_back(end); });
    supervisor_->start();
    return *supervisor_;
  }

  static SupervisorOptions with_workers(int workers) {
    SupervisorOptions options;
    options.workers = workers;
    options.restart_delay = os::RestartDelay(1, 4);
    return options;
  }

  void worker_syncs(int index, const std::string& id) {
    protocol::SyncRequest request;
    request.name = "local-" + std::to_string(index);
    request.pid = supervisor_->workers()[static_cast<std::size_t>(index)].pid;
    supervisor_->worker_synced({id}, request);
  }

  bool stop_all() {
    bool stopped = false;
    supervisor_->stop(0, [&] { stopped = true; });
    return loop_until(loop_, [&] { return stopped; });
  }

  std::int64_t pid(std::size_t index) { return supervisor_->workers().at(index).pid; }

  TemporaryDirectory directory_;
  boost::asio::io_context loop_;
  DataDir data_dir_ = *DataDir::open(directory_ / "data");
  std::vector<Supervisor::WorkerEnd> ended_;
  std::unique_ptr<Supervisor> supervisor_;
};

TEST_F(SupervisorTest, AKilledWorkerIsReportedAndReplaced) {
  start(with_workers(2));
  worker_syncs(1, "local-1-abc");
  const std::int64_t other = pid(0);
  const std::int64_t killed = pid(1);
  ASSERT_EQ(::kill(static_cast<pid_t>(killed), SIGKILL), 0);
  ASSERT_TRUE(loop_until(loop_, [&] { return pid(1) != killed && pid(1) != 0; }));
  EXPECT_EQ(pid(0), other);
  EXPECT_EQ(supervisor_->workers_down(), 0U);
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].worker.value, "local-1-abc");
  EXPECT_EQ(ended_[0].how.message, "the worker process local-1 was killed by signal 9 (SIGKILL), perhaps out of memory");
}

// Two workers in a group of 50 MB: one takes more, and the other is killed by somebody.
class MemoryOfAWorker : public SupervisorTest {
 protected:
  bool make_group() { return group_.made(); }
  void let_it_eat() { std::ofstream(directory_ / "fifo") << '\n'; }
  void settle_in(int workers) {
    for (int index = 0; index < workers; ++index) {
      EXPECT_TRUE(group_.take(pid(static_cast<std::size_t>(index))));
      worker_syncs(index, "w" + std::to_string(index));
    }
  }
  bool ends(std::size_t count) {
    return loop_until(loop_, [&] { return ended_.size() == count; });
  }

  test::LimitedGroup group_{std::int64_t{50} << 20};
};

constexpr const char* kNoGroups = "no memory control group can be made here: that takes root, and /sys/fs/cgroup writable";

TEST_F(MemoryOfAWorker, OneThatTheKernelKillsForItIsToldFromOneThatSomebodyKills) {
  if (!make_group()) GTEST_SKIP() << kNoGroups;
  start(with_workers(2), kEatsMemory);
  settle_in(2);
  let_it_eat();  // whichever reads first
  ASSERT_TRUE(ends(1));
  EXPECT_TRUE(ended_[0].how.out_of_memory);
  EXPECT_THAT(ended_[0].how.message,
              testing::MatchesRegex("the kernel killed the worker process local-[01] because memory ran out" TUNEBAND_TOLD_PEAK
                                    "; its control group had (50|49) MB at its peak, and may have 50 MB"));
  const bool first = ended_[0].worker.value == "w0";
  ::kill(static_cast<pid_t>(pid(first ? 1 : 0)), SIGKILL);
  ASSERT_TRUE(ends(2));
  EXPECT_FALSE(ended_[1].how.out_of_memory) << ended_[1].how.message << ": the kernel's one kill explains one end";
}

TEST_F(MemoryOfAWorker, AnAdoptedOneIsTakenToHaveEndedOfAKillAroundIt) {
  if (!make_group()) GTEST_SKIP() << kNoGroups;
  start(with_workers(1), kEatsMemory);
  supervisor_.reset();
  start(with_workers(1), kEatsMemory);
  settle_in(1);
  // As an adopted one is that of another parent, nobody here learns how it ended.
  std::thread other_parent([child = static_cast<pid_t>(pid(0))] { ::waitpid(child, nullptr, 0); });
  let_it_eat();
  other_parent.join();
  ASSERT_TRUE(ends(1));
  EXPECT_TRUE(ended_[0].how.out_of_memory);
  EXPECT_THAT(ended_[0].how.message,
              testing::HasSubstr("local-0 ended as the kernel killed one of its control group because memory"));
}

TEST_F(SupervisorTest, AWorkerThatLivesAndSaysNothingIsKilledAndReplaced) {
  SupervisorOptions options = with_workers(1);
  options.silence_ms_max = 20;
  options.last_word_ms = 20;
  Supervisor& supervisor = start(options);
  worker_syncs(0, "w");
  const std::int64_t silent = pid(0);
  ::kill(static_cast<pid_t>(silent), SIGSTOP);
  ASSERT_TRUE(loop_until(loop_, [&] { return !ended_.empty() && supervisor.workers()[0].pid != 0; }));
  EXPECT_EQ(ended_.front().worker.value, "w");
  EXPECT_EQ(ended_.front().how.message, "the worker process local-0 said nothing for 0.02 s, and was killed");
  EXPECT_NE(pid(0), silent);
}

TEST_F(SupervisorTest, StoppingEndsEveryWorkerAndForgetsIt) {
  start(with_workers(3));
  const std::int64_t first = pid(0);
  EXPECT_TRUE(stop_all());
  EXPECT_NE(::kill(static_cast<pid_t>(first), 0), 0);
  EXPECT_FALSE(std::filesystem::exists(data_dir_.worker_file("local-0")));
  EXPECT_TRUE(std::all_of(ended_.begin(), ended_.end(), [](const auto& end) { return end.worker.value.empty(); }));
}

TEST_F(SupervisorTest, AWorkerThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  SupervisorOptions options = with_workers(1);
  options.grace_ms = 20;
  start(options, kIgnoresTerm);
  EXPECT_TRUE(stop_all());
}

TEST_F(SupervisorTest, AWorkerThatNeedsLongerToEndIsGivenAsLong) {
  constexpr std::int64_t kLongMs = 600'000;
  SupervisorOptions options = with_workers(1);
  options.grace_ms = 0;
  start(options, kIgnoresTerm);
  worker_syncs(0, "w");
  ASSERT_TRUE(loop_until(loop_, [&] { return read_text(data_dir_.worker_log("local-0")) == "started\n"; }));
  bool stopped = false;
  supervisor_->stop(kLongMs, [&] { stopped = true; });
  loop_.poll();
  std::ofstream(directory_ / "fifo") << '\n';
  ASSERT_TRUE(loop_until(loop_, [&] { return stopped; }));
  EXPECT_EQ(ended_.at(0).how.message, "the worker process local-0 ended with status 0");
}

TEST_F(SupervisorTest, ARestartedServerAdoptsTheLivingWorkersAndStartsTheMissing) {
  start(with_workers(2));
  const std::int64_t first = pid(0);
  const std::int64_t second = pid(1);
  supervisor_.reset();

  start(with_workers(3));
  EXPECT_EQ(pid(0), first);
  EXPECT_EQ(pid(1), second);
  EXPECT_NE(pid(2), 0);
}

TEST_F(SupervisorTest, AnAdoptedWorkerIsWatchedLikeAnyOther) {
  start(with_workers(1));
  supervisor_.reset();
  start(with_workers(1));
  worker_syncs(0, "local-0-abc");
  const std::int64_t adopted = pid(0);
  ASSERT_EQ(::kill(static_cast<pid_t>(adopted), SIGKILL), 0);
  ASSERT_TRUE(loop_until(loop_, [&] { return pid(0) != adopted && pid(0) != 0; }));
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].worker.value, "local-0-abc");
  EXPECT_TRUE(supervisor_->tells_of({"local-0-abc"}));
  EXPECT_FALSE(supervisor_->tells_of({"local-1-abc"}));
}

TEST_F(SupervisorTest, AWorkerThatDiedWhileTheServerWasDownIsReportedAtTheStart) {
  start(with_workers(1));
  worker_syncs(0, "local-0-abc");
  const std::int64_t died = pid(0);
  supervisor_.reset();
  ASSERT_EQ(::kill(static_cast<pid_t>(died), SIGKILL), 0);
  siginfo_t exit{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(died), &exit, WEXITED), 0);

  start(with_workers(1));
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].worker.value, "local-0-abc");
  EXPECT_NE(pid(0), 0);
}

TEST_F(SupervisorTest, WorkersBeyondTheNumberAskedForAreEnded) {
  start(with_workers(3));
  supervisor_.reset();
  start(with_workers(1));
  ASSERT_EQ(supervisor_->workers().size(), 3U);
  EXPECT_TRUE(loop_until(loop_, [&] { return pid(1) == 0 && pid(2) == 0; }));
  EXPECT_NE(pid(0), 0);
}

TEST_F(SupervisorTest, AWorkerOfAnotherAddressIsReplaced) {
  start(with_workers(1));
  const std::int64_t before = pid(0);
  supervisor_.reset();
  SupervisorOptions options = with_workers(1);
  options.server_url = "http://127.0.0.1:2";
  start(options);
  EXPECT_EQ(pid(0), before);
  EXPECT_TRUE(loop_until(loop_, [&] { return pid(0) != before && pid(0) != 0; }));
}

TEST_F(SupervisorTest, AWorkerOfAnotherVersionIsReplaced) {
  start(with_workers(1));
  const std::int64_t before = pid(0);
  supervisor_.reset();
  Json recorded = Json::parse(read_text(data_dir_.worker_file("local-0")));
  recorded["version"] = "0.0.1";
  std::ofstream(data_dir_.worker_file("local-0")) << recorded;
  start(with_workers(1));
  EXPECT_EQ(pid(0), before);
  EXPECT_TRUE(loop_until(loop_, [&] { return pid(0) != before && pid(0) != 0; }));
}

TEST_F(SupervisorTest, AProcessThatGotTheOldPidIsLeftAlone) {
  start(with_workers(1));
  ASSERT_TRUE(stop_all());
  supervisor_.reset();
  std::ofstream(data_dir_.worker_file("local-0")) << R"({"pid": )" << ::getpid() << R"(, "start_ticks": 1, "boot_id": "x",
    "program": "server_test", "arguments": [], "worker_id": ""})";
  start(with_workers(1));
  EXPECT_NE(pid(0), ::getpid());
}

TEST_F(SupervisorTest, AWorkerThatDiesAtOnceIsStartedAgainAndAgain) {
  start(with_workers(1), kDiesAtOnce);
  const auto starts = [&] {
    const std::string log = read_text(data_dir_.worker_log("local-0"));
    return std::count(log.begin(), log.end(), '\n');
  };
  EXPECT_TRUE(loop_until(loop_, [&] { return starts() >= 5; }));
}

TEST_F(SupervisorTest, AWorkerProgramThatIsMissingDoesNotEndTheServer) {
  SupervisorOptions options = with_workers(1);
  options.worker_program = directory_ / "nowhere";
  options.server_url = "http://127.0.0.1:1";
  supervisor_ = std::make_unique<Supervisor>(loop_, data_dir_, options, [](const Supervisor::WorkerEnd&) {});
  supervisor_->start();
  EXPECT_EQ(pid(0), 0);
  EXPECT_EQ(supervisor_->workers_down(), 1U);
  EXPECT_TRUE(stop_all());
}

}  // namespace
}  // namespace tuneband::server
