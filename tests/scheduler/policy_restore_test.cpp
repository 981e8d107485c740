// A policy that is rebuilt from the rows again and again goes on exactly as one that never was.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

// A job of which only the rows are kept that a policy is restored from.
class RestoredJob {
 public:
  RestoredJob(const SchedulerSpec& spec, int trials_max, Outcomes outcomes)
      : spec_(spec),
        trials_max_(trials_max),
        outcomes_(std::move(outcomes)),
        policy_(make_policy(spec, Goal::minimize, trials_max)) {}

  void restore() {
    policy_ = make_policy(spec_, Goal::minimize, trials_max_);
    for (const TrialRow& trial : trials_) policy_->recall_trial(trial);
    for (const DecisionRow& decision : decisions_) {
      const TrialRow& its = trials_[static_cast<std::size_t>(decision.trial.number)];
      policy_->recall_decision(decision, its.rung > decision.rung || ended(its.state));
    }
    policy_->recalled();
  }

  // A new trial may have to wait, `later`: then it counts as never taken.
  template <class Later>
  void fill(std::size_t workers, const Later& later) {
    while (running_.size() < workers && policy_->has_work()) {
      std::vector<Decision> decisions;
      if (const auto waiting = policy_->models_turn()) choose(*waiting);
      const auto work = policy_->take(std::nullopt, decisions);
      ASSERT_TRUE(work);
      apply(decisions);
      if (!work->trial && !running_.empty() && later() && policy_->give_back_start()) break;
      int number = static_cast<int>(trials_.size());
      if (work->trial) {
        number = *work->trial;
        ASSERT_EQ(trials_[static_cast<std::size_t>(number)].bracket, work->bracket);
      } else {
        TrialRow trial;
        trial.id.number = number;
        trial.bracket = work->bracket;
        trials_.push_back(trial);
      }
      trials_[static_cast<std::size_t>(number)].rung = work->rung;
      trials_[static_cast<std::size_t>(number)].until_resource = work->until_resource;
      trials_[static_cast<std::size_t>(number)].state = TrialState::running;
      running_.push_back(number);
      story_ += "start " + std::to_string(number) + " until " + std::to_string(work->until_resource) + "\n";
    }
    story_ += std::to_string(policy_->promoted_waiting()) + " wait for a worker\n";
  }

  bool done() const { return running_.empty(); }
  std::size_t running() const { return running_.size(); }
  const std::string& story() const { return story_; }

  void finish(std::size_t index) {
    TrialRow& trial = trials_[static_cast<std::size_t>(running_[index])];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
    arrive(trial, outcomes_(trial.id.number, trial.until_resource));
  }

  // Of those that have no worker the one with this number, or the next: the user stops it.
  void stop(std::size_t number) {
    const auto found = std::find_if(trials_.begin() + static_cast<std::ptrdiff_t>(number % trials_.size()), trials_.end(),
                                    [&](const TrialRow& one) { return one.state == TrialState::paused; });
    if (found == trials_.end()) return;
    const auto waits = std::find_if(decisions_.begin(), decisions_.end(), [&](const DecisionRow& one) {
      return one.trial == found->id && one.verdict == Verdict::waiting;
    });
    story_ += "the user stops " + std::to_string(found->id.number) + "\n";
    if (waits != decisions_.end()) {
      std::vector<Decision> decisions;
      policy_->withdraw(arrival_of(*waits), decisions);
      return apply(decisions);
    }
    found->rung = policy_->take_promoted(found->id.number).rung;
    arrive(*found, std::nullopt);
  }

 private:
  void arrive(TrialRow& trial, std::optional<double> value) {
    DecisionRow decision;
    decision.trial = trial.id;
    decision.bracket = trial.bracket;
    decision.rung = trial.rung;
    decision.value = value;
    const std::uint64_t draw =
        random_bits(7, {static_cast<std::uint64_t>(trial.id.number), static_cast<std::uint64_t>(trial.until_resource)});
    if (value && !spec_.more_goals.empty()) decision.more_values = {static_cast<double>(draw % 8)};
    if (value && !spec_.more_goals.empty() && draw % 16 < 3) decision.violation = static_cast<double>(draw % 3);
    trial.state = decision.value ? TrialState::paused : TrialState::failed;
    decisions_.push_back(decision);
    std::vector<Decision> decisions;
    policy_->arrive(arrival_of(decision), decisions);
    apply(decisions);
  }

