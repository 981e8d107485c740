// Asynchronous successive halving (ASHA) in both rules, and no early stopping at all, which is its ladder of one rung.
//
// promotion (Li et al., MLSys 2020, Algorithm 2): a trial pauses at each rung; a free worker takes the best trial that is within
// the top floor(n / eta) of its rung and was not promoted yet, from the highest rung that has one, else it starts a new trial.
// stopping (as in Syne Tune and Ray Tune): a trial that arrives goes on when it is within the top floor(n / eta) of the n results
// of its rung, itself included; while n < eta every finite value goes on.
#pragma once

#include <set>
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
  void close(std::vector<Ruling>& rulings) override;
  void recall_trial(const TrialRow&) override { ++started_; }
  void recall_decision(const DecisionRow& decision, bool moved_on) override;

 protected:
  // A finite value arrived below the last rung.
  virtual void arrived_below_top(Rung& rung, int index, const Standing& standing, std::vector<Ruling>& rulings) = 0;
  // A promoted trial, when there is one.
  virtual std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) = 0;
  virtual bool has_promoted() const = 0;
  virtual void recall_promoted(const DecisionRow& decision) = 0;

  Work work_of(int trial, int rung) const;

  int eta_;
  std::vector<Rung> rungs_;

 private:
  std::optional<int> trials_max_;
  int started_ = 0;
};

class AshaPromotion final : public AshaPolicy {
 public:
  using AshaPolicy::AshaPolicy;
  int promoted_waiting() const override;

 private:
  void arrived_below_top(Rung&, int, const Standing&, std::vector<Ruling>&) override {}
  std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_promoted() const override { return promotable_rung().has_value(); }
  void recall_promoted(const DecisionRow& decision) override;  // never: promoted and started are one step

  std::optional<int> promotable_rung() const;
};

class AshaStopping final : public AshaPolicy {
 public:
  using AshaPolicy::AshaPolicy;
  int promoted_waiting() const override { return static_cast<int>(promoted_.size()); }

 private:
  void arrived_below_top(Rung& rung, int index, const Standing& standing, std::vector<Ruling>& rulings) override;
  std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_promoted() const override { return !promoted_.empty(); }
  void recall_promoted(const DecisionRow& decision) override;

  std::set<std::pair<int, int>> promoted_;  // (-rung, trial): the highest rung first
};

}  // namespace tuneband
