// Strict reading of JSON that a user wrote: every fault is named with its path, unknown fields are errors with a suggestion,
// numbers have ranges. Nothing here throws for bad input.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband {

using Json = nlohmann::json;

inline constexpr int kJsonDepthMax = 32;
inline constexpr std::size_t kJsonKeysMax = 10'000;  // of one object

struct JsonBounds {
  std::size_t values_max = std::numeric_limits<std::size_t>::max();  // at every depth, objects and arrays included
};

// Parses `text`. Errors: syntax (with line and column), a number that no double holds, depth above kJsonDepthMax, an object of
// more than kJsonKeysMax keys, a key given twice, more than `bounds` allow. What is refused was not built.
Result<Json> parse_json(std::string_view text, JsonBounds bounds = {});

// JSON has no NaN and no infinity; these travel as "nan", "inf" and "-inf".
Json number_to_json(double value);
std::optional<double> number_from_json(const Json& value);

// Also of 27.0, as programs write a float that happens to be whole. Nothing: another value, or too large to be exact.
std::optional<std::int64_t> integer_from_json(const Json& value);

// That field of an object; null where there is none, or no object.
const Json& member(const Json& json, const char* name);
// The same of one that ought to be a text, an integer, a number; "", 0 or nothing where it is none.
std::string text_of(const Json& json, const char* name);
std::int64_t integer_of(const Json& json, const char* name);
std::optional<double> number_of(const Json& json, const char* name);

// [{"message", "path", "hint"}]
Json faults_json(const std::vector<Error>& faults);

// On one line. What is no UTF-8 in it becomes U+FFFD: it never throws.
std::string json_line(const Json& json);

// How a value looks in an error message: its JSON text, cut to a readable length.
std::string excerpt(const Json& value);

// "search_space" + "eta" -> "search_space.eta"; "enqueue" + 3 -> "enqueue[3]".
std::string join_path(std::string_view parent, std::string_view field);
std::string join_path(std::string_view parent, std::size_t index);

struct NumberRange {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
  bool min_excluded = false;
  bool max_excluded = false;
};

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct TextRange {
  std::size_t min = 1;     // bytes
  std::size_t max = 1000;  // bytes
};

// Reads the fields of one JSON object. Each read names the field it expects; finish() reports those that nobody asked for.
// After a fault a read gives nothing (or the fallback) and the fault stands in the Diagnostics.
class ObjectReader {
 public:
  // `value` that is not an object is reported at `path`; all reads then give nothing, silently.
  ObjectReader(const Json& value, std::string path, Diagnostics& diagnostics);

  bool has(const std::string& field);
  const Json* find(const std::string& field);                                  // nothing said when it is missing
  const Json* require(const std::string& field, const std::string& expected);  // missing: reported, as what was expected
  const std::string& path() const { return path_; }
  std::string path_to(std::string_view field) const { return join_path(path_, field); }
  Diagnostics& diagnostics() { return diagnostics_; }

  std::optional<double> number(const std::string& field, NumberRange range = {});
  std::optional<std::int64_t> integer(const std::string& field, IntegerRange range = {});
  std::optional<bool> boolean(const std::string& field);
  std::optional<std::string> text(const std::string& field, TextRange range = {});
  // A text that is one of `words`; gives its index.
  std::optional<std::size_t> word(const std::string& field, const std::vector<std::string>& words);

  double number_or(const std::string& field, double fallback, NumberRange range = {});
  std::int64_t integer_or(const std::string& field, std::int64_t fallback, IntegerRange range = {});
  bool boolean_or(const std::string& field, bool fallback);
  std::string text_or(const std::string& field, std::string fallback, TextRange range = {});

  // The calls above report the field where it is missing, with what they expect. Said before the field is read.
  void require_present(const std::string& field) { required_.insert(field); }

  // Reports a field that is there, and is something else than `what`.
  void expected(const std::string& field, const std::string& what, const Json& got, const std::string& hint = "");

  // `names` are what other tools call `field`: finish() tells whoever writes one of them, in place of "is missing". Said before
  // the field is read.
  void also_called(const std::string& field, std::initializer_list<const char*> names);

  // Reports every field that was in the object and that no read asked for, with did-you-mean.
  void finish();

 private:
  // nullptr: it is missing, which is reported where it is required; `what()` words what was expected.
  template <class What>
  const Json* find_or_report(const std::string& field, const What& what);

  const Json* object_ = nullptr;
  std::string path_;
  Diagnostics& diagnostics_;
  std::set<std::string> known_;
  std::set<std::string> required_;                // and not yet reported
  std::map<std::string, std::string> elsewhere_;  // other tools' names of fields, and what they are here
};

}  // namespace tuneband
