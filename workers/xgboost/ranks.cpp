#include "workers/xgboost/ranks.hpp"

namespace tuneband::workers {

SegmentResult group_broke(Ranks& ranks, const Error& error) {
  ranks.out_of_step();
  return {kExitWorkerLost, "the group of " + std::to_string(ranks.world_size()) + " workers broke: " + error.message};
}

Agreement agree(Ranks& ranks, const std::optional<SegmentResult>& fault, bool stop) {
  const auto agreed = ranks.largest({fault ? 1U : 0U, stop ? 1U : 0U});
  if (fault) return {fault, false};
  if (!agreed) return {group_broke(ranks, agreed.error()), false};
  if ((*agreed)[0] != 0) return {SegmentResult{kExitStopped, "another rank of the group failed"}, false};
  return {std::nullopt, (*agreed)[1] != 0};
}

}  // namespace tuneband::workers
