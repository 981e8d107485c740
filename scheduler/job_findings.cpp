// What the job's rules said of a trial under way, and found.
#include <algorithm>

#include "debugger/rule.hpp"
#include "scheduler/finding_row.hpp"
#include "scheduler/job.hpp"

namespace tuneband {

void Job::take_findings(int number, const std::vector<debugger::Finding>& findings, Timestamp now) {
  for (const debugger::Finding& finding : findings) take_finding(number, finding, now);
}

// A segment that goes on is told again what was saved, and may have less of it than the one before had seen: the most counts.
// Two ranks may speak of a rule, each of its own process: a fault that one has told stays until the segment is over.
void Job::take_rules(int number, const std::vector<debugger::RuleStanding>& rules, Timestamp now) {
  std::vector<RuleState> states = trial(number).rules;
  for (const debugger::RuleStanding& told : rules) {
    if (!spec_->debugger || spec_->debugger->rule(told.rule) == nullptr) continue;
    const auto known =
        std::find_if(states.begin(), states.end(), [&](const RuleState& state) { return state.standing.rule == told.rule; });
    if (known == states.end()) {
      states.push_back({told, now});
      continue;
    }
    debugger::RuleStanding next = told;
    next.saved = std::max(next.saved, known->standing.saved);
    next.judged = std::max(next.judged, known->standing.judged);
    next.last_step = std::max(next.last_step, known->standing.last_step);
    if (next.fault.empty()) next.fault = known->standing.fault;
    if (!next.says_as(known->standing)) known->at = now;
    known->standing = std::move(next);
  }
  if (states == trial(number).rules) return;
  mutate(number).rules = std::move(states);
}

// Of each rule of the job the first in a trial. Its action on the trial is the worker's, who ends the segment with it.
void Job::take_finding(int number, const debugger::Finding& finding, Timestamp now) {
  const debugger::RuleSpec* rule = spec_->debugger ? spec_->debugger->rule(finding.rule) : nullptr;
  if (rule == nullptr || !found_.emplace(number, finding.rule).second) return;
  FindingRow row = finding_row(finding, {row_.id, number}, rule->action, now);
  row.sequence = static_cast<std::int64_t>(findings_.size());
  if (!rule->webhook.empty()) row.webhook = kWebhookPending;
  record(EventKind::finding, trial(number), finding.rule + ": " + finding.message);
  findings_.push_back(std::move(row));
  if (rule->action != debugger::Action::stop_job) return;
  const bool some_value = row_.best_anywhere.has_value();
  begin_stopping(
      some_value ? JobState::stopped : JobState::failed,
      "the rule `" + finding.rule + "` stopped the job: " + finding.message + " (trial " + std::to_string(number) + ")");
}

}  // namespace tuneband
