#include "analytics/saved.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analytics/pace.hpp"

namespace tuneband {

namespace {

struct Segment {
  std::int64_t trial = 0;
  std::int64_t epoch = 0;
  std::string worker;
  std::string peers;
  std::int64_t workers = 0;
  std::int64_t from = 0;
  std::int64_t until = 0;
  std::int64_t began_at = 0;
  std::int64_t ended_at = 0;
  bool counts = false;  // it came as far as it was to, or as the user let it
  bool reached_rung = false;
};

std::vector<Segment> segments_of(Connection& connection, JobId job) {
  Statement rows = connection.prepare(
      "SELECT trial, epoch, worker, peers, 1 + json_array_length(peers), from_resource, resource, began_at, ended_at, "
      "outcome IN ('reached_rung', 'completed', 'stopped') AND resource > from_resource, outcome = 'reached_rung' "
      "FROM segments WHERE job = ? ORDER BY trial, epoch");
  std::vector<Segment> segments;
  for (rows.query(job.value); rows.step();) {
    segments.push_back({rows.integer(0), rows.integer(1), std::string(rows.text(2)), std::string(rows.text(3)), rows.integer(4),
                        rows.integer(5), rows.integer(6), rows.integer(7), rows.integer(8), rows.integer(9) == 1,
                        rows.integer(10) == 1});
  }
  return segments;
}

// The trial's own workers had it in memory yet: it was never left. A command of a group is not held.
bool goes_on(const Segment& before, const Segment& next, bool groups_are_held) {
  return before.trial == next.trial && before.reached_rung && before.worker == next.worker && before.peers == next.peers &&
         before.ended_at == next.began_at && before.until == next.from && (next.workers == 1 || groups_are_held);
}

class TimesOfTrials {
 public:
  TimesOfTrials(std::vector<Segment> segments, const JobSpec& spec) : segments_(std::move(segments)) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> first_of;  // epoch and trial, by worker
    for (const Segment& segment : segments_) {
      const auto [first, is_new] = first_of.try_emplace(segment.worker, segment.epoch, segment.trial);
      if (!is_new) first->second = std::min(first->second, std::pair(segment.epoch, segment.trial));
    }
    for (std::size_t i = 0; i < segments_.size(); ++i)
      take(segments_[i], i > 0 ? &segments_[i - 1] : nullptr, trains_xgboost(spec.trainer), spec.scheduler.restarts);
    for (const auto& [worker, first] : first_of) of(first.second).cold = true;
  }

  TrialTimes& of(std::int64_t trial) { return times_[trial]; }
  // How often it went on without having been left.
  std::int64_t kept_going(std::int64_t trial) const {
    const auto found = kept_going_.find(trial);
    return found == kept_going_.end() ? 0 : found->second;
  }
  std::vector<TrialTimes> all() const {
    std::vector<TrialTimes> all;
    for (const auto& [trial, times] : times_) all.push_back(times);
    return all;
  }

 private:
  void take(const Segment& segment, const Segment* before, bool groups_are_held, bool restarts) {
    TrialTimes& times = of(segment.trial);
    if (restarts && before != nullptr && before->trial == segment.trial && before->reached_rung)
      times.in_vain += std::max<std::int64_t>(0, before->until - segment.from);
    const bool going = before != nullptr && goes_on(*before, segment, groups_are_held);
    if (going) ++kept_going_[segment.trial];
    if (!segment.counts) return;
    const Stretch stretch{segment.until - segment.from, (segment.ended_at - segment.began_at) * segment.workers};
    if (going && !times.stretches.empty()) {
      times.stretches.back().units += stretch.units;
      times.stretches.back().ms += stretch.ms;
    } else {
      times.stretches.push_back(stretch);
    }
  }

  std::vector<Segment> segments_;
  std::map<std::int64_t, TrialTimes> times_;
  std::map<std::int64_t, std::int64_t> kept_going_;
};

}  // namespace

Saved saved_by_stopping(Connection& connection, const JobRow& job, const ParsedJob& parsed) {
  TimesOfTrials times(segments_of(connection, job.id), parsed.spec);
  Statement trials = connection.prepare(
      "SELECT number, CASE WHEN state = 'stopped' AND resource BETWEEN 1 AND ?2 THEN ?2 - resource ELSE 0 END, "
      "attempts_in_all FROM trials WHERE job = ?1 AND state IN ('stopped', 'completed')");
  std::int64_t further_beginnings = 0;
  for (trials.query(job.id.value, parsed.spec.scheduler.max_resource); trials.step();) {
    const std::int64_t number = trials.integer(0);
    times.of(number).left = trials.integer(1);
    further_beginnings += std::max<std::int64_t>(0, trials.integer(2) - 1 - times.kept_going(number));
  }
  const std::vector<TrialTimes> all = times.all();
  Saved saved;
  for (const TrialTimes& trial : all) saved.resource += trial.left - trial.in_vain;
  const double begin_ms = ms_to_begin(all);
  const double usual_ms =
      static_cast<double>(job.training_ms) / static_cast<double>(std::max<std::int64_t>(1, job.resource_spent));
  saved.training_ms = ms_of_units(all, &TrialTimes::left, begin_ms, usual_ms) -
                      ms_of_units(all, &TrialTimes::in_vain, begin_ms, usual_ms) -
                      begin_ms * static_cast<double>(further_beginnings);
  return saved;
}

}  // namespace tuneband
