#include "scheduler/rule_status.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.hpp"

namespace tuneband {

namespace {

constexpr std::array<std::pair<RuleWord, std::string_view>, 6> kRuleWords = {{
    {RuleWord::in_progress, "in_progress"},
    {RuleWord::no_issues_found, "no_issues_found"},
    {RuleWord::issues_found, "issues_found"},
    {RuleWord::not_judged, "not_judged"},
    {RuleWord::stopped, "stopped"},
    {RuleWord::error, "error"},
}};

std::string counted_steps(std::int64_t steps) { return std::to_string(steps) + (steps == 1 ? " saved step" : " saved steps"); }

std::string looks_at(const debugger::RuleSpec& rule, const debugger::RuleType* type) {
  const bool said = !rule.collections.empty() || !rule.tensors.empty();
  const auto& collections = said || type == nullptr ? rule.collections : type->collections;
  std::vector<std::string> names;
  for (const std::string& name : collections) names.push_back(name == "*" ? "any collection" : name);
  for (const debugger::Pattern& pattern : rule.tensors) names.push_back("`" + pattern.text() + "`");
  return join_and(names);
}

// Why it has not judged.
std::string lacks(const debugger::RuleSpec& rule, const debugger::RuleStanding& standing) {
  const debugger::RuleType* type = debugger::find_rule_type(rule.type);
  if (standing.saved == 0) return "nothing that it looks at was saved (" + looks_at(rule, type) + ")";
  return "what it looks at was saved at " + std::to_string(standing.saved) + (standing.saved == 1 ? " step" : " steps") +
         ", but not what it needs: " + (type == nullptr ? "" : type->needs);
}

std::string judged(const debugger::RuleStanding& standing) {
  return counted_steps(standing.judged) + " judged, the last one at step " + std::to_string(standing.last_step);
}

// By the user, or early: its worker's last word, which tells how far the rules are, came too late to count.
bool cut_off(const TrialRow& trial) { return trial.state == TrialState::stopped && trial.resource < trial.until_resource; }

void say_of_trial(RuleStatus& status, const debugger::RuleSpec& rule, const debugger::RuleStanding& standing,
                  const TrialRow& trial) {
  const bool over = ended(trial.state);
  if (rule.other_trial() == trial.id.number) {
    status.status = RuleWord::not_judged;
    status.details = "there is nothing to compare: this is trial " + std::to_string(trial.id.number) + " itself";
  } else if (!trial.started_at) {
    status.status = over ? RuleWord::not_judged : RuleWord::in_progress;
    status.details = over ? "the trial never ran" : "the trial has not begun";
  } else if (!over) {
    status.status = RuleWord::in_progress;
    status.details = standing.judged > 0 ? "judging; nothing was found yet" : "not judging yet: " + lacks(rule, standing);
  } else if (standing.judged == 0) {
    status.status = RuleWord::not_judged;
    status.details = lacks(rule, standing);
  } else if (trial.state == TrialState::failed || trial.state == TrialState::cancelled) {
    status.status = RuleWord::stopped;
    status.details = "the trial " + std::string(trial.state == TrialState::failed ? "failed" : "was cancelled") +
                     "; nothing was found until then: " + judged(standing);
  } else if (cut_off(trial)) {
    status.status = RuleWord::stopped;
    status.details = "the trial was ended at resource " + std::to_string(trial.resource) + " of " +
                     std::to_string(trial.until_resource) +
                     "; nothing was found as far as its worker had said: " + judged(standing);
  } else {
    status.status = RuleWord::no_issues_found;
    status.details = judged(standing);
  }
}

// Of those that can be meant by a rule as a whole, the gravest first.
constexpr std::array kGravestFirst = {RuleWord::issues_found,    RuleWord::error,   RuleWord::in_progress,
                                      RuleWord::no_issues_found, RuleWord::stopped, RuleWord::not_judged};

}  // namespace

std::string_view to_string(RuleWord word) {
  const auto* const found =
      std::find_if(kRuleWords.begin(), kRuleWords.end(), [&](const auto& one) { return one.first == word; });
  return found == kRuleWords.end() ? "" : found->second;
}

RuleStatus rule_status(const debugger::RuleSpec& rule, const TrialRow& trial, const FindingRow* finding) {
  const auto state =
      std::find_if(trial.rules.begin(), trial.rules.end(), [&](const RuleState& one) { return one.standing.rule == rule.name; });
  const bool told = state != trial.rules.end();
  const debugger::RuleStanding standing = told ? state->standing : debugger::RuleStanding{.rule = rule.name};
  RuleStatus status{.rule = rule.name, .type = rule.type, .action = rule.action};
  status.saved_steps = standing.saved;
  status.judged_steps = standing.judged;
  if (standing.judged > 0) status.last_step = standing.last_step;
  if (finding != nullptr) {
    status.status = RuleWord::issues_found;
    status.details = finding->message;
    status.changed_at = finding->at;
    status.last_step = finding->step;
  } else if (!standing.fault.empty()) {
    status.status = RuleWord::error;
    status.details = "its process " + standing.fault;
    status.changed_at = state->at;
  } else {
    say_of_trial(status, rule, standing, trial);
    const std::optional<Timestamp> began = trial.started_at ? trial.started_at : std::optional(trial.created_at);
    status.changed_at = trial.ended_at ? trial.ended_at : told ? std::optional(state->at) : began;
  }
  return status;
}

RuleOfJob rule_of_job(const debugger::RuleSpec& rule, bool job_ended, const std::vector<std::pair<int, RuleStatus>>& trials) {
  RuleOfJob all{.rule = rule.name, .type = rule.type, .action = rule.action};
  for (const auto& [word, name] : kRuleWords) all.trials[word] = 0;
  for (const auto& [trial, status] : trials) ++all.trials[status.status];
  const auto gravest = std::find_if(kGravestFirst.begin(), kGravestFirst.end(), [&](RuleWord word) {
    return all.trials[word] > 0 || (word == RuleWord::in_progress && !job_ended);
  });
  all.status = gravest == kGravestFirst.end() ? RuleWord::not_judged : *gravest;
  const RuleStatus* first = nullptr;
  for (const auto& [trial, status] : trials) {
    if (status.status != all.status) continue;
    if (first == nullptr) {
      first = &status;
      all.example = trial;
    }
    all.changed_at = std::max(all.changed_at, status.changed_at);
  }
  const std::string of_all = std::to_string(trials.size()) + (trials.size() == 1 ? " trial" : " trials");
  if (trials.empty()) {
    all.details = "the job has no trials" + std::string(job_ended ? "" : " yet");
  } else if (first == nullptr) {
    all.details = "nothing was found in " + of_all + ", and more may come";
  } else {
    all.details = "in " + std::to_string(all.trials[all.status]) + " of " + of_all + "; in trial " +
                  std::to_string(*all.example) + ": " + first->details;
  }
  return all;
}

}  // namespace tuneband
