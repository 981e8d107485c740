// Of the new trials of `auto` a few are trained until max_resource whatever the rungs say, every other one of them with a
// configuration drawn at random: rungs may mislead, and a model that learns from them is misled too. The share of the resource
// that these trials get follows from the results at max_resource: how often one that the rungs let through is better than one
// that they were not asked about.
//
//   p = (pairs won by the one let through, a tie is half of one, + kPriorWon * kPriorPairs) / (pairs + kPriorPairs)
//   (of several objectives without the pairs of which neither is the better)
//   share = 1 - p, within kShareMin and kShareMax
//
// It is of what the others have brought to their rungs, for each result a step from the rung below: what skips rungs counts as
// its last step. In full, and once it is begun, was no better on recorded curves.
//
// So a job is not worse than random search with kShareMin / 2 of its resource, and where the rungs mislead not much worse than
// one without rungs.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/policies/model_share.hpp"
#include "scheduler/policies/rungs.hpp"

namespace tuneband {

// Who has the rungs audited, or a model beside them, is not sure of them.
inline bool has_uncut_trials(const SchedulerSpec& spec) {
  return spec.type == SchedulerType::automatic && (spec.rung_audit || ModelShare::in(spec));
}

class UncutShare {
 public:
  static constexpr double kPriorWon = 0.85;
  static constexpr double kPriorPairs = 4;
  static constexpr double kShareMin = 0.1;
  static constexpr double kShareMax = 0.75;
  static constexpr std::size_t kTrialsKnownMax = 300;  // of either kind: what is known does not change any more then

  explicit UncutShare(const Rungs& rungs);

  // Of an uncut trial, which heads for max_resource at once. A ladder of one rung has none.
  int bracket() const { return top_; }
  // Whether the next new trial is to be one.
  bool due(const Rungs& rungs) const;
  bool at_random() const { return started_ % 2 == 0; }  // the next one
  void started(int bracket) { started_ += bracket == top_ ? 1 : 0; }
  void given_back(int bracket) { started_ -= bracket == top_ ? 1 : 0; }  // that start never was
  // A result at max_resource.
  void learned(const Worth& worth, int bracket);
  double share() const;
  // How many of them are begun as long as nothing is known, when the others spend so much.
  static std::int64_t expected(std::int64_t spent_by_others, std::int64_t max_resource);

 private:
  int top_;
  std::vector<double> costs_;  // by rung: of a trial that comes to it from the one below
  int started_ = 0;
  int arrived_ = 0;
  std::vector<Worth> let_through_;
  std::vector<Worth> uncut_;
  double pairs_won_ = 0;
  int pairs_ = 0;
};

}  // namespace tuneband
