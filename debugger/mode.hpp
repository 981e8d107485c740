// What a training did when a tensor was saved: it learned, was held against data held back, or predicted. Of one name there may
// be a tensor in each mode at a step: a tensor is its name and its mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband::debugger {

enum class Mode : std::uint8_t { none, train, validation, predict };  // none: nobody said it
inline constexpr std::size_t kModes = 4;

// In the order of Mode: "none", "train", "validation", "predict".
const std::vector<std::string>& mode_names();
std::string_view to_string(Mode mode);
std::optional<Mode> mode_from(std::string_view word);

// What of a tensor's name says its mode: "train", "training"; "validation", "valid", "val", "eval", "test". In collections whose
// names are those of parts (of a model, of its inputs) only a name that is this word alone says it.
struct NamedMode {
  Mode mode = Mode::none;
  std::string rest;  // of the name, without its collection and this word: "auc" of "metrics/validation-auc"
};
NamedMode named_mode(std::string_view tensor);

// What is to be told beside the name: none where the name says this mode.
Mode told_mode(std::string_view tensor, Mode mode);

// The mode that was told, else the one that the name says.
Mode mode_of(std::string_view tensor, Mode told);

}  // namespace tuneband::debugger
