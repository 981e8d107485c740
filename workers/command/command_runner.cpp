// The `command` trainer: docs/command-trainer.md is what a user may rely on.
#include <fcntl.h>
#include <re2/re2.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/trainer_spec.hpp"
#include "os/shell_status.hpp"
#include "os/unique_fd.hpp"
#include "workers/command/command_line.hpp"
#include "workers/command/orphan_reaper.hpp"
#include "workers/command/running_command.hpp"
#include "workers/command/tensor_inbox.hpp"
#include "workers/machine_fault.hpp"
#include "workers/memory_words.hpp"
#include "workers/protocol/trial_directory.hpp"
#include "workers/released_files.hpp"
#include "workers/segment_dir.hpp"
#include "workers/tensor_recorder.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;
using SegmentClock = std::chrono::steady_clock;

constexpr int kShellNotFound = 127;
constexpr int kShellNotExecutable = 126;

// One segment of a command that runs: from its start, or from where it was held, until until_resource.
class CommandSegment {
 public:
  CommandSegment(const AssignmentOrder& order, const CommandSpec& spec, RunningCommand& command, TrialReporter& reporter,
                 TrialLog& log, std::int64_t begins_at, TensorInbox* inbox, debugger::files::Recorder* recorder)
      : order_(order),
        spec_(spec),
        command_(command),
        reporter_(reporter),
        log_(log),
        inbox_(inbox),
        recorder_(recorder),
        begins_at_(begins_at) {}

  enum class End { reached, stopped, timed_out, exited, stopped_by_rule };
  const SegmentResult& rule_result() const { return *rule_result_; }

  // Whether it is held once it has reached until_resource. The other ranks of a group may need it until they end themselves: they
  // are not held, and so it is not.
  bool is_to_be_held() const { return order_.until_resource < order_.max_resource && !order_.group; }

  End run() {
    const End end = run_until_end();
    if (end == End::stopped_by_rule) return end;
    if (end == End::reached && !is_to_be_held()) command_.let_end(reporter_.stop_fd(), log_);
    // What it has saved by now, after its last report too, is judged: a rule may end what has just reached its rung.
    if (!take_tensors(true)) return end;
    command_.end(log_);
    return End::stopped_by_rule;
  }

