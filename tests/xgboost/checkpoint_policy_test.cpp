// When a checkpoint is stored, and whether the disk is waited for.
#include "workers/xgboost/checkpoint_policy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tuneband::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using workers::CheckpointPolicy;
using workers::Flush;

class CheckpointPolicyTest : public testing::Test {
 protected:
  CheckpointPolicyTest() {
    order_.from_resource = 3;
    order_.until_resource = 9;
    order_.max_resource = 27;
  }
  CheckpointPolicy policy(std::int64_t resource, std::optional<CheckpointPolicy::Time> from_nothing_at = {}) const {
    return {order_, seconds(10), resource, from_nothing_at, begin_};
  }

  protocol::AssignmentOrder order_;
  const CheckpointPolicy::Time begin_{std::chrono::hours(1)};
};

TEST_F(CheckpointPolicyTest, OneIsNewUnlessTheServerHasOneOfSoManyRounds) {
  CheckpointPolicy there = policy(3);
  EXPECT_FALSE(there.is_new(3));
  EXPECT_TRUE(there.is_new(4));
  there.stored(4, begin_);
  EXPECT_FALSE(there.is_new(4));
  EXPECT_TRUE(policy(2).is_new(2)) << "of an older checkpoint than the order's";
}

TEST_F(CheckpointPolicyTest, OneIsDueOnTheWayOnceTheIntervalIsOver) {
  CheckpointPolicy on_the_way = policy(3);
  EXPECT_FALSE(on_the_way.is_due(5, begin_ + seconds(9)));
  EXPECT_TRUE(on_the_way.is_due(5, begin_ + seconds(10)));
  EXPECT_FALSE(on_the_way.is_due(9, begin_ + seconds(10))) << "the segment's end stores its own";
  on_the_way.stored(5, begin_ + seconds(10));
  EXPECT_FALSE(on_the_way.is_due(6, begin_ + seconds(19)));
  EXPECT_TRUE(on_the_way.is_due(6, begin_ + seconds(20)));
}

TEST_F(CheckpointPolicyTest, TheDiskIsWaitedForUnlessItIsTrainedAgainInAMoment) {
  const CheckpointPolicy from_nothing = policy(0, begin_ - milliseconds(500));
  EXPECT_EQ(from_nothing.flush(5, begin_), Flush::no);
  EXPECT_EQ(from_nothing.flush(27, begin_), Flush::yes) << "a result";
  EXPECT_EQ(from_nothing.flush(5, begin_ + milliseconds(500)), Flush::yes);
  EXPECT_EQ(policy(3).flush(5, begin_), Flush::yes) << "what was trained before costs more";
}

}  // namespace
}  // namespace tuneband::test
