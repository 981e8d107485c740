// What `describe` shows: one reply, of a size that does not grow with the trials.
#include <gmock/gmock.h>

#include "analytics/reader.hpp"
#include "analytics/rungs.hpp"
#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

constexpr std::size_t kDigitsBytes = 400;  // numbers of more digits

std::string several_objectives() {
  Json spec = Json::parse(spec_text("a", "maximize", "asha_delayed"));
  spec["objectives"] = Json::array({spec["objective"], {{"metric", "size"}, {"goal", "minimize"}}});
  spec.erase("objective");
  return spec.dump();
}

class SummaryTest : public DbTest {
 protected:
  void SetUp() override { store_.emplace(Store::open(path())); }

  // Every fourth trial fails, each with the first, second... of three classes; of the others none dominates another, and each
  // has a bracket of its own.
  void write_job(int trials) {
    JobRow job = running_job(1, "a");
    job.spec_json = several_objectives();
    job.trials_created = trials;
    job.best = job.best_anywhere = BestRow{1, 9, 1};
    std::vector<Write> writes = {job};
    for (int number = 0; number < trials; ++number) {
      const bool fails = number % 4 == 0;
      TrialRow trial = ended_trial(1, number, fails ? TrialState::failed : TrialState::completed,
                                   fails ? std::nullopt : std::optional(number * 1.0), 9);
      const ExitClass classes[] = {ExitClass::crashed, ExitClass::no_metric, ExitClass::out_of_memory};
      if (fails) trial.exit_class = classes[number / 4 % 3];
      trial.test_value = 0.25 * number;
      if (!fails) trial.more_objectives = {number * 1.0};
      trial.bracket = number;
      writes.emplace_back(trial);
      if (fails) continue;
      DecisionRow row = decision(1, number, 2, number * 1.0, Verdict::completed, number);
      row.bracket = number;
      writes.emplace_back(row);
    }
    store_->commit(writes);
  }

  std::string summary_text() {
    Reader reader = Reader::open(path());
    const auto model = [](TrialId trial) { return std::optional("/models/" + std::to_string(trial.number)); };
    return json_text(reader.summary(kJob, {{{"no free worker", 3}}, std::nullopt}, model, kNow).value());
  }

  Json analytics() {
    std::string text;
    Reader::open(path()).analytics_json(kJob, kNow, [&](std::string_view piece) { text += piece; }).value();
    return Json::parse(text);
  }

  std::optional<Store> store_;
};

