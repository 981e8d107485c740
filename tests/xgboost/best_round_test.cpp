// `keep: best`: a trial's value is that of its best round, and its model is the training up to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "jobs/trainer_spec.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kRoundsOfBest = 24;

class BestRound : public testing::Test {
 protected:
  BestRound() { data_.write("data.csv", test::made_up_csv(300)); }

  Json trainer(Json parameters = {{"objective", "binary:logistic"}}) const {
    return {{"type", "xgboost"},
            {"data", {{"train", data_.path("data.csv")}, {"label", "y"}}},
            {"parameters", std::move(parameters)},
            {"eval_metric", {"logloss", "auc"}},
            {"keep", "best"}};
  }
  // With so large steps the first rounds are the best.
  TrialUnderTest trial(const std::string& metric = "validation-logloss") const {
    const Json configuration{{"eta", 1}, {"subsample", 0.8}, {"colsample_bylevel", 0.7}, {"min_child_weight", 0}, {"lambda", 0}};
    return {trainer(), configuration, metric};
  }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  static double value_at(const test::TrialOutcome& outcome, std::int64_t round,
                         const std::string& metric = "validation-logloss") {
    for (const auto& [name, value] : outcome.reporter.observations.at(round)) {
      if (name == metric) return value;
    }
    throw std::out_of_range(metric);
  }

  test::TemporaryDir data_;
};

TEST_F(BestRound, IsTheFirstOfTheBestValues) {
  for (const std::string metric : {"validation-logloss", "validation-auc"}) {
    TrialUnderTest one = trial(metric);
    one.order().maximize = metric == "validation-auc";
    one.order().best_value = metric == "validation-auc" ? 1.0 : 0.0;  // nothing is better
    const auto outcome = one.run(*worker(), 0, kRoundsOfBest);
    ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    ASSERT_TRUE(outcome.result.kept);
    const std::int64_t best = outcome.result.kept->resource;
    if (metric == "validation-logloss") {
      EXPECT_LT(best + 1, kRoundsOfBest);  // so that there is something to cut
    }
    const double sign = metric == "validation-auc" ? -1 : 1;
    for (std::int64_t round = 1; round <= kRoundsOfBest; ++round) {
      const double behind = sign * (value_at(outcome, round, metric) - value_at(outcome, best, metric));
      EXPECT_TRUE(round < best ? behind > 0 : behind >= 0) << metric << " round " << round << " of best " << best;
    }
    EXPECT_EQ(outcome.result.kept->metrics, outcome.reporter.observations.at(best));
  }
}

TEST_F(BestRound, HasTheModelOfATrainingOfSoManyRoundsByteForByte) {
  TrialUnderTest longer = trial();
  const auto outcome = longer.run(*worker(), 0, kRoundsOfBest);
  ASSERT_TRUE(outcome.result.kept);
  TrialUnderTest shorter = trial();
  const auto ended = shorter.run(*worker(), 0, outcome.result.kept->resource);
  EXPECT_EQ(ended.result.kept->resource, outcome.result.kept->resource);
  EXPECT_FALSE(longer.model().empty());
  EXPECT_TRUE(longer.model() == shorter.model());
  EXPECT_THAT(longer.model(), HasSubstr("best_iteration"));
  EXPECT_THAT(longer.model(), testing::Not(HasSubstr("tuneband_best")));
}

TEST_F(BestRound, IsRememberedThroughAPause) {
  TrialUnderTest whole = trial();
  TrialUnderTest paused = trial();
  const auto expected = whole.run(*worker(), 0, kRoundsOfBest);
  ASSERT_TRUE(expected.result.kept);
  const std::int64_t pause = expected.result.kept->resource + 1;
  ASSERT_EQ(paused.run(*worker(), 0, pause).result.exit, kExitCompleted);
  const auto rest = paused.run(*worker(), pause, kRoundsOfBest);
  ASSERT_TRUE(rest.result.kept);
  EXPECT_EQ(rest.result.kept->resource, expected.result.kept->resource);
  EXPECT_TRUE(paused.model() == whole.model());
  EXPECT_TRUE(test::read_text(paused.checkpoint(24)) == test::read_text(whole.checkpoint(24)));
}

TEST_F(BestRound, StoresNoModelWhereALowerRungHasABetterOne) {
  TrialUnderTest one = trial();
  one.order().kept_value = 0.0;  // nothing is better
  ASSERT_EQ(one.run(*worker(), 0, kRoundsOfBest).result.exit, kExitCompleted);
  EXPECT_EQ(one.model(), "");
  one.order().kept_value = 1e9;
  ASSERT_EQ(one.run(*worker(), 0, kRoundsOfBest).result.exit, kExitCompleted);
  EXPECT_NE(one.model(), "");
}

TEST_F(BestRound, OfAModelThatCannotBeCutIsRefused) {
  for (const char* booster : {"dart", "gblinear"}) {
    Diagnostics diagnostics;
    const auto spec = parse_trainer(trainer({{"booster", booster}}), "trainer", diagnostics);
    check_trainer(spec, {}, {{"objective.metric", "validation-logloss", false}}, diagnostics);
    ASSERT_THAT(diagnostics.errors(), SizeIs(1)) << booster;
    EXPECT_EQ(diagnostics.errors()[0].path, "trainer.keep");
  }
}

}  // namespace
}  // namespace tuneband::workers
