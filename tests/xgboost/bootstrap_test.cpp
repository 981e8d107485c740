// The standard error of a value on the rows to validate on.
#include "workers/xgboost/bootstrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/job_spec.hpp"
#include "tests/xgboost/group_fixture.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;

constexpr double kOfTwentyDraws = 0.4;  // how far they may be from the truth, as a share; two standard deviations and a half

// Labels 0 and 1, of which a model that says 0.5 everywhere knows nothing.
class Bootstrap : public testing::Test {
 protected:
  static Table table(std::size_t rows) {
    Table table;
    table.columns = 1;
    for (std::size_t row = 0; row < rows; ++row) {
      table.values.push_back(1);
      table.labels.push_back(row % 4 == 0 ? 1.0F : 0.0F);
    }
    return table;
  }

  // Of a model that says `base_score` everywhere.
  static std::optional<double> error(const Table& rows, const std::string& metric, const std::string& objective) {
    const auto matrix = XgboostMatrix::create(rows);
    auto model = XgboostBooster::create(*matrix, {},
                                        {{"base_score", "0.5"}, {"eta", "0"}, {"eval_metric", metric}, {"objective", objective}});
    EXPECT_TRUE(model->train_round(0));
    const auto before = model->evaluate(0, {{"validation", &*matrix}});
    const std::vector<float> weights(matrix->weights().begin(), matrix->weights().end());
    const auto error = bootstrap_error(*model, 0, {"validation", &*matrix}, "validation-" + metric);
    EXPECT_TRUE(error) << describe(error.error());
    EXPECT_THAT(matrix->weights(), testing::ElementsAreArray(weights)) << "the rows weigh what they did";
    const auto after = model->evaluate(0, {{"validation", &*matrix}});
    if (!std::isnan(before->front().second)) {
      EXPECT_EQ(*after, *before);
    }
    return *error;
  }
};

// Of a mean over n rows the deviation by the root of n.
TEST_F(Bootstrap, OfAMeanIsTheDeviationByTheRootOfTheRows) {
  Table rows = table(400);
  const auto of_400 = error(rows, "error@0.4", "binary:logistic");
  ASSERT_TRUE(of_400);
  const double truth = std::sqrt(0.25 * 0.75 / 400);
  EXPECT_NEAR(*of_400, truth, kOfTwentyDraws * truth);
  const auto of_6400 = error(table(6400), "error@0.4", "binary:logistic");
  EXPECT_NEAR(*of_6400, truth / 4, kOfTwentyDraws * truth / 4);
}

// Three quarters of the rows count for nothing, so the others alone are drawn from: of 200 rows half are wrong.
TEST_F(Bootstrap, GoesByTheRowsOwnWeights) {
  Table rows = table(800);
  for (std::size_t row = 0; row < 800; ++row) rows.weights.push_back(row % 4 < 2 && row % 8 < 4 ? 1 : 0);
  const double truth = std::sqrt(0.5 * 0.5 / 200);
  EXPECT_NEAR(error(rows, "error@0.4", "binary:logistic").value(), truth, kOfTwentyDraws * truth);
}

TEST_F(Bootstrap, IsNotToldWhereNoDrawDiffers) {
  Table rows = table(100);
  rows.labels.assign(100, 0);
  EXPECT_FALSE(error(rows, "error@0.6", "binary:logistic")) << "all are right";
  EXPECT_FALSE(error(table(1), "error@0.6", "binary:logistic")) << "one row is drawn each time";
}

// XGBoost 1.7 counts each query alike, whatever it weighs.
TEST_F(Bootstrap, IsNotToldOfARanking) {
  Table rows = table(400);
  rows.query_sizes.assign(100, 4);
  EXPECT_FALSE(error(rows, "ndcg@1", "rank:pairwise"));
}

TEST_F(Bootstrap, IsNotToldWhereDrawsHaveNoValue) {
  Table rows = table(300);
  rows.labels.assign(300, 0);
  EXPECT_FALSE(error(rows, "auc", "binary:logistic")) << "of one class";
}

class ErrorOfATrial : public Bootstrap {
 protected:
  ErrorOfATrial() { data_.write("data.csv", test::made_up_csv(600)); }

