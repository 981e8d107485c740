#include "core/time_text.hpp"

#include <chrono>

#include "core/json_writer.hpp"

namespace tuneband {

namespace {

constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";

// `count` digits from `at`; the shape was looked at before.
unsigned digits(std::string_view text, std::size_t at, std::size_t count) {
  unsigned value = 0;
  for (const char c : text.substr(at, count)) value = 10 * value + static_cast<unsigned>(c - '0');
  return value;
}

bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace

std::string time_text(Timestamp time) {
  std::string text;
  append_time(text, time);
  return text;
}

std::optional<Timestamp> parse_time(std::string_view text) {
  using namespace std::chrono;
  const bool with_ms = text.size() == kShape.size() + 5;  // ".dddZ"
  const std::string_view rest = text.size() < kShape.size() ? "" : text.substr(kShape.size());
  if (!has_shape(text.substr(0, kShape.size()), kShape) || !has_shape(rest, with_ms ? ".dddZ" : "Z")) return std::nullopt;
  const year_month_day date{year(static_cast<int>(digits(text, 0, 4))), month(digits(text, 5, 2)), day(digits(text, 8, 2))};
  const unsigned hour = digits(text, 11, 2);
  const unsigned minute = digits(text, 14, 2);
  const unsigned second = digits(text, 17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto moment = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  const std::int64_t ms = with_ms ? digits(text, kShape.size() + 1, 3) : 0;
  return Timestamp{duration_cast<milliseconds>(moment.time_since_epoch()).count() + ms};
}

}  // namespace tuneband
