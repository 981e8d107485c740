#include "command_line/fault.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

#include "core/text.hpp"

namespace tuneband::command_line {
namespace {

bool is_of(const CLI::ParseError& error, CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); }

std::string with_hint(const std::string& fault, const std::string& hint, const std::string& help) {
  return fault + " (" + (hint.empty() ? "see " + help : hint) + ")";
}

// CLI11 sees a word that is no command as a missing one.
std::optional<std::string> unknown_command(const CLI::App& app, const CLI::ParseError& error, const std::string& help) {
  const std::vector<std::string> words = app.remaining(true);
  const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
  if (!has_commands || !is_of(error, CLI::ExitCodes::RequiredError) || words.empty() || words.front().starts_with('-')) {
    return std::nullopt;
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  return with_hint("there is no command `" + words.front() + "`", did_you_mean(words.front(), commands), help);
}

// A line of the file of --config.
std::optional<std::string> unknown_setting(const CLI::App& app, const CLI::ParseError& error) {
  constexpr std::string_view kPrefix = "INI was not able to parse ";
  const std::string text = error.what();
  if (!is_of(error, CLI::ExitCodes::ConfigError) || !text.starts_with(kPrefix)) return std::nullopt;
  const std::string line = text.substr(kPrefix.size());
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty()) names.push_back(option->get_lnames().front());
  }
  return with_hint("--config: the file has a line with `" + line + "`, which is no option", did_you_mean(line, names),
                   "--help; lines are like `workers = 4`");
}

}  // namespace

std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const std::string help = app.get_name() + (chosen.empty() ? "" : " " + chosen.front()->get_name()) + " --help";
  if (auto fault = unknown_command(app, error, help)) return *fault;
  if (auto fault = unknown_setting(app, error)) return *fault;
  const std::string text = error.what();
  if (is_of(error, CLI::ExitCodes::FileError)) return with_hint("--config: " + text, "", help);
  return with_hint(text, "", help);
}

std::optional<int> read_arguments(CLI::App& app, int count, const char* const* arguments) {
  try {
    app.parse(count, arguments);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), fault_of(app, error).c_str());
    return kExitUsage;
  }
}

}  // namespace tuneband::command_line
