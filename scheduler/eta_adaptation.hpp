// The learning rate of a trial of boosted trees that follows its curve. Where rungs are trainings of their own, of equal total
// shrinkage (search_spaces/shrinkage.hpp), the best round of one says how much in total is of use: a trial whose best round came
// early goes on with smaller steps, one whose curve had not turned yet with larger ones. Each rung begins anew, so it costs
// nothing, and most of the search for a learning rate is read off curves that are there anyway.
#pragma once

#include <optional>
#include <string>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

class EtaAdaptation {
 public:
  // Nothing: the trials of the job keep their learning rate.
  static std::optional<EtaAdaptation> of(const JobSpec& spec);

  // Its parameter in the search space, and with which values new trials begin: with a total shrinkage from 1, of which two thirds
  // are learnt, to the most that a lower rung trains with, beyond which it could not tell them apart. The whole domain where
  // little or nothing of it lies there.
  const std::string& parameter() const { return parameter_; }
  const FloatDomain& of_new_trials() const { return begin_; }
  // What samplers propose of.
  SearchSpace space_of_new_trials(SearchSpace space) const;
  // The nearest that is in that space; as it is where its rate is none of the job's at all.
  Configuration as_of_a_new_trial(Configuration configuration) const;

  struct Change {
    Configuration configuration;
    double eta_before = 0;
    std::string why;  // a sentence without its full stop
  };
  // Of one that goes on from the rung that it stands at. Nothing: as it is.
  std::optional<Change> of_trial(const TrialRow& trial) const;

 private:
  EtaAdaptation(std::string parameter, const FloatDomain& all, const TreesTrainer& trees);

  std::string parameter_;
  FloatDomain all_;
  FloatDomain begin_;
  TreesTrainer trees_;
};

}  // namespace tuneband
