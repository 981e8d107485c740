#include "workers/data/model_features.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json.hpp"

namespace tuneband::workers {

namespace {

constexpr std::array<std::string_view, 4> kKinds{"numeric", "one_hot", "ordinal", "native"};  // by ColumnKind

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) texts.push_back(text.get<std::string>());
  return texts;
}

CsvEncoding encoding_from(const Json& all) {
  CsvEncoding encoding;
  for (const Json& described : all.at("features")) {
    FeatureColumn feature;
    feature.source = described.at("source").get<std::size_t>();
    feature.name = described.at("column").get<std::string>();
    const auto kind = std::find(kKinds.begin(), kKinds.end(), described.at("kind").get<std::string>());
    if (kind == kKinds.end()) throw Json::other_error::create(501, "unknown kind", nullptr);
    feature.kind = static_cast<ColumnKind>(kind - kKinds.begin());
    feature.categories = texts_of(described.value("categories", Json::array()));
    encoding.columns.push_back(feature.name);
    encoding.features.push_back(std::move(feature));
  }
  const Json& missing = all.at("missing");
  encoding.missing = {texts_of(missing.at("texts")), missing.at("any_case").get<bool>()};
  const Json& label = all.at("label");
  encoding.label.name = label.at("column").get<std::string>();
  encoding.label.classes = texts_of(label.at("classes"));
  encoding.label.positive = label.at("positive").get<std::string>();
  return encoding;
}

}  // namespace

std::string describe_features(const CsvEncoding& encoding) {
  Json features = Json::array();
  for (const FeatureColumn& feature : encoding.features) {
    Json described{
        {"column", feature.name}, {"source", feature.source}, {"kind", kKinds[static_cast<std::size_t>(feature.kind)]}};
    if (feature.kind != ColumnKind::numeric) described["categories"] = feature.categories;
    features.push_back(std::move(described));
  }
  const LabelColumn& label = encoding.label;
  const Json all{
      {"features", std::move(features)},
      {"missing", {{"texts", encoding.missing.texts}, {"any_case", encoding.missing.any_case}}},
      {"label", {{"column", label.name}, {"source", label.source}, {"classes", label.classes}, {"positive", label.positive}}}};
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<CsvEncoding> read_features(std::string_view description) {
  const auto all = parse_json(description);
  try {
    if (all) return encoding_from(*all);
  } catch (const Json::exception&) {
  }
  return Error{ErrorCode::invalid_argument, std::string("its attribute ") + kFeaturesAttribute + " cannot be read", "model", ""};
}

}  // namespace tuneband::workers
