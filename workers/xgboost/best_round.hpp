// The best round of a training so far, where it is kept (`keep: best`). Every rank has the same: all measure the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/metrics.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

// Of a checkpoint, where the best round is kept: which it is.
inline constexpr const char* kBestAttribute = "tuneband_best";

class BestRound {
 public:
  // The first of the best values stays; what is no finite number is no value.
  void take(std::int64_t round, const Metrics& metrics, const protocol::AssignmentOrder& order);

  explicit operator bool() const { return best_.has_value(); }
  const std::optional<protocol::Observation>& observation() const { return best_; }
  std::int64_t round() const { return best_->resource; }
  // Of the order's objective.
  double value(const protocol::AssignmentOrder& order) const;
  // Whether there is one, and it is better than what a lower rung had.
  bool betters_lower_rungs(const protocol::AssignmentOrder& order) const;

  // {"resource": 7, "metrics": {"validation-auc": 0.79}}; "": there is none.
  std::string text() const;
  // As text() gives it; of anything else, none.
  static BestRound from_text(const std::string& text);

 private:
  std::optional<protocol::Observation> best_;
};

}  // namespace tuneband::workers
