// Trials that may go on and have no worker yet: the highest rung first, then the lowest trial number.
#pragma once

#include <optional>
#include <set>
#include <utility>

namespace tuneband {

class PromotedQueue {
 public:
  void add(int index, int trial) { waiting_.insert({-index, trial}); }
  bool empty() const { return waiting_.empty(); }
  int size() const { return static_cast<int>(waiting_.size()); }
  bool contains(int trial) const { return find(trial) != waiting_.end(); }
  // Of the rung that it stands at and the trial; `preferred` when it is among them. Not empty.
  std::pair<int, int> take(std::optional<int> preferred);

 private:
  using Waiting = std::set<std::pair<int, int>>;  // (-rung, trial)

  Waiting::const_iterator find(int trial) const;

  Waiting waiting_;
};

}  // namespace tuneband
