#include "workers/machine_lacks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "scheduler/waiting.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::workers {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using protocol::AssignmentOrder;

class MachineLacksTest : public testing::Test {
 protected:
  AssignmentOrder order_of(std::int64_t job) {
    AssignmentOrder order;
    order.job = job;
    order.trial_dir = dir_ / "data/jobs/1/trials/0";
    order.trainer = {{"type", "xgboost"},
                     {"parameters", {{"objective", "binary:logistic"}}},
                     {"eval_metric", {"logloss"}},
                     {"data", {{"train", dir_ / "train.csv"}, {"validation", dir_ / "valid.csv"}, {"label", "y"}}}};
    return order;
  }

  void miss(std::int64_t job, std::string_view what, const std::string& message = "it is not there") {
    lacks_.add(order_of(job), {.exit = kExitDataUnreadable, .message = message, .waits_for = std::string(what)}, now_);
  }
  void look_after(std::chrono::milliseconds wait) {
    now_ += wait;
    lacks_.look_again(now_);
  }
  // "1 0 ": the jobs of which something is lacked.
  std::string jobs() const {
    std::string text;
    for (const protocol::Lack& lack : lacks_.all()) text += std::to_string(lack.job) + " ";
    return text;
  }

  test::TemporaryDirectory dir_;
  MachineLacks lacks_{10s};
  MachineLacks::Clock::time_point now_;
};

TEST_F(MachineLacksTest, IsToldOfWithItsWordsUntilEveryFileOfTheDataIsThere) {
  miss(3, waiting::kReadableData, "no train.csv");
  const auto told = lacks_.all();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].job, 3);
  EXPECT_EQ(told[0].what, waiting::kReadableData);
  EXPECT_EQ(told[0].message, "no train.csv");
  look_after(60s);
  EXPECT_EQ(jobs(), "3 ");
  test::write_text(dir_ / "train.csv", "y\n1\n");
  look_after(10s);
  EXPECT_EQ(jobs(), "3 ") << "the rows to validate are missing";
  test::write_text(dir_ / "valid.csv", "y\n1\n");
  look_after(9999ms);
  EXPECT_EQ(jobs(), "3 ") << "it is not looked for without pause";
  look_after(1ms);
  EXPECT_EQ(jobs(), "");
}

TEST_F(MachineLacksTest, OfACommandItIsItsDirectoryItsProgramItsScriptOrWhatItsEnvironmentRefersTo) {
  const std::string script = dir_ / "train.sh";
  const auto blamed = [&](const Json& parts = Json::object(), const std::string& exit = kExitCrashed) {
    AssignmentOrder order = order_of(3);
    order.look_first = true;
    order.trainer = {{"type", "command"}, {"argv", {"/bin/sh", script}}};
    order.trainer.update(parts);
    SegmentResult result{.exit = exit, .message = "it failed"};
    blame_machine(order, result);
    EXPECT_EQ(result.waits_for, result.message == "it failed" ? "" : waiting::kCommandParts);
    return result.message.substr(0, result.message.find(": "));
  };
  EXPECT_EQ(blamed(), "trainer.argv[1]");
  EXPECT_EQ(blamed(Json::object(), kExitInvalidParameters), "trainer.argv[1]");
  EXPECT_EQ(blamed(Json::object(), kExitTimedOut), "it failed") << "it has run";
  test::write_text(script, "exit 1\n");
  EXPECT_EQ(blamed(), "it failed");
  EXPECT_EQ(blamed({{"argv", {dir_ / "train"}}}, kExitInvalidParameters), "trainer.argv[0]");
  EXPECT_EQ(blamed({{"argv", {"{program}"}}}, kExitInvalidParameters), "it failed") << "it is another in each trial";
  EXPECT_EQ(blamed({{"working_dir", dir_ / "away"}}), "trainer.working_dir");
  EXPECT_EQ(blamed({{"environment", {{"KEY", {{"file", dir_ / "key"}}}}}}), "trainer.environment.KEY");
}

TEST_F(MachineLacksTest, OfTheServersDataDirectoryIsForEveryJobUntilItIsThereAndMayBeWrittenTo) {
  miss(3, waiting::kDataDirectory);
  EXPECT_EQ(jobs(), "0 ");
  look_after(10s);
  EXPECT_EQ(jobs(), "0 ");
  std::filesystem::create_directories(dir_ / "data/jobs");
  if (::geteuid() != 0) {
    std::filesystem::permissions(dir_ / "data/jobs", std::filesystem::perms::owner_read);
    look_after(10s);
    EXPECT_EQ(jobs(), "0 ");
    std::filesystem::permissions(dir_ / "data/jobs", std::filesystem::perms::owner_all);
  }
  look_after(10s);
  EXPECT_EQ(jobs(), "");
}

TEST_F(MachineLacksTest, OfWhatCannotBeLookedForIsTriedAgainAfterTwiceAsLongEachTime) {
  for (const auto& wait : {10s, 20s, 40s, 80s, 160s, 320s, 320s}) {
    miss(3, waiting::kRoomOnDisk);
    look_after(wait - 1ms);
    EXPECT_EQ(jobs(), "3 ") << wait.count();
    look_after(1ms);
    EXPECT_EQ(jobs(), "") << wait.count();
  }
  lacks_.ran(3);
  miss(3, waiting::kRoomOnDisk);
  look_after(10s);
  EXPECT_EQ(jobs(), "") << "since a segment has run it is as new";
}

TEST_F(MachineLacksTest, OfOneJobIsNotAnothersButASegmentThatRanHasTheDataDirectory) {
  miss(3, waiting::kReadableData);
  miss(4, waiting::kReadableData);
  miss(4, waiting::kDataDirectory);
  EXPECT_EQ(jobs(), "0 3 4 ");
  lacks_.ran(4);
  EXPECT_EQ(jobs(), "3 ");
}

TEST_F(MachineLacksTest, AreNoMoreThanACallTakesAndOldJobsAreForgottenFirst) {
  miss(1, waiting::kDataDirectory);
  const auto last = static_cast<std::int64_t>(protocol::kLacksMax) + 1;
  for (std::int64_t job = 1; job <= last; ++job) miss(job, waiting::kReadableData);
  const auto told = lacks_.all();
  ASSERT_EQ(told.size(), protocol::kLacksMax);
  EXPECT_EQ(told[0].job, 0);
  EXPECT_EQ(told[1].job, 3);
  EXPECT_EQ(told.back().job, last);
}

TEST_F(MachineLacksTest, AMessageThatIsTooLongOrNoTextIsCutToWhatACallTakes) {
  miss(3, waiting::kReadableData, std::string(10'000, '\xff'));
  EXPECT_LE(lacks_.all().at(0).message.size(), protocol::kMessageSizeMax);
}

}  // namespace
}  // namespace tuneband::workers
