// The processes that train one trial together, as one of them sees the others.
//
// What all of them do at the same point they do in step. A fault that one rank finds by itself is told to the others by agree(),
// so that nobody waits for it in vain; a fault in the middle of a common step cannot be told any more: out_of_step().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// Error::code of what fails because another rank is gone, or cannot be reached.
inline constexpr ErrorCode kGroupBroke = ErrorCode::conflict;

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  bool alone() const { return world_size() == 1; }
  bool first() const { return rank() == 0; }

  // In step: the largest of all ranks' values, place by place. Errors: kGroupBroke.
  virtual Result<std::vector<std::uint64_t>> allreduce_max(std::vector<std::uint64_t> values) = 0;
  // In step: gives every rank what rank 0 gave. Errors: kGroupBroke.
  virtual Result<std::string> broadcast(std::string bytes) = 0;
  // The others may be waiting for this rank: they are let go, and the group is of no use any more.
  virtual void out_of_step() = 0;
};

// A trial on one worker.
class SoleRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int world_size() const override { return 1; }
  Result<std::vector<std::uint64_t>> allreduce_max(std::vector<std::uint64_t> values) override { return values; }
  Result<std::string> broadcast(std::string bytes) override { return bytes; }
  void out_of_step() override {}
};

struct Agreement {
  std::optional<SegmentResult> end;  // of this rank's segment: its own fault, another rank's, or the group's
  bool stop = false;                 // some rank was asked to stop
};

// In step, between two parts of a segment: how this rank goes on when it has `fault`, and was asked to stop or not.
Agreement agree(Communicator& communicator, const std::optional<SegmentResult>& fault, bool stop = false);

// In step: whether `value` is the same at every rank. Errors: kGroupBroke.
Result<bool> is_the_same(Communicator& communicator, std::uint64_t value);

// Of a failed common step.
SegmentResult group_broke(Communicator& communicator, const Error& error);

}  // namespace tuneband::workers