 private:
  End run_until_end() {
    const auto begin = SegmentClock::now();
    while (true) {
      const bool reached = take_reports();
      if (take_tensors(false)) {
        command_.end(log_);
        return End::stopped_by_rule;
      }
      if (reached) return End::reached;
      const auto passed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(SegmentClock::now() - begin).count();
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

  std::optional<std::int64_t> wait_ms(std::optional<std::int64_t> left_ms) const {
    return recorder_ == nullptr
               ? left_ms
               : std::min(left_ms.value_or(kLookForTensorsEvery.count()), std::int64_t{kLookForTensorsEvery.count()});
  }

  // True: a rule ends the trial.
  bool take_tensors(bool all) {
    if (recorder_ == nullptr) return false;
    const auto now = SegmentClock::now();
    if (!all && now - looked_at_ < kLookForTensorsEvery) return false;
    looked_at_ = now;
    inbox_->take(*recorder_, all);
    if (all) recorder_->settle();
    if (const std::string refused = inbox_->take_refusals(); !refused.empty()) log_.note("the debugger: " + refused);
    if (auto result = tell_findings(*recorder_, reporter_, log_)) rule_result_ = std::move(result);
    return rule_result_.has_value();
  }

  // Hands the reports on to the worker. True when the value at until_resource is among them; what comes after it stays for later.
  bool take_reports() {
    while (!command_.reports().empty()) {
      const std::int64_t resource = command_.next_resource();
      if (resource > order_.until_resource) {
        log_.note("the command reported resource " + std::to_string(resource) + " without one for " +
                  std::to_string(order_.until_resource) + "; the value counts for it");
        observe(order_.until_resource, command_.reports().front().metrics);
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
      if (first_) observe(*first_->resource, std::exchange(first_, std::nullopt)->metrics);
      observe(resource, std::move(report.metrics));
      if (resource == order_.until_resource) return true;
    }
    return false;
  }

  void observe(std::int64_t resource, Metrics metrics) {
    if (!std::exchange(told_, true)) reporter_.began(begins_at_);
    if (recorder_ != nullptr) inbox_->report(resource, metrics);
    reporter_.observe(resource, std::move(metrics));
    // The command saves first and reports then; that is the agreement.
    if (spec_.resume == ResumeMode::checkpoint) reporter_.checkpointed(resource);
  }

  const AssignmentOrder& order_;
  const CommandSpec& spec_;
  RunningCommand& command_;
  TrialReporter& reporter_;
  TrialLog& log_;
  TensorInbox* inbox_;  // with recorder_; nothing: the job has no debugger
  debugger::files::Recorder* recorder_;
  SegmentClock::time_point looked_at_{};
  std::optional<SegmentResult> rule_result_;
  std::int64_t begins_at_ = 0;  // told with its first value: one that was held may end instead, and is started anew
  std::optional<MetricReport> first_;
  bool told_ = false;
};

std::string joined(const std::deque<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text;
}

std::string in_ticks(std::vector<std::string> names) {
  for (std::string& name : names) name = "`" + name + "`";
  return join_and(names);
}

SegmentResult no_metric(const AssignmentOrder& order, const CommandSpec& spec, const RunningCommand& command) {
  if (command.last_metrics()) {
    std::string message = "the command ended by itself at resource " + std::to_string(command.position()) + ", before " +
                          std::to_string(order.until_resource);
    if (command.said_zero()) {
      message += "; it counts from 0, but a resource is the number of units done: report 1 after the first";
    } else if (spec.resume == ResumeMode::restart) {
      message += "; if it is right to stop there, \"may_end_early\": true in `trainer` lets its last value count";
    }
    return {kExitNoMetric, message};
  }
  std::string message = "the command ended without a value of `" + order.objective_metric + "`";
  const std::string misses = joined(command.near_misses());
  if (!command.names_seen().empty()) message += "; it gave values of " + in_ticks(command.names_seen());
  if (!misses.empty()) {
    message += "; lines that name it but do not fit: " + misses;
  } else if (spec.metrics.empty() && command.names_seen().empty()) {
    message += R"(; it was expected on a line like {"resource": 1, ")" + order.objective_metric + R"(": 0.5})";
  }
  return {kExitNoMetric, message};
}

// One that does not say its resource was at its end where it was told to end: what it prints after its rung is of that.
bool may_have_ended_early(const CommandSpec& spec, const RunningCommand& command, std::int64_t begins_at, std::int64_t until) {
  const bool counts_from_zero = command.said_zero() && command.position() == until - 1;
  return spec.may_end_early && command.says_resource() && command.position() > begins_at && !counts_from_zero;
}

bool speaks_of_memory(const std::string& output) {
  static const RE2 pattern(
      "MemoryError|std::bad_alloc|[Cc]annot allocate memory|[Oo]ut of memory|OutOfMemoryError|memory exhausted");
  return RE2::PartialMatch(output, pattern);
}

bool speaks_of_room(const std::string& output) {
  static const RE2 pattern("No space left on device|Disk quota exceeded");
  return RE2::PartialMatch(output, pattern);
}

// By a person, a machine that shuts down: says nothing of the command.
bool sent_from_outside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP; }

// As the C library words them: faults of the machine, which another attempt may not meet.
bool speaks_of_the_machine(const std::string& output) {
  static const RE2 pattern(
      "No space left on device|Disk quota exceeded|Too many open files|Input/output error|Stale file handle|"
      "Read-only file system|Transport endpoint is not connected");
  return RE2::PartialMatch(output, pattern);
}

// What it had, and what it was allowed.
std::string memory_asked(const CommandSpec& spec, const ExitStatus& status, const std::string& output) {
  std::string text = asked_for_in_words(output);
  if (status.peak_bytes > 0) text += "; it had " + std::to_string(status.peak_bytes / kMegabyte) + " MB at its peak";
  if (spec.memory_bytes_max)
    text += "; its limit is " + std::to_string(*spec.memory_bytes_max / kMegabyte) + " MB of address space";
  return text + group_memory_in_words();
}

SegmentResult failure(const CommandSpec& spec, const RunningCommand& command) {
  const ExitStatus status = command.status();
  const bool by_shell = status.signal == 0 && status.code > os::kSignalExitBase && status.code < os::kSignalExitBase + _NSIG;
  const int signal = by_shell ? status.code - os::kSignalExitBase : status.signal;
  const std::string output = command.last_lines();
  const std::string said = output.empty() ? "" : "; its last output: " + output;

  if (signal == SIGXCPU || (signal == SIGKILL && spec.cpu_ms_max && !command.group_ran_out_of_memory())) {
    return {kExitTimedOut,
            "the command used more CPU time than its limit of " + std::to_string(spec.cpu_ms_max.value_or(0)) + " ms" + said};
  }
  if (signal == SIGKILL && command.group_ran_out_of_memory()) {
    return {kExitOutOfMemory, "the kernel killed the command because memory ran out" + memory_asked(spec, status, output) + said};
  }
  if (speaks_of_memory(output)) {
    return {kExitOutOfMemory, "the command ran out of memory" + memory_asked(spec, status, output) + said};
  }
  const bool from_outside = sent_from_outside(signal) || speaks_of_the_machine(output);
  if (signal != 0) {
    return {kExitCrashed, "the command was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")" + said,
            from_outside ? "" : "signal " + std::to_string(signal)};
  }
  std::string message = "the command ended with exit status " + std::to_string(status.code);
  if (speaks_of_room(output)) return {.exit = kExitCrashed, .message = message + said, .waits_for = std::string(kRoomOnDisk)};
  if (status.code == kShellNotFound) message += " (from a shell: a program was not found)";
  if (status.code == kShellNotExecutable) message += " (from a shell: a program could not be executed)";
  return {kExitCrashed, message + said, from_outside ? "" : "exit status " + std::to_string(status.code)};
}

class CommandRunner final : public TrialRunner {
 public:
  explicit CommandRunner(const RunnerOptions& options) : tracker_host_(options.tracker_host) {}
  ~CommandRunner() override { release(); }

