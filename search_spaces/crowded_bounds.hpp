// Where the best configurations crowd at an end of a parameter's range: the best ones may lie beyond it.
#pragma once

#include <string>
#include <vector>

#include "search_spaces/search_space.hpp"

namespace tuneband {

struct CrowdedBound {
  std::string parameter;
  bool at_max = false;
  Value bound;     // the end of the domain
  int trials = 0;  // of the best ones, within kCrowdedShare of the scale of it
  int of = 0;      // that have the parameter
};

inline constexpr double kCrowdedShare = 0.02;
inline constexpr int kCrowdedBestMin = 10;  // fewer say nothing
inline constexpr int kCrowdedBestMax = 30;

// How many of `measured` trials count as the best: a third, at most kCrowdedBestMax.
int crowd_size(std::int64_t measured);

// Of the best configurations of a job: the ends of numbers' ranges near which more than half of those that have the parameter
// lie, in the order of the space. An end that is 0 as a minimum or 1 as a maximum is taken to be the end of what makes sense (a
// share, a penalty), and whole numbers of fewer than five values have no near.
std::vector<CrowdedBound> crowded_bounds(const SearchSpace& space, const std::vector<Configuration>& best);

}  // namespace tuneband
