// The `command` trainer: docs/command-trainer.md is what a user may rely on.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "os/unique_fd.hpp"
#include "workers/command/command_failure.hpp"
#include "workers/command/command_line.hpp"
#include "workers/command/command_segment.hpp"
#include "workers/command/orphan_reaper.hpp"
#include "workers/command/reports_ahead.hpp"
#include "workers/command/running_command.hpp"
#include "workers/command/tensor_inbox.hpp"
#include "workers/machine_fault.hpp"
#include "workers/protocol/trial_directory.hpp"
#include "workers/released_files.hpp"
#include "workers/segment_dir.hpp"
#include "workers/tensor_recorder.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;

// `reached`: where it was held or started. One that does not say its resource was at its end where it was told to end: what it
// prints after its rung is of that.
bool may_have_ended_early(const CommandSpec& spec, const RunningCommand& command, std::int64_t reached, std::int64_t until) {
  const bool counts_from_zero = command.said_zero() && command.position() == until - 1;
  return spec.may_end_early && command.says_resource() && command.position() > reached && !counts_from_zero;
}

class CommandRunner final : public TrialRunner {
 public:
  explicit CommandRunner(const RunnerOptions& options) : tracker_host_(options.tracker_host) {}
  ~CommandRunner() override { release(); }

  SegmentResult run(const AssignmentOrder& assigned, TrialReporter& reporter, TrialLog& log) override {
    const WatchedTrialDir directory(assigned.trial_dir);
    SegmentResult result = run_until_rung(assigned, reporter, log);
    if (!command_) directory.remove_what_came_after();
    return result;
  }

  void release() override {
    if (!command_) return;
    const WatchedTrialDir directory(trial_dir_);
    // Of a job that was deleted nothing is made anew, nor where the directory cannot be looked at: whatever there is, it ends.
    std::error_code unknown;
    if (std::filesystem::exists(trial_dir_, unknown)) {
      if (auto log = TrialLog::open(trial_dir_)) command_->end(*log);
      keep_ahead(*command_);
    }
    command_.reset();
    directory.remove_what_came_after();
    remove_released_files(trial_dir_);
    remove_superseded_dir(trial_dir_, files_epoch_);
  }

 private:
  // Whether the command was started for this segment, there or beyond where it begins, or goes on from an earlier one.
  enum class Begun { now, beyond, before };

  SegmentResult run_until_rung(const AssignmentOrder& assigned, TrialReporter& reporter, TrialLog& log) {
    Diagnostics diagnostics;
    const TrainerSpec trainer = parse_trainer(assigned.trainer, "trainer", diagnostics);
    const auto* spec = std::get_if<CommandSpec>(&trainer);
    if (!diagnostics.ok()) return {kExitInvalidParameters, describe(diagnostics.errors().front())};
    if (spec == nullptr) return {kExitInvalidParameters, "the trainer is not a command"};
    AssignmentOrder order = assigned;
    if (spec->resume == ResumeMode::restart) {
      order.from_resource = 0;
    } else {  // begun again, its machine had no room: its own directory has what it has saved meanwhile
      order.from_resource = std::max(order.from_resource, reporter.checkpoint_written());
    }

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
    auto told = told_before(order, *spec);
    if (!told.empty() && told.back().resource >= order.until_resource) return hand_on(order, told, reporter, log);
    if (auto fault = start(order, told, *spec, reporter, log)) return *fault;
    reporter.writes_into(files_epoch_);
    reporter.waits_for_others(true);
    return *run_segment(order, *spec, reporter, log, told.empty() ? Begun::now : Begun::beyond);
  }

  // What is held stands at or after the checkpoint that the server knows of, and before the segment's end, and the trial's files
  // are those that it writes.
  bool goes_on(const AssignmentOrder& order) const {
    return order.job == job_ && order.trial == trial_ && order.trial_dir == trial_dir_ && held_at_ >= order.from_resource &&
           held_at_ < order.until_resource && (order.files_epoch == files_epoch_ || order.files_epoch == 0);
  }

  // The values of a command that begins anew are taken for those of later units, and it may have its checkpoints elsewhere.
  static void note_empty_checkpoint(const AssignmentOrder& order, TrialLog& log) {
    std::error_code error;
    if (!std::filesystem::is_empty(protocol::checkpoint_dir(order.trial_dir, order.epoch), error) || error) return;
    log.note("nothing was saved in the checkpoint directory: unless the command has saved at resource " +
             std::to_string(order.from_resource) + " elsewhere, \"resume\" in `trainer` has to be \"restart\"");
  }

