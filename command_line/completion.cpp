#include "command_line/completion.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "command_line/words.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

namespace tuneband::command_line {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, const std::string& separator) { return fmt::to_string(fmt::join(words, separator)); }

// ---- bash ---------------------------------------------------------------------------------------------------------------------

// bash takes `:` and `=` for borders of words: the line is split anew, and what stands before such a border in the last word is
// left to the shell. A `~` is as it was typed. The options of JobNames are gathered in `where`.
constexpr const char* kBashWords =
    "  local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} before command= place=0 i\n"
    "  local -a words where=()\n"
    "  read -ra words <<<\"$line\"\n"
    "  words=(\"${words[@]/#\\~\\//$HOME/}\")\n"
    "  [[ $line == *[[:space:]] ]] && words+=('')\n"
    "  local last=$((${#words[@]} - 1))\n"
    "  local word=${words[last]}\n"
    "  before=${words[last-1]}\n"
    "  if [[ $word == --*=* ]]; then before=${word%%=*} word=${word#*=}; fi\n"
    "  for ((i = 1; i < last; i++)); do\n"
    "    case ${words[i]} in\n";

// What the value of an option, or a word at a place, is completed with. Where it is nothing the shell takes names of files.
std::string bash_values(const OptionWords& option, const std::string& jobs) {
  if (option.value == ValueKind::words) return "compgen -W '" + joined(option.choices, " ") + "' -- \"$word\"";
  return option.value == ValueKind::job ? "compgen -W \"$(" + jobs + ")\" -- \"$word\"" : "true";
}

std::string bash_options(const CommandWords& command, const CommandWords& program, const std::string& jobs) {
  std::string cases;
  std::vector<OptionWords> options = command.options;
  if (&command != &program) options.insert(options.end(), program.options.begin(), program.options.end());
  for (const OptionWords& option : options) {
    if (option.value == ValueKind::none) continue;
    cases += "        " + joined(option.names, "|") + ") " + bash_values(option, jobs) + "; return ;;\n";
  }
  return cases;
}

