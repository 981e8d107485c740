#include "core/json.hpp"

#include <cmath>

#include "core/text.hpp"

namespace tuneband {

namespace {

std::string range_text(double min, double max, bool min_excluded, bool max_excluded) {
  const double limit = std::numeric_limits<double>::max();
  const bool has_min = min > -limit;
  const bool has_max = max < limit;
  if (has_min && has_max) {
    return std::string(" between ") + format_number(min) + (min_excluded ? " (excluded)" : "") + " and " + format_number(max) +
           (max_excluded ? " (excluded)" : "");
  }
  if (has_min) return std::string(min_excluded ? " above " : " of at least ") + format_number(min);
  if (has_max) return std::string(max_excluded ? " below " : " of at most ") + format_number(max);
  return "";
}

std::string range_text(IntegerRange range) {
  const bool has_min = range.min > std::numeric_limits<std::int64_t>::min();
  const bool has_max = range.max < std::numeric_limits<std::int64_t>::max();
  if (has_min && has_max) return " between " + std::to_string(range.min) + " and " + std::to_string(range.max);
  if (has_min) return " of at least " + std::to_string(range.min);
  if (has_max) return " of at most " + std::to_string(range.max);
  return "";
}

Error not_json(const std::string& message) { return Error{ErrorCode::invalid_argument, message, "", ""}; }

constexpr std::size_t kExcerptSizeMax = 60;
constexpr std::size_t kSyntaxErrorSizeMax = 300;  // it quotes what was read last, which may be all there is

// Goes through a document without building it: whether it is JSON, how deep it is, how much of it there is, and whether a key is
// given twice.
class StructureCheck final : public nlohmann::json_sax<Json> {
 public:
  explicit StructureCheck(JsonBounds bounds) : bounds_(bounds) {}

  std::optional<Error> fault;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second && !fault) {
      fault = Error{ErrorCode::invalid_argument,
                    "the key `" + shortened(name, kExcerptSizeMax) + "` is given twice in one object", "", "keep one of them"};
    }
    if (keys_.back().size() <= kJsonKeysMax) return true;
    return refuse("an object of the JSON has more than " + std::to_string(kJsonKeysMax) + " keys");
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& e) override {
    std::string message = shortened(e.what(), kSyntaxErrorSizeMax);
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..." -> what follows the bracket
    if (const auto bracket = message.find("] "); bracket != std::string::npos) message.erase(0, bracket + 2);
    return refuse("not valid JSON: " + valid_utf8(message));
  }

 private:
  bool refuse(const std::string& why) {
    fault = not_json(why);
    return false;
  }
  bool value() {
    if (++values_ <= bounds_.values_max) return true;
    return refuse("the JSON has more than " + std::to_string(bounds_.values_max) + " values");
  }
  bool open() {
    keys_.emplace_back();
    if (keys_.size() <= kJsonDepthMax) return value();
    return refuse("the JSON is nested deeper than " + std::to_string(kJsonDepthMax) + " levels");
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  JsonBounds bounds_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the objects and arrays that are open
};

}  // namespace

Result<Json> parse_json(std::string_view text, JsonBounds bounds) {
  // Two passes: nlohmann's own parser callback looks through the whole array each time an element of it ends, which is quadratic.
  StructureCheck check(bounds);
  if (!Json::sax_parse(text.begin(), text.end(), &check)) return *check.fault;
  if (check.fault) return *check.fault;
  return Result<Json>(boost::system::in_place_value, Json::parse(text.begin(), text.end()));
}

Json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  return format_number(value);
}

std::optional<double> number_from_json(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_from_json(const Json& value) {
  constexpr double kExactMax = 9007199254740992;  // 2^53
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (std::trunc(number) != number || std::abs(number) > kExactMax) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMax) return std::nullopt;
  return value.get<std::int64_t>();
}

const Json& member(const Json& json, const char* name) {
  static const Json kNone;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found == json.end() ? kNone : *found;
}

std::string text_of(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::int64_t integer_of(const Json& json, const char* name) { return integer_from_json(member(json, name)).value_or(0); }

std::optional<double> number_of(const Json& json, const char* name) { return number_from_json(member(json, name)); }

Json faults_json(const std::vector<Error>& faults) {
  Json list = Json::array();
  for (const Error& fault : faults) list.push_back({{"message", fault.message}, {"path", fault.path}, {"hint", fault.hint}});
  return list;
}

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string excerpt(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text != nullptr && text->size() > 2 * kExcerptSizeMax) return excerpt(Json(text->substr(0, 2 * kExcerptSizeMax)));
  return shortened(json_line(value), kExcerptSizeMax);
}

std::string join_path(std::string_view parent, std::string_view field) {
  return parent.empty() ? std::string(field) : std::string(parent) + "." + std::string(field);
}

std::string join_path(std::string_view parent, std::size_t index) {
  return std::string(parent) + "[" + std::to_string(index) + "]";
}