  SegmentResult run(const AssignmentOrder& assigned, TrialReporter& reporter, TrialLog& log) override {
    Diagnostics diagnostics;
    const TrainerSpec trainer = parse_trainer(assigned.trainer, "trainer", "", diagnostics);
    const auto* spec = std::get_if<CommandSpec>(&trainer);
    if (!diagnostics.ok()) return {kExitInvalidParameters, describe(diagnostics.errors().front())};
    if (spec == nullptr) return {kExitInvalidParameters, "the trainer is not a command"};
    AssignmentOrder order = assigned;
    if (spec->resume == ResumeMode::restart) order.from_resource = 0;

    if (command_ && !goes_on(order)) {
      reporter.waits_for_others(true);  // for its grace period
      release();
      reporter.waits_for_others(false);
    }
    if (command_) {
      reporter.writes_into(files_epoch_);
      reporter.waits_for_others(true);
      command_->go_on();
      if (auto result = run_segment(order, *spec, reporter, log, Begun::before)) return *result;
      reporter.waits_for_others(false);
    }
    if (auto fault = start(order, *spec, log)) return *fault;
    reporter.writes_into(files_epoch_);
    reporter.waits_for_others(true);
    return *run_segment(order, *spec, reporter, log, Begun::now);
  }

  void release() override {
    if (!command_) return;
    const WatchedTrialDir directory(trial_dir_);
    // Of a job that was deleted nothing is made anew.
    if (std::filesystem::exists(trial_dir_)) {
      if (auto log = TrialLog::open(trial_dir_)) command_->end(*log);
    }
    command_.reset();
    directory.remove_what_came_after();
    remove_released_files(trial_dir_);
    remove_superseded_dir(trial_dir_, files_epoch_);
  }

 private:
  enum class Begun { now, before };  // whether the command was started for this segment, or goes on from an earlier one