  // Now and then nothing, a new trial, one that waits, until any rung above.
  void choose(const std::vector<TrialAtLevel>& waiting) {
    const auto top = static_cast<std::uint64_t>(ladder(spec_).size()) - 1;
    const std::uint64_t draw = random_bits(trials_.size(), {decisions_.size(), running_.size()});
    if (draw % 3 == 0) return;
    if (draw % 3 == 1 || waiting.empty()) {
      policy_->choose({kNewTrial, static_cast<int>((draw >> 8) % top)});
      return;
    }
    const TrialAtLevel& one = waiting[(draw >> 16) % waiting.size()];
    const std::uint64_t above = top - static_cast<std::uint64_t>(one.level);
    EXPECT_TRUE(policy_->choose({one.trial, one.level + 1 + static_cast<int>((draw >> 24) % above)}));
  }

  void apply(const std::vector<Decision>& decisions) {
    for (const Decision& decision : decisions) {
      const auto found = std::find_if(decisions_.begin(), decisions_.end(), [&](const DecisionRow& one) {
        return one.trial.number == decision.trial && one.rung == decision.rung && one.verdict == Verdict::waiting;
      });
      ASSERT_NE(found, decisions_.end());
      ASSERT_EQ(found->bracket, decision.bracket);
      found->verdict = decision.verdict;
      found->rank = decision.rank;
      found->rule = decision.rule;
      TrialRow& trial = trials_[static_cast<std::size_t>(decision.trial)];
      if (decision.verdict == Verdict::stopped && trial.state != TrialState::failed) trial.state = TrialState::stopped;
      if (decision.verdict == Verdict::completed) trial.state = TrialState::completed;
      story_ += std::to_string(decision.trial) + " " + std::string(to_string(decision.verdict)) + " at " +
                std::to_string(decision.bracket) + "." + std::to_string(decision.rung) + " rank " +
                std::to_string(decision.rank) + " of " + std::to_string(decision.filled) + ": " + decision.rule + "\n";
    }
  }

  SchedulerSpec spec_;
  int trials_max_;
  Outcomes outcomes_;
  std::unique_ptr<Policy> policy_;
  std::vector<TrialRow> trials_;
  std::vector<DecisionRow> decisions_;
  std::vector<int> running_;
  std::string story_;
};

std::string story_of(const SchedulerSpec& spec, std::uint64_t seed, bool restores) {
  const Outcomes outcomes = [seed](int trial, std::int64_t resource) -> std::optional<double> {
    const auto number = static_cast<std::uint64_t>(trial);
    const double chance = random_unit(seed, {1, number, static_cast<std::uint64_t>(resource)});
    if (chance < 0.05) return std::nullopt;
    if (chance < 0.1) return std::numeric_limits<double>::quiet_NaN();
    return std::floor(20 * random_unit(seed, {2, number})) + std::floor(10 * chance);  // ties too
  };
  std::uint64_t count = 0;
  const auto draw = [&](std::uint64_t options) { return random_bits(seed, {3, ++count}) % options; };
  const std::size_t workers = 1 + draw(10);
  RestoredJob job(spec, 1 + static_cast<int>(draw(90)), outcomes);
  const auto later = [&] { return draw(3) == 0; };
  job.fill(workers, later);
  while (!job.done() && !testing::Test::HasFatalFailure()) {
    job.finish(draw(job.running()));
    if (draw(4) == 0) job.stop(draw(90));
    const bool now = draw(2) == 0;
    if (restores && now) job.restore();
    job.fill(workers, later);
    if (restores && !now) job.restore();
  }
  return job.story();
}

}  // namespace

TEST(PolicyRestore, EveryPolicyGoesOnAsIfItHadNotBeenRebuilt) {
  for (const SchedulerType type :
       {SchedulerType::hyperband, SchedulerType::successive_halving, SchedulerType::asha_promotion, SchedulerType::asha_stopping,
        SchedulerType::none, SchedulerType::asha_delayed, SchedulerType::async_hyperband, SchedulerType::median_stopping,
        SchedulerType::pasha, SchedulerType::automatic}) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      SchedulerSpec spec;
      spec.type = type;
      spec.max_resource = std::int64_t{1} << (seed % 8);
      spec.eta = 2 + static_cast<int>(seed % 3);
      spec.rung_audit = type == SchedulerType::automatic;
      const bool of_one_objective =
          type == SchedulerType::median_stopping || type == SchedulerType::pasha || type == SchedulerType::async_hyperband;
      if (seed % 6 == 5 && !of_one_objective) spec.more_goals = {Goal::maximize};
      if (type == SchedulerType::automatic || type == SchedulerType::asha_delayed) {
        if (seed % 4 == 1) {
          spec.rung_audit = false;
          spec.min_resource = 2;
          spec.first_resource = 1;
        }
        spec.promotion = static_cast<Promotion>(seed % 2);
        spec.restarts = seed % 5 == 0;
      }
      ASSERT_EQ(story_of(spec, seed, true), story_of(spec, seed, false)) << to_string(type) << ", seed " << seed;
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << to_string(type) << ", seed " << seed;
    }
  }
}

}  // namespace tuneband::test
