// What the debugger's rules found, and how they stand.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analytics/reader.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

Result<views::Findings> Reader::findings(JobId job, std::optional<int> trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  if (auto row = find_row(job); !row) return row.error();
  if (trial) {
    if (const auto there = require_trial({job, *trial}); !there) return there.error();
  }
  const std::string_view of_trial = trial ? " AND trial = ?2" : "";
  Statement rows = connection_.prepare(select_sql<FindingRow>(joined({"WHERE job = ?1", of_trial, " ORDER BY sequence"})));
  trial ? rows.query(job.value, *trial) : rows.query(job.value);
  return views::Findings{rows_from<FindingRow>(rows)};
}

Result<views::TrialRules> Reader::rules_of_trial(TrialId trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> job = known_job(trial.job);
  if (!job) return job.error();
  const Result<TrialRow> row = trial_row(trial);
  if (!row) return row.error();
  views::TrialRules shown;
  if (!job->parsed->spec.debugger) return shown;
  Statement findings = connection_.prepare(select_sql<FindingRow>("WHERE job = ? AND trial = ?"));
  std::map<std::string, FindingRow> found;
  for (FindingRow& finding : rows_from<FindingRow>(findings.query(trial.job.value, trial.number)))
    found.emplace(finding.rule, std::move(finding));
  for (const debugger::RuleSpec& rule : job->parsed->spec.debugger->rules) {
    const auto its = found.find(rule.name);
    shown.rules.push_back(rule_status(rule, *row, its == found.end() ? nullptr : &its->second));
  }
  return shown;
}

Result<views::JobRules> Reader::rules_of_job(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  return views::JobRules{rules_over_trials(*known)};
}

std::vector<RuleOfJob> Reader::rules_over_trials(const Known& known) {
  if (!known.parsed->spec.debugger) return {};
  const JobId job = known.row.id;
  std::map<std::pair<int, std::string>, FindingRow> found;
  Statement findings = connection_.prepare(select_sql<FindingRow>("WHERE job = ?"));
  for (FindingRow& finding : rows_from<FindingRow>(findings.query(job.value)))
    found.try_emplace({finding.trial.number, finding.rule}, std::move(finding));
  const auto& rules = known.parsed->spec.debugger->rules;
  std::vector<std::vector<std::pair<int, RuleStatus>>> statuses(rules.size());
  Statement trials = connection_.prepare(select_sql<TrialRow>("WHERE job = ? ORDER BY number"));
  for (trials.query(job.value); trials.step();) {
    const TrialRow trial = row_from<TrialRow>(trials);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const auto its = found.find({trial.id.number, rules[i].name});
      statuses[i].emplace_back(trial.id.number, rule_status(rules[i], trial, its == found.end() ? nullptr : &its->second));
    }
  }
  std::vector<RuleOfJob> all;
  for (std::size_t i = 0; i < rules.size(); ++i) all.push_back(rule_of_job(rules[i], ended(known.row.state), statuses[i]));
  return all;
}

}  // namespace tuneband
