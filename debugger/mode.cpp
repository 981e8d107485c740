#include "debugger/mode.hpp"

#include <algorithm>
#include <iterator>

#include "debugger/collections.hpp"

namespace tuneband::debugger {

namespace {

struct Word {
  std::string_view word;
  Mode mode;
};

constexpr Word kWords[] = {
    {"train", Mode::train},    {"training", Mode::train},  {"validation", Mode::validation}, {"valid", Mode::validation},
    {"val", Mode::validation}, {"eval", Mode::validation}, {"test", Mode::validation},
};

constexpr std::string_view kNamesOfParts[] = {"weights",         "biases", "gradients",          "inputs",          "outputs",
                                              "optimizer_state", "shap",   "feature_importance", "hyperparameters", "trees"};

}  // namespace

const std::vector<std::string>& mode_names() {
  static const std::vector<std::string> names{"none", "train", "validation", "predict"};
  return names;
}

std::string_view to_string(Mode mode) { return mode_names()[static_cast<std::size_t>(mode)]; }

std::optional<Mode> mode_from(std::string_view word) {
  const auto known = std::find(mode_names().begin(), mode_names().end(), word);
  return known == mode_names().end() ? std::nullopt : std::optional(static_cast<Mode>(known - mode_names().begin()));
}

NamedMode named_mode(std::string_view tensor) {
  const std::string_view collection = collection_of(tensor);
  const std::string_view name = tensor.substr(std::min(tensor.size(), tensor.find('/') + 1));
  const bool of_parts = std::find(std::begin(kNamesOfParts), std::end(kNamesOfParts), collection) != std::end(kNamesOfParts);
  for (const auto& [word, mode] : kWords) {
    if (name == word) return {mode, ""};
    const bool begins = name.starts_with(word) && (name[word.size()] == '-' || name[word.size()] == '_');
    if (begins && !of_parts) return {mode, std::string(name.substr(word.size() + 1))};
  }
  return {Mode::none, std::string(name)};
}

Mode told_mode(std::string_view tensor, Mode mode) {
  return mode == Mode::none || named_mode(tensor).mode == mode ? Mode::none : mode;
}

Mode mode_of(std::string_view tensor, Mode told) { return told != Mode::none ? told : named_mode(tensor).mode; }

}  // namespace tuneband::debugger
