// The rungs of an asynchronous policy with all their results, and what is under way: what its parts read and what they rule on.
//
// Here a rung's index counts from the lowest one of the ladder; a trial of bracket b starts at index b, where its rows count from
// 0.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/policies/policy.hpp"
#include "scheduler/policies/rung.hpp"

namespace tuneband {

class Rungs {
 public:
  Rungs(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max);

  const std::vector<Rung>& all() const { return rungs_; }
  Rung& at(int index) { return rungs_[static_cast<std::size_t>(index)]; }
  const Rung& at(int index) const { return rungs_[static_cast<std::size_t>(index)]; }
  int top() const { return static_cast<int>(rungs_.size()) - 1; }
  int eta() const { return eta_; }
  bool restarts() const { return restarts_; }  // each rung is a training of its own, from nothing
  std::vector<std::int64_t> levels() const;

  std::optional<int> trials_max() const { return trials_max_; }
  int started() const { return started_; }                  // trials
  bool all_have_come() const { return come_ == started_; }  // to the first rung that each heads for
  bool may_start() const { return !trials_max_ || started_ < *trials_max_; }
  void start_no_more() { trials_max_ = started_; }
  int under_way() const { return under_way_; }  // segments that were begun and have not arrived

  void begin_trial(int bracket);  // the next one, and its first segment
  int give_back_trial();          // the last one that was begun never was; its bracket
  void begin_segment() { ++under_way_; }
  Standing add(int index, const Arrival& arrival);  // the end of a segment

  // The decision on a trial that waits at rung `index`.
  void settle(int index, const Standing& standing, Verdict verdict, int keep, std::string rule, std::vector<Decision>& decisions);
  Work work_of(int trial, int index) const;

 private:
  int bracket_of(int trial) const;

  int eta_;
  bool restarts_;
  std::vector<Rung> rungs_;
  std::optional<int> trials_max_;
  int started_ = 0;
  int under_way_ = 0;
  int come_ = 0;                           // trials with a result
  std::vector<bool> has_come_;             // by trial
  std::unordered_map<int, int> brackets_;  // by trial; bracket 0 left out
};

}  // namespace tuneband
