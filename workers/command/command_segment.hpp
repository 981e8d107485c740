// One segment of a command that runs: from its start, or from where it was held, until until_resource.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "debugger/files/recorder.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/command/running_command.hpp"
#include "workers/command/tensor_inbox.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

class CommandSegment {
 public:
  // What it is given must outlive it. `recorder`: with `inbox`; nothing: the job has no debugger.
  CommandSegment(const protocol::AssignmentOrder& order, const CommandSpec& spec, RunningCommand& command,
                 TrialReporter& reporter, TrialLog& log, std::int64_t begins_at, TensorInbox* inbox,
                 debugger::files::Recorder* recorder)
      : order_(order),
        spec_(spec),
        command_(command),
        reporter_(reporter),
        log_(log),
        inbox_(inbox),
        recorder_(recorder),
        begins_at_(begins_at) {}

  enum class End { reached, stopped, timed_out, exited, stopped_by_rule };

  // Hands on what the command reports until the segment is over. `reached`: the command may still run; else it has ended.
  End run();
  // After stopped_by_rule.
  const SegmentResult& rule_result() const { return *rule_result_; }

  // Whether it is held once it has reached until_resource. The other ranks of a group may need it until they end themselves: they
  // are not held, and so it is not.
  bool is_to_be_held() const { return order_.until_resource < order_.max_resource && !order_.group; }
  // After `reached`: the resource of the report that counted for until_resource; above it of a command that overstepped.
  std::int64_t reached() const { return reached_; }
  // Whether it had a report of this segment.
  bool told() const { return told_; }

 private:
  using Clock = std::chrono::steady_clock;

  End run_until_end();
  std::optional<std::int64_t> wait_ms(std::optional<std::int64_t> left_ms) const;
  bool take_tensors(bool all);
  bool take_reports();
  void leave_reports_to_the_debugger();
  void tell_of_metrics_left_out();
  void observe(std::int64_t resource, Metrics metrics);

  const protocol::AssignmentOrder& order_;
  const CommandSpec& spec_;
  RunningCommand& command_;
  TrialReporter& reporter_;
  TrialLog& log_;
  TensorInbox* inbox_;
  debugger::files::Recorder* recorder_;
  Clock::time_point looked_at_{};
  std::optional<SegmentResult> rule_result_;
  std::int64_t begins_at_ = 0;  // told with its first value: one that was held may end instead, and is started anew
  std::optional<MetricReport> first_;
  bool told_ = false;
  std::int64_t reached_ = 0;
  bool left_out_told_ = false;  // that reports have more metrics than are kept
};

}  // namespace tuneband::workers
