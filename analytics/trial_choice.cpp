#include "analytics/trial_choice.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kBestShare = 4;  // one in so many

constexpr std::int64_t kUnderWay = std::numeric_limits<std::int64_t>::max();  // after all that is over

struct Moment {
  std::int64_t at_ms = kUnderWay;
  int trial = 0;
  auto operator<=>(const Moment&) const = default;
};

struct Started {
  Moment counts;                // from when its value came, or it ended
  std::optional<double> value;  // of the trial (kValueOfTrial), finite, where it meets the constraints
  std::int64_t value_resource = 0;
};

struct Piece {
  Moment over;
  Spent own;
};

std::map<int, Timestamp> arrivals(Connection& connection, JobId job) {
  Statement rows = connection.prepare(
      "SELECT trial, max(ended_at) FROM segments WHERE job = ? AND outcome IN ('reached_rung', 'completed') GROUP BY trial");
  std::map<int, Timestamp> found;
  for (rows.query(job.value); rows.step();) found.emplace_hint(found.end(), rows.small_integer(0), Timestamp{rows.integer(1)});
  return found;
}

std::vector<Started> by_arrival(Connection& connection, JobId job, const std::map<int, Timestamp>& arrived) {
  Statement rows = connection.prepare(joined({"SELECT number, ", kValueOfTrial, ", objective_resource, violation, ended_at ",
                                              "FROM trials WHERE job = ? AND started_at IS NOT NULL"}));
  std::vector<Started> all;
  for (rows.query(job.value); rows.step();) {
    const auto its = arrived.find(rows.small_integer(0));
    const std::int64_t ended_ms = rows.is_null(4) ? kUnderWay : rows.integer(4);
    const std::int64_t counts_ms = its != arrived.end() ? its->second.ms : ended_ms;
    Started one{{counts_ms, rows.small_integer(0)}, std::nullopt, rows.integer(2)};
    if (!rows.is_null(1) && std::isfinite(rows.number(1)) && rows.number(3) <= 0) one.value = rows.number(1);
    all.push_back(one);
  }
  std::ranges::sort(all, {}, &Started::counts);
  return all;
}

// What was trained, segment by segment; a trial's training time is shared out by how long its segments took. A trial that is
// under way has trained, beyond segments that are over, what its row says; so has one of an older version, which has no segments.
std::vector<Piece> pieces_of(Connection& connection, JobId job) {
  Statement segments = connection.prepare(
      "SELECT trial, ended_at, resource - from_resource, ended_at - began_at, from_resource FROM segments "
      "WHERE job = ? ORDER BY trial, epoch");
  struct OfTrial {
    std::vector<Piece> pieces;  // worker_ms: how long it took
    std::int64_t lasted_ms = 0;
    std::int64_t going_on_from = 0;  // where the segment began that is under way; -1: none is
  };
  std::map<int, OfTrial> by_trial;
  for (segments.query(job.value); segments.step();) {
    OfTrial& its = by_trial[segments.small_integer(0)];
    its.going_on_from = segments.is_null(1) ? segments.integer(4) : -1;
    if (segments.is_null(1)) continue;
    its.pieces.push_back({{segments.integer(1), segments.small_integer(0)}, {segments.integer(2), segments.integer(3)}});
    its.lasted_ms += segments.integer(3);
  }
  Statement trials = connection.prepare(
      "SELECT number, ended_at, resource, training_ms - segment_training_ms, segment_training_ms, 1 + json_array_length(peers) "
      "FROM trials WHERE job = ? AND started_at IS NOT NULL");
  std::vector<Piece> all;
  for (trials.query(job.value); trials.step();) {
    const int number = trials.small_integer(0);
    OfTrial& its = by_trial[number];
    const bool goes_on = trials.is_null(1) && its.going_on_from >= 0;
    const std::int64_t over_ms = trials.integer(3) + (goes_on ? 0 : trials.integer(4));
    for (Piece& piece : its.pieces) {
      const double share = its.lasted_ms > 0 ? static_cast<double>(piece.own.worker_ms) / static_cast<double>(its.lasted_ms) : 0;
      piece.own.worker_ms = std::llround(share * static_cast<double>(over_ms)) * trials.integer(5);
      all.push_back(piece);
    }
    const Moment end{trials.is_null(1) ? kUnderWay : trials.integer(1), number};
    if (its.pieces.empty() && its.going_on_from <= 0) {
      all.push_back({end, {trials.integer(2), (trials.integer(3) + trials.integer(4)) * trials.integer(5)}});
    } else if (goes_on) {
      all.push_back(
          {end, {std::max<std::int64_t>(0, trials.integer(2) - its.going_on_from), trials.integer(4) * trials.integer(5)}});
    }
  }
  std::ranges::sort(all, {}, &Piece::over);
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
  CostSoFar found;
  found.arrived = arrivals(connection, job);
  const std::vector<Started> all = by_arrival(connection, job, found.arrived);
  const std::vector<Piece> pieces = pieces_of(connection, job);
  std::int64_t highest = 0;
  for (const Started& one : all) {
    if (one.value) highest = std::max(highest, one.value_resource);
  }
  const std::int64_t level = std::min(highest, max_resource);
  Spent spent;
  std::optional<double> anywhere;
  std::optional<double> at_level;
  const auto raises = [&](std::optional<double>& best, double value) {
    if (best && !objective.better(value, *best)) return false;
    best = value;
    return true;
  };
  auto piece = pieces.begin();
  for (const Started& one : all) {
    for (; piece != pieces.end() && piece->over <= one.counts; ++piece) {
      spent.resource += piece->own.resource;
      spent.worker_ms += piece->own.worker_ms;
    }
    found.until.emplace(one.counts.trial, spent);
    if (!one.value) continue;
    const bool raised = raises(anywhere, *one.value);
    if ((one.value_resource >= level && raises(at_level, *one.value)) || raised) found.raised.push_back(one.counts.trial);
  }
  return found;
}

}  // namespace tuneband
