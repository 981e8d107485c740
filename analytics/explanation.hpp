// Why a trial is where it is, in sentences. Whoever shows it (command line, dashboard, Python) shows these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/parsed_job.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// What was decided about it at one rung: its values, its rank, the verdict, by how much and who was ahead. `over`: it has ended.
std::string explain_decision(const DecisionRow& decision, const ParsedJob& job, bool over = false);

// How it stands, as far as no decision says so. `advice`: on how it failed, one sentence; "": none.
std::vector<std::string> explain_state(const TrialRow& trial, const ParsedJob& job, std::string_view advice);

}  // namespace tuneband
