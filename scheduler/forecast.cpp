#include "scheduler/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "core/check.hpp"
#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband {

namespace {

// One unit of resource at max_resource takes so many simulated milliseconds.
constexpr std::int64_t kMsPerUnit = 1000;

class SimulatedWorkers {
 public:
  SimulatedWorkers(const JobSpec& spec, int workers)
      : metric_(spec.objective.metric), scheduler_(SchedulerOptions{.lease_ms = INT64_MAX / 4}) {
    step_with_suggestions(scheduler_, JobSubmitted{spec, ""}, now_);
    for (int i = 0; i < workers; ++i) {
      WorkerSynced idle;
      idle.worker = WorkerId{std::to_string(i)};
      deliver(step_with_suggestions(scheduler_, idle, now_));
    }
  }

  // How long it takes in the time of units.
  double run() {
    while (!finishing_.empty()) {
      const Finish finish = finishing_.top();
      finishing_.pop();
      now_ = finish.at;
      WorkerSynced done;
      done.worker = finish.worker;
      AssignmentReport report;
      report.epoch = finish.assignment.epoch;
      report.checkpoint_resource = finish.assignment.until_resource;
      report.exit = ExitClass::completed;
      const double value = random_unit(0, {static_cast<std::uint64_t>(finish.assignment.trial.number)});
      report.observations.push_back({finish.assignment.until_resource, {{metric_, value}}});
      done.report = std::move(report);
      deliver(step_with_suggestions(scheduler_, done, now_));
    }
    return static_cast<double>(now_.ms) / kMsPerUnit;
  }

  double units() const { return units_; }  // that it took

 private:
  struct Finish {
    Timestamp at;
    WorkerId worker;
    Assignment assignment;
    // The earliest on top; the order of assignment breaks ties, so that a forecast repeats.
    bool operator<(const Finish& other) const {
      return at != other.at ? at > other.at : assignment.epoch > other.assignment.epoch;
    }
  };

  void deliver(const Outcome& outcome) {
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr || !reply->assignment) continue;
      const Assignment& assignment = *reply->assignment;
      // A rank that is done is told its assignment again while it waits for the others.
      Epoch& last = given_[reply->worker];
      if (assignment.epoch == last) continue;
      last = assignment.epoch;
      const double work = assignment.job->work_until(assignment.until_resource);
      const auto units = static_cast<double>(assignment.until_resource - assignment.from_resource);
      if (assignment.rank == 0) units_ += units;
      finishing_.push({now_.plus_ms(std::llround(units * work * kMsPerUnit)), reply->worker, assignment});
    }
  }

  std::string metric_;
  Scheduler scheduler_;
  Timestamp now_;
  double units_ = 0;
  std::priority_queue<Finish> finishing_;
  std::unordered_map<WorkerId, Epoch> given_;  // the last one of each worker
};

}  // namespace

std::optional<Forecast> forecast(const JobSpec& spec, int workers, double seconds_per_unit) {
  TUNEBAND_CHECK(workers >= 1 && workers <= kForecastWorkersMax && seconds_per_unit > 0, "the caller checks what a user gave");
  const Plan plan = make_plan(spec);
  const auto trials = plan.trials;
  if (!trials || *trials > kForecastTrialsMax) return std::nullopt;
  if (spec.replicas.back() > workers) return std::nullopt;
  JobSpec endless = spec;
  endless.limits.max_trials_without_improvement.reset();
  endless.limits.max_trials = *trials;
  endless.objective.target.reset();
  endless.constraints.clear();
  endless.more_objectives.clear();
  endless.scheduler.more_goals.clear();
  endless.sampler.type = SamplerType::random;  // the values do not depend on the configurations: nothing could be learned
  const int replicas = std::accumulate(spec.replicas.begin(), spec.replicas.end(), 0);  // of a list: its mean for each trial
  const int groups = std::max(1, workers * static_cast<int>(spec.replicas.size()) / replicas);
  const int at_once = std::min(groups, spec.limits.max_parallel_trials);
  const std::int64_t waves = (*trials + at_once - 1) / at_once;
  Forecast result;
  result.workers = workers;
  result.seconds_per_unit = seconds_per_unit;
  SimulatedWorkers simulated(endless, workers);
  const double units_of_time = simulated.run();
  result.wall_seconds = units_of_time * static_cast<double>(plan.total_resource) / simulated.units() * seconds_per_unit;
  result.wall_seconds_without_stopping = static_cast<double>(waves * spec.scheduler.max_resource) * seconds_per_unit;
  return result;
}

Json to_json(const std::optional<Forecast>& forecast) {
  if (!forecast) return nullptr;
  return {{"workers", forecast->workers},
          {"seconds_per_unit", forecast->seconds_per_unit},
          {"wall_seconds", forecast->wall_seconds},
          {"wall_seconds_without_stopping", forecast->wall_seconds_without_stopping}};
}

}  // namespace tuneband
