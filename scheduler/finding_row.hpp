// What a rule found, as the row that is kept of it.
#pragma once

#include "debugger/finding.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// Its `sequence` is the job's to give: 0 here.
inline FindingRow finding_row(const debugger::Finding& finding, TrialId trial, debugger::Action action, Timestamp at) {
  FindingRow row;
  row.trial = trial;
  row.rule = finding.rule;
  row.tensor = finding.tensor;
  if (finding.mode != debugger::Mode::none) row.mode = to_string(finding.mode);
  row.step = finding.step;
  row.value = finding.value;
  row.threshold = finding.threshold;
  row.message = finding.message;
  row.remedy = finding.remedy;
  row.action = to_string(action);
  row.at = at;
  return row;
}

}  // namespace tuneband
