#include "cli/terminal/capacity_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr double kClockFrom = 60;  // seconds: of a shorter job the clock says nothing
constexpr double kDay = 24 * 3600;
constexpr double kClockUntil = 365 * kDay;

}  // namespace

std::string takes_text(const Json& capacity, const std::string& unit) {
  const auto alone = number_of(capacity, "wall_seconds");
  const auto seconds = number_of(capacity, "seconds_per_unit");
  if (!seconds) return "not known: no recent job had this data or command (tuneband check takes --seconds-per-unit)";
  const std::string job = text_of(capacity, "measured_in");
  const std::string of_unit = fmt::format("{:.3g} s a unit{}{}", *seconds, unit == "units" ? "" : " of " + unit,
                                          job.empty() ? "" : ", measured in " + job);
  if (!alone) return "not known: its trials are not bounded or too many to foresee, or too few workers are there; " + of_unit;
  const auto beside = number_of(capacity, "wall_seconds_beside_others");
  return fmt::format("about {} with {}{} ({})", format_duration(*alone),
                     format_count(static_cast<std::int64_t>(number_of(capacity, "workers").value_or(0)), "worker"),
                     beside ? fmt::format(", or {} beside the jobs that run", format_duration(*beside)) : "", of_unit);
}

std::string end_text(const Json& capacity, std::int64_t now_ms) {
  const auto alone = number_of(capacity, "wall_seconds");
  const double seconds = number_of(capacity, "wall_seconds_beside_others").value_or(alone.value_or(0));
  const double starts = number_of(capacity, "starts_in_seconds").value_or(0);
  if (!alone || seconds > kClockUntil || starts > kClockUntil || seconds + starts < kClockFrom) return "";
  const std::time_t end = now_ms / 1000 + static_cast<std::int64_t>(seconds + starts);
  std::tm local{};
  ::localtime_r(&end, &local);
  return seconds + starts < kDay ? fmt::format("about {:%H:%M}", local) : fmt::format("about {:%Y-%m-%d %H:%M}", local);
}

void print_capacity(Console& console, const Json& capacity, const std::string& unit, std::int64_t now_ms) {
  if (!capacity.is_object()) return;
  console.field("starts", text_of(capacity, "starts"));
  console.field("takes", takes_text(capacity, unit));
  if (const std::string end = end_text(capacity, now_ms); !end.empty()) console.field("ends", end);
}

}  // namespace tuneband::cli
