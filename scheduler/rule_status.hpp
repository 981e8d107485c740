// What is to be said of a rule of the debugger, in one trial and over all trials of its job: pure, from the rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/rule.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

enum class RuleWord {
  in_progress,      // the trial is not over
  no_issues_found,  // it judged what it needs, until the training was over
  issues_found,     // there is a finding
  not_judged,       // the training is over, and what the rule needs was never saved; or it would compare a trial with itself
  stopped,          // the trial failed, was cancelled or was ended on its way: it judged until then, and found nothing
  error,            // the rule itself is at fault: its process crashed, hung, or was too slow
};
std::string_view to_string(RuleWord word);

struct RuleStatus {
  std::string rule;  // its name in the job
  std::string type;
  debugger::Action action = debugger::Action::note;
  RuleWord status = RuleWord::in_progress;
  std::string details{};  // one sentence
  std::optional<Timestamp> changed_at{};
  std::int64_t saved_steps = 0;             // at which something was saved that it looks at
  std::int64_t judged_steps = 0;            // of them
  std::optional<std::int64_t> last_step{};  // that it judged, or found something at
};

// `finding`: its own in this trial; null: none.
RuleStatus rule_status(const debugger::RuleSpec& rule, const TrialRow& trial, const FindingRow* finding);

struct RuleOfJob {
  std::string rule;
  std::string type;
  debugger::Action action = debugger::Action::note;
  RuleWord status = RuleWord::in_progress;
  std::string details{};
  std::optional<Timestamp> changed_at{};
  std::map<RuleWord, int> trials{};  // how many stand so; all words are there
  std::optional<int> example{};      // the first trial that stands as the rule does over all; nothing: there is none
};

// One rule over the trials of its job, each with its status there. The gravest counts: something found, an error, one that is not
// over (or a job that is not), then what most can be said of. A job without trials that is over has judged nothing.
RuleOfJob rule_of_job(const debugger::RuleSpec& rule, bool job_ended, const std::vector<std::pair<int, RuleStatus>>& trials);

}  // namespace tuneband
