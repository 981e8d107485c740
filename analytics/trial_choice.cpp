#include "analytics/trial_choice.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <set>

#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kBestShare = 4;  // one in so many

struct Ended {
  int number = 0;
  std::optional<double> value;  // of the trial (kValueOfTrial), finite, where it meets the constraints
  std::int64_t value_resource = 0;
  Spent own;
};

std::vector<Ended> by_end(Connection& connection, JobId job) {
  Statement rows = connection.prepare(
      joined({"SELECT number, ", kValueOfTrial,
              ", objective_resource, violation, resource, training_ms * (1 + json_array_length(peers)) "
              "FROM trials WHERE job = ? AND started_at IS NOT NULL ORDER BY ended_at IS NULL, ended_at, number"}));
  std::vector<Ended> all;
  for (rows.query(job.value); rows.step();) {
    Ended one{rows.small_integer(0), std::nullopt, rows.integer(2), {rows.integer(4), rows.integer(5)}};
    if (!rows.is_null(1) && std::isfinite(rows.number(1)) && rows.number(3) <= 0) one.value = rows.number(1);
    all.push_back(one);
  }
  return all;
}

}  // namespace

std::vector<int> choose_trials(Connection& connection, JobId job, Goal goal, std::size_t trials_max, std::span<const int> also) {
  std::vector<int> all;
  Statement numbers = connection.prepare("SELECT number FROM trials WHERE job = ? ORDER BY number");
  for (numbers.query(job.value); numbers.step();) all.push_back(numbers.small_integer(0));
  if (all.size() <= trials_max) return all;
  const bool up = goal == Goal::minimize;
  Statement best = connection.prepare(joined(
      {"SELECT number FROM trials INDEXED BY trials_by_objective WHERE job = ?1 AND violation = 0 AND objective IS NOT NULL AND ",
       kValueOfTrial, up ? " >= ?2" : " <= ?2", " ORDER BY ", kValueOfTrial, up ? "" : " DESC", ", number LIMIT ?3"}));
  std::set<int> chosen;
  const auto of_best = static_cast<std::int64_t>(std::max<std::size_t>(1, trials_max / kBestShare));
  for (best.query(job.value, up ? -DBL_MAX : DBL_MAX, of_best); best.step();) chosen.insert(best.small_integer(0));
  for (const int number : also) {
    if (chosen.size() < trials_max) chosen.insert(number);
  }
  std::erase_if(all, [&](int number) { return chosen.contains(number); });
  const std::size_t room = trials_max - chosen.size();
  for (std::size_t i = 0; i < room; ++i) chosen.insert(all[i * all.size() / room]);
  return {chosen.begin(), chosen.end()};
}

CostSoFar cost_so_far(Connection& connection, JobId job, const Objective& objective, std::int64_t max_resource) {
  const std::vector<Ended> all = by_end(connection, job);
  std::int64_t highest = 0;
  for (const Ended& one : all) {
    if (one.value) highest = std::max(highest, one.value_resource);
  }
  const std::int64_t level = std::min(highest, max_resource);
  CostSoFar found;
  Spent spent;
  std::optional<double> anywhere;
  std::optional<double> at_level;
  const auto raises = [&](std::optional<double>& best, double value) {
    if (best && !objective.better(value, *best)) return false;
    best = value;
    return true;
  };
  for (const Ended& one : all) {
    spent.resource += one.own.resource;
    spent.worker_ms += one.own.worker_ms;
    found.until.emplace(one.number, spent);
    if (!one.value) continue;
    const bool raised = raises(anywhere, *one.value);
    if ((one.value_resource >= level && raises(at_level, *one.value)) || raised) found.raised.push_back(one.number);
  }
  return found;
}

}  // namespace tuneband