std::string bash_command(const CommandWords& command, const CommandWords& program, const Words& commands,
                         const std::string& jobs) {
  Words names;
  for (const OptionWords& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  const bool is_program = &command == &program;
  if (!is_program) {
    for (const OptionWords& option : program.options) {
      if (option.names.back() != "--help") names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  std::string text = "    " + (is_program ? std::string("''") : command.name) + ")\n      case $before in\n";
  text += bash_options(command, program, jobs) + "      esac\n";
  text += "      if [[ $word == -* ]]; then\n        compgen -W '" + joined(names, " ") +
          "' -- \"$word\"\n        return\n      fi\n";
  if (is_program) text += "      compgen -W '" + joined(commands, " ") + "' -- \"$word\"\n";
  if (!command.positionals.empty()) {
    text += "      case $place in\n";
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      const OptionWords& one = command.positionals[i];
      text += "        " + (one.takes_several ? "*" : std::to_string(i)) + ") " + bash_values(one, jobs) + " ;;\n";
    }
    text += "      esac\n";
  }
  return text + "      ;;\n";
}

// Options of any command that take a value: what follows them is no command and has no place.
std::string with_value(const std::vector<CommandWords>& all) {
  Words names;
  for (const CommandWords& command : all) {
    for (const OptionWords& option : command.options) {
      if (option.value != ValueKind::none) names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return joined(names, "|");
}

std::string bash(const std::vector<CommandWords>& all, const Words& commands, const JobNames& jobs) {
  const std::string name = replaced(all.front().name, "-", "_");
  std::string text = "# bash completion for " + all.front().name + "\n\n_" + name + "_words() {\n" + kBashWords;
  text += "      " + joined(jobs.options, "|") + ") where+=(\"${words[i]}\" \"${words[i+1]}\"); ((i++)) ;;\n";
  text += "      " + joined(jobs.options, "=*|") + "=*) where+=(\"${words[i]}\") ;;\n";
  text += "      " + with_value(all) + ") ((i++)) ;;\n";
  text +=
      "      -*) ;;\n"
      "      *) if [[ -z $command ]]; then command=${words[i]}; else ((place++)); fi ;;\n"
      "    esac\n"
      "  done\n"
      "  case $command in\n";
  const std::string names = all.front().name + " \"${where[@]}\" " + jobs.rest;
  for (const CommandWords& command : all) text += bash_command(command, all.front(), commands, names);
  text += "  esac\n}\n\n_" + name + "() {\n  local IFS=$'\\n'\n  COMPREPLY=($(_" + name + "_words))\n}\n\n";
  return text + "complete -o default -F _" + name + " " + all.front().name + "\n";
}

// ---- zsh ----------------------------------------------------------------------------------------------------------------------

std::string zsh_text(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"}) text = replaced(text, special, std::string("\\") + special);
  return replaced(text, "'", "'\\''");
}

std::string zsh_values(const OptionWords& option, const std::string& name) {
  switch (option.value) {
    case ValueKind::words:
      return "(" + joined(option.choices, " ") + ")";
    case ValueKind::job:
      return "_" + name + "_jobs";
    case ValueKind::directory:
      return "_files -/";
    case ValueKind::file:
      return "_files";
    case ValueKind::none:
    case ValueKind::text:
      break;
  }
  return " ";
}

// A long option takes its value as the next word or after `=`.
std::string zsh_arguments(const CommandWords& command, const std::string& name) {
  std::string text;
  for (const OptionWords& option : command.options) {
    const std::string value =
        option.value == ValueKind::none ? "" : ":" + zsh_text(option.value_name) + ":" + zsh_values(option, name);
    for (const std::string& one : option.names) {
      const std::string border = option.value != ValueKind::none && one.starts_with("--") ? "=" : "";
      text +=
          " \\\n        '(" + joined(option.names, " ") + ")" + one + border + "[" + zsh_text(option.about) + "]" + value + "'";
    }
  }
  for (const OptionWords& positional : command.positionals)
    text += std::string(" \\\n        '") + (positional.takes_several ? "*:" : ":") + zsh_text(positional.value_name) + ":" +
            zsh_values(positional, name) + "'";
  return text;
}

// The options of JobNames are gathered in `where`, which what it calls sees.
std::string zsh(const std::vector<CommandWords>& all, const JobNames& jobs) {
  const std::string& program = all.front().name;
  const std::string name = replaced(program, "-", "_");
  std::string text = "#compdef " + program + "\n\n_" + name + "_jobs() {\n  local -a jobs=(${(f)\"$(" + program + " $where " +
                     jobs.rest + ")\"})\n  _describe job jobs\n}\n\n_" + name + "() {\n";
  text +=
      "  local context state line i\n  local -A opt_args\n  local -a where=()\n  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case $words[i] in\n";
  text += "      " + joined(jobs.options, "|") + ") where+=(\"$words[i]\" \"${words[i+1]/#\\~\\//$HOME/}\") ;;\n";
  text += "      " + joined(jobs.options, "=*|") + "=*) where+=(\"$words[i]\") ;;\n    esac\n  done\n  local -a commands=(\n";
  for (const CommandWords& command : all) {
    if (&command != &all.front()) text += "    " + shell_quoted(command.name + ":" + command.about) + "\n";
  }
  text +=
      "  )\n  _arguments -C" + zsh_arguments(all.front(), name) + " \\\n        '1:command:->command' '*::argument:->argument'\n";
  text += "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const CommandWords& command : all) {
    if (&command == &all.front()) continue;
    text += "      " + command.name + ")\n        _arguments" + zsh_arguments(command, name) + "\n        ;;\n";
  }
  // Found on $fpath the file is the body of a function of its name; sourced it only says what completes the program.
  return text + "      esac\n      ;;\n  esac\n}\n\nif [[ $funcstack[1] == _" + name + " ]]; then\n  _" + name +
         " \"$@\"\nelse\n  compdef _" + name + " " + program + "\nfi\n";
}

// ---- fish ---------------------------------------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) { return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'"; }

std::string fish_values(const OptionWords& option, const std::string& jobs) {
  switch (option.value) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return " -x -a " + fish_quoted(joined(option.choices, " "));
    case ValueKind::job:
      return " -x -a " + fish_quoted("(" + jobs + ")");
    case ValueKind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::file:
      return " -r -F";
    case ValueKind::text:
      break;
  }
  return " -x";
}

std::string fish_option(const std::string& line, const OptionWords& option, const std::string& jobs) {
  std::string text = line;
  for (const std::string& name : option.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return text + fish_values(option, jobs) + " -d " + fish_quoted(option.about) + "\n";
}

// The options of JobNames as they stand in the line.
std::string fish_where(const std::string& function, const Words& options) {
  return "function " + function +
         "\n    set -l words (commandline -opc | string replace -r '^~(?=/)' $HOME)\n    for i in (seq 2 (count $words))\n       "
         " switch $words[$i]\n            "
         "case " +
         joined(options, " ") + "\n                printf '%s\\n' $words[$i] $words[(math $i + 1)]\n            case '" +
         joined(options, "=*' '") + "=*'\n                printf '%s\\n' $words[$i]\n        end\n    end\nend\n\n";
}

std::string fish(const std::vector<CommandWords>& all, const JobNames& names) {
  const std::string start = "complete -c " + all.front().name;
  const std::string where = "__" + replaced(all.front().name, "-", "_") + "_where";
  std::string text = "# fish completion for " + all.front().name + "\n\n" + fish_where(where, names.options) + start + " -f\n";
  const std::string jobs = all.front().name + " (" + where + ") " + names.rest;
  for (const OptionWords& option : all.front().options) text += fish_option(start, option, jobs);
  for (const CommandWords& command : all) {
    if (&command == &all.front()) continue;
    text += start + " -n __fish_use_subcommand -a " + command.name + " -d " + fish_quoted(command.about) + "\n";
    const std::string line = start + " -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const OptionWords& option : command.options) {
      if (option.names.back() != "--help") text += fish_option(line, option, jobs);
    }
    for (const OptionWords& positional : command.positionals) {
      if (positional.value == ValueKind::file || positional.value == ValueKind::directory) text += line + " -F\n";
      if (positional.value == ValueKind::job || positional.value == ValueKind::words)
        text += line + fish_values(positional, jobs) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion(const CLI::App& app, Shell shell, const JobNames& jobs) {
  const std::vector<CommandWords> all = words_of(app);
  Words commands;
  for (std::size_t i = 1; i < all.size(); ++i) commands.push_back(all[i].name);
  if (shell == Shell::bash) return bash(all, commands, jobs);
  return shell == Shell::zsh ? zsh(all, jobs) : fish(all, jobs);
}

}  // namespace tuneband::command_line
