#include "workers/preflight/script_argument.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace tuneband::workers {

namespace {

// The options of some interpreters: letters, which may share a word, and names behind two dashes.
struct Options {
  std::string_view programs;      // divided by spaces, as all names here
  std::string_view alone;         // without an operand
  std::string_view text;          // no script comes: a text, or the standard input
  std::string_view operand = {};  // theirs is the rest of the word, else the next word
  std::string_view rest = {};     // theirs is the rest of the word, and may be empty
  std::string_view next = {};     // theirs is the next word, and more letters may follow
  std::string_view module = {};   // as `operand`: what is run, by its name
  std::string_view names = {};    // without an operand; "*": all
  std::string_view text_names = {};
  std::string_view next_names = {};  // the next word is theirs, or what follows an `=`
  bool plus = false;                 // a word of letters may begin with + as well
};

constexpr std::string_view kOfShells = "abefhiklmnpqrtuvxBCDEHIPTV";

constexpr std::array kKnown{
    Options{.programs = "python pypy",  // and those with a version
            .alone = "bBdEhiIOPqRsStuvVx?",
            .text = "c",
            .operand = "WX",
            .module = "m",
            .next_names = "check-hash-based-pycs jit"},
    Options{.programs = "sh bash dash",
            .alone = kOfShells,
            .text = "cs",
            .next = "oO",
            .names = "debugger login noediting noprofile norc posix restricted verbose",
            .next_names = "init-file rcfile",
            .plus = true},
    Options{.programs = "zsh ksh", .alone = kOfShells, .text = "cs", .operand = "o", .next_names = "emulate", .plus = true},
    Options{.programs = "perl", .alone = "0123456789acfhlnpsStTuUvwWX", .text = "eE", .operand = "I", .rest = "CDFimMVx"},
    Options{.programs = "ruby",
            .alone = "0123456789acdhlnpsSUvwy",
            .text = "e",
            .operand = "CEIrX",
            .rest = "FiKTWx",
            .names = "debug jit verbose yjit",
            .next_names = "disable enable encoding external-encoding internal-encoding"},
    Options{.programs = "Rscript", .alone = "", .text = "e", .names = "*"},
    Options{.programs = "node",
            .alone = "chiv",
            .text = "ep",
            .operand = "Cr",
            .names = "check enable-source-maps expose-gc interactive no-deprecation no-warnings trace-warnings",
            .text_names = "eval print",
            .next_names = "conditions experimental-loader import input-type loader require"},
    Options{.programs = "julia",
            .alone = "hiqv",
            .text = "eEm",
            .operand = "CHJLpt",
            .rest = "gO",
            .names = "project quiet",
            .text_names = "eval module print",
            .next_names = "cpu-target home load procs sysimage threads"},
    Options{.programs = "lua", .alone = "EivW", .text = "e", .operand = "l"},
    Options{.programs = "php",
            .alone = "aCefhHilmnqsvw",
            .text = "BEFrRS",
            .operand = "cdtz",
            .text_names = "run server",
            .next_names = "define php-ini"},
};

bool has(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

bool names(std::string_view list, std::string_view name) {
  const auto each = split(list, ' ');
  return std::find(each.begin(), each.end(), name) != each.end();
}

const Options* options_of(std::string_view program) {
  if (is_python(program)) return &kKnown.front();
  const auto found =
      std::find_if(kKnown.begin() + 1, kKnown.end(), [&](const Options& options) { return names(options.programs, program); });
  return found == kKnown.end() ? nullptr : &*found;
}

// What a word of options says of what follows it.
struct Word {
  std::size_t operands = 0;  // of the next words
  bool text = false;
  bool module = false;
  std::string_view rest = {};  // of a module: its name, when it is in the word
  bool known = true;
};

Word letters(const Options& options, std::string_view word) {
  Word said;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const char letter = word[i];
    const std::string_view rest = word.substr(i + 1);
    if (has(options.text, letter)) {
      said.text = true;
      return said;
    }
    if (has(options.module, letter)) {
      said.module = true;
      said.rest = rest;
      return said;
    }
    if (has(options.rest, letter)) return said;
    if (has(options.operand, letter)) {
      if (rest.empty()) ++said.operands;
      return said;
    }
    if (has(options.next, letter)) {
      ++said.operands;
    } else if (!has(options.alone, letter)) {
      said.known = false;
    }
  }
  return said;
}

Word long_option(const Options& options, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
  if (names(options.text_names, name)) return {.text = true};
  if (equals != std::string_view::npos || options.names == "*" || names(options.names, name)) return {};
  if (names(options.next_names, name)) return {.operands = 1};
  return {.known = false};
}

}  // namespace

bool is_python(std::string_view program) { return program.starts_with("python") || program.starts_with("pypy"); }

bool runs_scripts(std::string_view program) { return options_of(program) != nullptr; }

std::optional<ScriptArgument> script_argument(std::string_view program, const std::vector<std::string>& argv) {
  const Options* options = options_of(program);
  if (options == nullptr) return std::nullopt;
  ScriptArgument found;
  bool ended = false;  // the options, by two dashes
  for (found.index = 1; found.index < argv.size(); ++found.index) {
    const std::string_view word = argv[found.index];
    if (ended || !(word.starts_with('-') || (options->plus && word.starts_with('+')))) {
      found.text = word;
      return found;
    }
    if (word == "-") return std::nullopt;
    ended = word == "--";
    if (ended) continue;
    const Word said = word.starts_with("--") ? long_option(*options, word) : letters(*options, word);
    if (said.text) return std::nullopt;
    found.certain = found.certain && said.known;
    if (said.module) {
      if (said.rest.empty() && ++found.index == argv.size()) return std::nullopt;
      found.module = true;
      found.text = said.rest.empty() ? std::string_view(argv[found.index]) : said.rest;
      return found;
    }
    found.index += said.operands;
  }
  return std::nullopt;
}

}  // namespace tuneband::workers
