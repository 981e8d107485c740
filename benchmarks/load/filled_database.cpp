#include "benchmarks/load/filled_database.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/random.hpp"
#include "db/store.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::bench {

namespace {

constexpr std::size_t kWritesPerCommit = 50'000;
constexpr std::int64_t kStartMs = 1'772'366'400'000;

Json large_job(int trials, int resource) {
  return {
      {"name", "large"},
      {"objective", {{"metric", "value"}, {"goal", "maximize"}}},
      {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}, {"b", {{"type", "int"}, {"min", 1}, {"max", 9}}}}},
      {"sampler", {{"type", "random"}, {"seed", 1}}},
      {"trainer", {{"type", "command"}, {"argv", {"true", "{a}"}}}},
      {"scheduler", {{"type", "asha_stopping"}, {"min_resource", resource}, {"max_resource", 9 * resource}, {"eta", 3}}},
      {"limits", {{"max_trials", 2 * trials}}}};  // it goes on when the server starts
}

}  // namespace

Filled fill_database(const std::string& path, int trials, int observations_per_trial) {
  const auto begin = std::chrono::steady_clock::now();
  Store store = Store::open(path);
  Scheduler scheduler;
  Diagnostics diagnostics;
  // Of three trials one goes on to three times as much, and of those one in three to nine times: 1 + 2/3 + 6/9 as much work.
  const int rung = std::max(1, observations_per_trial * 3 / 7);
  const Json document = large_job(trials, rung);
  std::vector<Write> writes;
  Timestamp now{kStartMs};
  Filled filled;
  const auto step = [&](const Event& event) {
    now.ms += 7;
    Outcome outcome = step_with_suggestions(scheduler, event, now);
    for (const Write& write : outcome.writes) filled.observations += std::holds_alternative<ObservationRow>(write) ? 1 : 0;
    std::move(outcome.writes.begin(), outcome.writes.end(), std::back_inserter(writes));
    if (writes.size() >= kWritesPerCommit) {
      store.commit(writes);
      writes.clear();
    }
    return std::move(outcome.notices);
  };
  (void)step(JobSubmitted{JobSpec::parse(document, diagnostics), document.dump()});
  WorkerSynced worker;
  worker.worker = WorkerId{"filler"};
  worker.name = "filler";
  while (filled.trials < trials) {
    const auto notices = step(worker);
    worker.report.reset();
    const auto* reply = notices.empty() ? nullptr : std::get_if<WorkerReply>(&notices.front());
    if (reply == nullptr || !reply->assignment) break;
    const Assignment& given = *reply->assignment;
    filled.trials = std::max<std::int64_t>(filled.trials, given.trial.number + 1);
    AssignmentReport report;
    report.epoch = given.epoch;
    for (std::int64_t resource = given.from_resource + 1; resource <= given.until_resource; ++resource) {
      const double noise = random_unit(3, {static_cast<std::uint64_t>(given.trial.number), static_cast<std::uint64_t>(resource)});
      report.observations.push_back({resource, {{"value", 1 - 1.0 / static_cast<double>(resource + 1) + 0.3 * noise}}});
    }
    report.checkpoint_resource = given.until_resource;
    report.training_ms = 10;
    report.exit = ExitClass::completed;
    worker.report = std::move(report);
  }
  (void)step(WorkerLost{worker.worker, "it has done enough"});
  store.commit(writes);
  filled.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return filled;
}

}  // namespace tuneband::bench
