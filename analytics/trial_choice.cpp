#include "analytics/trial_choice.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/metrics.hpp"
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

// A trial that has come to a rung, or to the end.
struct Arrived {
  Moment counts;
  std::optional<double> value;  // finite, of one that meets the constraints here and further on
  std::int64_t resource = 0;
};

struct Piece {
  Moment over;
  Spent own;
};

// In the order in which they came. What has no segment, of an older version, came with its value, or when it was decided about.
std::vector<Arrived> arrivals(Connection& connection, JobId job) {
  Statement rows = connection.prepare(
      "SELECT trial, coalesce((SELECT max(ended_at) FROM segments WHERE job = ?1 AND trial = its.trial AND until_resource = "
      "its.resource), (SELECT at FROM observations WHERE job = ?1 AND trial = its.trial AND resource = its.resource), at), "
      "value, resource, violation > 0 OR EXISTS (SELECT 1 FROM decisions WHERE job = ?1 AND trial = its.trial "
      "AND rung > its.rung AND violation > 0), more_values FROM decisions AS its "
      "WHERE job = ?1 AND (value IS NOT NULL OR value_is_nan)");
  std::vector<Arrived> all;
  for (rows.query(job.value); rows.step();) {
    Arrived one{{rows.integer(1), rows.small_integer(0)}, std::nullopt, rows.integer(3)};
    const bool finite = !rows.is_null(2) && std::isfinite(rows.number(2)) && all_finite(values_from_text(rows.text(5)));
    if (finite && rows.integer(4) == 0) one.value = rows.number(2);
    all.push_back(one);
  }
  std::ranges::sort(all, {}, [](const Arrived& one) { return std::pair(one.counts, one.resource); });
  return all;
}

// From when each trial that was started counts: when its value came, or it ended.
std::vector<Moment> started(Connection& connection, JobId job, const std::map<int, Timestamp>& arrived) {
  Statement rows = connection.prepare("SELECT number, ended_at FROM trials WHERE job = ? AND started_at IS NOT NULL");
  std::vector<Moment> all;
  for (rows.query(job.value); rows.step();) {
    const auto its = arrived.find(rows.small_integer(0));
    const std::int64_t ended_ms = rows.is_null(1) ? kUnderWay : rows.integer(1);
    all.push_back({its != arrived.end() ? its->second.ms : ended_ms, rows.small_integer(0)});
  }
  std::ranges::sort(all);
  return all;
}

// What all pieces that were over by a moment had cost. Moments in ascending order.
class SpentUntil {
 public:
  explicit SpentUntil(const std::vector<Piece>& pieces) : next_(pieces.begin()), end_(pieces.end()) {}

  const Spent& operator()(const Moment& moment) {
    for (; next_ != end_ && next_->over <= moment; ++next_) {
      spent_.resource += next_->own.resource;
      spent_.worker_ms += next_->own.worker_ms;
    }
    return spent_;
  }

 private:
  std::vector<Piece>::const_iterator next_;
  std::vector<Piece>::const_iterator end_;
  Spent spent_;
};

// The best values so far by the resource that they came to, each better than all that came further.
class BestValues {
 public:
  explicit BestValues(const Objective& objective) : objective_(objective) {}

  bool raise(double value, std::int64_t resource) {
    const auto further = best_.lower_bound(resource);
    if (further != best_.end() && !objective_.better(value, further->second)) return false;
    std::erase_if(best_, [&](const auto& its) { return its.first <= resource && !objective_.better(its.second, value); });
    best_[resource] = value;
    return true;
  }

 private:
  const Objective& objective_;
  std::map<std::int64_t, double> best_;
};

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

CostSoFar cost_so_far(Connection& connection, JobId job, const Objective& objective) {
  CostSoFar found;
  const std::vector<Arrived> all = arrivals(connection, job);
  for (const Arrived& one : all) found.arrived[one.counts.trial] = Timestamp{one.counts.at_ms};
  const std::vector<Piece> pieces = pieces_of(connection, job);
  SpentUntil spent_by_trial(pieces);
  for (const Moment& counts : started(connection, job, found.arrived)) found.until.emplace(counts.trial, spent_by_trial(counts));
  SpentUntil spent(pieces);
  BestValues best(objective);
  for (const Arrived& one : all) {
    if (!one.value || !best.raise(*one.value, one.resource)) continue;
    found.raised.push_back({Timestamp{one.counts.at_ms}, one.counts.trial, *one.value, one.resource, spent(one.counts)});
  }
  return found;
}

}  // namespace tuneband
