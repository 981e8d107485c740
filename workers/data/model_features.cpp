#include "workers/data/model_features.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"

namespace tuneband::workers {

namespace {

constexpr std::array<std::string_view, 4> kKinds{"numeric", "one_hot", "ordinal", "native"};  // by ColumnKind

constexpr const char* kHexEnding = "_hex";
constexpr std::string_view kDigits = "0123456789abcdef";

std::string to_hex(std::string_view text) {
  std::string hex;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte / 16], kDigits[byte % 16]};
  }
  return hex;
}

std::string from_hex(std::string_view hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const std::size_t high = kDigits.find(hex[i]);
    const std::size_t low = kDigits.find(hex[i + 1]);
    if (high >= kDigits.size() || low >= kDigits.size()) throw Json::other_error::create(501, "no digit", nullptr);
    text += static_cast<char>(high * 16 + low);
  }
  return text;
}

// JSON cannot have what is no UTF-8: the bytes of such a list stand beside it.
void put_texts(Json& object, const std::string& field, const std::vector<std::string>& texts) {
  object[field] = texts;
  const bool plain = std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return valid_utf8(text) == text; });
  if (plain) return;
  Json& bytes = object[field + kHexEnding] = Json::array();
  for (const std::string& text : texts) bytes.push_back(to_hex(text));
}

std::vector<std::string> get_texts(const Json& object, const std::string& field) {
  const auto bytes = object.find(field + kHexEnding);
  std::vector<std::string> texts;
  for (const Json& text : bytes != object.end() ? *bytes : object.at(field))
    texts.push_back(bytes != object.end() ? from_hex(text.get<std::string>()) : text.get<std::string>());
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
    if (described.contains("categories")) feature.categories = get_texts(described, "categories");
    encoding.columns.push_back(feature.name);
    encoding.features.push_back(std::move(feature));
  }
  encoding.header = all.value("header", true);
  const auto delimiter = all.value("delimiter", std::string(1, encoding.delimiter));
  if (delimiter.size() != 1) throw Json::other_error::create(501, "no delimiter", nullptr);
  encoding.delimiter = delimiter.front();
  const Json& missing = all.at("missing");
  encoding.missing = {get_texts(missing, "texts"), missing.at("any_case").get<bool>(),
                      missing.value("numbers", std::vector<double>{})};
  const Json& label = all.at("label");
  encoding.label.name = label.at("column").get<std::string>();
  encoding.label.classes = get_texts(label, "classes");
  encoding.label.positive = label.at("positive").get<std::string>();
  encoding.label.other = label.value("other", "");
  return encoding;
}

}  // namespace

std::string describe_features(const CsvEncoding& encoding) {
  Json features = Json::array();
  for (const FeatureColumn& feature : encoding.features) {
    Json described{
        {"column", feature.name}, {"source", feature.source}, {"kind", kKinds[static_cast<std::size_t>(feature.kind)]}};
    if (feature.kind != ColumnKind::numeric) put_texts(described, "categories", feature.categories);
    features.push_back(std::move(described));
  }
  Json label{{"column", encoding.label.name}, {"source", encoding.label.source}, {"positive", encoding.label.positive}};
  if (!encoding.label.other.empty()) label["other"] = encoding.label.other;
  put_texts(label, "classes", encoding.label.classes);
  Json missing{{"texts", encoding.missing.texts}, {"any_case", encoding.missing.any_case}};
  if (!encoding.missing.numbers.empty()) missing["numbers"] = encoding.missing.numbers;
  const Json all{{"header", encoding.header},
                 {"delimiter", std::string(1, encoding.delimiter)},
                 {"features", std::move(features)},
                 {"missing", std::move(missing)},
                 {"label", std::move(label)}};
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
