#include "simulator/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "core/check.hpp"
#include "debugger/judge.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband {

namespace {

constexpr double kMsPerSecond = 1000;
constexpr std::int64_t kLeaseMs = INT64_MAX / 4;  // no simulated worker is ever lost
constexpr std::int64_t kTimeMsMax = kLeaseMs / 2;

// A table may give any cost: beyond kTimeMsMax the core's clock stands still.
std::int64_t to_ms(double seconds) {
  return static_cast<std::int64_t>(std::min(seconds * kMsPerSecond, static_cast<double>(kTimeMsMax)));
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Simulation {
 public:
  Simulation(const JobSpec& spec, const CurveTable& table, const SimulationOptions& options)
      : table_(table),
        options_(options),
        metric_(spec.objective.metric),
        debugger_(spec.debugger),
        scheduler_(SchedulerOptions{.lease_ms = kLeaseMs}) {
    for (std::size_t i = table.curves.size(); i-- > 0;) curves_of_[table.curves[i].configuration].push_back(i);
    follow(step_with_suggestions(scheduler_, JobSubmitted{spec, ""}, Timestamp{}));
    for (int i = 0; i < options.workers; ++i) {
      WorkerSynced idle;
      idle.worker = WorkerId{std::to_string(i)};
      follow(step(idle, Timestamp{}));
    }
  }

  SimulationResult run() {
    while (!job_over_ && !finishing_.empty()) {
      const double segment_end = finishing_.top().ends_at;
      const auto deadline = scheduler_.next_deadline();
      const bool time_is_up = deadline && deadline->ms <= to_ms(segment_end);
      const double next = time_is_up ? static_cast<double>(deadline->ms) / kMsPerSecond : segment_end;
      if (next > options_.seconds_max && spent_at(next) > options_.resource_max) break;
      seconds_ = next;
      if (time_is_up) {
        follow(step(TimePassed{}, *deadline));
      } else {
        end_first_segment();
      }
    }
    result_.resource = spent_at(seconds_);
    result_.seconds = seconds_;
    result_.trials_measured_earlier = static_cast<int>(measured_earlier_.size());
    result_.trials_stopped_by_rules = static_cast<int>(stopped_by_rules_.size());
    result_.trials_measured_later = static_cast<int>(measured_later_.size());
    std::set<int> unmeasured = measured_earlier_;
    unmeasured.insert(measured_later_.begin(), measured_later_.end());
    result_.trials_unmeasured = static_cast<int>(unmeasured.size());
    if (result_.trials > 0) result_.suggest_seconds = core_seconds_ / result_.trials;
    return std::move(result_);
  }

 private:
  // What the job's rules find on the way.
  struct Judged {
    std::vector<debugger::Finding> findings;
    std::optional<std::int64_t> stopped_at;  // the resource at which one of them ends the trial
    std::string message;
  };
  // Of one trial, from segment to segment.
  struct Rules {
    debugger::Judge judge;
    Epoch epoch;  // for which `judged` holds: all ranks of a group are told the same
    Judged judged;
  };
  struct Segment {
    double begins_at = 0;
    double ends_at = 0;
    WorkerId worker;
    Assignment assignment;
    std::size_t curve = 0;
    Judged judged;
    std::int64_t until() const { return judged.stopped_at.value_or(assignment.until_resource); }
    double units() const { return static_cast<double>(until() - assignment.from_resource); }
    // The earliest on top; the order of assignment breaks ties, so that a simulation repeats.
    bool operator<(const Segment& other) const {
      return ends_at != other.ends_at ? ends_at > other.ends_at : assignment.epoch > other.assignment.epoch;
    }
  };
  struct Running {
    double begins_at = 0;
    double ends_at = 0;
    double units = 0;
  };

  void end_first_segment() {
    const Segment segment = finishing_.top();
    finishing_.pop();
    if (running_.erase(segment.assignment.epoch.value) == 1) {  // a group's counts once
      completed_resource_ += segment.units();
      note_unmeasured(segment);
    }
    follow(step(report_of(segment), Timestamp{to_ms(seconds_)}));
  }

  Outcome step(const Event& event, Timestamp now) {
    const double before = processor_seconds();
    Outcome outcome = step_with_suggestions(scheduler_, event, now);
    core_seconds_ += processor_seconds() - before;
    return outcome;
  }

  double spent_at(double seconds) const {
    double spent = completed_resource_;
    for (const auto& [epoch, segment] : running_) {
      const double share = (seconds - segment.begins_at) / (segment.ends_at - segment.begins_at);
      spent += segment.units * std::clamp(share, 0.0, 1.0);
    }
    return spent;
  }

  // Equal configurations stand for as many trials as there are of them.
  std::size_t curve_of(const Assignment& assignment) {
    const auto number = static_cast<std::size_t>(assignment.trial.number);
    if (curve_of_trial_.size() <= number) curve_of_trial_.resize(number + 1, table_.curves.size());
    if (curve_of_trial_[number] == table_.curves.size()) {
      const auto found = curves_of_.find(assignment.configuration);
      TUNEBAND_CHECK(found != curves_of_.end() && !found->second.empty(), "a simulated job runs the table's configurations");
      curve_of_trial_[number] = found->second.back();
      found->second.pop_back();
      ++result_.trials;
    }
    return curve_of_trial_[number];
  }

  void follow(const Outcome& outcome) {
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr || !reply->assignment) continue;
      const Assignment& assignment = *reply->assignment;
      // A rank that is done is told its assignment again while it waits for the others.
      Epoch& last = given_[reply->worker];
      if (assignment.epoch == last) continue;
      last = assignment.epoch;
      Segment segment{seconds_, 0, reply->worker, assignment, curve_of(assignment), {}};
      segment.judged = judged(segment);
      segment.ends_at = seconds_ + segment.units() * table_.curves[segment.curve].seconds_per_unit;
      running_[assignment.epoch.value] = {segment.begins_at, segment.ends_at, segment.units()};
      finishing_.push(std::move(segment));
    }
    for (const Write& write : outcome.writes) {
      if (const auto* job = std::get_if<JobRow>(&write)) note(*job);
      if (const auto* trial = std::get_if<TrialRow>(&write)) {
        if (trial->exit_class == ExitClass::stopped_by_rule) stopped_by_rules_.insert(trial->id.number);
      }
      if (std::holds_alternative<FindingRow>(write)) ++result_.findings;
    }
  }

