#include "workers/command/command_failure.hpp"

#include <re2/re2.h>

#include <csignal>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "os/child_process.hpp"
#include "os/shell_status.hpp"
#include "workers/command/metric_parser.hpp"
#include "workers/machine_fault.hpp"
#include "workers/memory_words.hpp"

namespace tuneband::workers {

namespace {

constexpr int kShellNotFound = 127;
constexpr int kShellNotExecutable = 126;

std::string in_one_line(const std::deque<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text;
}

std::string in_ticks(std::vector<std::string> names) {
  for (std::string& name : names) name = "`" + name + "`";
  return join_and(names);
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

// SIGKILL is what comes to who ignores SIGXCPU, and what others may send. Of a shell's children it is known what they have used
// together: as much as one is killed at, about, says that one of them was; more, that several have worked.
bool used_its_cpu_time(const CommandSpec& spec, const ExitStatus& status, int signal) {
  if (signal != SIGKILL || !spec.cpu_ms_max) return signal == SIGXCPU;
  if (status.signal == SIGKILL) return status.cpu_ms >= *spec.cpu_ms_max;
  const std::int64_t killed_at_ms = os::cpu_ms_killed_at(*spec.cpu_ms_max);
  return status.children_cpu_ms >= *spec.cpu_ms_max && status.children_cpu_ms <= killed_at_ms + killed_at_ms / 4;
}

// Of `text` that stands between a name and its value, or the name itself.
std::string quoted(std::string text) {
  RE2::GlobalReplace(&text, R"([\\.+*?()|\[\]{}^$])", R"(\\\0)");
  const bool blank = text.find_first_not_of(" \t") == std::string::npos;
  RE2::GlobalReplace(&text, R"([ \t]+)", blank ? R"(\\s+)" : R"(\\s*)");
  return text;
}

// A pattern as trainer.metrics takes it, which finds in `line` the number behind the name of `metric`: it is tried. Nothing where
// none stands there, or one that goes on behind a comma.
std::optional<MetricPattern> pattern_that_fits(const std::string& metric, const std::string& line) {
  const RE2 finder(R"(\b((?i:)" + quoted(metric) + R"())([^-+.\w]{1,8})([-+]?\.?[0-9][-+.\w]*)(?:,?$|,[^0-9]|[^-+.,\w]))",
                   RE2::Quiet);
  std::string name;
  std::string between;
  std::string value;
  if (!RE2::PartialMatch(line, finder, &name, &between, &value)) return std::nullopt;
  CommandSpec spec;
  spec.metrics = {{metric, R"(\b)" + quoted(name) + quoted(between) + R"(([-+.\w]+))"}};
  auto parser = MetricParser::create(spec, metric);
  if (!parser) return std::nullopt;
  std::deque<MetricReport> reports;
  parser->feed(line + "\n", reports);
  if (reports.empty() || find_metric(reports.front().metrics, metric) != parse_number(value)) return std::nullopt;
  return spec.metrics.front();
}

std::string advice_of_a_pattern(const std::string& metric, const std::deque<std::string>& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (const auto pattern = pattern_that_fits(metric, *line))
      return R"(; in trainer this would find it: "metrics": )" + Json{{{"name", metric}, {"regex", pattern->regex}}}.dump();
  }
  return "";
}

std::string why_a_report_may_lack(const RunningCommand& command) {
  if (!command.cut_a_line()) return "";
  return "; it printed a line of more than " + std::to_string(kLineSizeMax / 1024) +
         " KiB, and of such a line no more than that is read: print what is long on another line than the report";
}

}  // namespace

SegmentResult failed_command(const CommandSpec& spec, const RunningCommand& command) {
  const ExitStatus status = command.status();
  const bool by_shell = status.signal == 0 && status.code > os::kSignalExitBase && status.code < os::kSignalExitBase + _NSIG;
  const int signal = by_shell ? status.code - os::kSignalExitBase : status.signal;
  const std::string output = command.last_lines();
  const std::string said = output.empty() ? "" : "; its last output: " + output;

  if (signal == SIGKILL && command.group_ran_out_of_memory()) {
    return {kExitOutOfMemory, "the kernel killed the command because memory ran out" + memory_asked(spec, status, output) + said};
  }
  if (used_its_cpu_time(spec, status, signal)) {
    const std::string limit =
        spec.cpu_ms_max ? "trainer.cpu_seconds, " + in_seconds(*spec.cpu_ms_max) : "a limit that is not the job's";
    return {kExitTimedOut, "the command used more CPU time than " + limit + said};
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
  if (speaks_of_room(output))
    return {.exit = kExitCrashed, .message = message + said, .waits_for = std::string(waiting::kRoomOnDisk)};
  if (status.code == kShellNotFound) message += " (from a shell: a program was not found)";
  if (status.code == kShellNotExecutable) message += " (from a shell: a program could not be executed)";
  return {kExitCrashed, message + said, from_outside ? "" : "exit status " + std::to_string(status.code)};
}

SegmentResult without_metric(const protocol::AssignmentOrder& order, const CommandSpec& spec, const RunningCommand& command) {
  if (command.last_metrics()) {
    std::string message = "the command ended by itself at resource " + std::to_string(command.position()) + ", before " +
                          std::to_string(order.until_resource);
    if (command.said_zero()) {
      const std::string named = spec.resource_regex.empty() ? "do not name the resource" : "leave out trainer.resource_regex";
      message += "; it counts from 0, but a resource is the number of units done: report 1 after the first, or " + named +
                 ", and each value of the objective is a unit";
    } else if (spec.resume == ResumeMode::restart) {
      message += "; if it is right to stop there, \"may_end_early\": true in `trainer` lets its last value count";
    }
    return {kExitNoMetric, message + why_a_report_may_lack(command)};
  }
  std::string message = "the command ended without a value of `" + order.objective_metric + "`";
  if (spec.resume == ResumeMode::checkpoint && order.from_resource > 0) {
    message += "; it was to go on from resource " + std::to_string(order.from_resource) +
               ": a checkpoint may be further than what was reported, and then its value is to be reported again";
  }
  const std::string misses = in_one_line(command.near_misses());
  if (!command.names_seen().empty()) message += "; it gave values of " + in_ticks(command.names_seen());
  if (!misses.empty()) message += "; lines that name it but do not fit: " + misses;
  if (spec.metrics.empty() && command.names_seen().empty()) {
    message += R"(; expected is a line like {"resource": 1, ")" + order.objective_metric +
               R"(": 0.5}, or a pattern for it in trainer.metrics)";
  }
  message += advice_of_a_pattern(order.objective_metric, command.near_misses());
  return {kExitNoMetric, message + why_a_report_may_lack(command)};
}

}  // namespace tuneband::workers
