// What a sampler sees of several objectives: one cost, the augmented Chebyshev scalarisation of ParEGO (Knowles, IEEE
// Transactions on Evolutionary Computation 10 (2006), formula 2), max_i(w_i z_i) + 0.05 sum_i(w_i z_i). z_i is the objective's
// cost less its least, in units of the distance between its quartiles. The weights are random and so steer towards another part
// of the front each time: they and the scale are taken anew when the results have grown by a quarter. All this follows from the
// job's seed and its decisions in their order.
//
// For samplers that learn the density of good trials (tpe, bohb) z_i is the cost less its median: whatever the weights, that is
// least in the middle of the front, from where they spread by themselves, while good trials at one of its ends teach them little
// of the others (60 trials, hypervolume on three fronts: tpe 0.65 and from the least 0.60, gp 0.66 and 0.73).
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

class Scalarisation {
 public:
  Scalarisation(const JobSpec& spec, const std::vector<DecisionRow>& decisions);

  // Time for another one.
  bool outdated(const std::vector<DecisionRow>& decisions) const { return era_of(decisions.size()) > era_; }

  // NaN where one of the values is not finite. The decision has a value.
  double cost(const DecisionRow& decision) const;

 private:
  struct Axis {
    bool maximize = false;
    double origin = 0;
    double spread = 1;
    double weight = 1;
  };

  // As many decisions as the scale is taken from: 0, 4, 8, 12, 16, 20, 25, 31...
  static std::size_t era_of(std::size_t decisions);

  std::size_t era_;
  std::vector<Axis> axes_;
};

}  // namespace tuneband
