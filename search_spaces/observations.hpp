// Results as targets, for samplers that learn: what was seen where, ranked.
#pragma once

#include <cstddef>
#include <vector>

#include "search_spaces/encoding.hpp"
#include "search_spaces/history.hpp"

namespace tuneband {

// One value: a trial's at a level, or one of an earlier job.
struct Observation {
  const Point* point = nullptr;
  int trial = 0;          // -1: of an earlier job
  double level = 0;       // index over the last index: 1 at max_resource
  double cost = 0;        // NaN and infinite: the worst
  double target = 0;      // the normal score of its cost among all
};

// The first `results` results; when these are all, failed trials too, as the worst at the level that they did not come to.
std::vector<Observation> observations_of(const History& history, const std::vector<Point>& points, std::size_t results);

// A trial by the best that is known of it.
struct RankedTrial {
  const Point* point = nullptr;
  int age = 0;       // its number; of an earlier job negative
  double level = 0;  // the highest one it has a result of
  double cost = 0;   // there
};

// Trials with a result and failed ones: by level, the highest first, then by cost, then by age; costs that are not finite are
// last in their level, failed trials last of all.
std::vector<RankedTrial> ranked_trials(const History& history, const std::vector<Point>& points);

// Of each cost its normal score: Phi^-1((rank - 1/2) / n), equal costs at their mean rank, what is not finite as one worst cost.
std::vector<double> normal_scores(const std::vector<double>& costs);

// The level that new trials start at: that of the first result of the newest trial that has one.
double starting_level(const History& history);
double level_of(const History& history, int index);

}  // namespace tuneband
