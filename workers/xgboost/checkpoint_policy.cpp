#include "workers/xgboost/checkpoint_policy.hpp"

namespace tuneband::workers {

namespace {

constexpr auto kTrainedAgainSoon = std::chrono::seconds(1);

}  // namespace

CheckpointPolicy::CheckpointPolicy(const protocol::AssignmentOrder& order, std::chrono::milliseconds interval,
                                   std::int64_t resource, std::optional<Time> from_nothing_at, Time now)
    : until_resource_(order.until_resource),
      max_resource_(order.max_resource),
      interval_(interval),
      from_nothing_at_(from_nothing_at),
      stored_resource_(resource == order.from_resource ? order.from_resource : 0),
      stored_at_(now) {}

// To wait for the disk takes longer than a round on a small table does. A power failure may cost what is trained again in a
// moment, but no more than that, and no model that is a result.
Flush CheckpointPolicy::flush(std::int64_t resource, Time now) const {
  const bool result = resource == max_resource_;
  const bool soon_done_again = from_nothing_at_ && now - *from_nothing_at_ < kTrainedAgainSoon;
  return !result && soon_done_again ? Flush::no : Flush::yes;
}

void CheckpointPolicy::stored(std::int64_t resource, Time now) {
  stored_resource_ = resource;
  stored_at_ = now;
}

}  // namespace tuneband::workers
