#include "tests/simulation/simulated_worker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheduler/waiting.hpp"
#include "tests/simulation/invariants.hpp"

namespace tuneband::test {

namespace {

constexpr std::int64_t kSyncEveryMs = 1'000;
constexpr std::int64_t kCallTimeoutMs = 10'000;  // longer than the server holds an idle call
constexpr std::int64_t kRetryMs = 500;
constexpr std::int64_t kStopMsMax = 3'000;
constexpr std::int64_t kStoreMsMax = 3'000;
constexpr std::int64_t kUnheardMsMax = 60'000;
constexpr std::int64_t kFrozenMsMax = 60'000;
constexpr std::int64_t kLacksMsMax = 120'000;
constexpr double kLevels = 32;  // of values: few enough for ties
constexpr double kNoise = 0.4;  // share of a value that each resource has for itself: the order of trials often stays, not always

std::uint64_t seed_of(const Configuration& configuration) { return stable_hash(to_json(configuration).dump()); }

// Of trials that keep their best resource: some resource of the way to `end`, as if the best value had come there.
ReportedObservation kept_of(const Assignment& assignment, std::int64_t end, double not_finite_share) {
  const std::uint64_t seed = seed_of(assignment.configuration);
  const double share = random_unit(seed, {6, static_cast<std::uint64_t>(end)});
  const auto resource = 1 + static_cast<std::int64_t>(share * static_cast<double>(end));
  return {resource, {{"value", objective_value(assignment.configuration, resource, not_finite_share)}}};
}

}  // namespace

double objective_value(const Configuration& configuration, std::int64_t resource, double not_finite_share) {
  const std::uint64_t seed = seed_of(configuration);
  const auto counter = static_cast<std::uint64_t>(resource);
  if (random_unit(seed, {1, counter}) < not_finite_share) {
    return random_unit(seed, {2, counter}) < 0.5 ? std::numeric_limits<double>::quiet_NaN()
                                                 : std::numeric_limits<double>::infinity();
  }
  const double value = (1 - kNoise) * random_unit(seed, {5}) + kNoise * random_unit(seed, {3, counter});
  return std::floor(value * kLevels) / kLevels;
}

double cost_value(const Configuration& configuration, std::int64_t resource) {
  const std::uint64_t seed = seed_of(configuration);
  return std::floor(random_unit(seed, {4, static_cast<std::uint64_t>(resource)}) * kLevels) / kLevels;
}

SimulatedWorker::SimulatedWorker(std::string id, SimulatedClock& clock, Draw& draw, const Faults& faults, SimulatedDisk& disk,
                                 Send send, Died died)
    : id_{std::move(id)},
      clock_(clock),
      draw_(draw),
      faults_(faults),
      disk_(disk),
      send_(std::move(send)),
      died_(std::move(died)),
      unit_ms_(draw.between(20, 800)),
      checkpoint_every_(draw.between(1, 4)),
      holds_commands_(draw.chance(0.5)) {}

// ---- calls --------------------------------------------------------------------------------------------------------------------

WorkerSynced SimulatedWorker::message() const {
  WorkerSynced message;
  message.worker = id_;
  message.name = id_.value;
  message.draining = draining_;
  message.lacks = lacks_;
  if (run_) {
    AssignmentReport report;
    report.epoch = run_->assignment.epoch;
    report.observations = run_->unacknowledged;
    report.checkpoint_resource = run_->checkpoint;
    report.training_ms = run_->training_ms;
    report.exit = run_->exit;
    const bool keeps = run_->exit == ExitClass::completed || (run_->exit == ExitClass::stopped && run_->resource > 0);
    if (keeps) report.kept = kept_of(run_->assignment, run_->resource, faults_.value_is_not_finite);
    report.findings = run_->findings;
    report.message = run_->message;
    report.files_epoch = run_->files_epoch;
    message.report = std::move(report);
  }
  return message;
}

bool SimulatedWorker::wait_while_frozen(std::function<void()> what) {
  const std::int64_t left_ms = frozen_until_ms_ - clock_.now_ms();
  if (left_ms <= 0) return false;
  clock_.after_ms(left_ms, std::move(what));
  return true;
}

void SimulatedWorker::call() {
  if (!alive_ || call_open_) return;
  if (wait_while_frozen([this] { call(); })) return;
  const std::uint64_t call = ++last_call_;
  call_open_ = true;
  observations_sent_ = run_ ? run_->unacknowledged.size() : 0;
  epoch_sent_ = run_ ? run_->assignment.epoch : Epoch{};
  exit_sent_ = run_ && run_->exit;
  lacks_sent_ = lacks_;
  send_(*this, message(), call);
  clock_.after_ms(kCallTimeoutMs, [this, call] {
    if (call == last_call_ && call_open_) hear(call, std::nullopt);
  });
}

void SimulatedWorker::call_after_ms(std::int64_t delay_ms) {
  clock_.after_ms(delay_ms, [this, after = last_call_] {
    if (after == last_call_) call();
  });
}

void SimulatedWorker::hear(std::uint64_t call_heard, const std::optional<WorkerReply>& reply) {
  if (!alive_ || call_heard != last_call_ || !call_open_) return;
  if (wait_while_frozen([this, call_heard, reply] { hear(call_heard, reply); })) return;
  call_open_ = false;
  if (!reply) return call_after_ms(kRetryMs);
  if (run_) {
    if (run_->assignment.epoch == epoch_sent_) {
      run_->unacknowledged.erase(run_->unacknowledged.begin(),
                                 run_->unacknowledged.begin() + static_cast<std::ptrdiff_t>(observations_sent_));
    }
    const bool desired = reply->assignment && reply->assignment->epoch == run_->assignment.epoch;
    if (desired || !exit_sent_) {
      if (!desired) stop_run();
      const bool at_once = run_->exit && !exit_sent_;
      return call_after_ms(at_once ? 0 : kSyncEveryMs);
    }
    run_.reset();
  }
  if (reply->desired == WorkerReply::Desired::drain) {
    alive_ = false;  // it ends as it was told
    return;
  }
  if (reply->assignment && !draining_) execute(*reply->assignment);
  call_after_ms(run_ ? kSyncEveryMs : 1);
}

// ---- training -----------------------------------------------------------------------------------------------------------------

void SimulatedWorker::execute(const Assignment& assignment) {
  const auto lacked = [&](const Lack& lack) { return !lack.job || *lack.job == assignment.trial.job; };
  if (std::any_of(lacks_sent_.begin(), lacks_sent_.end(), lacked))
    throw Broken("a worker is given a trial of a job that it lacks something for");
  if (draw_.chance(faults_.worker_dies_at_start)) return die();
  const std::int64_t from = assignment.from_resource;
  const bool there = disk_.checkpoints.contains({assignment.trial, assignment.files_epoch, from});
  if (from > 0 && !there && !disk_.others_are_told_of)
    throw Broken("a trial is to go on from a checkpoint that the directory it names never had");
  run_ = Run{assignment, directory_for(assignment), from, from, 0, {}, {}, std::nullopt, "", false};
  held_.reset();
  if (draw_.chance(faults_.machine_lacks)) return find_something_lacking();
  const Epoch epoch = assignment.epoch;
  clock_.after_ms(unit_ms_, [this, epoch] { train_one_unit(epoch); });
}

// A held command goes on in the directory that it was started in.
Epoch SimulatedWorker::directory_for(const Assignment& assignment) const {
  const bool goes_on = held_ && held_->assignment.trial == assignment.trial && held_->files_epoch == assignment.files_epoch &&
                       held_->resource == assignment.from_resource;
  return goes_on ? held_->files_epoch : assignment.epoch;
}

void SimulatedWorker::find_something_lacking() {
  const JobId job = run_->assignment.trial.job;
  lacks_.push_back(
      {draw_.chance(0.7) ? std::optional(job) : std::nullopt, std::string(waiting::kReadableData), "it is not there"});
  clock_.after_ms(draw_.between(1, kLacksMsMax), [this] { forget_what_lacks(); });
  end_run(ExitClass::stopped, "it is not there");
}

// What the end of a segment is for is told with it.
void SimulatedWorker::forget_what_lacks() {
  if (run_ && run_->exit) return clock_.after_ms(kSyncEveryMs, [this] { forget_what_lacks(); });
  lacks_.clear();
}

void SimulatedWorker::fire_a_rule() {
  const auto& rules = run_->assignment.job->debugger->rules;
  const debugger::RuleSpec& rule = rules[static_cast<std::size_t>(draw_.between(0, static_cast<std::int64_t>(rules.size()) - 1))];
  run_->findings.push_back({rule.name, "metrics/m", debugger::Mode::none, run_->resource, 0.5, 0.1, "it holds", "do something"});
  if (rule.action != debugger::Action::note) end_run(ExitClass::stopped_by_rule, rule.name);
}

void SimulatedWorker::train_one_unit(Epoch epoch) {
  if (!alive_ || !run_ || run_->assignment.epoch != epoch || run_->exit) return;
  if (wait_while_frozen([this, epoch] { train_one_unit(epoch); })) return;
  if (draw_.chance(faults_.worker_dies)) return die();
  if (draw_.chance(faults_.worker_frozen)) frozen_until_ms_ = clock_.now_ms() + draw_.between(1, kFrozenMsMax);
  if (draw_.chance(faults_.worker_silent)) unheard_until_ms_ = clock_.now_ms() + draw_.between(1, kUnheardMsMax);
  if (draw_.chance(faults_.worker_drains)) {
    draining_ = true;
    stop_run();
  }
  if (draw_.chance(faults_.trial_crashes)) return end_run(ExitClass::crashed, "it crashed");
  if (draw_.chance(faults_.trial_fails)) {
    return end_run(draw_.one_of(ExitClass::out_of_memory, ExitClass::invalid_parameters, ExitClass::timed_out), "it failed");
  }
  if (run_->assignment.job->debugger && draw_.chance(faults_.rule_fires)) fire_a_rule();
  if (run_->exit) return;
  run_->training_ms += unit_ms_;
  if (run_->resource < run_->assignment.until_resource) {
    ++run_->resource;
    const double value = objective_value(run_->assignment.configuration, run_->resource, faults_.value_is_not_finite);
    const double cost = cost_value(run_->assignment.configuration, run_->resource);
    run_->unacknowledged.push_back({run_->resource, {{"value", value}, {"cost", cost}}});
  }
  const bool reached = run_->resource == run_->assignment.until_resource;
  if (reached || run_->resource % checkpoint_every_ == 0) {
    run_->checkpoint = run_->resource;
    disk_.checkpoints.emplace(run_->assignment.trial, run_->files_epoch, run_->resource);
  }
  if (!reached) return clock_.after_ms(unit_ms_, [this, epoch] { train_one_unit(epoch); });
  if (draw_.chance(0.7)) return end_at_rung(epoch);
  // What it stores takes a while: its last value may be told before its end.
  clock_.after_ms(draw_.between(0, kStoreMsMax), [this, epoch] { end_at_rung(epoch); });
}

void SimulatedWorker::end_at_rung(Epoch epoch) {
  if (!alive_ || !run_ || run_->assignment.epoch != epoch || run_->exit) return;
  if (wait_while_frozen([this, epoch] { end_at_rung(epoch); })) return;
  if (holds_commands_ && run_->assignment.world_size == 1) held_ = run_;
  end_run(ExitClass::completed, "");
}

void SimulatedWorker::end_run(ExitClass exit, std::string text) {
  run_->exit = exit;
  run_->message = std::move(text);
  call();  // at once; when a call is open, its answer brings the next
}

void SimulatedWorker::stop_run() {
  if (!run_ || run_->exit || run_->stopping) return;
  run_->stopping = true;
  clock_.after_ms(draw_.between(0, kStopMsMax), [this, epoch = run_->assignment.epoch] {
    if (alive_ && run_ && run_->assignment.epoch == epoch && !run_->exit) end_run(ExitClass::stopped, "");
  });
}

void SimulatedWorker::die() {
  alive_ = false;
  run_.reset();
  died_(*this);
}

}  // namespace tuneband::test
