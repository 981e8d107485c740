// A trial of boosted trees whose best round came early at its rung goes on with a smaller learning rate: the same total shrinkage
// in as many rounds as there are (search_spaces/shrinkage.hpp). Each rung is a training of its own, so it costs nothing.
#pragma once

#include <optional>
#include <string>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

class FinerSteps {
 public:
  // Nothing: the trials of the job keep their learning rate.
  static std::optional<FinerSteps> of(const JobSpec& spec);

  struct Change {
    Configuration configuration;
    std::string why;  // a sentence without its full stop
  };
  // Of one that goes on from the rung that it stands at. Nothing: as it is.
  std::optional<Change> of_trial(const TrialRow& trial) const;

 private:
  FinerSteps(std::string parameter, double least, const TreesTrainer& trees)
      : parameter_(std::move(parameter)), least_(least), trees_(trees) {}

  std::string parameter_;  // the learning rate, by its name in the search space
  double least_;           // in the search space
  TreesTrainer trees_;
};

}  // namespace tuneband
