#include "scheduler/policies/pasha_cap.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tuneband {

namespace {

// Their product may be too small for a number.
bool of_opposite_signs(double a, double b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }

}  // namespace

PashaCap::PashaCap(int rungs) : results_(static_cast<std::size_t>(rungs)) {}

void PashaCap::learned(int index, const Standing& standing) {
  if (standing.tier != Standing::finite) return;
  Results& here = results_[static_cast<std::size_t>(index)];
  here[standing.trial] = standing.cost;
  if (index != cap_ || index + 1 == static_cast<int>(results_.size())) return;
  const bool compared = here.size() <= kComparedMax || standing.trial <= std::next(here.begin(), kComparedMax - 1)->first;
  if (compared && orders_disagree()) ++cap_;
}

bool PashaCap::orders_disagree() const {
  const Results& above = results_[static_cast<std::size_t>(cap_)];
  const Results& below = results_[static_cast<std::size_t>(cap_) - 1];
  std::vector<int> trials;
  for (const auto& [trial, cost] : above) {
    if (trials.size() < kComparedMax && below.contains(trial)) trials.push_back(trial);
  }
  const double tie = epsilon(trials);
  for (auto one = trials.begin(); one != trials.end(); ++one) {
    for (auto other = trials.begin(); other != one; ++other) {
      const double difference_below = below.at(*one) - below.at(*other);
      const double difference_above = above.at(*one) - above.at(*other);
      if (std::abs(difference_below) > tie && of_opposite_signs(difference_below, difference_above)) return true;
    }
  }
  return false;
}

double PashaCap::epsilon(const std::vector<int>& trials) const {
  if (cap_ < 2) return 0;  // between two rungs nothing changes places twice
  const Results& above = results_[static_cast<std::size_t>(cap_)];
  std::vector<double> distances;
  for (auto one = trials.begin(); one != trials.end(); ++one) {
    for (auto other = trials.begin(); other != one; ++other) {
      if (criss_cross(*one, *other)) distances.push_back(std::abs(above.at(*one) - above.at(*other)));
    }
  }
  if (distances.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>((distances.size() - 1) * 9 / 10);
  std::nth_element(distances.begin(), distances.begin() + at, distances.end());
  return distances[static_cast<std::size_t>(at)];
}

// Changed places twice or more over the rungs up to the cap.
bool PashaCap::criss_cross(int a, int b) const {
  int changes = 0;
  double last = 0;
  for (int index = 0; index <= cap_; ++index) {
    const Results& here = results_[static_cast<std::size_t>(index)];
    const auto its = here.find(a);
    const auto other = here.find(b);
    if (its == here.end() || other == here.end()) continue;
    const double difference = its->second - other->second;
    if (of_opposite_signs(difference, last)) ++changes;
    if (difference != 0) last = difference;
  }
  return changes >= 2;
}

}  // namespace tuneband
