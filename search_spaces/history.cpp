#include "search_spaces/history.hpp"

#include <algorithm>

namespace tuneband {

void History::add_trial(Configuration configuration) { trials_.push_back({std::move(configuration), {}, true, false}); }

void History::add_result(int trial, std::int64_t resource, double cost) {
  const auto above = std::upper_bound(levels_.begin(), levels_.end(), resource);
  const Result result{trial, std::max(0, static_cast<int>(above - levels_.begin()) - 1), cost};
  trials_[static_cast<std::size_t>(trial)].results.push_back(result);
  results_.push_back(result);
}

void History::end_trial(int trial, bool failed) {
  Trial& its = trials_[static_cast<std::size_t>(trial)];
  its.open = false;
  its.failed = failed;
}

}  // namespace tuneband
