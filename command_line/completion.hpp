// Completion of a program's commands, options and their values in a shell, made from the tables that its arguments are read by:
// what it knows cannot be older than the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tuneband::command_line {

enum class Shell { bash, zsh, fish };

// What prints what a JOB may be, a line each: the program itself, with those of these options that stand in the line, then this.
struct JobNames {
  std::vector<std::string> options;  // each with a value
  std::string rest;
};

// A script for the shell to read.
std::string completion(const CLI::App& app, Shell shell, const JobNames& jobs);

}  // namespace tuneband::command_line
