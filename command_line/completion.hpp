// Completion of a program's commands, options and their values in a shell, made from the tables that its arguments are read by:
// what it knows cannot be older than the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tuneband::command_line {

enum class Shell { bash, zsh, fish };

// A script for the shell to read. `jobs`: a command that prints what a JOB may be, a line each.
std::string completion(const CLI::App& app, Shell shell, const std::string& jobs);

}  // namespace tuneband::command_line