TEST_F(SummaryTest, ItsSizeDoesNotGrowWithTheTrials) {
  write_job(400);
  const std::size_t few = summary_text().size();
  write_job(4'000);
  EXPECT_LE(summary_text().size(), few + kDigitsBytes);
  EXPECT_GT(analytics().dump().size(), 10 * few) << "what it is made of does grow";
}

TEST_F(SummaryTest, SaysWhatTheAnalyticsSay) {
  write_job(40);
  const Json summary = Json::parse(summary_text());
  const Json whole = analytics();
  EXPECT_EQ(summary["summary"], whole["summary"]);
  EXPECT_EQ(summary["pareto"], whole["pareto"]);
  EXPECT_EQ(summary["pareto_left_out"], 0);
  EXPECT_EQ(summary["plan"]["actual"], whole["rungs"]);
  EXPECT_EQ(summary["replicas"]["totals"], whole["replicas"]["totals"]);
  EXPECT_EQ(summary["best"]["trial"]["number"], 1);
  EXPECT_EQ(summary["best"]["model"], "/models/1");
  EXPECT_EQ(summary["best"]["test_value"], 0.25);
  EXPECT_EQ(summary["job"]["best"]["test_value"], 0.25);
  EXPECT_FALSE(whole["trials"][1].contains("test_value")) << "nobody shall choose by it";
  EXPECT_EQ(summary["job"]["waiting"], Json({{"no free worker", 3}}));
  EXPECT_EQ(summary["importance"], Json({{"results", 30}, {"results_needed", 10}}));
}

TEST_F(SummaryTest, TheTestValueIsThatOfTheModelThatTheTrialHasNow) {
  JobRow job = running_job(1, "a");
  TrialRow trial = ended_trial(1, 0, TrialState::completed, 1.0, 9);
  trial.test_value = 0.5;
  const auto shown = [&](const BestRow& best) {
    job.best_anywhere = best;
    store_->commit(std::vector<Write>{job, trial});
    return Json::parse(summary_text())["job"]["best_anywhere"]["test_value"];
  };
  EXPECT_EQ(shown({0, 9, 1.0}), 0.5);
  EXPECT_EQ(shown({0, 3, 2.0}), nullptr) << "it went on from there";
  trial.kept_value = 2.0;
  trial.kept_resource = 2;
  EXPECT_EQ(shown({0, 3, 2.0}), 0.5) << "it kept that one";
  EXPECT_EQ(shown({0, 9, 1.0}), nullptr);
}

TEST_F(SummaryTest, OfReplicasTheNonDominatedAreTheBestOfEachNumberOfThem) {
  std::vector<Write> writes = {running_job(1, "a")};
  for (int number = 0; number < 6; ++number) {
    TrialRow trial = ended_trial(1, number, TrialState::completed, 0.1 * number, 9);
    trial.training_ms = 100 + number;  // the better, the slower: none is dominated
    if (number % 2 == 0) trial.peers = {WorkerId{"w1"}};
    writes.emplace_back(trial);
  }
  TrialRow alone = ended_trial(1, 6, TrialState::stopped, 0.5, 3);
  alone.peers = {WorkerId{"w1"}, WorkerId{"w2"}};
  writes.emplace_back(alone);
  store_->commit(writes);
  EXPECT_EQ(analytics()["replicas"]["non_dominated_by_training_seconds"], Json({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Json::parse(summary_text())["replicas"]["non_dominated_by_training_seconds"], Json({4, 5}));
}

TEST_F(SummaryTest, SaysHowMuchItLeavesOut) {
  write_job(400);
  const Json summary = Json::parse(summary_text());
  EXPECT_EQ(summary["pareto"].size(), kSummaryParetoMax);
  EXPECT_EQ(summary["pareto_left_out"], 300 - static_cast<int>(kSummaryParetoMax));
  EXPECT_GT(summary["plan"]["front_resource"], 0) << "of several objectives";
  const int brackets = 300 + 1;  // of trials with a result, and the first of the plan, whose only trial failed
  EXPECT_EQ(summary["plan"]["actual_brackets_left_out"], brackets - static_cast<int>(kSummaryBracketsMax));
}

TEST_F(SummaryTest, FailuresComeByClassTheMostFrequentFirstWithTheirFirstTrial) {
  write_job(4 * 7);
  const Json failures = Json::parse(summary_text())["failures"];
  ASSERT_EQ(failures.size(), 3U);
  EXPECT_EQ(failures[0]["exit_class"], "crashed");
  EXPECT_EQ(failures[0]["trials"], 3);
  EXPECT_EQ(failures[0]["example"], 0);
  EXPECT_EQ(failures[0]["message"], "no value of validation-auc");
  EXPECT_EQ(failures[0]["advice"], std::string(advice(ExitClass::crashed)));
  EXPECT_EQ(failures[1]["exit_class"], "no_metric");
  EXPECT_EQ(failures[1]["example"], 4);
}

TEST_F(SummaryTest, SaysWhatWouldFitWhereTrialsRanOutOfMemory) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["trainer"]["type"] = "xgboost";
  spec["search_space"] = {{"max_depth", {{"type", "int"}, {"min", 1}, {"max", 20}}}};
  job.spec_json = spec.dump();
  std::vector<Write> writes = {job};
  for (int number = 0; number < 6; ++number) {
    const bool fits = number == 1 || number == 4;
    TrialRow trial = ended_trial(1, number, fits ? TrialState::stopped : TrialState::failed, std::nullopt, 9);
    trial.configuration = {{"max_depth", std::int64_t{10} + number}};
    trial.objective_resource = fits ? 3 : 0;
    trial.exit_class = number == 5 ? ExitClass::crashed : ExitClass::out_of_memory;
    if (number == 4) trial.configuration = {{"max_depth", std::int64_t{7}}};
    if (fits) trial.exit_class.reset();
    writes.emplace_back(trial);
  }
  store_->commit(writes);
  const std::string always(advice(ExitClass::out_of_memory));
  const std::string first =
      "With the rest as it is, max_depth 7 (trial 4 had it) would fit. What needs as much as trial 3 (max_depth 13) is not tried "
      "again. ";
  Reader reader = Reader::open(path());
  EXPECT_EQ(Json::parse(summary_text())["failures"][0]["advice"], first + always);
  EXPECT_EQ(parsed(reader.trial({kJob, 0}, kNow))["advice"], first + always);
  EXPECT_EQ(parsed(reader.trial({kJob, 3}, kNow))["advice"],
            "With the rest as it is, max_depth 11 (trial 1 had it) would fit. What needs as much is not tried again: trials 2 "
            "and 3 ran out of memory with no more. " +
                always);
  EXPECT_EQ(parsed(reader.trial({kJob, 5}, kNow))["advice"], std::string(advice(ExitClass::crashed)));
}

TEST_F(SummaryTest, TellsThatTheBestTrialsCrowdAtABound) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["search_space"]["eta"] = {{"type", "float"}, {"min", 0.01}, {"max", 0.5}};
  job.spec_json = spec.dump();
  std::vector<Write> writes = {job};
  for (int number = 0; number < 33; ++number) {  // the best eleven are 22 to 32
    TrialRow trial = ended_trial(1, number, TrialState::stopped, number * 0.01, 9);
    trial.configuration["eta"] = number >= 24 ? 0.499 : 0.25;
    writes.emplace_back(trial);
  }
  TrialRow violates = ended_trial(1, 33, TrialState::stopped, 1.0, 9);
  violates.violation = 1;
  writes.emplace_back(violates);
  store_->commit(writes);
  const Json expected = {{{"parameter", "eta"}, {"end", "max"}, {"bound", 0.5}, {"trials", 9}, {"of", 11}}};
  EXPECT_EQ(Json::parse(summary_text())["crowded_bounds"], expected);
}

TEST_F(SummaryTest, OfAJobWithoutAValueHasNoBest) {
  store_->commit(std::vector<Write>{running_job(1, "a")});
  const Json summary = Json::parse(summary_text());
  EXPECT_TRUE(summary["best"].is_null());
  EXPECT_EQ(summary["failures"], Json::array());
  EXPECT_EQ(summary["crowded_bounds"], Json::array());
  Reader reader = Reader::open(path());
  EXPECT_EQ(reader.summary(JobId{2}, {}, {}, kNow).error().code, ErrorCode::not_found);
}

// Of Hyperband's first bracket: nine trials at 1, three at 3, one at 9.
TEST_F(SummaryTest, CountsWhatCameToEachRungByItsVerdictAndWhatFailedOnTheWay) {
  std::vector<Write> writes = {running_job(1, "a")};
  const Verdict verdicts[] = {Verdict::waiting, Verdict::waiting, Verdict::promoted,
                              Verdict::stopped, Verdict::stopped, Verdict::stopped};
  for (int number = 0; number < 6; ++number) {
    writes.emplace_back(ended_trial(1, number, TrialState::stopped, 0.5, 1));
    writes.emplace_back(decision(1, number, 0, 0.5, verdicts[number], number));
  }
  TrialRow failed = ended_trial(1, 6, TrialState::failed, std::nullopt, 1);
  failed.rung = 1;
  writes.emplace_back(failed);
  writes.emplace_back(decision(1, 2, 1, 0.5, Verdict::promoted, 7));
  writes.emplace_back(decision(1, 2, 2, 0.5, Verdict::completed, 8));
  store_->commit(writes);
  const Json rungs = Json::parse(summary_text())["plan"]["actual"];
  const auto expect = [&](std::size_t at, const char* counts) { EXPECT_EQ(rungs[at], Json::parse(counts)); };
  expect(0, R"({"bracket": 0, "rung": 0, "resource": 1, "planned": 9, "reached": 6, "promoted": 1, "stopped": 3, "waiting": 2,
                "failed": 0})");
  expect(1, R"({"bracket": 0, "rung": 1, "resource": 3, "planned": 3, "reached": 1, "promoted": 1, "stopped": 0, "waiting": 0,
                "failed": 1})");
  expect(2, R"({"bracket": 0, "rung": 2, "resource": 9, "planned": 1, "reached": 1, "promoted": 0, "stopped": 0, "waiting": 0,
                "failed": 0})");
  EXPECT_EQ(rungs[3]["bracket"], 1);
  EXPECT_EQ(rungs[3]["resource"], 3);
  EXPECT_EQ(rungs[3]["reached"], 0);
}

