#include "workers/command/command_segment.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "workers/tensor_recorder.hpp"

namespace tuneband::workers {

CommandSegment::End CommandSegment::run() {
  const End end = run_until_end();
  if (end == End::stopped_by_rule) return end;
  if (end == End::reached) is_to_be_held() ? command_.hold(log_) : command_.let_end(reporter_.stop_fd(), log_);
  // What it has saved by now, after its last report too, is judged: a rule may end what has just reached its rung. What is held
  // may be in the middle of a file, which stays.
  if (!take_tensors(true)) return end;
  command_.end(log_);
  return End::stopped_by_rule;
}

CommandSegment::End CommandSegment::run_until_end() {
  const auto begin = Clock::now();
  while (true) {
    const bool reached = take_reports();
    if (take_tensors(false)) {
      command_.end(log_);
      return End::stopped_by_rule;
    }
    if (reached) return End::reached;
    const auto passed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
    const auto left_ms = spec_.timeout_ms ? std::optional<std::int64_t>(*spec_.timeout_ms - passed_ms) : std::nullopt;
    using Waited = RunningCommand::Waited;
    const bool timed_out = left_ms && *left_ms <= 0;
    const Waited waited = timed_out ? Waited::deadline : command_.wait(reporter_.stop_fd(), wait_ms(left_ms), log_);
    if (waited == Waited::output || (waited == Waited::deadline && !timed_out)) continue;
    if (waited == Waited::ended) return take_reports() ? End::reached : End::exited;
    command_.end(log_);
    take_reports();
    return waited == Waited::stop ? End::stopped : End::timed_out;
  }
}

std::optional<std::int64_t> CommandSegment::wait_ms(std::optional<std::int64_t> left_ms) const {
  return recorder_ == nullptr
             ? left_ms
             : std::min(left_ms.value_or(kLookForTensorsEvery.count()), std::int64_t{kLookForTensorsEvery.count()});
}

// True: a rule ends the trial.
bool CommandSegment::take_tensors(bool all) {
  if (recorder_ == nullptr) return false;
  const auto now = Clock::now();
  if (!all && now - looked_at_ < kLookForTensorsEvery) return false;
  looked_at_ = now;
  if (command_.ended() && command_.status().signal == 0) inbox_->finish();
  using Take = TensorInbox::Take;
  inbox_->take(*recorder_, !all ? Take::what_is_due : command_.ended() ? Take::rest : Take::all_steps);
  if (all) recorder_->settle();
  if (const std::string refused = inbox_->take_refusals(); !refused.empty()) log_.note("the debugger: " + refused);
  if (auto result = tell_findings(*recorder_, reporter_, log_)) rule_result_ = std::move(result);
  return rule_result_.has_value();
}

// Hands the reports on to the worker. True when the value at until_resource is among them; what comes after it stays for later.
bool CommandSegment::take_reports() {
  if (order_.group && order_.group->rank != spec_.metric_rank) {
    leave_reports_to_the_debugger();
    return false;
  }
  tell_of_metrics_left_out();
  while (!command_.reports().empty()) {
    const std::int64_t resource = command_.next_resource();
    if (resource > order_.until_resource) {
      log_.note("the command reported resource " + std::to_string(resource) + " without one for " +
                std::to_string(order_.until_resource) + "; the value counts for it");
      observe(order_.until_resource, command_.reports().front().metrics);
      reached_ = resource;
      return true;
    }
    const bool counted = !command_.reports().front().resource;
    MetricReport report = command_.take_report();
    if (resource == 0) continue;
    // A lone value of a command that does not say its resource is its final one, wherever the segment ends: not told before
    // another comes.
    if (counted && !first_ && !told_ && resource < order_.until_resource) {
      first_ = std::move(report);
      continue;
    }
    if (std::optional<MetricReport> first = std::exchange(first_, std::nullopt))
      observe(*first->resource, std::move(first->metrics));
    observe(resource, std::move(report.metrics));
    if (resource != order_.until_resource) continue;
    reached_ = resource;
    return true;
  }
  return false;
}

// Of a rank that does not tell of the trial: what it prints says nothing of the trial's value, nor of its own end.
void CommandSegment::leave_reports_to_the_debugger() {
  while (!command_.reports().empty()) {
    const std::int64_t resource = command_.next_resource();
    const MetricReport report = command_.take_report();
    if (recorder_ != nullptr && resource > 0) inbox_->report(resource, report.metrics);
  }
}

void CommandSegment::tell_of_metrics_left_out() {
  const std::string& first = command_.metric_left_out();
  if (first.empty() || std::exchange(left_out_told_, true)) return;
  log_.note("a report has more than " + std::to_string(protocol::kMetricsPerObservationMax) +
            " metrics: those that the job goes by are kept and the first others; " + first + " is left out");
}

void CommandSegment::observe(std::int64_t resource, Metrics metrics) {
  if (!std::exchange(told_, true)) reporter_.began(begins_at_);
  if (recorder_ != nullptr) inbox_->report(resource, metrics);
  reporter_.observe(resource, std::move(metrics));
  // The command saves first and reports then; that is the agreement.
  if (spec_.resume == ResumeMode::checkpoint) reporter_.checkpointed(resource);
}

}  // namespace tuneband::workers
