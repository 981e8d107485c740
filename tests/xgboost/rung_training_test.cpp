// The models that a rung of the trainer xgboost trains.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "jobs/trainer_spec.hpp"
#include "search_spaces/shrinkage.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

class RungTraining : public testing::Test {
 protected:
  RungTraining() { data_.write("data.csv", test::made_up_csv(400)); }

  // max_resource is 27.
  TrialUnderTest trial(const char* fidelity, Json configuration = {{"eta", 0.1}, {"subsample", 0.8}},
                       const Json& more = Json::object()) const {
    Json trainer{{"type", "xgboost"},
                 {"data", {{"train", data_.path("data.csv")}, {"label", "y"}}},
                 {"parameters", {{"objective", "binary:logistic"}}},
                 {"fidelity", fidelity}};
    trainer.update(more);
    return {std::move(trainer), std::move(configuration)};
  }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  test::TemporaryDir data_;
};

TEST_F(RungTraining, IsThatOfTheLargerLearningRate) {
  TrialUnderTest rung = trial("shrinkage");
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.1, 9, 27, kUnlimited)}, {"subsample", 0.8}});
  const auto outcome = rung.run(*worker(), 0, 9);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_EQ(outcome.reporter.observations, plain.run(*worker(), 0, 9).reporter.observations);
  EXPECT_TRUE(rung.model() == plain.model());
}

TEST_F(RungTraining, HasNoMoreShrinkageThanTheJobSays) {
  TrialUnderTest limited = trial("shrinkage", {{"eta", 0.3}}, {{"shrinkage_max", 6}});  // of 27 * 0.357
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.3, 9, 27, 6)}});
  ASSERT_EQ(limited.run(*worker(), 0, 9).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 9);
  EXPECT_TRUE(limited.model() == plain.model());
}

TEST_F(RungTraining, WithADefaultLearningRateIsThatOfALargerOneToo) {
  TrialUnderTest rung = trial("shrinkage", {{"max_depth", 3}});
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.3, 9, 27, kUnlimited)}, {"max_depth", 3}});
  ASSERT_EQ(rung.run(*worker(), 0, 9).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 9);
  EXPECT_TRUE(rung.model() == plain.model());
}

TEST_F(RungTraining, WithADefaultLearningRateIsTheUsersOwnAtTheLastRung) {
  TrialUnderTest last = trial("shrinkage", {{"max_depth", 3}});
  TrialUnderTest plain = trial("prefix", {{"max_depth", 3}});
  ASSERT_EQ(last.run(*worker(), 0, 27).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 27);
  EXPECT_TRUE(last.model() == plain.model());
}

TEST_F(RungTraining, IsTheUsersOwnAtTheLastRungWhateverWasTrainedBelow) {
  TrialUnderTest climbing = trial("shrinkage");
  TrialUnderTest plain = trial("prefix");
  const auto runner = worker();
  for (const std::int64_t until : {3, 9, 27}) ASSERT_EQ(climbing.run(*runner, 0, until).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 27);
  EXPECT_TRUE(climbing.model() == plain.model());
}

TEST_F(RungTraining, GoesOnFromItsOwnCheckpointAfterALoss) {
  TrialUnderTest whole = trial("shrinkage");
  TrialUnderTest lost = trial("shrinkage");
  ASSERT_EQ(whole.run(*worker(), 0, 9).result.exit, kExitCompleted);
  ASSERT_EQ(lost.run(*worker(), 0, 9, 4).result.exit, kExitStopped);
  const auto rest = lost.run(*worker(), 4, 9);
  EXPECT_EQ(rest.reporter.began_at, 4);
  EXPECT_TRUE(lost.model() == whole.model());
}

TEST_F(RungTraining, IsNotGoneOnWithByAWorkerThatHoldsALowerRungs) {
  TrialUnderTest moved = trial("shrinkage");
  TrialUnderTest whole = trial("shrinkage");
  const auto first = worker();
  ASSERT_EQ(moved.run(*first, 0, 3).result.exit, kExitCompleted);      // holds 3 rounds of the rung of 3
  ASSERT_EQ(moved.run(*worker(), 0, 9, 3).result.exit, kExitStopped);  // 3 rounds of the rung of 9 are on disk
  ASSERT_EQ(moved.run(*first, 3, 9).result.exit, kExitCompleted);
  whole.run(*worker(), 0, 9);
  EXPECT_TRUE(moved.model() == whole.model());
}

TEST_F(RungTraining, NeverGoesOnFromTheCheckpointOfALowerRung) {
  TrialUnderTest damaged = trial("shrinkage");
  TrialUnderTest whole = trial("shrinkage");
  ASSERT_EQ(damaged.run(*worker(), 0, 3).result.exit, kExitCompleted);
  ASSERT_EQ(damaged.run(*worker(), 0, 9, 5).result.exit, kExitStopped);
  std::ofstream(damaged.checkpoint(5), std::ios::app) << "x";
  const auto rest = damaged.run(*worker(), 5, 9);
  EXPECT_EQ(rest.reporter.began_at, 0);
  whole.run(*worker(), 0, 9);
  EXPECT_TRUE(damaged.model() == whole.model());
}

TEST_F(RungTraining, OfALinearModelIsRefused) {
  Diagnostics diagnostics;
  const Json trainer{{"type", "xgboost"},
                     {"data", {{"train", "a.csv"}, {"label", "y"}}},
                     {"parameters", {{"booster", "gblinear"}}},
                     {"fidelity", "shrinkage"}};
  const auto spec = parse_trainer(trainer, "trainer", diagnostics);
  check_trainer(spec, {}, {{"objective.metric", "validation-rmse", false}}, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 1U);
  EXPECT_EQ(diagnostics.errors()[0].path, "trainer.fidelity");
}

}  // namespace
}  // namespace tuneband::workers
