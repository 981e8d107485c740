// What of a worker's reports counts as a trial's values: at its rung, and of the model that it keeps.
#pragma once

#include <optional>

#include "scheduler/events.hpp"
#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// Of the report that has the objective's value at a rung: the standard error, the constraints' violation, further objectives.
void note_objectives(const JobSpec& spec, TrialRow& trial, const Metrics& metrics);

// At a rung the segment leaves a model, of its best resource or of its last.
void take_model(const JobSpec& spec, TrialRow& trial, const AssignmentReport& report);

// What a worker says that it kept has: a finite value, of a resource that the trial came to. Nothing: it does not count.
std::optional<double> value_of_kept(const JobSpec& spec, const TrialRow& trial, const ReportedObservation& kept);

// At a rung where the best counts: the rung's value is that of the best resource on the way, and the model that the trial has is
// the best of all rungs.
void keep(const JobSpec& spec, TrialRow& trial, const ReportedObservation& kept, std::optional<double> test_value);

// Of what the trial keeps: what another model has to better to take its place. At max_resource nothing where full trainings
// alone count.
std::optional<double> value_to_better(const JobSpec& spec, const TrialRow& trial);

// The job's target, within its constraints.
bool meets_target(const JobSpec& spec, const Metrics& metrics);

}  // namespace tuneband
