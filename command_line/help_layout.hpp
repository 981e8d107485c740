// The layout of --help: lines of at most 80 columns, broken between words.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace tuneband::command_line {

std::shared_ptr<CLI::FormatterBase> help_layout();

}  // namespace tuneband::command_line