// Brackets of one rung for two trials: full and decided, or with one that waits, or not begun.
RungCounts rung(int promoted, int waiting) {
  RungCounts counts;
  counts.planned = 2;
  counts.promoted = promoted;
  counts.waiting = waiting;
  return counts;
}

TEST(KeepBrackets, ThoseThatAreDoneGoFirstThenTheLastOnes) {
  CountsOfRungs rungs{
      {{0, 0}, rung(2, 0)}, {{1, 0}, rung(2, 0)}, {{2, 0}, rung(1, 1)}, {{3, 0}, rung(0, 0)}, {{4, 0}, rung(0, 0)}};
  EXPECT_EQ(keep_brackets(rungs, {2}, 5), 0);
  EXPECT_EQ(keep_brackets(rungs, {2}, 4), 1);
  EXPECT_THAT(rungs, ElementsAre(Key(std::pair(1, 0)), Key(std::pair(2, 0)), Key(std::pair(3, 0)), Key(std::pair(4, 0))));
  EXPECT_EQ(keep_brackets(rungs, {2}, 2), 2);
  EXPECT_THAT(rungs, ElementsAre(Key(std::pair(2, 0)), Key(std::pair(3, 0))));
}

TEST(KeepBrackets, ABracketIsDoneWithItsFailuresAndNeverWhereNobodyKnowsHowManyCome) {
  CountsOfRungs with_failure{{{0, 0}, rung(1, 0)}, {{1, 0}, rung(0, 0)}};
  with_failure[{0, 0}].failed = 1;
  keep_brackets(with_failure, {}, 1);
  EXPECT_THAT(with_failure, ElementsAre(Key(std::pair(1, 0))));
  CountsOfRungs unbounded{{{0, 0}, rung(2, 0)}, {{1, 0}, rung(2, 0)}};
  unbounded[{0, 0}].planned.reset();
  keep_brackets(unbounded, {}, 1);
  EXPECT_THAT(unbounded, ElementsAre(Key(std::pair(0, 0))));
}

TEST(KeepBrackets, ABracketThatLacksTrialsIsDoneWhenNoneOfItsRunsAndALaterOneHasBegun) {
  const CountsOfRungs all{{{0, 0}, rung(1, 0)}, {{1, 0}, rung(1, 0)}, {{2, 0}, rung(0, 0)}};
  CountsOfRungs rungs = all;
  EXPECT_EQ(keep_brackets(rungs, {1}, 2), 1);
  EXPECT_THAT(rungs, ElementsAre(Key(std::pair(1, 0)), Key(std::pair(2, 0))));
  EXPECT_EQ(keep_brackets(rungs = all, {0, 1}, 2), 1);
  EXPECT_THAT(rungs, ElementsAre(Key(std::pair(0, 0)), Key(std::pair(1, 0)))) << "its trial runs";
  EXPECT_EQ(keep_brackets(rungs = all, {}, 1), 2);
  EXPECT_THAT(rungs, ElementsAre(Key(std::pair(1, 0)))) << "the last one that has begun may get more";
}

}  // namespace
}  // namespace tuneband::testing
