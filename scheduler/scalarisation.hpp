// What a sampler sees of several objectives: one cost, the augmented Chebyshev scalarisation of ParEGO (Knowles, IEEE
// Transactions on Evolutionary Computation 10 (2006), formula 2), max_i(w_i z_i) + 0.05 sum_i(w_i z_i). z_i is the objective's
// cost less its median, in units of the distance between its quartiles. The weights are random and so steer towards another part
// of the front each time: they and the scale are taken anew when the results have grown by a quarter. All this follows from the
// job's seed and its decisions in their order.
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
    double middle = 0;
    double spread = 1;
    double weight = 1;
  };

  // As many decisions as the scale is taken from: 0, 4, 8, 12, 16, 20, 25, 31...
  static std::size_t era_of(std::size_t decisions);

  std::size_t era_;
  std::vector<Axis> axes_;
};

}  // namespace tuneband
