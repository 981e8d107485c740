#include "scheduler/median_stopping.hpp"

#include <algorithm>

namespace tuneband {

MedianStopping::MedianStopping(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : AshaStopping(spec, goal, trials_max), goal_(goal) {
  for (int index = 0; index <= top(); ++index) averages_.emplace_back(rung(index).level(), 0, Goal::minimize);
}

void MedianStopping::learned(int index, const Standing& standing) {
  if (standing.tier != Standing::finite) return;
  Course& course = courses_[standing.trial];
  course.best = course.values == 0 ? standing.cost : std::min(course.best, standing.cost);
  course.sum += standing.cost;
  ++course.values;
  averages_[static_cast<std::size_t>(index)].add_settled({standing.trial, 0, index, course.average(), 0, {}});
}

void MedianStopping::arrived_below_top(int index, const Standing& standing, std::vector<Ruling>& rulings) {
  const Rung& averages = averages_[static_cast<std::size_t>(index)];
  const Course& course = courses_.at(standing.trial);
  const int others = averages.filled() - 1;
  if (others < kMedianStoppingOthersMin) {
    settle(index, standing, Verdict::promoted, 0,
           "fewer than " + std::to_string(kMedianStoppingOthersMin) + " other trials to compare with: the first ones go on",
           rulings);
    goes_on(index, standing.trial);
    return;
  }
  // The others' averages are in order; its own one is left out.
  const Standing own{Standing::finite, 0, course.average(), standing.trial};
  const auto other = [&](int i) { return averages.at(i + 1 < averages.rank(own) ? i : i + 1).cost; };
  const double median = (other((others - 1) / 2) + other(others / 2)) / 2;
  const bool stays = course.best <= median;
  const std::string rule = std::string("its best value so far is ") + (stays ? "not worse" : "worse") +
                           " than the median of the others' averages up to here";
  if (stays) {
    settle(index, standing, Verdict::promoted, 0, rule, rulings);
    goes_on(index, standing.trial);
  } else {
    lose(index, standing, 0, rule, rulings);
  }
  const bool decided = !rulings.empty() && rulings.back().trial == standing.trial;
  if (decided) rulings.back().cutoff = value_of({Standing::finite, 0, median, 0}, goal_);
}

}  // namespace tuneband
