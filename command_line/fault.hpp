// What is wrong with a program's arguments, in words of the user's.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tuneband::command_line {

inline constexpr int kExitUsage = 2;  // the status of a program that was called wrongly

// One line, which ends with where to read more. `error` comes from app.parse() and is no CLI::Success.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tuneband::command_line
