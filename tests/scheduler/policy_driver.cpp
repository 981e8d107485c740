#include "tests/scheduler/policy_driver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/policies/rung.hpp"

namespace tuneband::test {

PolicyDriver::PolicyDriver(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max, int workers, Outcomes outcomes,
                           Model model)
    : policy_(make_policy(spec, goal, trials_max)), workers_(workers), outcomes_(std::move(outcomes)), model_(std::move(model)) {
  fill_workers();
}

void PolicyDriver::finish(std::size_t index) {
  const Segment segment = running_[index];
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  std::vector<Decision> decisions;
  waiting_.insert({segment.trial, segment.rung});
  policy_->arrive({segment.trial, segment.bracket, segment.rung, outcomes_(segment.trial, segment.until_resource),
                   violations_(segment.trial)},
                  decisions);
  apply(decisions);
  just_ended_ = segment.trial;
  fill_workers();
}

void PolicyDriver::finish_all() {
  while (!running_.empty()) finish(0);
}

void PolicyDriver::close() {
  std::vector<Decision> decisions;
  policy_->close(decisions, std::numeric_limits<std::size_t>::max());
  apply(decisions);
}

void PolicyDriver::apply(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    TUNEBAND_CHECK(waiting_.erase({decision.trial, decision.rung}) == 1, "one decision for each arrival");
    Sets& sets = decision.verdict == Verdict::promoted ? promoted_ : decision.verdict == Verdict::stopped ? stopped_ : completed_;
    sets[{decision.bracket, decision.rung}].insert(decision.trial);
    decisions_.push_back(decision);
  }
}

void PolicyDriver::fill_workers() {
  while (static_cast<int>(running_.size()) < workers_ && policy_->has_work()) {
    std::vector<Decision> decisions;
    const auto waiting = policy_->models_turn();
    if (const auto step = model_ && waiting ? model_(*waiting) : std::nullopt) policy_->choose(*step);
    const auto work = policy_->take(just_ended_, decisions);
    TUNEBAND_CHECK(work.has_value(), "a policy that has work gives it");
    apply(decisions);
    running_.push_back({work->trial ? *work->trial : trials_++, work->bracket, work->rung, work->until_resource});
    started_.push_back(running_.back());
  }
}

BarrierResult barrier_rule(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max, const Outcomes& outcomes) {
  BarrierResult result;
  int first = 0;
  for (int index = 0; !trials_max || first < *trials_max; ++index) {
    const PlannedBracket bracket = planned_bracket(spec, index, trials_max ? std::optional(*trials_max - first) : std::nullopt);
    std::vector<int> trials;
    std::vector<std::vector<int>> reserve;  // by rung, best first
    bool finished = false;
    for (int i = 0; i < bracket.rungs.front().trials; ++i) trials.push_back(first + i);
    first += bracket.rungs.front().trials;
    for (std::size_t rung = 0; rung < bracket.rungs.size(); ++rung) {
      const std::pair key{index, static_cast<int>(rung)};
      const bool last = rung + 1 == bracket.rungs.size();
      std::vector<std::pair<double, int>> finite;  // cost, trial
      for (const int trial : trials) {
        const auto value = outcomes(trial, bracket.rungs[rung].resource);
        if (last && value) result.completed[key].insert(trial);
        finished |= last && value && std::isfinite(*value);
        if (!value || (!last && !std::isfinite(*value))) result.stopped[key].insert(trial);
        if (!last && value && std::isfinite(*value)) finite.emplace_back(goal == Goal::maximize ? -*value : *value, trial);
      }
      std::sort(finite.begin(), finite.end());
      trials.clear();
      reserve.emplace_back();
      for (std::size_t i = 0; i < finite.size(); ++i) {
        const bool keeps = static_cast<int>(i) < bracket.rungs[rung + 1].trials;
        (keeps ? result.promoted : result.stopped)[key].insert(finite[i].second);
        if (keeps) trials.push_back(finite[i].second);
        if (!keeps && reserve.back().size() < kReserve) reserve.back().push_back(finite[i].second);
      }
    }
    // All that went on failed: the reserve does, from the highest rung, each as far as it comes.
    for (std::size_t from = bracket.rungs.size() - 1; from-- > 0 && !finished;) {
      for (const int trial : reserve[from]) {
        if (finished) break;
        result.stopped[{index, static_cast<int>(from)}].erase(trial);
        std::optional<double> value = 0;
        for (std::size_t rung = from; rung + 1 < bracket.rungs.size() && value && std::isfinite(*value); ++rung) {
          result.promoted[{index, static_cast<int>(rung)}].insert(trial);
          value = outcomes(trial, bracket.rungs[rung + 1].resource);
          const std::pair key{index, static_cast<int>(rung) + 1};
          const bool last = rung + 2 == bracket.rungs.size();
          if (last && value) result.completed[key].insert(trial);
          if (!value || (!last && !std::isfinite(*value))) result.stopped[key].insert(trial);
          finished |= last && value && std::isfinite(*value);
        }
      }
    }
    if (!trials_max) break;
  }
  return result;
}

std::string text_of(const PolicyDriver::Sets& sets) {
  std::string text;
  for (const auto& [key, trials] : sets) {
    if (trials.empty()) continue;
    text += "bracket " + std::to_string(key.first) + " rung " + std::to_string(key.second) + ":";
    for (const int trial : trials) text += " " + std::to_string(trial);
    text += "\n";
  }
  return text;
}

}  // namespace tuneband::test
