// Whether N ranks pay: what is concluded from timings, and a real measurement of a small training.
#include "cli/commands/rank_speed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "os/temporary_dir.hpp"

namespace tuneband::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const Objective kAuc{"auc", Goal::maximize, std::nullopt};
const Objective kLoss{"loss", Goal::minimize, std::nullopt};

RankTiming timed(int ranks, double one, double all, std::int64_t units, std::optional<double> value = std::nullopt) {
  return {ranks, one, all, units, value};
}

TEST(RankSpeeds, LeaveOutWhatIsTheSameHoweverLongATrainingIs) {
  const auto speeds = rank_speeds({timed(1, 1.5, 5.5, 9), timed(2, 2.2, 4.6, 9), timed(4, 2.1, 3.7, 9)});
  ASSERT_EQ(speeds.size(), 3U);
  EXPECT_DOUBLE_EQ(speeds[0].seconds_per_unit, 0.5);
  EXPECT_NEAR(speeds[1].seconds_per_unit, 0.3, 1e-12);
  EXPECT_NEAR(speeds[1].speed_up, 5.0 / 3, 1e-12);
  EXPECT_NEAR(speeds[1].efficiency, 5.0 / 6, 1e-12);
  EXPECT_NEAR(speeds[2].efficiency, 0.625, 1e-12);
}

TEST(RankSpeeds, CountEverythingWhereTheTwoTrainingsAreNotToldApart) {
  EXPECT_DOUBLE_EQ(rank_speeds({timed(1, 2, 2, 1)}).front().seconds_per_unit, 2);
  EXPECT_DOUBLE_EQ(rank_speeds({timed(1, 2, 2, 4)}).front().seconds_per_unit, 0.5);
  EXPECT_DOUBLE_EQ(rank_speeds({timed(1, 3, 2, 4)}).front().seconds_per_unit, 0.5) << "the first was disturbed";
}

RankSpeed speed_of(int ranks, double speed_up, std::optional<double> value = std::nullopt) {
  return {ranks, 1 / speed_up, speed_up, speed_up / ranks, value};
}

TEST(Conclusions, SayWhetherRanksPay) {
  EXPECT_THAT(conclusions({speed_of(1, 1)}, kAuc), IsEmpty());
  EXPECT_THAT(conclusions({speed_of(1, 1), speed_of(2, 1.6)}, kAuc), ElementsAre("2 ranks pay: they are 1.60 times as fast."));
  EXPECT_THAT(conclusions({speed_of(1, 1), speed_of(2, 1.59)}, kAuc),
              ElementsAre(StartsWith("2 ranks are 1.59 times as fast: as many trials side by side get 1.26 times as much done")));
  EXPECT_THAT(conclusions({speed_of(1, 1), speed_of(2, 1.09), speed_of(4, 0.5)}, kAuc),
              ElementsAre("More ranks do not pay: 2 ranks are 1.09 times as fast as 1."));
  EXPECT_THAT(conclusions({speed_of(1, 1), speed_of(2, 1.1), speed_of(4, 0.5)}, kAuc),
              ElementsAre(StartsWith("2 ranks are 1.10")));
}

TEST(Conclusions, SayWhatRanksCostInTheValue) {
  EXPECT_THAT(conclusions({speed_of(1, 1, 0.8), speed_of(2, 2, 0.8), speed_of(4, 4, 0.75)}, kAuc),
              ElementsAre(StartsWith("4 ranks pay"), "With 4 ranks auc was 0.75, with 1 it was 0.8: 0.05 worse."));
  EXPECT_THAT(conclusions({speed_of(1, 1, 0.8), speed_of(2, 2, 0.81)}, kAuc), ElementsAre(StartsWith("2 ranks pay")));
  EXPECT_THAT(conclusions({speed_of(1, 1, 0.8), speed_of(2, 2, 0.81)}, kLoss),
              ElementsAre(StartsWith("2 ranks pay"), HasSubstr("0.01 worse")));
}

