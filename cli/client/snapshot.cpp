#include "cli/client/snapshot.hpp"

#include <algorithm>

#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr const char* kEndOfLog = "/log?tail=500";  // bytes, more than a line of a worker has

// Only until the first trial has reported something: the log is a request more.
std::string loading_of(ApiClient& api, const std::string& job, const std::vector<TrialInfo>& running) {
  const bool trained = std::any_of(running.begin(), running.end(), [](const TrialInfo& trial) { return trial.resource > 0; });
  if (running.empty() || trained) return "";
  std::string log;
  const auto read = api.stream(trial_path(job, running.front().number) + kEndOfLog, [&log](std::string_view piece) {
    log += piece;
    return true;
  });
  return read ? loading_in(log) : "";
}

}  // namespace

std::string loading_in(std::string_view log) {
  constexpr std::string_view kLoading = "[tuneband] loading data: ";
  if (log.ends_with('\n')) log.remove_suffix(1);
  log.remove_prefix(std::min(log.size(), log.rfind('\n') + 1));
  return std::string(log.starts_with(kLoading) ? log.substr(kLoading.size()) : "");
}

Outcome<Snapshot> take_snapshot(ApiClient& api, std::int64_t job_id) {
  const std::string id = std::to_string(job_id);
  auto job = api.job(id);
  if (!job) return job.error();
  auto plan = api.plan(id);
  if (!plan) return plan.error();
  auto running = job->ended() ? Outcome<std::vector<TrialInfo>>(std::vector<TrialInfo>{})
                              : api.trials(id, "state=running", kRunningShownMax);
  if (!running) return running.error();
  std::string loading = job->resource_spent == 0 ? loading_of(api, id, *running) : "";
  return Snapshot{std::move(*job), std::move(*plan), std::move(*running), now_ms(), std::move(loading)};
}

std::optional<double> fraction_done(const Snapshot& snapshot) {
  const JobInfo& job = snapshot.job;
  if (job.ended()) return 1;
  constexpr double kUntilItEnds = 0.99;  // asynchronous rules may spend more than was expected
  const bool bounded = job.trials.planned.has_value() && snapshot.plan.total_resource > 0;
  if (!bounded) return std::nullopt;
  return std::min(kUntilItEnds, static_cast<double>(job.resource_spent) / static_cast<double>(snapshot.plan.total_resource));
}

std::optional<double> seconds_left(const Snapshot& snapshot) {
  constexpr double kSecondsMin = 1;  // before that, the start-up weighs more than the work
  constexpr double kFractionMin = 0.02;
  const auto done = fraction_done(snapshot);
  const double elapsed = snapshot.job.seconds(snapshot.at_ms);
  if (snapshot.job.ended() || !done || *done < kFractionMin || elapsed < kSecondsMin) return std::nullopt;
  return elapsed * (1 - *done) / *done;
}

Saved saved_by_stopping(const Snapshot& snapshot) {
  Saved saved;
  for (const RungInfo& rung : snapshot.plan.actual) {
    if (snapshot.plan.restarts) saved.resource -= rung.promoted * rung.resource;  // trained in vain, but for the value
    const std::int64_t left = snapshot.job.max_resource - rung.resource;
    if (left <= 0) continue;
    saved.trials += rung.stopped;
    saved.resource += rung.stopped * left;
  }
  return saved;
}

bool closed(const RungInfo& rung, const PlanInfo& plan) {
  return plan.exact && rung.planned > 0 && rung.reached + rung.failed >= *rung.planned && rung.waiting == 0;
}

}  // namespace tuneband::cli
