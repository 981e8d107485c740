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
        may_end_at_(spec.scheduler.early_end && !spec.scheduler.restarts ? spec.scheduler.max_resource : 0),
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
    double ends_at = 0;        // or when it says what it has at `word_at`
    std::int64_t word_at = 0;  // a resource on the way; 0: the end
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
    const auto busy = busy_.find(segment.worker);
    if (busy == busy_.end() || busy->second != segment.assignment.epoch) return;  // it was ended early
    if (segment.word_at > 0) return say(segment);
    busy_.erase(busy);
    if (running_.erase(segment.assignment.epoch.value) == 1) {  // a group's counts once
      completed_resource_ += segment.units();
      note_unmeasured(segment);
    }
    follow(step(report_of(segment), Timestamp{to_ms(seconds_)}));
  }

  static WorkerSynced said_by(const WorkerId& worker, AssignmentReport report) {
    WorkerSynced synced;
    synced.worker = worker;
    synced.report = std::move(report);
    return synced;
  }

  // What was recorded on the way.
  void say(const Segment& segment) {
    AssignmentReport report;
    report.epoch = segment.assignment.epoch;
    report.observations.push_back({segment.word_at, {{metric_, *table_.curves[segment.curve].at(segment.word_at)}}});
    push_next(segment, segment.word_at);
    follow(step(said_by(segment.worker, std::move(report)), Timestamp{to_ms(seconds_)}));
  }

  // Its next word after `resource`, or its end.
  void push_next(Segment segment, std::int64_t resource) {
    const Curve& curve = table_.curves[segment.curve];
    const std::int64_t from = segment.assignment.from_resource;
    const auto after = std::upper_bound(curve.points.begin(), curve.points.end(), std::max(from, resource),
                                        [](std::int64_t known, const auto& point) { return known < point.first; });
    const bool says = segment.assignment.until_resource == may_end_at_ && after != curve.points.end();
    segment.word_at = says && after->first < segment.until() ? after->first : 0;
    const std::int64_t next = segment.word_at > 0 ? segment.word_at : segment.until();
    segment.ends_at = segment.begins_at + static_cast<double>(next - from) * curve.seconds_per_unit;
    finishing_.push(std::move(segment));
  }

  // The core desires nothing more of a worker that is at it: the segment ends here.
  void end_early(const WorkerId& worker) {
    const auto busy = busy_.find(worker);
    if (busy == busy_.end()) return;
    AssignmentReport report;
    report.epoch = busy->second;
    report.exit = ExitClass::stopped;
    busy_.erase(busy);
    const auto running = running_.find(report.epoch.value);
    if (running != running_.end()) {
      completed_resource_ += spent_of(running->second, seconds_);
      running_.erase(running);
      ++result_.trials_ended_early;
    }
    follow(step(said_by(worker, std::move(report)), Timestamp{to_ms(seconds_)}));
  }

  Outcome step(const Event& event, Timestamp now) {
    const double before = processor_seconds();
    Outcome outcome = step_with_suggestions(scheduler_, event, now);
    core_seconds_ += processor_seconds() - before;
    return outcome;
  }

  static double spent_of(const Running& segment, double seconds) {
    if (seconds >= segment.ends_at) return segment.units;  // also where its time is lost in rounding
    const double share = (seconds - segment.begins_at) / (segment.ends_at - segment.begins_at);
    return segment.units * std::clamp(share, 0.0, 1.0);
  }

  double spent_at(double seconds) const {
    double spent = completed_resource_;
    for (const auto& [epoch, segment] : running_) spent += spent_of(segment, seconds);
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
    std::vector<WorkerId> not_desired;
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr) continue;
      if (!reply->assignment) {
        not_desired.push_back(reply->worker);
        continue;
      }
      const Assignment& assignment = *reply->assignment;
      // A rank that is done is told its assignment again while it waits for the others.
      Epoch& last = given_[reply->worker];
      if (assignment.epoch == last) continue;
      last = assignment.epoch;
      Segment segment{seconds_, 0, 0, reply->worker, assignment, curve_of(assignment), {}};
      segment.judged = judged(segment);
      segment.ends_at = seconds_ + segment.units() * table_.curves[segment.curve].seconds_per_unit;
      running_[assignment.epoch.value] = {segment.begins_at, segment.ends_at, segment.units()};
      busy_[reply->worker] = assignment.epoch;
      push_next(std::move(segment), 0);
    }
    for (const Write& write : outcome.writes) {
      if (const auto* job = std::get_if<JobRow>(&write)) note(*job);
      if (const auto* trial = std::get_if<TrialRow>(&write)) {
        if (trial->exit_class == ExitClass::stopped_by_rule) stopped_by_rules_.insert(trial->id.number);
      }
      if (std::holds_alternative<FindingRow>(write)) ++result_.findings;
    }
    for (const WorkerId& worker : not_desired) {
      if (!job_over_) end_early(worker);
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
    result_.incumbents.push_back({spent_at(seconds_), seconds_, curve, rung, job.best_anywhere->value});
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
    return said_by(segment.worker, std::move(report));
  }

  const CurveTable& table_;
  SimulationOptions options_;
  std::string metric_;
  std::optional<debugger::DebugSpec> debugger_;
  // Trainings until there say what they have on the way, and may be ended for it. 0: none does; of rungs that are trainings of
  // their own a table does not hold what the last one had on its way.
  std::int64_t may_end_at_;
  Scheduler scheduler_;
  double seconds_ = 0;
  double completed_resource_ = 0;
  double core_seconds_ = 0;
  bool job_over_ = false;  // ended, or stopping: what is under way ends now, and counts no more
  std::priority_queue<Segment> finishing_;
  std::map<std::int64_t, Running> running_;    // by epoch
  std::unordered_map<WorkerId, Epoch> given_;  // the last one of each worker
  std::unordered_map<WorkerId, Epoch> busy_;   // with what each of them is at
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
