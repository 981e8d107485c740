// What a command is started with: its arguments, its environment and the file with its parameters. docs/command-trainer.md is the
// user's side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/trainer_spec.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

// "{name}" -> text, for the built-in names (until_resource, trial_dir, ...) and the configuration's parameters; a parameter wins.
std::map<std::string, std::string> template_values(const protocol::AssignmentOrder& order);

// Replaces every "{name}"; "{{" and "}}" give literal braces, and braces around what cannot be a name stay. An argument with a
// name that has no value (a conditional parameter that is inactive) is left out whole.
std::vector<std::string> fill_argv(const std::vector<std::string>& templates, const std::map<std::string, std::string>& values);

// `spec` with the values of its environment's references read, here and now. Error: a variable or file that is not there, at the
// reference's path in the job; no value is in it.
Result<CommandSpec> with_references_read(CommandSpec spec);

// "NAME=value": of this process's environment what programs need to run and what the job names (docs/command-trainer.md),
// TUNEBAND_* for the segment, what ranks find each other by (RANK, MASTER_ADDR, DMLC_*, ...) and the job's own on top.
// `tracker_host`: where the tracker is when the order does not say.
std::vector<std::string> command_environment(const protocol::AssignmentOrder& order, const CommandSpec& spec,
                                             const std::string& tracker_host = "");

// The value of `name` in such a list, or "".
std::string environment_value(const std::vector<std::string>& environment, const std::string& name);

// Below the trial's directory.
std::string parameters_file(const protocol::AssignmentOrder& order);

}  // namespace tuneband::workers
