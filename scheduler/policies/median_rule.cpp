#include "scheduler/policies/median_rule.hpp"

#include <algorithm>
#include <numeric>

namespace tuneband {

MedianRule::MedianRule(const Rungs& rungs, Goal goal) : goal_(goal) {
  for (int index = 0; index <= rungs.top(); ++index) averages_.emplace_back(rungs.at(index).level(), 0, Goal::minimize);
}

void MedianRule::learned(int index, const Standing& standing) {
  if (standing.tier != Standing::finite) return;
  Course& course = courses_[standing.trial];
  course.best = course.values == 0 ? standing.cost : std::min(course.best, standing.cost);
  ++course.values;
  course.average +=
      standing.cost / course.values - course.average / course.values;  // of equal costs exactly that; never infinite
  averages_[static_cast<std::size_t>(index)].add_settled({.trial = standing.trial, .value = course.average});
}

StoppingRule::Judgement MedianRule::judge(const Rungs&, int index, const Standing& standing) const {
  const Rung& averages = averages_[static_cast<std::size_t>(index)];
  const Course& course = courses_.at(standing.trial);
  const int others = averages.filled() - 1;
  if (others < kMedianStoppingOthersMin) {
    return {true,
            "fewer than " + std::to_string(kMedianStoppingOthersMin) + " other trials to compare with: the first ones go on"};
  }
  // The others' averages are in order; its own one is left out.
  const Standing own{Standing::finite, 0, course.average, standing.trial};
  const auto other = [&](int i) { return averages.at(i + 1 < averages.rank(own) ? i : i + 1).cost; };
  const double median = std::midpoint(other((others - 1) / 2), other(others / 2));
  const bool stays = course.best <= median;
  return {stays,
          std::string("its best value so far is ") + (stays ? "not worse" : "worse") +
              " than the median of the others' averages up to here",
          value_of(median, goal_)};
}

}  // namespace tuneband
