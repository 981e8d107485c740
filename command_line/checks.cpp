#include "command_line/checks.hpp"

#include <algorithm>
#include <utility>

#include "core/decimal.hpp"
#include "core/text.hpp"

namespace tuneband::command_line {

CLI::Validator not_empty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "expected a text, got none" : ""; }, "");
}

CLI::Validator whole_number_between(std::int64_t min, std::int64_t max) {
  const std::string range = "from " + std::to_string(min) + " to " + std::to_string(max);
  return CLI::Validator(
      [min, max, range](const std::string& text) {
        const auto number = whole_number(text);
        return number && *number >= min && *number <= max ? "" : "expected a whole number " + range + ", got " + text;
      },
      "");
}

CLI::Validator number_between(double min, double max) {
  const std::string range = "from " + format_number(min) + " to " + format_number(max);
  return CLI::Validator(
      [min, max, range](const std::string& text) {
        const auto number = parse_number(text);
        return number && *number >= min && *number <= max ? "" : "expected a number " + range + ", got " + text;
      },
      "");
}

CLI::Validator one_of_words(std::vector<std::string> words) {
  std::string shown = "{";
  for (const std::string& word : words) shown += (&word == &words.front() ? "" : ",") + word;
  return CLI::Validator(
      [words = std::move(words)](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return "expected " + one_of(words) + ", got " + text;
      },
      shown + "}");
}

}  // namespace tuneband::command_line
