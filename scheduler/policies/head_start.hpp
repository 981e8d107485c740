// Where new trials start that know nothing of others (`first_resource`): of several workers' first trials each is begun before
// another has a result, and the shorter they are, the sooner the sampler has something to learn from. So while others are under
// way and no result is known of the rung above the first, new trials start at the first one, but no more than 1 in kShareOf of
// the job's; from then on, or where one trial is trained at a time, they start above it, for it says less.
#pragma once

#include "scheduler/policies/rungs.hpp"

namespace tuneband {

class HeadStart {
 public:
  static constexpr int kShareOf = 3;

  static bool in(const SchedulerSpec& spec) { return spec.first_resource > 0; }

  // Of the next new trial.
  int rung(const Rungs& rungs) const {
    const bool enough = rungs.trials_max() && rungs.started() >= *rungs.trials_max() / kShareOf;
    return over_ || enough || rungs.under_way() == 0 ? 1 : 0;
  }
  void learned(int index, const Standing& standing) { over_ = over_ || (index > 0 && standing.tier == Standing::finite); }

 private:
  bool over_ = false;
};

}  // namespace tuneband
