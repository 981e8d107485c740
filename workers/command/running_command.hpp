// A command that was started for a trial: its process, what it has printed, and how far it has come. It may outlive a segment: at
// until_resource it is held (SIGSTOP), and goes on where it stands when the trial's next segment comes to this worker.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/oom_kills.hpp"
#include "workers/command/metric_parser.hpp"
#include "workers/command/process.hpp"
#include "workers/command/reports_ahead.hpp"
#include "workers/trial_log.hpp"

namespace tuneband::workers {

class RunningCommand {
 public:
  RunningCommand(Process process, MetricParser parser, std::int64_t from_resource, std::int64_t grace_ms);

  // Is given every piece of its output, too.
  void set_listener(std::function<void(std::string_view)> listener) { listener_ = std::move(listener); }

  enum class Waited { output, ended, stop, deadline };

  // Waits for output, the command's end, `stop_fd` (-1: none) to be readable, or the deadline (nothing: none), and takes in one
  // piece of output into `log` and reports(). After `ended` all its output is in, and all that it had started is gone.
  Waited wait(int stop_fd, std::optional<std::int64_t> timeout_ms, TrialLog& log);

  void hold(TrialLog& log);  // SIGSTOP; what it has printed until then is taken in
  void go_on();              // SIGCONT
  // Waits for it to end by itself, the grace period at the longest or until `stop_fd` is readable; then end().
  void let_end(int stop_fd, TrialLog& log);
  // SIGTERM, then after the grace period SIGKILL, to all that it has started. Its last output is taken in.
  void end(TrialLog& log);

  // Reports read but not taken yet, in order. Their resource is told or counted: next_resource().
  std::deque<MetricReport>& reports() { return reports_; }
  std::int64_t next_resource() const { return reports_.front().resource.value_or(position_ + 1); }
  MetricReport take_report();
  // A segment begins of which the server has all reports until `known`.
  void forget_reports(std::int64_t known);
  // Where there are reports that are not taken: these, and those taken since then.
  KeptReports kept_reports() const;
  // Before it prints any: reports of an earlier start that come first.
  void begin_with(const std::vector<protocol::Observation>& reports);

  bool ended() const { return status_.has_value(); }
  const ExitStatus& status() const { return *status_; }
  std::int64_t position() const { return position_; }  // the highest resource of a report that was taken
  bool says_resource() const { return says_resource_; }
  bool said_zero() const { return said_zero_; }  // a report for resource 0: it counts from there
  const std::optional<Metrics>& last_metrics() const { return last_metrics_; }
  const std::deque<std::string>& near_misses() const { return parser_.near_misses(); }
  const std::vector<std::string>& names_seen() const { return parser_.names_seen(); }
  bool cut_a_line() const { return parser_.cut_a_line(); }
  const std::string& metric_left_out() const { return parser_.left_out(); }
  std::string last_lines() const;        // of its output, for a message
  bool group_ran_out_of_memory() const;  // since it was started, the kernel killed something in its group for that

 private:
  Waited wait_for_end(int stop_fd, TrialLog& log);
  bool read_piece(TrialLog& log);
  void read_what_is_there(TrialLog& log);
  void finish(TrialLog& log);
  MetricParser::OutputEnd output_end() const;

  Process process_;
  MetricParser parser_;
  std::deque<MetricReport> reports_;
  std::size_t read_ahead_ = 0;  // bytes of output since there were no reports left to take
  bool cut_ = false;            // there was too much of it: no more reports
  std::int64_t position_;
  KeptReports taken_;
  std::int64_t grace_ms_;
  os::OomKills oom_kills_before_;  // in the worker's group: the command's own
  bool told_to_end_ = false;
  std::optional<ExitStatus> status_;
  std::optional<Metrics> last_metrics_;
  bool says_resource_ = false;
  bool said_zero_ = false;
  bool output_open_ = true;
  std::string tail_;
  std::function<void(std::string_view)> listener_;
};

}  // namespace tuneband::workers
