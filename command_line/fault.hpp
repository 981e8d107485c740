// What is wrong with a program's arguments, in words of the user's.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace tuneband::command_line {

inline constexpr int kExitUsage = 2;  // the status of a program that was called wrongly

// One line, which ends with where to read more. `error` comes from app.parse() and is no CLI::Success.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error);

// Reads the arguments into the options of `app`. A status: to exit with it, as help, version or a fault was printed.
std::optional<int> read_arguments(CLI::App& app, int count, const char* const* arguments);

}  // namespace tuneband::command_line
