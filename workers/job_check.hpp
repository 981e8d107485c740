// `tuneband-worker --check-job`: what a worker can find wrong with a job before anything is trained. Runs where the trials will
// run, in a process of its own, because it touches files and loads the trainer's libraries.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/memory_forecast.hpp"

namespace tuneband::workers {

// `document` is a job as submitted, paths absolute. Faults and doubts go to `diagnostics`, with paths into the document.
void check_job(std::string_view document, const CheckedMachine& machine, Diagnostics& diagnostics);

// Of the above what a command cannot be started without: its directory, its program, its script, what its environment refers to.
// Nothing where they differ from trial to trial.
void check_command_parts(const CommandSpec& spec, Diagnostics& diagnostics);

// {"errors": [{"message", "path", "hint"}], "warnings": [...]}
std::string diagnostics_json(const Diagnostics& diagnostics);

}  // namespace tuneband::workers