  // Gives the result when it cannot be started. `order` begins where its checkpoint is: at nothing, when that is gone. What is
  // told of it is further, and the command goes on from there.
  std::optional<SegmentResult> start(AssignmentOrder& order, std::vector<protocol::Observation>& told, const CommandSpec& written,
                                     TrialReporter& reporter, TrialLog& log) {
    command_.reset();
    const Result<CommandSpec> read = with_references_read(written);
    if (!read) return SegmentResult{kExitInvalidParameters, describe(read.error())};
    const CommandSpec& spec = *read;
    auto parser = MetricParser::create(spec, order.objective_metric, order.further_metrics);
    if (!parser) return SegmentResult{kExitInvalidParameters, describe(parser.error())};

    if (order.attempt > 1 || order.from_resource > 0) end_what_ran_before(order, log);
    const auto begins_with = make_checkpoint_dir(order);
    if (!begins_with) return not_made(begins_with.error());
    if (order.from_resource > 0 && *begins_with == BeginsWith::nothing) {
      log.note("the checkpoint of resource " + std::to_string(order.from_resource) + " is not there any more");
      order.from_resource = reporter.checkpoint_written();
      told.clear();
    } else if (order.from_resource > 0) {
      note_empty_checkpoint(order, log);
    }
    AssignmentOrder further = order;
    if (!told.empty()) further.from_resource = told.back().resource;
    auto process = process_of(further, spec);
    if (!process) return SegmentResult{kExitInvalidParameters, process.error().message};
    if (const auto written_down = write_parameters(order); !written_down) return not_made(written_down.error());
    open_inbox(order, *process);
    auto started = Process::start(*process);
    if (!started) {
      const bool refused = started.error().code == ErrorCode::invalid_argument;
      return SegmentResult{.exit = refused ? kExitInvalidParameters : kExitCrashed,
                           .message = started.error().message,
                           .waits_for = machine_fault(started.error())};
    }
    command_.emplace(std::move(*started), std::move(*parser), order.from_resource, spec.grace_ms);
    command_->begin_with(told);
    if (inbox_) command_->set_listener([this](std::string_view output) { inbox_->feed(output); });
    job_ = order.job;
    trial_ = order.trial;
    trial_dir_ = order.trial_dir;
    files_epoch_ = order.epoch;
    keeps_ahead_ = keeps_ahead(order, spec);
    log.note("started, resource " + std::to_string(further.from_resource) + " to " + std::to_string(order.until_resource));
    return std::nullopt;
  }

  // Errors: there is no such program, in a sentence.
  Result<ProcessSpec> process_of(const AssignmentOrder& order, const CommandSpec& spec) const {
    ProcessSpec process;
    process.argv = fill_argv(spec.argv, template_values(order));
    process.environment = command_environment(order, spec, tracker_host_);
    process.working_dir = spec.working_dir.empty() ? order.trial_dir : spec.working_dir;
    process.memory_bytes_max = spec.memory_bytes_max;
    process.cpu_ms_max = spec.cpu_ms_max;
    if (process.argv.empty()) return Error{ErrorCode::invalid_argument, "the command's argv is empty", "", ""};
    auto executable = find_executable(process.argv.front(), environment_value(process.environment, "PATH"), process.working_dir);
    if (!executable) return executable.error();
    process.executable = std::move(*executable);
    return process;
  }

  // The ranks of a group begin together: what one has reported before is of no use.
  static bool keeps_ahead(const AssignmentOrder& order, const CommandSpec& spec) {
    return spec.resume == ResumeMode::checkpoint && !order.group;
  }

  void keep_ahead(const RunningCommand& command) const {
    if (keeps_ahead_) keep_reports_ahead(trial_dir_, files_epoch_, command.kept_reports());
  }

  // What the trial's command has reported beyond order.from_resource already, before it was held or ended.
  static std::vector<protocol::Observation> told_before(const AssignmentOrder& order, const CommandSpec& spec) {
    if (!keeps_ahead(order, spec) || order.files_epoch == 0 || order.from_resource >= order.until_resource) return {};
    return reports_ahead(order.trial_dir, order.files_epoch, order.from_resource);
  }