  // The rules see the recorded metric, as they would a trial's: those that look at anything else have nothing to look at.
  Judged judged(const Segment& segment) {
    if (!debugger_) return {};
    const Assignment& assignment = segment.assignment;
    auto& rules = rules_.try_emplace(assignment.trial.number).first->second;
    if (!rules || assignment.from_resource == 0) {
      if (!rules || rules->epoch != assignment.epoch) rules.emplace(Rules{debugger::Judge(*debugger_), Epoch{}, {}});
    }
    if (rules->epoch == assignment.epoch) return rules->judged;
    rules->epoch = assignment.epoch;
    rules->judged = {};
    const std::string tensor = "metrics/" + metric_;
    for (const auto& [resource, value] : table_.curves[segment.curve].points) {
      if (resource <= assignment.from_resource || debugger_->saves(tensor, resource) == nullptr) continue;
      if (resource > assignment.until_resource) break;
      for (debugger::Finding& finding : rules->judge.step({resource, {{tensor, debugger::summarise(value), nullptr}}, {}})) {
        const debugger::RuleSpec* rule = debugger_->rule(finding.rule);
        if (rule->action != debugger::Action::note && !rules->judged.stopped_at) {
          rules->judged.stopped_at = resource;
          rules->judged.message = "the rule `" + finding.rule + "` stopped the trial: " + finding.message;
        }
        rules->judged.findings.push_back(std::move(finding));
      }
      if (rules->judged.stopped_at) break;
    }
    return rules->judged;
  }

