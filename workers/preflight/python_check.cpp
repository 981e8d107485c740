#include "workers/preflight/python_check.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "workers/preflight/python_probe.hpp"

namespace tuneband::workers {

namespace {

constexpr int kProbeSaysMax = 15;  // seconds; python itself is there within 0.1, of a network file system later
constexpr std::string_view kProbeMark = "tuneband-probe ";

bool is_set(const Json& json, const char* name) { return json.value(name, Json()) == true; }

std::string place_of(const Json& found) {
  const Json line = found.value("line", Json());
  const std::string file = text_of(found, "file");
  if (file.empty() || !line.is_number_integer()) return "";
  return " (" + file + ", line " + line.dump() + ")";
}

Json read_probe(const ProgramSaid& said) {
  const auto begin = said.output.find(kProbeMark);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + kProbeMark.size();
  const auto json = parse_json(std::string_view(said.output).substr(from, said.output.find('\n', from) - from));
  return json && json->is_object() ? *json : Json();
}

// With too little memory python does not even start; then the limit is tried against none.
Json probe(const CheckedCommand& command, const CommandScript& script, Diagnostics& diagnostics) {
  std::vector<std::string> argv{script.interpreter, "-c", kPythonProbe};
  if (script.module.empty()) {
    argv.push_back(script.script);
  } else {
    argv.insert(argv.end(), {"-m", script.module});
  }
  const Json said = read_probe(said_by(command, argv, kProbeSaysMax, Limits::of_command));
  if (!said.is_null() || !command.spec.memory_bytes_max) return said;
  const Json without = read_probe(said_by(command, argv, kProbeSaysMax, Limits::none));
  if (!without.is_null()) {
    diagnostics.error("trainer.memory_mb",
                      script.interpreter + " does not start with " + std::to_string(*command.spec.memory_bytes_max / kMegabyte) +
                          " MB of address space, and does without the limit",
                      "raise it: libraries that are loaded count, too");
  }
  return without;
}

void check_modules(const CommandScript& script, const Json& said, Diagnostics& diagnostics) {
  for (const Json& module : said.value("missing", Json::array())) {
    const std::string name = text_of(module, "name");
    const std::string package = text_of(module, "package");
    const std::string message = script.interpreter + " finds no module `" + name + "`" + place_of(module);
    const std::string hint = "install it for this interpreter (" + script.interpreter + " -m pip install " +
                             (package.empty() ? name : package) + "), or name the interpreter that has it";
    if (is_set(module, "certain")) {
      diagnostics.error(script.path, message, hint);
    } else {
      diagnostics.warning(script.path, message + ", which it imports on some ways", hint);
    }
  }
}

// The first text of the job that asks for CUDA.
const CommandText* asks_for_cuda(const std::vector<CommandText>& texts) {
  const auto found =
      std::find_if(texts.begin(), texts.end(), [](const CommandText& text) { return text.text.starts_with("cuda"); });
  return found == texts.end() ? nullptr : &*found;
}

void check_devices(const CheckedCommand& command, const CommandScript& script, const Json& said, bool has_gpu,
                   Diagnostics& diagnostics) {
  const Json gpu = said.value("gpu", Json());
  const std::vector<CommandText> texts = texts_of(command);
  const CommandText* asked = asks_for_cuda(texts);
  if (!has_gpu && gpu.is_object() && !is_set(said, "looks")) {
    diagnostics.warning(script.path, "the script uses CUDA" + place_of(gpu) + ", and this machine has no GPU",
                        "ask torch.cuda.is_available() first, or use a machine with a GPU");
  }
  if (has_gpu && text_of(said, "torch_cuda") == "None" && (asked != nullptr || gpu.is_object())) {
    diagnostics.error(asked != nullptr ? asked->path : script.path,
                      "CUDA is asked for, and the PyTorch of " + script.interpreter + " is built without it",
                      "install PyTorch's package for CUDA, or use cpu");
  }
}

}  // namespace

bool knows_of_ranks(std::string_view text) {
  static const RE2 words(
      "(?i)rank|world_size|distributed|horovod|mpi4py|accelerate|deepspeed|lightning|rabit|collective|torchrun");
  return RE2::PartialMatch(text, words);
}

std::vector<std::string> check_python(const CheckedCommand& command, const CommandScript& script, bool has_gpu,
                                      Diagnostics& diagnostics) {
  const Json said = probe(command, script, diagnostics);
  if (said.is_null()) return {};  // another Python, or none that answers in time
  std::vector<std::string> files;
  for (const Json& file : said.value("own", Json::array())) {
    if (file.is_string()) files.push_back(file.get<std::string>());
  }
  if (const Json syntax = said.value("syntax", Json()); syntax.is_object()) {
    const std::string message = script.interpreter + " cannot read ";
    if (is_set(syntax, "certain")) {
      diagnostics.error(script.path, message + "the script" + place_of(syntax) + ": " + text_of(syntax, "message"));
      return files;
    }
    diagnostics.warning(script.path, message + "a module that the script imports on some ways" + place_of(syntax) + ": " +
                                         text_of(syntax, "message"));
  }
  check_modules(script, said, diagnostics);
  check_devices(command, script, said, has_gpu, diagnostics);
  return files;
}

}  // namespace tuneband::workers
