#include "cli/format.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "core/text.hpp"
#include "core/time_text.hpp"

namespace tuneband::cli {

namespace {

constexpr int kValueDigits = 6;
constexpr int kParameterDigits = 4;

}  // namespace

std::string format_value(double value, Precision precision) {
  if (precision == Precision::exact || !std::isfinite(value)) return format_number(value);
  return fmt::format("{:.{}g}", value, kValueDigits);
}

std::string format_value(const std::optional<double>& value, Precision precision) {
  return value ? format_value(*value, precision) : "-";
}

std::string format_parameter(const Json& value, Precision precision) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return precision == Precision::exact ? format_number(number) : fmt::format("{:.{}g}", number, kParameterDigits);
  }
  return json_line(value);
}

std::vector<std::string> format_configuration(const Json& configuration, Precision precision) {
  std::vector<std::string> words;
  if (!configuration.is_object()) return words;
  for (const auto& [name, value] : configuration.items()) words.push_back(name + "=" + format_parameter(value, precision));
  return words;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 1) return fmt::format("{:.2f} s", seconds);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_seconds(double seconds, Precision precision) {
  return precision == Precision::exact ? format_value(seconds, precision) : format_duration(seconds);
}

std::string format_clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::isfinite(seconds) && seconds > 0 ? seconds : 0);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

std::string format_count(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_percent(double part, double whole) { return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "0 %"; }

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::to_string(fmt::join(words, separator));
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto time = tuneband::parse_time(text);
  return time ? std::optional(time->ms) : std::nullopt;
}

namespace {

template <class Clock>
std::int64_t ms_of() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t now_ms() { return ms_of<std::chrono::system_clock>(); }

std::int64_t steady_ms() { return ms_of<std::chrono::steady_clock>(); }

}  // namespace tuneband::cli