  // What is held stands at or after the checkpoint that the server knows of, and before the segment's end, and the trial's files
  // are those that it writes.
  bool goes_on(const AssignmentOrder& order) const {
    return order.job == job_ && order.trial == trial_ && order.trial_dir == trial_dir_ && held_at_ >= order.from_resource &&
           held_at_ < order.until_resource && (order.files_epoch == files_epoch_ || order.files_epoch == 0);
  }

  // Gives the result when it cannot be started.
  std::optional<SegmentResult> start(const AssignmentOrder& order, const CommandSpec& written, TrialLog& log) {
    command_.reset();
    const Result<CommandSpec> read = with_references_read(written);
    if (!read) return SegmentResult{kExitInvalidParameters, describe(read.error())};
    const CommandSpec& spec = *read;
    auto parser = MetricParser::create(spec, order.objective_metric, order.further_metrics);
    if (!parser) return SegmentResult{kExitInvalidParameters, describe(parser.error())};

    ProcessSpec process;
    process.argv = fill_argv(spec.argv, template_values(order));
    process.environment = command_environment(order, spec, tracker_host_);
    process.working_dir = spec.working_dir.empty() ? order.trial_dir : spec.working_dir;
    process.memory_bytes_max = spec.memory_bytes_max;
    process.cpu_ms_max = spec.cpu_ms_max;
    if (process.argv.empty()) return SegmentResult{kExitInvalidParameters, "the command's argv is empty"};

    auto executable = find_executable(process.argv.front(), environment_value(process.environment, "PATH"), process.working_dir);
    if (!executable) return SegmentResult{kExitInvalidParameters, executable.error().message};
    process.executable = std::move(*executable);
    if (order.attempt > 1 || order.from_resource > 0) end_what_ran_before(order, log);
    const auto made = make_files(order, log);
    if (!made)
      return SegmentResult{.exit = kExitCrashed, .message = made.error().message, .waits_for = machine_fault(made.error())};
    open_inbox(order, process);
    auto started = Process::start(process);
    if (!started) {
      const bool refused = started.error().code == ErrorCode::invalid_argument;
      return SegmentResult{.exit = refused ? kExitInvalidParameters : kExitCrashed,
                           .message = started.error().message,
                           .waits_for = machine_fault(started.error())};
    }
    command_.emplace(std::move(*started), std::move(*parser), order.from_resource, spec.grace_ms);
    if (inbox_) command_->set_listener([this](std::string_view output) { inbox_->feed(output); });
    job_ = order.job;
    trial_ = order.trial;
    trial_dir_ = order.trial_dir;
    files_epoch_ = order.epoch;
    log.note("started, resource " + std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource));
    return std::nullopt;
  }

  // Where the command finds what to save, and puts it.
  void open_inbox(const AssignmentOrder& order, ProcessSpec& process) {
    inbox_.reset();
    const auto spec = debug_spec_of(order, debugger::TrainerKind::command);
    if (!spec) return;
    const int rank = order.group ? order.group->rank : 0;
    if (rank > 0 && spec->ranks == debugger::Ranks::first) return;
    const std::string directory = std::filesystem::path(protocol::checkpoint_dir(order.trial_dir, order.epoch)).parent_path() /
                                  ("tensors-" + std::to_string(rank));
    inbox_ = std::make_unique<TensorInbox>(directory, spec->collections);
    process.environment.push_back("TUNEBAND_TENSORS=" + directory);
    process.environment.push_back("TUNEBAND_COLLECTIONS=" + debugger::schedules_json(*spec).dump());
  }

  // A worker that was killed may have left some that still write into the trial's directory, and so may one that is stopped and
  // was given up for lost.
  static void end_what_ran_before(const AssignmentOrder& order, TrialLog& log) {
    if (const int ended = end_orphans(); ended > 0)
      log.note("ended " + std::to_string(ended) + " processes that a killed worker had left");
    if (const int ended = end_processes_of_earlier_segments(order.trial_dir, order.epoch); ended > 0)
      log.note("ended " + std::to_string(ended) + " processes that still ran for an earlier attempt");
  }

