// Events a second through the scheduler's one door, with 10 and with 100,000 trials in the job. The cost of an event must not
// grow with the number of trials: the last column is the cost with 100,000 against the cost with 10 (the baseline).
#include <fmt/core.h>

#include <chrono>
#include <deque>

#include "core/random.hpp"
#include "scheduler/scheduler.hpp"

namespace {

using namespace tuneband;

constexpr int kWorkers = 8;
constexpr int kMeasuredEvents = 20'000;

JobSpec spec_of(SchedulerType type) {
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(Json::parse(R"({"name": "bench", "objective": {"metric": "value", "goal": "maximize"},
      "search_space": {"a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "float", "min": 0, "max": 1},
                       "c": {"type": "int", "min": 1, "max": 10}},
      "trainer": {"type": "command"}, "scheduler": {"max_resource": 27}, "limits": {"max_trials": 1000000}})"),
                                diagnostics);
  spec.scheduler.type = type;
  return spec;
}

// Workers that finish each segment at once, with a random value.
class Load {
 public:
  explicit Load(const JobSpec& spec) {
    step_with_suggestions(scheduler_, JobSubmitted{spec, ""}, now_);
    for (int i = 0; i < kWorkers; ++i) {
      WorkerSynced idle;
      idle.worker = WorkerId{fmt::format("worker-{}", i)};
      take(step_with_suggestions(scheduler_, idle, now_));
    }
  }

  void run_event() {
    const Assignment assignment = std::move(assigned_.front().second);
    WorkerSynced done;
    done.worker = assigned_.front().first;
    assigned_.pop_front();
    AssignmentReport report;
    report.epoch = assignment.epoch;
    report.checkpoint_resource = assignment.until_resource;
    report.exit = ExitClass::completed;
    const double value = random_unit(
        1, {static_cast<std::uint64_t>(assignment.trial.number), static_cast<std::uint64_t>(assignment.until_resource)});
    report.observations.push_back({assignment.until_resource, {{"value", value}}});
    done.report = std::move(report);
    now_.ms += 1;
    trials_ = std::max(trials_, assignment.trial.number);
    take(step_with_suggestions(scheduler_, done, now_));
  }

  int trials() const { return trials_; }

 private:
  void take(const Outcome& outcome) {
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply != nullptr && reply->assignment) assigned_.emplace_back(reply->worker, *reply->assignment);
    }
  }

  Scheduler scheduler_;
  Timestamp now_{1};
  std::deque<std::pair<WorkerId, Assignment>> assigned_;
  int trials_ = 0;
};

double seconds_per_event(SchedulerType type, int trials) {
  Load load(spec_of(type));
  while (load.trials() < trials) load.run_event();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kMeasuredEvents; ++i) load.run_event();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kMeasuredEvents;
}

}  // namespace

int main() {
  // The measured window itself starts some 15,000 trials, so "10" means from 10 trials on.
  fmt::print("{:<20} {:>18} {:>22} {:>12}\n", "scheduler", "events/s from 10", "events/s from 100,000", "cost ratio");
  for (const SchedulerType type : {SchedulerType::hyperband, SchedulerType::successive_halving, SchedulerType::asha_promotion,
                                   SchedulerType::asha_stopping, SchedulerType::none}) {
    const double few = seconds_per_event(type, 10);
    const double many = seconds_per_event(type, 100'000);
    fmt::print("{:<20} {:>18.0f} {:>22.0f} {:>12.2f}\n", to_string(type), 1 / few, 1 / many, many / few);
  }
}
