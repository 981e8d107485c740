// A job's best results, JobRow::best and best_anywhere, as they follow from its decisions.
#pragma once

#include <vector>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// Of `row`, which it changes. What it is given has to outlive it.
class Bests {
 public:
  Bests(const JobSpec& spec, const std::vector<DecisionRow>& decisions, JobRow& row)
      : spec_(spec), decisions_(decisions), row_(row) {}

  // One of the decisions, which has a value. True: it is better than everything before it.
  bool take(const DecisionRow& result);

 private:
  void forget_those_of(int trial);
  bool better_of_equals(const DecisionRow& result, const BestRow& best) const;

  const JobSpec& spec_;
  const std::vector<DecisionRow>& decisions_;
  JobRow& row_;
};

}  // namespace tuneband
