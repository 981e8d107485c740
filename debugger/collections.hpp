// Collections: which tensors are saved, when, and whether whole. A tensor's name begins with the collection that it was made in:
// "metrics/validation-auc", "weights/fc1.weight". A collection of one's own takes in what its patterns find in such names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "debugger/pattern.hpp"
#include "debugger/save_schedule.hpp"

namespace tuneband::debugger {

enum class TrainerKind { xgboost, command };

struct Collection {
  std::string name;
  std::vector<Pattern> patterns;  // of one's own; empty: a built-in one
  SaveSchedule save;
  bool raw = false;       // arrays are kept whole, and not only their reductions
  std::int64_t rows = 0;  // of the data that it looks at: shap; 0: all

  bool holds(std::string_view tensor) const;
};

// "weights/fc1.weight" -> "weights".
std::string_view collection_of(std::string_view tensor);

// Up to kTensorNameSizeMax bytes of UTF-8 without control characters, no part of it (between '/') empty, "." or "..".
bool valid_tensor_name(std::string_view name);
inline constexpr std::size_t kTensorNameSizeMax = 300;
inline constexpr std::size_t kCollectionsMax = 50;
inline constexpr std::size_t kPatternsMax = 50;  // of a collection, or of a rule

const std::vector<std::string>& built_in_collections(TrainerKind trainer);
// What a job that names none gets.
std::vector<Collection> default_collections(TrainerKind trainer, std::int64_t max_resource,
                                            const std::optional<SaveSchedule>& save);

// {"gradients": {"save": {"every": 10}, "raw": true}, "mine": {"patterns": ["^weights/fc"]}}; `metrics` and `resources` are
// there in any case.
std::vector<Collection> parse_collections(const Json& json, const std::string& path, TrainerKind trainer,
                                          std::int64_t max_resource, const std::optional<SaveSchedule>& save,
                                          Diagnostics& diagnostics);

// An array of texts, each an expression.
std::vector<Pattern> parse_patterns(const Json& json, const std::string& path, Diagnostics& diagnostics);

}  // namespace tuneband::debugger
