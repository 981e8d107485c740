// What a shell needs to know of a program's options, read out of CLI11's tables.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tuneband::command_line {

enum class ValueKind {
  none,  // a flag
  text,
  words,  // one of some words
  file,
  directory,
  job,
};

struct OptionWords {
  std::vector<std::string> names;  // "-f", "--follow"; none: it goes by its place
  std::string about;
  ValueKind value = ValueKind::none;
  std::string value_name;            // "N"
  std::vector<std::string> choices;  // of ValueKind::words
  bool takes_several = false;        // one after the other
};

struct CommandWords {
  std::string name;
  std::string about;
  std::vector<OptionWords> options;
  std::vector<OptionWords> positionals;
};

// Of the program itself, then of its commands.
std::vector<CommandWords> words_of(const CLI::App& app);

}  // namespace tuneband::command_line
