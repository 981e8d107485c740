#include "analytics/saved.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analytics/pace.hpp"
#include "analytics/straight_on.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

std::vector<SegmentRow> segments_of(Connection& connection, JobId job) {
  Statement rows = connection.prepare(select_sql<SegmentRow>("WHERE job = ? ORDER BY trial, epoch"));
  std::vector<SegmentRow> segments;
  for (rows.query(job.value); rows.step();) segments.push_back(row_from<SegmentRow>(rows));
  return segments;
}

// It came as far as it was to, or as the user let it.
bool counts(const SegmentRow& segment) {
  const auto& outcome = segment.outcome;
  return (outcome == "reached_rung" || outcome == "completed" || outcome == "stopped") &&
         segment.resource > segment.from_resource;
}

class TimesOfTrials {
 public:
  TimesOfTrials(const std::vector<SegmentRow>& segments, const JobSpec& spec) {
    std::map<std::string, std::pair<Epoch, int>> first_of;  // epoch and trial, by worker
    const SegmentRow* before = nullptr;
    for (const SegmentRow& segment : segments) {
      const std::pair its(segment.epoch, segment.trial.number);
      const auto [first, is_new] = first_of.try_emplace(segment.worker.value, its);
      if (!is_new) first->second = std::min(first->second, its);
      take(segment, before != nullptr && before->trial == segment.trial ? before : nullptr, spec);
      before = &segment;
    }
    for (const auto& [worker, first] : first_of) of(first.second).cold = true;
  }

  TrialTimes& of(int trial) { return times_[trial]; }
  std::vector<TrialTimes> all() const {
    std::vector<TrialTimes> all;
    for (const auto& [trial, times] : times_) all.push_back(times);
    return all;
  }

 private:
  // `before`: the one of the same trial before it, or null.
  void take(const SegmentRow& segment, const SegmentRow* before, const JobSpec& spec) {
    TrialTimes& times = of(segment.trial.number);
    if (spec.scheduler.restarts && before != nullptr && before->outcome == "reached_rung")
      times.in_vain += std::max<std::int64_t>(0, before->resource - segment.from_resource);
    const bool going = before != nullptr && went_straight_on(*before, segment, trains_xgboost(spec.trainer));
    if (going) ++times.kept_going;
    if (!counts(segment)) return;
    const auto workers = static_cast<std::int64_t>(1 + segment.peers.size());
    const Stretch stretch{segment.resource - segment.from_resource, (*segment.ended_at - segment.began_at) * workers};
    if (going && !times.stretches.empty()) {
      times.stretches.back().units += stretch.units;
      times.stretches.back().ms += stretch.ms;
    } else {
      times.stretches.push_back(stretch);
    }
  }

  std::map<int, TrialTimes> times_;
};

}  // namespace

Saved saved_by_stopping(Connection& connection, const JobRow& job, const ParsedJob& parsed) {
  TimesOfTrials times(segments_of(connection, job.id), parsed.spec);
  Statement trials = connection.prepare(
      "SELECT number, CASE WHEN state = 'stopped' AND resource BETWEEN 1 AND ?2 THEN ?2 - resource ELSE 0 END, "
      "attempts_in_all FROM trials WHERE job = ?1 AND state IN ('stopped', 'completed')");
  std::int64_t further_beginnings = 0;
  for (trials.query(job.id.value, parsed.spec.scheduler.max_resource); trials.step();) {
    TrialTimes& its = times.of(trials.small_integer(0));
    its.left = trials.integer(1);
    further_beginnings += std::max<std::int64_t>(0, trials.integer(2) - 1 - its.kept_going);
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
