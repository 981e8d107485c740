#include "workers/guardian.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::workers {
namespace {

using testing::ElementsAre;

constexpr int kEndedByItself = 7;

struct Told {
  std::string id;
  protocol::WorkerEnd end;
};

// Workers that a test ends as it likes, and a kernel that counts what the test says. Only the first one is ended by a signal; the
// second ends by itself, and the guardian with it.
class GuardianTest : public testing::Test {
 protected:
  GuardianTest() {
    EXPECT_EQ(::pipe(released_), 0);
    count(0);
    options_.name = "w";
    options_.look_ms = 1;
    options_.retry_ms = 1;
    options_.restart_delay = os::RestartDelay(1);
    options_.next_id = [this] { return "w-" + std::to_string(++started_); };
    options_.work = [this](const std::string& id) { return id == "w-1" ? end_when_released() : kEndedByItself; };
    options_.tell = [this](const std::string& id, const protocol::WorkerEnd& end) {
      told_.push_back({id, end});
      return true;
    };
    options_.count_kills = [this](const std::string&) {
      os::OomKills kills = os::oom_kills("", directory_ / "nowhere", directory_ / "vmstat");
      if (started_ == 1) after_look(++looks_);
      return kills;
    };
  }
  ~GuardianTest() override {
    ::close(released_[0]);
    ::close(released_[1]);
  }

  virtual void after_look(int look) {
    if (look == 1) release_and_wait();
  }

  void count(int kills) { std::ofstream(directory_ / "vmstat") << "pgfault 3\noom_kill " << kills << '\n'; }
  // The worker has ended, and the guardian does not know it yet.
  void release_and_wait() {
    EXPECT_EQ(::write(released_[1], "x", 1), 1);
    siginfo_t end{};
    EXPECT_EQ(::waitid(P_ALL, 0, &end, WEXITED | WNOWAIT), 0);
  }

  int end_when_released() {
    char byte = 0;
    if (::read(released_[0], &byte, 1) != 1) return EXIT_FAILURE;
    if (counts_ > 0) count(counts_);
    ::raise(signal_);
    return EXIT_FAILURE;
  }

  test::TemporaryDirectory directory_;
  GuardianOptions options_;
  std::vector<Told> told_;
  int signal_ = SIGKILL;  // that ends the worker
  int counts_ = 0;        // what the kernel has counted before it does
  int started_ = 0;
  int looks_ = 0;

 private:
  int released_[2] = {-1, -1};
};

TEST_F(GuardianTest, AKillThatTheKernelCountsIsAnOutOfMemoryAndTheNextWorkerIsStarted) {
  counts_ = 1;
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  EXPECT_EQ(started_, 2);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].id, "w-1");
  EXPECT_TRUE(told_[0].end.out_of_memory);
  EXPECT_EQ(told_[0].end.crash, "");
  EXPECT_THAT(told_[0].end.message, testing::StartsWith("the kernel killed the worker process w because memory ran out"));
}

TEST_F(GuardianTest, AKillThatTheKernelDoesNotCountIsNone) {
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_FALSE(told_[0].end.out_of_memory);
  EXPECT_EQ(told_[0].end.message, "the worker process w was killed by signal 9 (SIGKILL), perhaps out of memory");
}

TEST_F(GuardianTest, ASignalOfTheProgramsOwnMakingIsACrashWhateverTheKernelCounts) {
  counts_ = 1;
  signal_ = SIGABRT;  // a sanitizer makes an exit of others
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_FALSE(told_[0].end.out_of_memory);
  EXPECT_EQ(told_[0].end.crash, "signal 6");
}

TEST_F(GuardianTest, ItIsToldAgainUntilTheServerHasIt) {
  int asked = 0;
  options_.tell = [&asked](const std::string&, const protocol::WorkerEnd&) { return ++asked == 3; };
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  EXPECT_EQ(asked, 3);
}

