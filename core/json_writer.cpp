#include "core/json_writer.hpp"

#include <fmt/compile.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iterator>

#include "core/text.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kNumberCharsMax = 32;  // the longest double or integer in its shortest form has 24

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, kNumberCharsMax> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  out.append(buffer.data(), end);
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

void append_time(std::string& out, Timestamp time) {
  const std::chrono::sys_time<std::chrono::milliseconds> moment{std::chrono::milliseconds(time.ms)};
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(moment - day);
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z"), int{date.year()},
                 unsigned{date.month()}, unsigned{date.day()}, clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), clock.subseconds().count());
}

void JsonWriter::separate() {
  if (comma_due_) out_ += ',';
  comma_due_ = true;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  out_ += bracket;
  comma_due_ = true;
  return *this;
}

void JsonWriter::quoted(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    if (needs_escape(c)) {
      append_escaped(out_, c);
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  comma_due_ = false;
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) { return raw(flag ? "true" : "false"); }

JsonWriter& JsonWriter::value(double number) {
  separate();
  if (std::isfinite(number)) {
    append_number(out_, number);
  } else {
    quoted(std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
  }
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  if (is_ascii(text)) {
    quoted(text);
  } else {
    quoted(valid_utf8(text));
  }
  return *this;
}

JsonWriter& JsonWriter::value(Timestamp time) {
  separate();
  out_ += '"';
  append_time(out_, time);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t number) {
  separate();
  append_number(out_, number);
  return *this;
}

}  // namespace tuneband
