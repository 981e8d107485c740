// Writes JSON straight into a string: large lists cost a copy of their bytes and nothing more.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/ids.hpp"
#include "core/time.hpp"

namespace tuneband {

// "2026-03-01T12:00:00.000Z"
void append_time(std::string& out, Timestamp time);

// JSON that is there already.
struct RawJson {
  std::string text;
  bool operator==(const RawJson&) const = default;
};

// The caller writes a well-formed sequence: a key before each value of an object, every begin with its end.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // JSON that is there already
  JsonWriter& value(bool flag);
  JsonWriter& value(double number);          // reads back as the same double; "nan", "inf", "-inf" for the others
  JsonWriter& value(std::string_view text);  // bytes that are not UTF-8 are replaced
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(Timestamp time);
  JsonWriter& value(const RawJson& json) { return raw(json.text); }
  template <class Tag, class Value>
  JsonWriter& value(const Id<Tag, Value>& id) {
    return value(id.value);
  }
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) JsonWriter& value(Integer number) { return integer(static_cast<std::int64_t>(number)); }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  // What has a write_json() in this namespace: described structs have (described_json.hpp). A word of an enum; a list; a list of
  // pairs of a name and what it has, as an object.
  template <class T>
  requires(!std::is_arithmetic_v<T> && !std::convertible_to<const T&, std::string_view>) JsonWriter& value(const T& content) {
    if constexpr (requires { write_json(*this, content); }) {
      write_json(*this, content);
    } else if constexpr (std::is_enum_v<T>) {
      value(to_string(content));
    } else if constexpr (requires { typename T::value_type::second_type; }) {  // pairs
      begin_object();
      for (const auto& [name, its] : content) field(name, its);
      end_object();
    } else {
      begin_array();
      for (const auto& element : content) value(element);
      end_array();
    }
    return *this;
  }

  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& integer(std::int64_t number);
  void separate();
  void quoted(std::string_view text);

  std::string& out_;
  bool comma_due_ = false;
};

template <class T>
std::string json_text(const T& content) {
  std::string text;
  JsonWriter(text).value(content);
  return text;
}

}  // namespace tuneband