TEST_F(GuardianTest, AServerThatDoesNotComeBackIsNotToldForEver) {
  options_.tell_ms_max = 5;
  options_.tell = [](const std::string&, const protocol::WorkerEnd&) { return false; };
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  EXPECT_EQ(started_, 2);
}

TEST_F(GuardianTest, OneThatIsAskedToEndWhileItTellsStartsNoOther) {
  options_.tell = [](const std::string&, const protocol::WorkerEnd&) {
    ::kill(::getpid(), SIGTERM);
    return false;
  };
  EXPECT_EQ(guard_worker(options_), 128 + SIGKILL);
  EXPECT_EQ(started_, 1);
}

TEST_F(GuardianTest, AWorkerThatEndsByItselfIsNotToldOf) {
  options_.next_id = [this] { return "w-" + std::to_string(1 + ++started_); };
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  EXPECT_EQ(started_, 1);
  EXPECT_THAT(told_, testing::IsEmpty());
}

TEST_F(GuardianTest, WhatItDoesIsInItsLog) {
  std::vector<std::string> lines;
  options_.log = [&lines](const std::string& line) { lines.push_back(line); };
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  EXPECT_THAT(lines, ElementsAre("the worker process w was killed by signal 9 (SIGKILL), perhaps out of memory",
                                 "the worker is started again"));
}

void allow_processes(rlim_t most) {
  rlimit limits{};
  EXPECT_EQ(::getrlimit(RLIMIT_NPROC, &limits), 0);
  limits.rlim_cur = std::min(most, limits.rlim_max);
  EXPECT_EQ(::setrlimit(RLIMIT_NPROC, &limits), 0);
}

TEST_F(GuardianTest, AWorkerThatCannotBeStartedAgainAtOnceIsStartedWhenItCan) {
  const pid_t guardian = ::fork();
  if (guardian == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(EXIT_FAILURE);  // root has no limit
    options_.next_id = [this] {
      if (++started_ == 2) allow_processes(0);
      return "w-" + std::to_string(started_);
    };
    options_.log = [](const std::string& line) {
      if (line.starts_with("cannot start the worker: ")) allow_processes(RLIM_INFINITY);
    };
    options_.work = [this](const std::string& id) {
      if (id == "w-1") return end_when_released();
      return id == "w-3" ? kEndedByItself : EXIT_FAILURE;
    };
    ::_exit(guard_worker(options_));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(guardian, &status, 0), guardian);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kEndedByItself);
}

// SIGHUP: its terminal was closed.
class AskedToEnd : public GuardianTest, public testing::WithParamInterface<int> {
 protected:
  void after_look(int look) override {
    if (look == 2) ::kill(::getpid(), GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(, AskedToEnd, testing::Values(SIGTERM, SIGINT, SIGHUP));

TEST_P(AskedToEnd, ItEndsItsWorkerInOrderAndItself) {
  EXPECT_EQ(guard_worker(options_), 128 + SIGTERM);
  EXPECT_EQ(started_, 1);
}

// Somebody else is killed for memory, and the worker later, by hand.
class KilledLater : public GuardianTest {
 protected:
  void after_look(int look) override {
    if (look == 1) count(1);
    if (look == 3) release_and_wait();
  }
};

TEST_F(KilledLater, WhatWasCountedBeforeTheLookBeforeTheLastExplainsNothing) {
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_FALSE(told_[0].end.out_of_memory);
}

// The kernel has counted the kill, and takes its time to take the process down.
class SlowToEnd : public GuardianTest {
 protected:
  void after_look(int look) override {
    if (look == 2) count(1);
    if (look == 3) release_and_wait();
  }
};

TEST_F(SlowToEnd, WhatTheLastLookHasSeenAlreadyExplainsAnEndAfterIt) {
  EXPECT_EQ(guard_worker(options_), kEndedByItself);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].end.out_of_memory);
}

}  // namespace
}  // namespace tuneband::workers