  // A segment of which all is told needs no command.
  static SegmentResult hand_on(const AssignmentOrder& order, const std::vector<protocol::Observation>& told,
                               TrialReporter& reporter, TrialLog& log) {
    const auto debug = debug_spec_of(order, debugger::TrainerKind::command);
    const auto recorder = debug ? make_recorder(order, debugger::TrainerKind::command, debugger::files::kGoesOn) : nullptr;
    std::optional<TensorInbox> inbox;
    if (recorder) inbox.emplace(tensors_dir(order, order.files_epoch), debug->collections);
    log.note("resource " + std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource) +
             " was reported before the command was held or ended");
    reporter.writes_into(order.files_epoch);
    reporter.began(order.from_resource);
    for (const protocol::Observation& report : told) {
      const std::int64_t resource = std::min(report.resource, order.until_resource);  // one beyond counts for it
      if (inbox) inbox->report(resource, report.metrics);
      reporter.observe(resource, report.metrics);
      reporter.checkpointed(resource);
      if (resource == order.until_resource) break;
    }
    if (recorder) {
      inbox->take(*recorder, TensorInbox::Take::rest);
      recorder->settle();
      if (auto result = tell_findings(*recorder, reporter, log)) return *result;
    }
    return {kExitCompleted, ""};
  }

  static std::string tensors_dir(const AssignmentOrder& order, std::int64_t epoch) {
    const int rank = order.group ? order.group->rank : 0;
    return std::filesystem::path(protocol::checkpoint_dir(order.trial_dir, epoch)).parent_path() /
           ("tensors-" + std::to_string(rank));
  }

  // Where the command finds what to save, and puts it.
  void open_inbox(const AssignmentOrder& order, ProcessSpec& process) {
    inbox_.reset();
    const auto spec = debug_spec_of(order, debugger::TrainerKind::command);
    if (!spec) return;
    const std::string directory = tensors_dir(order, order.epoch);
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

  static SegmentResult not_made(const Error& fault) {
    return {.exit = kExitCrashed, .message = fault.message, .waits_for = machine_fault(fault)};
  }

  static Result<void> write_parameters(const AssignmentOrder& order) {
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

  // Nothing: it was begun before, and has ended by itself where it was told to then, well or not: its value there has counted.
  // The rest takes another start, which comes only when this command is gone: whoever ends a command ends every process below
  // this one.
  std::optional<SegmentResult> run_segment(const AssignmentOrder& order, const CommandSpec& spec, TrialReporter& reporter,
                                           TrialLog& log, Begun begun) {
    using End = CommandSegment::End;
    const std::int64_t begins_at = begun == Begun::before ? held_at_ : order.from_resource;
    const std::int64_t started = order.from_resource == 0 ? debugger::files::kFromNothing : debugger::files::kStartedAgain;
    const std::int64_t begin_step = begun == Begun::now ? started : debugger::files::kGoesOn;
    command_->forget_reports(order.from_resource);
    const auto recorder = inbox_ ? make_recorder(order, debugger::TrainerKind::command, begin_step) : nullptr;
    CommandSegment segment(order, spec, *command_, reporter, log, begins_at, inbox_.get(), recorder.get());
    const End end = segment.run();
    if (end == End::reached) {
      if (segment.is_to_be_held()) {
        keep_ahead(*command_);
        held_at_ = order.until_resource;
        held_after_ = segment.reached();
      } else {
        command_.reset();
      }
      return SegmentResult{kExitCompleted, ""};
    }
    const RunningCommand command = std::move(*command_);
    command_.reset();
    if (end == End::stopped_by_rule) return segment.rule_result();
    if (end == End::stopped) {
      keep_ahead(command);
      return SegmentResult{kExitStopped, ""};
    }
    if (end == End::timed_out) {
      return SegmentResult{kExitTimedOut,
                           "the segment took longer than trainer.timeout_seconds, " + in_seconds(*spec.timeout_ms)};
    }
    if (command.status().signal != 0 || command.status().code != 0) {
      const SegmentResult failure = failed_command(spec, command);
      if (begun == Begun::now || segment.told()) return failure;
      log.note("ended after its value at resource " + std::to_string(held_at_) + " and is started again: " + failure.message);
      return std::nullopt;
    }
    if (order.group && order.group->rank != spec.metric_rank)
      return SegmentResult{kExitCompleted, ""};  // what counts, another rank says
    // A checkpoint at its resource is one whose value the server has: nothing is left to be reported.
    if (order.from_resource == order.until_resource) return SegmentResult{kExitCompleted, ""};
    const bool ended_early =
        may_have_ended_early(spec, command, begun == Begun::before ? held_after_ : begins_at, order.until_resource);
    if (begun == Begun::before && !ended_early) return std::nullopt;
    // Of one that never said how far it was, what it printed last is its result.
    if (!command.last_metrics() || (command.says_resource() && !ended_early)) return without_metric(order, spec, command);
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
  std::int64_t held_after_ = 0;            // that of its report there: above it, if it overstepped
  std::int64_t job_ = 0;
  int trial_ = 0;
  std::string trial_dir_;
  std::int64_t files_epoch_ = 0;  // in whose directory it writes: when it was started
  bool keeps_ahead_ = false;      // what it reports beyond a rung
};

}  // namespace

std::unique_ptr<TrialRunner> make_command_runner(const RunnerOptions& options) {
  return std::make_unique<CommandRunner>(options);
}

}  // namespace tuneband::workers