  void note(const JobRow& job) {
    result_.trials_completed = job.trials_completed;
    if (job.state != JobState::running) {
      job_over_ = true;
      result_.reason = job.reason;
    }
    if (!job.best_anywhere) return;
    const std::size_t curve = curve_of_trial_[static_cast<std::size_t>(job.best_anywhere->trial)];
    const std::int64_t rung = job.best_anywhere->resource;
    if (!result_.incumbents.empty() && result_.incumbents.back().curve == curve && result_.incumbents.back().rung == rung) return;
    result_.incumbents.push_back({spent_at(seconds_), seconds_, curve, rung});
  }

  // Whether a trial fails on its way there, as recorded.
  static bool fails(const Curve& curve, std::int64_t until) {
    return curve.points.empty() || (curve.failed && until > curve.measured_until());
  }

  void note_unmeasured(const Segment& segment) {
    const Curve& curve = table_.curves[segment.curve];
    const std::int64_t until = segment.until();
    if (fails(curve, until)) return;
    const bool later = !curve.at(until);
    if (!curve.measured_at(until)) (later ? measured_later_ : measured_earlier_).insert(segment.assignment.trial.number);
    const std::int64_t from = std::max(segment.assignment.from_resource, later ? 0 : curve.measured_until());
    result_.resource_unmeasured += static_cast<double>(std::max<std::int64_t>(0, until - from));
  }

  WorkerSynced report_of(const Segment& segment) const {
    const Curve& curve = table_.curves[segment.curve];
    const std::int64_t until = segment.until();
    AssignmentReport report;
    report.epoch = segment.assignment.epoch;
    report.training_ms = to_ms(segment.ends_at - segment.begins_at);
    report.findings = segment.judged.findings;
    if (segment.judged.stopped_at) {
      report.exit = ExitClass::stopped_by_rule;
      report.message = segment.judged.message;
      report.observations.push_back({until, {{metric_, *curve.at(until)}}});
    } else if (fails(curve, until)) {
      report.exit = ExitClass::no_metric;
      report.message = "as recorded";
    } else {
      report.exit = ExitClass::completed;
      report.checkpoint_resource = until;
      report.observations.push_back({until, {{metric_, curve.at(until).value_or(std::numeric_limits<double>::quiet_NaN())}}});
    }
    WorkerSynced synced;
    synced.worker = segment.worker;
    synced.report = std::move(report);
    return synced;
  }

  const CurveTable& table_;
  SimulationOptions options_;
  std::string metric_;
  std::optional<debugger::DebugSpec> debugger_;
  Scheduler scheduler_;
  double seconds_ = 0;
  double completed_resource_ = 0;
  double core_seconds_ = 0;
  bool job_over_ = false;  // ended, or stopping: what is under way ends now, and counts no more
  std::priority_queue<Segment> finishing_;
  std::map<std::int64_t, Running> running_;    // by epoch
  std::unordered_map<WorkerId, Epoch> given_;  // the last one of each worker
  std::map<Configuration, std::vector<std::size_t>> curves_of_;
  std::vector<std::size_t> curve_of_trial_;
  std::map<int, std::optional<Rules>> rules_;  // by trial
  std::set<int> stopped_by_rules_;             // trials
  std::set<int> measured_earlier_;             // trials that came to a resource at which they were not measured
  std::set<int> measured_later_;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(JobSpec spec, const CurveTable& table, const SimulationOptions& options) {
  TUNEBAND_CHECK(options.workers >= 1 && options.workers <= kSimulationWorkersMax, "the caller checks what a user gave");
  TUNEBAND_CHECK(spec.scheduler.max_resource <= table.max_resource, "the caller checks what a user gave");
  spec.candidates.clear();
  for (const Curve& curve : table.curves) spec.candidates.push_back(curve.configuration);
  return Simulation(spec, table, options).run();
}

}  // namespace tuneband
