#include "scheduler/policies/promoted_queue.hpp"

#include <algorithm>

namespace tuneband {

PromotedQueue::Waiting::const_iterator PromotedQueue::find(int trial) const {
  return std::ranges::find(waiting_, trial, &std::pair<int, int>::second);
}

std::pair<int, int> PromotedQueue::take(std::optional<int> preferred) {
  const auto same = preferred ? find(*preferred) : waiting_.end();
  const auto chosen = same != waiting_.end() ? same : waiting_.begin();
  const auto [index_descending, trial] = *chosen;
  waiting_.erase(chosen);
  return {-index_descending, trial};
}

}  // namespace tuneband
