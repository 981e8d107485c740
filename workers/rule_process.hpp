// A rule of one's own, in any language: a process that reads what is saved, a line of JSON a step, and answers a line when it has
// found something. docs/debugger.md.
//
//   it reads    {"step": 10, "tensors": {"metrics/validation-auc": 0.8, "weights/fc1": {"mean": 0.1, "nans": 0, ...}}}
//   it answers  {"step": 10, "tensor": "weights/fc1", "value": 0.1, "threshold": 0.05, "message": "..."}
//
// It is never in the training's way: nothing here waits for it but finish(), which is bounded. What it has not read by the time
// that kWaitingBytesMax are waiting is dropped and counted; that it crashes or answers nonsense is said once, with the last line
// that it printed on standard error, and it is over.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "debugger/rule.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::workers {

class RuleProcess {
 public:
  static constexpr std::size_t kWaitingBytesMax = 4 * 1024 * 1024;
  static constexpr std::size_t kAnswerBytesMax = 64 * 1024;
  static constexpr std::int64_t kMemoryBytesMax = 4LL * 1024 * 1024 * 1024;  // address space
  static constexpr int kNicer = 10;                                          // than the worker

  // Started with `environment`, in `directory`. That it cannot be is in fault().
  RuleProcess(const debugger::RuleSpec& rule, const std::vector<std::string>& environment, const std::string& directory);
  ~RuleProcess();  // kills it
  RuleProcess(const RuleProcess&) = delete;
  RuleProcess& operator=(const RuleProcess&) = delete;

  void tell(const debugger::StepTensors& step);
  // What it has answered by now; once.
  std::optional<debugger::Finding> take_finding();
  // No more steps: their input ends, and all of them have `ms_max` together to read the rest and answer.
  static void finish(const std::vector<RuleProcess*>& processes, int ms_max);
  void finish(int ms_max) { finish({this}, ms_max); }

  // Since the last call: why it is over, or what it was too slow for; "": nothing.
  std::string take_fault();
  pid_t pid() const { return pid_; }  // 0: it is over

 private:
  void start(const std::vector<std::string>& environment, const std::string& directory);
  bool comes_to_its_end();  // does not wait; true: it is over, or has answered
  void write_waiting();
  void read_answers();
  void read_complaints();
  void read_line(const std::string& line);
  void see_how_it_ended();
  void end(const std::string& why);

  debugger::RuleSpec rule_;
  pid_t pid_ = 0;
  os::UniqueFd input_;
  os::UniqueFd output_;
  os::UniqueFd errors_;
  std::string waiting_;
  std::string answer_;                                              // begun, not ended
  std::string complaints_;                                          // the end of what it printed on standard error
  std::optional<std::chrono::steady_clock::time_point> closed_at_;  // when it closed its output
  std::optional<debugger::Finding> finding_;
  bool answered_ = false;
  bool finishing_ = false;  // its end is a good one
  std::int64_t dropped_ = 0;
  std::string fault_;
};

}  // namespace tuneband::workers
