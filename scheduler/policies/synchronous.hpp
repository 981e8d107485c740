// Synchronous brackets: Hyperband (Li et al., JMLR 18 (2018), Algorithm 1) and plain successive halving, with two differences in
// time and none in result: brackets overlap (a bracket that waits for stragglers lends its workers to the next), and a decision
// falls as soon as it is certain whatever the missing results are, but for a reserve of each rung (kReserve): when all that went
// on fail, the next best one takes their place, so that a bracket has a result at max_resource.
#pragma once

#include <map>
#include <set>

#include "scheduler/plan.hpp"
#include "scheduler/policies/policy.hpp"
#include "scheduler/policies/promoted_queue.hpp"
#include "scheduler/policies/rung.hpp"

namespace tuneband {

class SynchronousPolicy final : public Policy {
 public:
  SynchronousPolicy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
      : spec_(spec), goal_(goal), trials_max_(trials_max) {}

  void arrive(const Arrival& arrival, std::vector<Decision>& decisions) override;
  std::optional<Work> take(std::optional<int> preferred, std::vector<Decision>& decisions) override;
  bool has_work() const override;
  bool give_back_start() override;
  void withdraw(const Arrival& arrival, std::vector<Decision>& decisions) override;
  Work take_promoted(int trial) override;
  void start_no_more() override { trials_max_ = trials_planned_; }
  void close(std::vector<Decision>& decisions, std::size_t most) override;
  int promoted_waiting() const override;
  void recall_trial(const TrialRow& trial) override;
  void recall_decision(const DecisionRow& decision, bool moved_on) override;
  void recalled() override;

 private:
  struct Bracket {
    PlannedBracket plan;
    std::vector<Rung> rungs;
    std::vector<int> went_on;  // by rung: promoted from it so far
    int started = 0;
    PromotedQueue promoted;

    int keep(int rung) const;  // how many the plan lets go on from it
    bool has_work() const { return !promoted.empty() || started < plan.rungs.front().trials; }
    bool closed() const;
  };

  bool next_bracket_has_trials() const;
  Bracket& open_next();
  Bracket& bracket(int index);
  void settle(Bracket& bracket, int rung, std::vector<Decision>& decisions);
  void promote(Bracket& bracket, int rung, Standing standing, std::string rule, std::vector<Decision>& decisions);
  void stop(Bracket& bracket, int rung, Standing standing, std::string rule, std::vector<Decision>& decisions);
  void finish(Bracket& bracket, std::vector<Decision>& decisions);  // nothing of it is left to run
  Work take_from(Bracket& bracket, std::optional<int> preferred);   // that has work

  SchedulerSpec spec_;
  Goal goal_;
  std::optional<int> trials_max_;
  std::map<int, Bracket> open_;  // those with something to wait for or to start
  std::set<int> ready_;          // those of them that have work
  int opened_ = 0;               // brackets ever opened
  int trials_planned_ = 0;       // in all of them
};

}  // namespace tuneband
