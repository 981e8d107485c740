// Distributed trials: several ranks, each as a worker runs it, with a real tracker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/xgboost/group_fixture.hpp"

namespace tuneband::workers {
namespace {

using test::GroupUnderTest;
using test::TrackerThread;
using test::TrialUnderTest;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

class XgboostGroups : public testing::Test {
 protected:
  Json trainer(const std::string& csv = test::made_up_csv(600)) {
    return {{"type", "xgboost"},
            {"data", {{"train", data_.write("data.csv", csv)}, {"label", "y"}}},
            {"parameters", {{"objective", "binary:logistic"}, {"subsample", 0.8}, {"colsample_bytree", 0.7}}}};
  }

  test::TemporaryDir data_;
  TrackerThread tracker_;
};

TEST_F(XgboostGroups, ThreeRanksTrainOneModel) {
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  const auto outcomes = group.run(trial, 0, 5);
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_EQ(outcomes[0].reporter.observations.size(), 5U);
  EXPECT_TRUE(outcomes[1].reporter.observations.empty());
  EXPECT_NE(trial.model(), "");
}

}  // namespace
}  // namespace tuneband::workers
