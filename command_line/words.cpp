#include "command_line/words.hpp"

#include <string_view>

namespace tuneband::command_line {
namespace {

// "{a,b}", as the check of one_of_words() describes itself.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

ValueKind kind_of(const std::string& name, const std::vector<std::string>& choices) {
  if (!choices.empty()) return ValueKind::words;
  if (name == "JOB") return ValueKind::job;
  if (name == "DIR") return ValueKind::directory;
  return name == "FILE" || name == "JOB.json" ? ValueKind::file : ValueKind::text;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.about = option.get_description();
  if (option.get_expected_min() == 0 && words.names.size() > 0) return words;
  const std::string type = option.get_type_name();
  words.choices = choices_in(type);
  words.value_name = words.names.empty() ? option.get_name(true) : type.substr(0, type.find(':'));
  words.value = kind_of(words.value_name, words.choices);
  words.takes_several = option.get_expected_max() > 1;
  return words;
}

CommandWords words_of_command(const CLI::App& app) {
  CommandWords words{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionWords one = words_of(*option);
    (one.names.empty() ? words.positionals : words.options).push_back(std::move(one));
  }
  return words;
}

}  // namespace

std::vector<CommandWords> words_of(const CLI::App& app) {
  std::vector<CommandWords> all{words_of_command(app)};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    all.push_back(words_of_command(*command));
  }
  return all;
}

}  // namespace tuneband::command_line