ParsedJob parsed(const Json& document) {
  JobFile file{"job.json", document.dump(), document, "/"};
  return check_job_file(file)->job;
}

Json small_job(const std::string& directory, const Json& overlay = Json::object()) {
  Json job{{"name", "small"},
           {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
           {"search_space", {{"eta", {{"type", "float"}, {"min", 0.1}, {"max", 0.5}}}}},
           {"sampler", {{"type", "random"}}},
           {"scheduler", {{"type", "hyperband"}, {"max_resource", 9}}},
           {"trainer",
            {{"type", "xgboost"},
             {"parameters", {{"objective", "binary:logistic"}}},
             {"data", {{"train", directory + "/t.csv"}, {"label", "y"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}}}}};
  job.merge_patch(overlay);
  return job;
}

TEST(ShortJob, IsOneTrialOfOneConfigurationWithoutWhatTunes) {
  const Json document = small_job("/data", {{"limits", {{"max_trials", 50}}}, {"trainer", {{"replicas", {1, 4}}}}});
  const ParsedJob job = parsed(document);
  EXPECT_THAT(ranks_to_measure(job.spec), ElementsAre(1, 4));
  const Json short_one = short_job(document, job.spec, 4, 3);
  EXPECT_EQ(short_one["enqueue"], Json::parse(R"([{"eta": 0.3}])"));
  EXPECT_EQ(short_one["trainer"]["replicas"], 4);
  EXPECT_FALSE(short_one.contains("sampler"));
  const ParsedJob read = parsed(short_one);
  EXPECT_EQ(read.plan.trials, 1);
  EXPECT_EQ(read.spec.scheduler.max_resource, 3);
}

TEST(ShortJob, TakesWhatTheJobWouldTryFirst) {
  const Json document = small_job("/data", {{"enqueue", {{{"eta", 0.2}}}}});
  EXPECT_EQ(short_job(document, parsed(document).spec, 1, 3)["enqueue"], Json::parse(R"([{"eta": 0.2}])"));
}

TEST(ShortJob, OfACommandThatNamesNoReplicasOneRankAloneIsMeasured) {
  const Json command = small_job("/data", {{"trainer", nullptr}});
  Json document = command;
  document["trainer"] = {{"type", "command"}, {"argv", {"/bin/true"}}};
  EXPECT_THAT(ranks_to_measure(parsed(document).spec), ElementsAre(1));
  EXPECT_THAT(ranks_to_measure(parsed(small_job("/data")).spec), ElementsAre(1, 2));
}

TEST(MeasureRanks, TrainsWithOneRankAndWithMore) {
  const os::TemporaryDir directory("tuneband-rank-test");
  std::ofstream csv(directory.path() + "/t.csv");
  csv << "a,b,y\n";
  for (int i = 0; i < 2000; ++i) csv << i % 17 << ',' << i % 23 << ',' << (i % 17 > 8 ? 1 : 0) << '\n';
  csv.close();
  const Json document = small_job(directory.path());
  const JobFile file{"job.json", document.dump(), document, "/"};
  std::ostringstream out;
  std::ostringstream err;
  Console console(Terminal{}, out, err, false);
  const auto timings =
      measure_ranks(console, file, parsed(document), {.server_program = TUNEBAND_BIN_DIR "/tuneband-server", .seconds = 0.01});
  ASSERT_TRUE(timings) << describe(timings.error().errors.front());
  ASSERT_EQ(timings->size(), 2U);
  EXPECT_EQ((*timings)[1].ranks, 2);
  EXPECT_GE((*timings)[0].units, 3);
  EXPECT_NEAR((*timings)[0].value.value(), (*timings)[1].value.value(), 0.05);
  print_rank_speeds(console, rank_speeds(*timings), parsed(document));
  EXPECT_THAT(out.str(), HasSubstr("seconds a unit of rounds"));
}

}  // namespace
}  // namespace tuneband::cli
