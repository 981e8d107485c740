// When a segment stores a checkpoint, and whether it waits for the disk. The time is told, not asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "workers/protocol/sync.hpp"
#include "workers/xgboost/model_files.hpp"

namespace tuneband::workers {

class CheckpointPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The segment begins at `now` with `resource` rounds. `from_nothing_at`: when the training began with nothing; nothing: it went
  // on from a stored model.
  CheckpointPolicy(const protocol::AssignmentOrder& order, std::chrono::milliseconds interval, std::int64_t resource,
                   std::optional<Time> from_nothing_at, Time now);

  // Whether the server has none of so many rounds that it can give to another worker.
  bool is_new(std::int64_t resource) const { return resource != stored_resource_; }
  // Between two rounds, on the way.
  bool is_due(std::int64_t resource, Time now) const { return resource < until_resource_ && now - stored_at_ >= interval_; }
  Flush flush(std::int64_t resource, Time now) const;
  void stored(std::int64_t resource, Time now);

 private:
  const std::int64_t until_resource_;
  const std::int64_t max_resource_;
  const std::chrono::milliseconds interval_;
  const std::optional<Time> from_nothing_at_;
  std::int64_t stored_resource_;
  Time stored_at_;
};

}  // namespace tuneband::workers
