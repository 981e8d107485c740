#include "workers/xgboost/communicator.hpp"

namespace tuneband::workers {

SegmentResult group_broke(Communicator& communicator, const Error& error) {
  communicator.out_of_step();
  return {kExitWorkerLost, "the group of " + std::to_string(communicator.world_size()) + " workers broke: " + error.message};
}

Agreement agree(Communicator& communicator, const std::optional<SegmentResult>& fault, bool stop) {
  const auto agreed = communicator.allreduce_max({fault ? 1U : 0U, stop ? 1U : 0U});
  if (fault) return {fault, false};
  if (!agreed) return {group_broke(communicator, agreed.error()), false};
  if ((*agreed)[0] != 0) return {SegmentResult{kExitStopped, "another rank of the group failed"}, false};
  return {std::nullopt, (*agreed)[1] != 0};
}

// The largest of all, and the least.
Result<bool> is_the_same(Communicator& communicator, std::uint64_t value) {
  const auto seen = communicator.allreduce_max({value, ~value});
  if (!seen) return seen.error();
  return (*seen)[0] == ~(*seen)[1];
}

}  // namespace tuneband::workers