ObjectReader::ObjectReader(const Json& value, std::string path, Diagnostics& diagnostics)
    : path_(std::move(path)), diagnostics_(diagnostics) {
  if (value.is_object()) {
    object_ = &value;
  } else {
    diagnostics_.error(path_, "expected an object, got " + excerpt(value));
  }
}

bool ObjectReader::has(const std::string& field) { return find(field) != nullptr; }

const Json* ObjectReader::find(const std::string& field) {
  known_.insert(field);
  if (object_ == nullptr) return nullptr;
  const auto found = object_->find(field);
  return found == object_->end() ? nullptr : &*found;
}

const Json* ObjectReader::require(const std::string& field, const std::string& expected) {
  require_present(field);
  return find_or_report(field, [&] { return expected; });
}

template <class What>
const Json* ObjectReader::find_or_report(const std::string& field, const What& what) {
  const Json* value = find(field);
  if (object_ == nullptr || value != nullptr || required_.erase(field) == 0) return value;
  const bool is_elsewhere = std::any_of(elsewhere_.begin(), elsewhere_.end(),
                                        [&](const auto& name) { return name.second == field && object_->contains(name.first); });
  if (!is_elsewhere) diagnostics_.error(path_to(field), "is missing", "expected " + what());  // else finish() tells
  return nullptr;
}

void ObjectReader::expected(const std::string& field, const std::string& what, const Json& got, const std::string& hint) {
  diagnostics_.error(path_to(field), "expected " + what + ", got " + excerpt(got), hint);
}

std::optional<double> ObjectReader::number(const std::string& field, NumberRange range) {
  const auto what = [&] { return "a number" + range_text(range.min, range.max, range.min_excluded, range.max_excluded); };
  const Json* value = find_or_report(field, what);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) {
    expected(field, what(), *value);
    return std::nullopt;
  }
  const double number = value->get<double>();
  const bool inside = (range.min_excluded ? number > range.min : number >= range.min) &&
                      (range.max_excluded ? number < range.max : number <= range.max);
  if (!inside) {
    expected(field, what(), *value);
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> ObjectReader::integer(const std::string& field, IntegerRange range) {
  const auto what = [&] { return "an integer" + range_text(range); };
  const Json* value = find_or_report(field, what);
  if (value == nullptr) return std::nullopt;
  const auto number = integer_from_json(*value);
  if (!number || *number < range.min || *number > range.max) {
    expected(field, what(), *value);
    return std::nullopt;
  }
  return number;
}

std::optional<bool> ObjectReader::boolean(const std::string& field) {
  const auto what = [] { return std::string("true or false"); };
  const Json* value = find_or_report(field, what);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    expected(field, what(), *value);
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::string> ObjectReader::text(const std::string& field, TextRange range) {
  const auto what = [] { return std::string("a text"); };
  const Json* value = find_or_report(field, what);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    expected(field, what(), *value);
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() < range.min || text.size() > range.max) {
    const std::string least = range.min == range.max ? "" : std::to_string(range.min) + " to ";
    expected(field, "a text of " + least + std::to_string(range.max) + (range.max == 1 ? " byte" : " bytes"), *value);
    return std::nullopt;
  }
  return text;
}

std::optional<std::size_t> ObjectReader::word(const std::string& field, const std::vector<std::string>& words) {
  const Json* value = find_or_report(field, [&] { return one_of(words); });
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == text) return i;
    }
    expected(field, one_of(words), *value, did_you_mean(text, words));
    return std::nullopt;
  }
  expected(field, one_of(words), *value);
  return std::nullopt;
}

double ObjectReader::number_or(const std::string& field, double fallback, NumberRange range) {
  return number(field, range).value_or(fallback);
}

std::int64_t ObjectReader::integer_or(const std::string& field, std::int64_t fallback, IntegerRange range) {
  return integer(field, range).value_or(fallback);
}

bool ObjectReader::boolean_or(const std::string& field, bool fallback) { return boolean(field).value_or(fallback); }

std::string ObjectReader::text_or(const std::string& field, std::string fallback, TextRange range) {
  return text(field, range).value_or(std::move(fallback));
}

void ObjectReader::also_called(const std::string& field, std::initializer_list<const char*> names) {
  for (const char* name : names) elsewhere_[name] = field;
}

void ObjectReader::finish() {
  if (object_ == nullptr) return;
  const std::vector<std::string> candidates(known_.begin(), known_.end());
  for (const auto& [field, value] : object_->items()) {
    if (known_.contains(field)) continue;
    if (diagnostics_.full()) {
      diagnostics_.one_more_error();
      continue;
    }
    if (const auto here = elsewhere_.find(field); here != elsewhere_.end()) {
      diagnostics_.error(path_to(field), "is written as `" + here->second + "` here");
      continue;
    }
    const auto hint = did_you_mean(field, candidates);
    diagnostics_.error(path_to(field), "unknown field",
                       hint.empty() ? candidates.empty() ? "there are none" : "known fields: " + one_of(candidates) : hint);
  }
}

}  // namespace tuneband