  struct Trial : TrialUnderTest {
    Trial(const ErrorOfATrial& test, const std::string& keep, const std::string& metric = "validation-auc")
        : TrialUnderTest({{"type", "xgboost"},
                          {"data", {{"train", test.data_.path("data.csv")}, {"label", "y"}}},
                          {"parameters", {{"objective", "binary:logistic"}}},
                          {"eval_metric", {"auc", "logloss"}},
                          {"eval_train", true},
                          {"keep", keep}},
                         {{"eta", 0.3}}, metric) {
      order().maximize = metric != "validation-logloss";
      order().max_resource = kRounds;
    }
  };
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }
  static std::optional<double> error_in(const Metrics& metrics, const std::string& metric = "validation-auc") {
    return find_metric(metrics, metric + kStandardErrorEnding);
  }

  static constexpr std::int64_t kRounds = 8;
  test::TemporaryDir data_;
};

TEST_F(ErrorOfATrial, IsToldBesideTheBestRoundAlone) {
  for (const std::string metric : {"validation-auc", "validation-logloss"}) {
    Trial one(*this, "best", metric);
    const auto outcome = one.run(*worker(), 0, kRounds);
    ASSERT_TRUE(outcome.result.kept) << outcome.result.message;
    const auto error = error_in(outcome.result.kept->metrics, metric);
    ASSERT_TRUE(error);
    EXPECT_GT(*error, 0.001);  // of some 120 rows
    EXPECT_LT(*error, 0.1);
    for (const auto& [round, metrics] : outcome.reporter.observations) EXPECT_FALSE(error_in(metrics, metric)) << round;
    EXPECT_EQ(outcome.result.kept->metrics.size(), outcome.reporter.observations.begin()->second.size() + 1);
  }
}

TEST_F(ErrorOfATrial, OfTheLastRoundIsToldAtMaxResourceAlone) {
  Trial one(*this, "last");
  const auto outcome = one.run(*worker(), 0, kRounds);
  for (const auto& [round, metrics] : outcome.reporter.observations)
    EXPECT_EQ(error_in(metrics).has_value(), round == kRounds) << round;
  one.order().max_resource = kRounds + 1;
  EXPECT_FALSE(error_in(one.run(*worker(), 0, kRounds).reporter.observations.at(kRounds)));
}

TEST_F(ErrorOfATrial, IsMeasuredOnlyWhereTheValueWouldBeTheJobsBest) {
  for (const std::string keep : {"best", "last"}) {
    Trial one(*this, keep);
    const auto told = [&](std::optional<double> best) {
      one.order().best_value = best;
      const auto outcome = one.run(*worker(), 0, kRounds);
      return error_in(keep == "best" ? outcome.result.kept->metrics : outcome.reporter.observations.at(kRounds)).has_value();
    };
    EXPECT_TRUE(told(std::nullopt));
    EXPECT_TRUE(told(0.1));
    EXPECT_FALSE(told(1.0));
  }
}

TEST_F(ErrorOfATrial, IsOfRowsToValidateOnAlone) {
  for (const std::string keep : {"best", "last"}) {
    Trial one(*this, keep, "train-auc");
    const auto outcome = one.run(*worker(), 0, kRounds);
    EXPECT_FALSE(
        error_in(keep == "best" ? outcome.result.kept->metrics : outcome.reporter.observations.at(kRounds), "train-auc"));
  }
}

TEST_F(ErrorOfATrial, ChangesNothingOfWhatIsTrained) {
  Trial with(*this, "best");
  Trial without(*this, "best");
  without.order().best_value = 1.0;
  // Two segments of one training, of which the first ends with its error.
  const auto one = worker();
  const auto other = worker();
  with.run(*one, 0, 4);
  without.run(*other, 0, 4);
  const auto rest = with.run(*one, 4, kRounds);
  EXPECT_EQ(rest.reporter.observations, without.run(*other, 4, kRounds).reporter.observations);
  EXPECT_TRUE(with.model() == without.model());
}

TEST_F(ErrorOfATrial, OfAGroupIsThatOfOneWorkerAlsoWhereOneRankWasToldOfABetterTrial) {
  test::TrackerThread tracker;
  for (const std::string keep : {"best", "last"}) {
    Trial together(*this, keep);
    test::GroupUnderTest group(tracker, 2);
    group.let_one(1, [](protocol::AssignmentOrder& order, test::KeepingReporter&) { order.best_value = 1.0; });
    const auto outcomes = group.run(together, 0, kRounds);
    ASSERT_EQ(outcomes[0].result.exit, kExitCompleted) << outcomes[0].result.message;
    EXPECT_EQ(outcomes[1].result.exit, kExitCompleted) << outcomes[1].result.message;
    const auto error =
        error_in(keep == "best" ? outcomes[0].result.kept->metrics : outcomes[0].reporter.observations.at(kRounds));
    ASSERT_TRUE(error);
    EXPECT_GT(*error, 0.001);
    EXPECT_LT(*error, 0.1);
  }
}

}  // namespace
}  // namespace tuneband::workers
