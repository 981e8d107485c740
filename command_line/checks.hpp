// Checks of options' values that say what was expected and what was got.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace tuneband::command_line {

inline constexpr int kWorkersMax = 1'000;  // that one server starts

CLI::Validator not_empty();
CLI::Validator whole_number_between(std::int64_t min, std::int64_t max);
CLI::Validator number_between(double min, double max);

// The help shows the words, in braces.
CLI::Validator one_of_words(std::vector<std::string> words);

}  // namespace tuneband::command_line
