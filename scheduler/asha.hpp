// Asynchronous successive halving (ASHA) in both rules, and no early stopping at all, which is its ladder of one rung. The base
// of the other asynchronous policies (delayed.hpp, async_hyperband.hpp, pasha.hpp, median_stopping.hpp).
//
// promotion (Li et al., MLSys 2020, Algorithm 2): a trial pauses at each rung; a free worker takes the best trial that is within
// the top floor(n / eta) of its rung and was not promoted yet, from the highest rung that has one, else it starts a new trial.
// stopping (as in Syne Tune and Ray Tune): a trial that arrives goes on when it is within the top floor(n / eta) of the n results
// of its rung, itself included; while n < eta every finite value goes on.
//
// Here a rung's index counts from the lowest one of the ladder; a trial of bracket b starts at index b, where its rows count from
// 0.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "scheduler/policy.hpp"
#include "scheduler/rung.hpp"

namespace tuneband {

class AshaPolicy : public Policy {
 public:
  AshaPolicy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max);

  void arrive(const Arrival& arrival, std::vector<Ruling>& rulings) override;
  std::optional<Work> take(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_work() const override;
  void start_no_more() override { trials_max_ = started_; }
  void close(std::vector<Ruling>& rulings, std::size_t most) override;
  void recall_trial(const TrialRow& trial) override;
  void recall_decision(const DecisionRow& decision, bool moved_on) override;

 protected:
  // Where a new trial starts.
  struct Place {
    int bracket = 0;
    int rung = 0;  // within the bracket
  };

  // A result was added to rung `index`, now or on restore. What is concluded here must follow from the results in their order.
  virtual void learned(int index, const Standing& standing) { static_cast<void>(index), static_cast<void>(standing); }
  // A finite value arrived below the last rung.
  virtual void arrived_below_top(int index, const Standing& standing, std::vector<Ruling>& rulings) = 0;
  // Of the reserve, once no trial is left to start or to wait for and none reached max_resource with a value that may be the
  // best: the rung whose best one goes on.
  std::optional<int> rung_to_finish() const;
  bool finished() const { return one_has_finished(rungs_); }
  Work promote_to_finish(int index, std::vector<Ruling>& rulings);
  // After every arrival and its own verdict.
  virtual void arrived(std::vector<Ruling>& rulings) { static_cast<void>(rulings); }
  // A promoted trial, when there is one.
  virtual std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) = 0;
  virtual bool has_promoted() const = 0;
  virtual void recall_promoted(int index, int trial, bool moved_on) = 0;
  virtual Place place_of_new() const { return {}; }
  virtual int bracket_of(int trial) const { return static_cast<void>(trial), 0; }
  virtual void started(int trial, const Place& place) { static_cast<void>(trial), static_cast<void>(place); }
  // How many of the `n` results of a rung its rule lets go on, and why a trial that waits at the end does not.
  virtual int keep_of(int n) const { return n / eta_; }
  virtual std::string rule_at_close() const;

  Rung& rung(int index) { return rungs_[static_cast<std::size_t>(index)]; }
  const Rung& rung(int index) const { return rungs_[static_cast<std::size_t>(index)]; }
  int top() const { return static_cast<int>(rungs_.size()) - 1; }
  int started_trials() const { return started_; }
  std::optional<int> trials_max() const { return trials_max_; }
  bool may_start() const { return !trials_max_ || started_ < *trials_max_; }
  int under_way() const { return under_way_; }  // segments that were begun and have not arrived

  // The verdict on a trial that waits at rung `index`; a promoted one is told by take_promoted().
  void settle(int index, const Standing& standing, Verdict verdict, int keep, std::string rule, std::vector<Ruling>& rulings);
  Work work_of(int trial, int index) const;

  int eta_;

 private:
  Standing add(int index, const Arrival& arrival, bool settled);

  std::vector<Rung> rungs_;
  std::optional<int> trials_max_;
  int started_ = 0;
  int under_way_ = 0;
};

class AshaPromotion : public AshaPolicy {
 public:
  using AshaPolicy::AshaPolicy;
  int promoted_waiting() const override;

 protected:
  void arrived_below_top(int, const Standing&, std::vector<Ruling>&) override {}
  std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_promoted() const override { return promotable() || rung_to_finish(); }
  void recall_promoted(int index, int trial, bool moved_on) override;

  // May the best of those that wait at this rung go on?
  virtual bool may_promote(int index) const;
  virtual int highest_rung_to_leave() const { return top() - 1; }
  virtual std::string rule_of_promotion() const;

 private:
  std::optional<int> promotable() const;  // index of the rung
};

class AshaStopping : public AshaPolicy {
 public:
  using AshaPolicy::AshaPolicy;
  int promoted_waiting() const override { return static_cast<int>(promoted_.size()); }

 protected:
  void arrived_below_top(int index, const Standing& standing, std::vector<Ruling>& rulings) override;
  void arrived(std::vector<Ruling>& rulings) override;
  std::string rule_at_close() const override;
  std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_promoted() const override { return !promoted_.empty() || rung_to_finish(); }
  void recall_promoted(int index, int trial, bool moved_on) override;

  void goes_on(int index, int trial) { promoted_.insert({-index, trial}); }
  // By the rule it does not go on: it is stopped, or takes another's place in the rung's reserve (kReserve).
  void lose(int index, const Standing& standing, int keep, std::string rule, std::vector<Ruling>& rulings);

 private:
  std::set<std::pair<int, int>> promoted_;  // (-rung, trial): the highest rung first
};

}  // namespace tuneband