  static Result<void> make_files(const AssignmentOrder& order, TrialLog& log) {
    if (auto made = make_checkpoint_dir(order, log); !made) return made;
    const std::filesystem::path path = parameters_file(order);
    const auto directory = protocol::TrialDirectory::open(path.parent_path().string());
    const std::string name = path.filename().string();
    os::UniqueFd file = directory ? directory->open_file(name, O_WRONLY | O_CREAT | O_TRUNC, 0644) : os::UniqueFd();
    if (directory && !file && errno == ELOOP) file = directory->make_file(name, 0644);  // a link: the trial's own doing
    const std::string text = order.configuration.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    errno = directory && file ? ENOSPC : errno;  // what is not written whole found no room
    if (file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
    return fault_of(ErrorCode::unavailable, "cannot write " + path.string(), errno);
  }

  // Nothing: it was begun before, and has ended by itself where it was told to then. The rest takes another start, which comes
  // only when this command is gone: whoever ends a command ends every process below this one.
  std::optional<SegmentResult> run_segment(const AssignmentOrder& order, const CommandSpec& spec, TrialReporter& reporter,
                                           TrialLog& log, Begun begun) {
    using End = CommandSegment::End;
    const std::int64_t begins_at = begun == Begun::before ? held_at_ : order.from_resource;
    const std::int64_t started = order.from_resource == 0 ? -1 : debugger::files::kStartedAgain;
    const std::int64_t begin_step = begun == Begun::now ? started : debugger::files::kGoesOn;
    const auto recorder = inbox_ ? make_recorder(order, debugger::TrainerKind::command, begin_step) : nullptr;
    CommandSegment segment(order, spec, *command_, reporter, log, begins_at, inbox_.get(), recorder.get());
    const End end = segment.run();
    if (end == End::reached) {
      if (segment.is_to_be_held()) {
        command_->hold();
        held_at_ = order.until_resource;
      } else {
        command_.reset();
      }
      return SegmentResult{kExitCompleted, ""};
    }
    const RunningCommand command = std::move(*command_);
    command_.reset();
    if (end == End::stopped_by_rule) return segment.rule_result();
    if (end == End::stopped) return SegmentResult{kExitStopped, ""};
    if (end == End::timed_out) {
      return SegmentResult{kExitTimedOut,
                           "the segment took longer than its limit of " + std::to_string(*spec.timeout_ms) + " ms"};
    }
    if (command.status().signal != 0 || command.status().code != 0) return failure(spec, command);
    if (order.group && order.group->rank != spec.metric_rank)
      return SegmentResult{kExitCompleted, ""};  // what counts, another rank says
    const bool ended_early = may_have_ended_early(spec, command, begins_at, order.until_resource);
    if (begun == Begun::before && !ended_early) return std::nullopt;
    // Of one that never said how far it was, what it printed last is its result.
    if (!command.last_metrics() || (command.says_resource() && !ended_early)) return no_metric(order, spec, command);
    if (ended_early) {
      log.note("the command ended by itself at resource " + std::to_string(command.position()) + "; its last value counts for " +
               std::to_string(order.until_resource));
    }
    reporter.observe(order.until_resource, *command.last_metrics());
    if (spec.resume == ResumeMode::checkpoint) reporter.checkpointed(order.until_resource);
    return SegmentResult{kExitCompleted, ""};
  }

  const std::string tracker_host_;
  std::unique_ptr<TensorInbox> inbox_;     // of the command; nothing: the job has no debugger
  std::optional<RunningCommand> command_;  // held, between segments
  std::int64_t held_at_ = 0;               // its resource there
  std::int64_t job_ = 0;
  int trial_ = 0;
  std::string trial_dir_;
  std::int64_t files_epoch_ = 0;  // in whose directory it writes: when it was started
};

}  // namespace

std::unique_ptr<TrialRunner> make_command_runner(const RunnerOptions& options) {
  return std::make_unique<CommandRunner>(options);
}

}  // namespace tuneband::workers
