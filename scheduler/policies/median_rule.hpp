// The median rule (Golovin et al., "Google Vizier", KDD 2017, section 3.2): at each of a few resources a trial is stopped when
// its best value so far is worse than the median of the other trials' running averages there. A running average is the mean of a
// trial's values at the resources up to this one. For jobs without rungs in mind: there is no eta, and the resources are a plain
// grid.
#pragma once

#include <unordered_map>

#include "scheduler/policies/stopping_rule.hpp"

namespace tuneband {

inline constexpr int kMedianStoppingOthersMin = 5;  // fewer other trials at a resource: none is stopped there

class MedianRule final : public StoppingRule {
 public:
  MedianRule(const Rungs& rungs, Goal goal);

  void learned(int index, const Standing& standing) override;
  Judgement judge(const Rungs& rungs, int index, const Standing& standing) const override;
  int keep_of(int) const override { return 0; }

 private:
  struct Course {
    int values = 0;
    double average = 0;  // cost
    double best = 0;     // cost
  };

  Goal goal_;
  std::unordered_map<int, Course> courses_;  // by trial
  std::vector<Rung> averages_;               // by rung: the running averages there, as costs
};

}  // namespace tuneband
