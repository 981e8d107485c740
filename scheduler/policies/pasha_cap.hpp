// Progressive asynchronous successive halving (PASHA: Bohdal et al., ICLR 2023): no trial goes beyond a cap, first the second
// rung, which rises by one rung whenever the two highest rungs below it disagree about the order of trials. Where early results
// tell the order, little is spent; the best trial alone is trained on to max_resource when all others are done.
//
// Orders are compared softly: two trials whose values at the lower rung are closer than epsilon count as tied. Epsilon is the
// 90th percentile, over the pairs that changed places twice or more on the way up, of the distance of their values at the highest
// rung that both reached: so far values are noise.
#pragma once

#include <map>
#include <vector>

#include "scheduler/policies/rung.hpp"

namespace tuneband {

class PashaCap {
 public:
  // As many trials of the highest rung, the first ones, are compared: an arrival must stay cheap.
  static constexpr std::size_t kComparedMax = 100;

  explicit PashaCap(int rungs);

  int index() const { return cap_; }  // of the highest rung that trials go on to
  // A result was added to rung `index`.
  void learned(int index, const Standing& standing);

 private:
  using Results = std::map<int, double>;  // cost by trial; finite ones

  bool orders_disagree() const;
  double epsilon(const std::vector<int>& trials) const;
  bool criss_cross(int a, int b) const;

  int cap_ = 1;
  std::vector<Results> results_;  // by rung
};

}  // namespace tuneband
