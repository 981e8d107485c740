#include "debugger/collections.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::int64_t kScalarSaves = 1'000;   // until max_resource: what costs next to nothing
constexpr std::int64_t kImportanceSaves = 10;  // each walks over all trees so far
constexpr std::int64_t kSaves = 50;
constexpr std::int64_t kShapRows = 1'000;
constexpr std::int64_t kShapRowsMax = 100'000;
constexpr std::string_view kAlways[] = {"metrics", "resources"};

// How often until max_resource, where nobody says it.
std::int64_t saves_of(const std::string& name) {
  if (std::find(std::begin(kAlways), std::end(kAlways), name) != std::end(kAlways)) return kScalarSaves;
  return name == "feature_importance" ? kImportanceSaves : kSaves;
}

Collection collection_with_defaults(const std::string& name, std::int64_t max_resource, const std::optional<SaveSchedule>& save) {
  const std::int64_t saves = saves_of(name);
  Collection collection;
  collection.name = name;
  collection.save = save && saves != kScalarSaves ? *save : derived_schedule(max_resource, saves);
  if (name == "shap") collection.rows = kShapRows;
  return collection;
}

bool valid_collection_name(std::string_view name) {
  return !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Collection parse_collection(const std::string& name, const Json& json, const std::string& path, TrainerKind trainer,
                            Collection collection, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  if (const Json* save = reader.find("save"))
    collection.save = parse_schedule(*save, reader.path_to("save"), collection.save, diagnostics);
  collection.raw = reader.boolean_or("raw", false);
  if (name == "shap") collection.rows = reader.integer_or("rows", collection.rows, {.min = 1, .max = kShapRowsMax});
  const auto& built_in = built_in_collections(trainer);
  const bool known = std::find(built_in.begin(), built_in.end(), name) != built_in.end();
  if (const Json* patterns = reader.find("patterns")) {
    if (known) diagnostics.error(reader.path_to("patterns"), "`" + name + "` is a built-in collection and has no patterns");
    collection.patterns = parse_patterns(*patterns, reader.path_to("patterns"), diagnostics);
  } else if (!known && trainer == TrainerKind::xgboost) {
    const std::string hint = did_you_mean(name, built_in);
    diagnostics.error(path, "expected `patterns`, as `" + name + "` is none of the built-in collections " + one_of(built_in),
                      hint);
  }
  reader.finish();
  return collection;
}

}  // namespace

std::string_view collection_of(std::string_view tensor) { return tensor.substr(0, tensor.find('/')); }

bool Collection::holds(std::string_view tensor) const {
  if (patterns.empty()) return collection_of(tensor) == name;
  return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& pattern) { return pattern.found_in(tensor); });
}

bool valid_tensor_name(std::string_view name) {
  if (name.empty() || name.size() > kTensorNameSizeMax || valid_utf8(name) != name) return false;
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

const std::vector<std::string>& built_in_collections(TrainerKind trainer) {
  static const std::vector<std::string> xgboost{"metrics", "resources", "hyperparameters",    "labels", "predictions",
                                                "margins", "gradients", "feature_importance", "trees",  "shap"};
  static const std::vector<std::string> command{"metrics", "resources", "losses",          "weights", "gradients",  "inputs",
                                                "outputs", "biases",    "optimizer_state", "labels",  "predictions"};
  return trainer == TrainerKind::xgboost ? xgboost : command;
}

std::vector<Collection> default_collections(TrainerKind trainer, std::int64_t max_resource,
                                            const std::optional<SaveSchedule>& save) {
  static const std::vector<std::string> xgboost{"metrics", "resources", "hyperparameters", "feature_importance"};
  std::vector<Collection> collections;
  for (const std::string& name : trainer == TrainerKind::xgboost ? xgboost : built_in_collections(trainer))
    collections.push_back(collection_with_defaults(name, max_resource, save));
  return collections;
}

std::vector<Collection> parse_collections(const Json& json, const std::string& path, TrainerKind trainer,
                                          std::int64_t max_resource, const std::optional<SaveSchedule>& save,
                                          Diagnostics& diagnostics) {
  std::vector<Collection> collections;
  if (!json.is_object() || json.size() > kCollectionsMax) {
    diagnostics.error(path,
                      "expected an object of at most " + std::to_string(kCollectionsMax) + " collections, got " + excerpt(json));
    return collections;
  }
  for (const auto& [name, settings] : json.items()) {
    const std::string place = join_path(path, name);
    if (!valid_collection_name(name)) {
      diagnostics.error(place, "expected a name of up to 60 letters, digits, `_` and `-`");
      continue;
    }
    collections.push_back(
        parse_collection(name, settings, place, trainer, collection_with_defaults(name, max_resource, save), diagnostics));
  }
  for (const std::string_view name : kAlways) {
    const bool there = json.contains(std::string(name));
    if (!there) collections.push_back(collection_with_defaults(std::string(name), max_resource, save));
  }
  return collections;
}

std::vector<Pattern> parse_patterns(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<Pattern> patterns;
  if (!json.is_array() || json.empty() || json.size() > kPatternsMax) {
    diagnostics.error(path,
                      "expected an array of 1 to " + std::to_string(kPatternsMax) + " regular expressions, got " + excerpt(json));
    return patterns;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool text = json[i].is_string() && json[i].get_ref<const std::string&>().size() <= kPatternSizeMax;
    if (!text) {
      diagnostics.error(join_path(path, i),
                        "expected a text of up to " + std::to_string(kPatternSizeMax) + " bytes, got " + excerpt(json[i]));
      continue;
    }
    auto pattern = Pattern::create(json[i].get<std::string>());
    if (pattern) {
      patterns.push_back(std::move(*pattern));
    } else {
      diagnostics.error(join_path(path, i), pattern.error().message);
    }
  }
  return patterns;
}

}  // namespace tuneband::debugger
