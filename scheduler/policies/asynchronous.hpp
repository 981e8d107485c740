// Asynchronous successive halving: trials pause at each rung of one ladder, and no rung waits until it is full. What differs
// from policy to policy is a part of its own; with a ladder of one rung nothing is stopped early.
//
// part          says
// stopping      when a trial arrives: does it go on? (stopping_rule.hpp, median_rule.hpp)
// promotion     when a worker is free: who goes on? (promotion_rule.hpp; its quota and pasha_cap.hpp)
// audit         which of the first trials go on whatever their value, and at which rung new ones start (rung_audit.hpp)
// head start    at which rung the first trials of several workers start (head_start.hpp)
// brackets      at which rung a new trial starts (bracket_choice.hpp)
// uncut         which new trials are trained until max_resource whatever the rungs say (uncut_share.hpp)
// model         when the sampler's model says what is trained next, whatever the other parts (model_share.hpp)
//
// A policy has one of the first two. What a part concludes must follow from the results in their order, so that it is the same
// after a restart.
#pragma once

#include <memory>

#include "scheduler/policies/begun_resource.hpp"
#include "scheduler/policies/bracket_choice.hpp"
#include "scheduler/policies/head_start.hpp"
#include "scheduler/policies/model_share.hpp"
#include "scheduler/policies/promoted_queue.hpp"
#include "scheduler/policies/promotion_rule.hpp"
#include "scheduler/policies/rung_audit.hpp"
#include "scheduler/policies/rung_order.hpp"
#include "scheduler/policies/rungs.hpp"
#include "scheduler/policies/stopping_rule.hpp"
#include "scheduler/policies/uncut_share.hpp"

namespace tuneband {

class AsynchronousPolicy final : public Policy {
 public:
  struct Parts {
    std::unique_ptr<StoppingRule> stopping;
    std::unique_ptr<PromotionRule> promotion;
    std::unique_ptr<RungAudit> audit;
    std::unique_ptr<HeadStart> head_start;
    std::unique_ptr<BracketChoice> brackets;
    std::unique_ptr<UncutShare> uncut;
    std::unique_ptr<ModelShare> model;
  };

  AsynchronousPolicy(Rungs rungs, Parts parts);

  void arrive(const Arrival& arrival, std::vector<Decision>& decisions) override;
  std::optional<Work> take(std::optional<int> preferred, std::vector<Decision>& decisions) override;
  bool has_work() const override;
  std::optional<std::vector<TrialAtLevel>> models_turn() const override;
  bool choose(const TrialAtLevel& step) override;
  bool give_back_start() override;
  void withdraw(const Arrival& arrival, std::vector<Decision>& decisions) override;
  Work take_promoted(int trial) override;
  void start_no_more() override { rungs_.start_no_more(); }
  void close(std::vector<Decision>& decisions, std::size_t most) override;
  int promoted_waiting() const override;
  void recall_trial(const TrialRow& trial) override;
  void recall_decision(const DecisionRow& decision, bool moved_on) override;
  void recalled() override;

 private:
  Standing add(int index, const Arrival& arrival);
  Work take_queued(std::optional<int> preferred);
  Work start_trial();
  int lowest_rung() const;  // of the next new trial
  Work begin_trial(int bracket, int rung, bool at_random);
  void note_start(int bracket);
  void promoted_by_rungs(int index, int trial);
  Work go_on(int from, int trial, int to, bool by_model);
  Work take_chosen(std::vector<Decision>& decisions);
  void judge_below_top(int index, const Standing& standing, std::vector<Decision>& decisions);
  void promote_audited(std::vector<Decision>& decisions);
  // By the rule it does not go on: it is stopped, or takes another's place in the rung's reserve (kReserve).
  void lose(int index, const Standing& standing, const StoppingRule::Judgement& judgement, std::vector<Decision>& decisions);
  std::optional<int> promotable() const;  // index of the rung
  // Of the reserve, once no trial is left to start or to wait for and none reached max_resource with a value that may be the
  // best: the rung whose best one goes on.
  std::optional<int> rung_to_finish() const;
  // From rung `index` to the next.
  Work promote(int index, Standing standing, int keep, const std::string& rule, std::vector<Decision>& decisions);
  const Standing* find_waiting(int trial, int& index) const;
  std::string rule_at_close(int index, const Standing& standing) const;
  RungCount not_of_the_quota(int index) const;
  int keep_of(int n) const { return stopping_ ? stopping_->keep_of(n) : n / rungs_.eta(); }

  Rungs rungs_;
  std::optional<TrialAtLevel> chosen_;  // by the model
  std::unique_ptr<StoppingRule> stopping_;
  std::unique_ptr<PromotionRule> promotion_;
  std::unique_ptr<RungAudit> audit_;
  std::unique_ptr<HeadStart> head_start_;
  std::unique_ptr<BracketChoice> brackets_;
  std::unique_ptr<UncutShare> uncut_;
  std::unique_ptr<ModelShare> model_;
  BegunResource begun_;
  std::unique_ptr<RungOrder> order_;  // where a part asks for it
  PromotedQueue queue_;
};

}  // namespace tuneband
