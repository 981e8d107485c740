// Distributed trials on real worker processes that are killed, stopped and cut off: whatever happens to one rank, the others are
// free again soon, and train on as another group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <fstream>
#include <future>
#include <map>
#include <random>

#include "os/pidfd.hpp"
#include "tests/text_files.hpp"
#include "tests/workers/group_server.hpp"
#include "tests/xgboost/group_fixture.hpp"

extern char** environ;

namespace tuneband::workers {
namespace {

using protocol::AssignmentOrder;
using protocol::GroupPlace;
using test::TrackerThread;
using testing::HasSubstr;
using tuneband::test::GroupServer;

constexpr std::int64_t kManyRounds = 1'000'000;
constexpr int kEndsWithinMs = 60'000;

// Not workers::Process: that is for the one child that a worker has, and ends all of them.
class WorkerProcess {
 public:
  explicit WorkerProcess(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, argv.front(), nullptr, nullptr, argv.data(), environ), 0);
  }
  ~WorkerProcess() {
    send(SIGKILL);
    wait();
  }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(int signal) const {
    if (pid_ != 0) ::kill(pid_, signal);
  }
  void wait() {
    if (pid_ != 0) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

class GroupProgramTest : public testing::Test {
 protected:
  GroupProgramTest() {
    for (int rank = 0; rank < 3; ++rank) start_worker(rank);
    EXPECT_TRUE(server_.wait_until_idle(names_));
  }

  void start_worker(int rank, bool guarded = false) {
    const std::string& name = names_[static_cast<std::size_t>(rank)];
    server_.expect_anew(name);
    workers_.erase(rank);
    std::vector<std::string> arguments{
        TUNEBAND_BIN_DIR "/tuneband-worker", "--server", server_.url(), "--name", name, "--group-grace", "1"};
    if (!guarded) arguments.emplace_back("--no-guardian");
    workers_.try_emplace(rank, std::move(arguments));
  }
  void signal(int rank, int number) { workers_.at(rank).send(number); }

  AssignmentOrder order(std::int64_t until) {
    AssignmentOrder order;
    order.epoch = ++epoch_;
    order.job = 1;
    order.job_name = "job";
    order.trial = static_cast<int>(epoch_);
    order.configuration = {{"eta", 0.3}};
    order.trainer = {{"type", "xgboost"},
                     {"data", {{"train", csv_}, {"label", "y"}}},
                     {"parameters", {{"objective", "binary:logistic"}, {"max_depth", 2}}}};
    order.objective_metric = "validation-logloss";
    order.until_resource = until;
    order.max_resource = kManyRounds;
    order.trial_dir = data_.path("trial-" + std::to_string(epoch_));
    return order;
  }
  GroupPlace place(std::int64_t session) {
    GroupPlace where;
    where.session = session;
    where.tracker_port = tracker_.port();
    return where;
  }
  void give(std::int64_t session, std::int64_t until) { server_.give(names_, order(until), place(session)); }

  // A new session with these workers works.
  void expect_that_a_new_group_trains() {
    EXPECT_TRUE(server_.wait_until_idle(names_));
    tracker_.expect(99, 3);
    give(99, 3);
    for (const std::string& name : names_) {
      EXPECT_TRUE(server_.wait_for_exit(name));
      EXPECT_EQ(server_.exit_of(name), "completed") << server_.message_of(name);
    }
    EXPECT_TRUE(server_.wait_until_idle(names_));
  }
  std::vector<std::string> others(int rank) const {
    std::vector<std::string> names = names_;
    names.erase(names.begin() + rank);
    return names;
  }

  test::TemporaryDir data_;
  const std::string csv_ = data_.write("data.csv", test::made_up_csv(300));
  const std::vector<std::string> names_{"rank-0", "rank-1", "rank-2"};
  TrackerThread tracker_;
  GroupServer server_;
  std::int64_t epoch_ = 0;
  std::map<int, WorkerProcess> workers_;
};

TEST_F(GroupProgramTest, ThreeWorkersTrainTogetherAndSayWhereTheyAre) {
  tracker_.expect(1, 3);
  give(1, 4);
  for (const std::string& name : names_) {
    EXPECT_TRUE(server_.wait_for_exit(name));
    EXPECT_EQ(server_.exit_of(name), "completed") << server_.message_of(name);
  }
  EXPECT_TRUE(server_.wait_until_idle(names_));
  EXPECT_EQ(server_.last_request("rank-1").address, "127.0.0.1");
  EXPECT_GT(server_.last_request("rank-1").free_port, 0);
  EXPECT_TRUE(server_.wait_for_observation("rank-0", 4));
  give(1, 2);  // another trial of the same session
  EXPECT_TRUE(server_.wait_for_exit("rank-2"));
  EXPECT_TRUE(server_.wait_until_idle(names_));
  EXPECT_EQ(server_.exit_of("rank-2"), "completed") << server_.message_of("rank-2");
}

TEST_F(GroupProgramTest, ARankThatDiesBeforeTheGroupFormsDoesNotHoldTheOthers) {
  tracker_.expect(1, 3);
  signal(1, SIGKILL);
  server_.give(others(1), order(3), place(1));  // their place says two; the tracker waits for three
  EXPECT_TRUE(server_.wait_until_idle(others(1)));
  EXPECT_THAT(server_.exit_of("rank-0") + server_.exit_of("rank-2"), HasSubstr("worker_lost"));
  start_worker(1);
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, RanksThatWaitForOneWhichNeverComesAreFreeWhenTheOrderIsTakenBack) {
  tracker_.expect(1, 3);
  signal(2, SIGSTOP);
  give(1, 3);
  EXPECT_TRUE(server_.wait_until_executing("rank-0"));
  EXPECT_TRUE(server_.wait_until_executing("rank-1"));
  server_.take_back();  // and the tracker is not told: they hang
  EXPECT_TRUE(server_.wait_until_idle(others(2)));
  signal(2, SIGCONT);
  tracker_.forget(1);
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, ARankThatDiesInARoundFreesTheOthersAtOnce) {
  tracker_.expect(1, 3);
  give(1, kManyRounds);
  EXPECT_TRUE(server_.wait_for_observation("rank-0", 2));
  signal(1, SIGKILL);
  for (const std::string& name : others(1)) EXPECT_TRUE(server_.wait_until_idle({name}));
  EXPECT_THAT(server_.exit_of("rank-0") + server_.exit_of("rank-2"), HasSubstr("worker_lost"));
  start_worker(1);
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, ARankThatDiesWhileTheDataIsPreparedFreesTheOthers) {
  std::promise<void> formed;
  tracker_.expect(1, 3, [&](bool, const std::string&) { formed.set_value(); });
  give(1, 3);
  formed.get_future().wait();
  signal(2, SIGKILL);
  EXPECT_TRUE(server_.wait_until_idle(others(2)));
  EXPECT_THAT(server_.exit_of("rank-0") + server_.exit_of("rank-1"), HasSubstr("worker_lost"));
  start_worker(2);
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, ARankThatDiesBetweenTwoSegmentsBreaksTheNextOneCleanly) {
  tracker_.expect(1, 3);
  give(1, 2);
  EXPECT_TRUE(server_.wait_for_exit("rank-2"));
  EXPECT_TRUE(server_.wait_until_idle(names_));
  signal(0, SIGKILL);
  start_worker(0);
  EXPECT_TRUE(server_.wait_until_idle(names_));
  tracker_.expect(1, 3);  // the new process asks for the session that the others have
  give(1, 2);
  EXPECT_TRUE(server_.wait_until_idle(others(0)));
  EXPECT_THAT(server_.exit_of("rank-1") + server_.exit_of("rank-2"), HasSubstr("worker_lost"));
  tracker_.forget(1);
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, RanksThatHangBecauseOneIsStoppedAreReplacedByNewProcessesOfTheSameId) {
  tracker_.expect(1, 3);
  give(1, kManyRounds);
  EXPECT_TRUE(server_.wait_for_observation("rank-0", 2));
  const auto pid = server_.last_request("rank-0").pid;
  signal(1, SIGSTOP);
  server_.take_back();  // as when its lease has run out
  EXPECT_TRUE(server_.wait_until_idle(others(1)));
  EXPECT_EQ(server_.last_request("rank-0").pid, pid);
  EXPECT_EQ(server_.ids_of("rank-0").size(), 1U);
  signal(1, SIGCONT);
  EXPECT_TRUE(server_.wait_until_idle({"rank-1"}));
  expect_that_a_new_group_trains();
}

TEST_F(GroupProgramTest, OneThatHasReplacedItselfEndsWithItsGuardian) {
  signal(0, SIGKILL);
  start_worker(0, true);
  EXPECT_TRUE(server_.wait_until_idle(names_));
  bool has_replaced_itself = false;
  for (int epoch = 1; epoch <= 10; ++epoch) {  // one that was not yet in a call of the group just ends
    tracker_.expect(epoch, 3);
    give(epoch, kManyRounds);
    EXPECT_TRUE(server_.wait_for_observation("rank-0", 2));
    signal(1, SIGSTOP);
    server_.take_back();
    EXPECT_TRUE(server_.wait_until_idle({"rank-0"}));
    const std::string given = test::read_text("/proc/" + std::to_string(server_.last_request("rank-0").pid) + "/environ");
    has_replaced_itself = given.find("TUNEBAND_WORKER_ID=rank-0-") != std::string::npos;
    if (has_replaced_itself) break;
    signal(1, SIGCONT);
    EXPECT_TRUE(server_.wait_until_idle(names_));
  }
  ASSERT_TRUE(has_replaced_itself);
  const auto pid = static_cast<pid_t>(server_.last_request("rank-0").pid);
  const os::UniqueFd worker = os::open_pidfd(pid);
  ASSERT_TRUE(worker);
  EXPECT_FALSE(os::ends_within(worker.get(), -1));
  signal(0, SIGKILL);  // the guardian
  EXPECT_TRUE(os::ends_within(worker.get(), kEndsWithinMs));
}

TEST_F(GroupProgramTest, ARankThatHangsAndIsToldToEndEnds) {
  tracker_.expect(1, 3);
  signal(2, SIGSTOP);
  give(1, 3);
  EXPECT_TRUE(server_.wait_until_executing("rank-0"));
  signal(0, SIGTERM);
  workers_.at(0).wait();
  signal(2, SIGCONT);
}

TEST_F(GroupProgramTest, ARankThatIsToldToEndStopsAllOfThemWithACheckpoint) {
  tracker_.expect(1, 3);
  give(1, kManyRounds);
  EXPECT_TRUE(server_.wait_for_observation("rank-0", 2));
  server_.drain("rank-1");
  for (const std::string& name : names_) {
    EXPECT_TRUE(server_.wait_for_exit(name));
    EXPECT_EQ(server_.exit_of(name), "stopped") << server_.message_of(name);
  }
}

// More of them with TUNEBAND_GROUP_KILLS.
TEST_F(GroupProgramTest, WheneverARankDiesOrStopsTheOthersAreFreeSoonAndTheNextGroupTrains) {
  const char* wanted = std::getenv("TUNEBAND_GROUP_KILLS");
  const int kills = wanted == nullptr ? 8 : std::atoi(wanted);
  const char* chosen = std::getenv("TUNEBAND_GROUP_SEED");
  const auto seed = static_cast<unsigned>(chosen == nullptr ? 20'260'301 : std::atoi(chosen));
  std::mt19937 random(seed);
  for (int kill = 0; kill < kills; ++kill) {
    const int rank = static_cast<int>(random() % 3);
    const bool dies = random() % 8 != 0;
    const std::int64_t session = 100 + kill;
    tracker_.expect(session, 3);
    give(session, random() % 4 == 0 ? 5 : kManyRounds);
    server_.let_them_work(static_cast<int>(random() % 50));
    signal(rank, dies ? SIGKILL : SIGSTOP);
    server_.take_back();
    tracker_.forget(session);
    ASSERT_TRUE(server_.wait_until_idle(others(rank))) << "kill " << kill << ", seed " << seed;
    if (dies) {
      start_worker(rank);
    } else {
      signal(rank, SIGCONT);
    }
    ASSERT_TRUE(server_.wait_until_idle(names_)) << "kill " << kill << ", seed " << seed;
  }
  expect_that_a_new_group_trains();
}

// In the midst of the rendezvous nothing but its own end frees a rank that waits for another to connect to it.
TEST_F(GroupProgramTest, ARankThatDiesInTheRendezvousDoesNotHoldTheOthersForLong) {
  signal(2, SIGKILL);
  tracker_.expect(1, 3);
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket fake(context);
  fake.connect({boost::asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(tracker_.port())});
  const std::int32_t hello[] = {0xff99, -1, 3, 3};
  boost::asio::write(fake, boost::asio::buffer(hello));
  boost::asio::write(fake, boost::asio::buffer(std::string("1:2")));
  const std::int32_t size = 5;
  boost::asio::write(fake, boost::asio::buffer(&size, sizeof size));
  boost::asio::write(fake, boost::asio::buffer(std::string("start")));
  give(1, 3);
  std::int32_t words[2] = {};  // the greeting, and its rank: the other two have been told, and wait for it
  boost::asio::read(fake, boost::asio::buffer(words));
  EXPECT_EQ(words[1], 2);
  fake.close();
  server_.take_back();
  EXPECT_TRUE(server_.wait_until_idle(others(2)));
  start_worker(2);
  expect_that_a_new_group_trains();
}

}  // namespace
}  // namespace tuneband::workers
