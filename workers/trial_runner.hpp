// What executes trial segments: one runner for each trainer type, all behind this interface. The training thread calls run(), one
// segment after the other; the sync loop's thread reads data_keys() and talks to the reporter from the other side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debugger/finding.hpp"
#include "debugger/rule_standing.hpp"
#include "workers/exit_class.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/trial_log.hpp"

namespace tuneband::workers {

// A running segment's line to the worker. Every call is cheap, thread-safe and never waits for the network.
class TrialReporter {
 public:
  virtual ~TrialReporter() = default;

  // The segment's training begins at `resource`: what is in memory, or in the checkpoint that was found. Before the first value.
  virtual void began(std::int64_t resource) = 0;
  // Values after `resource` units; NaN and infinity are values. Repeats of a resource are harmless: the first one counts.
  virtual void observe(std::int64_t resource, Metrics metrics) = 0;
  // A rule of the job's debugger found something.
  virtual void found(debugger::Finding finding) { static_cast<void>(finding); }
  // How far its rules are.
  virtual void stand(std::vector<debugger::RuleStanding> rules) { static_cast<void>(rules); }
  // A checkpoint from which another worker can go on at `resource` is on disk, whole.
  virtual void checkpointed(std::int64_t resource) = 0;
  // The highest resource of which checkpointed() was told. 0: none yet.
  virtual std::int64_t checkpoint_written() const { return 0; }
  // The checkpoint that the server has heard of and taken: it may give it to another worker, so it has to stay. 0: none yet.
  virtual std::int64_t checkpoint_taken() const { return 0; }
  // The segment goes on in memory, and writes into the directory of an earlier one. Not called: into its own.
  virtual void writes_into(std::int64_t files_epoch) { static_cast<void>(files_epoch); }
  // From here on it may do nothing for as long as it likes, until it says otherwise: what it waits for is another process.
  virtual void waits_for_others(bool waits) { static_cast<void>(waits); }
  // End the segment as soon as it can be resumed (XGBoost: after this round, with a checkpoint) and give kExitStopped.
  virtual bool should_stop() const = 0;
  // Readable from the moment should_stop() is true; for poll(). Not to be read from or closed.
  virtual int stop_fd() const = 0;
};

struct SegmentResult {
  std::string exit;                             // exit_class.hpp
  std::string message;                          // of a failure: one sentence that a user can act on
  std::string crash{};                          // of a crash: "exit status 3", "signal 11"; "": none, or it came from outside
  std::optional<protocol::Observation> kept{};  // what counts of the segment; nothing: the values at its last resource
  // Of the model that the segment leaves at its last resource, on the data's test rows; nothing: none, or the model of a lower
  // rung stays.
  std::optional<double> test_value{};
  // Of a failure that is the machine's, as machine_fault() says: the segment is to be run again, by run() with the same epoch.
  std::string waits_for{};
};

class TrialRunner {
 public:
  virtual ~TrialRunner() = default;

  // Trains order.trial from order.from_resource until order.until_resource, where it has observed the objective. What it still
  // holds in memory of the same job and trial at from_resource it goes on from, whatever the epoch. Fails by its result; an
  // exception is `crashed`, and release() follows.
  virtual SegmentResult run(const protocol::AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) = 0;

  // Nothing follows for now: lets go of what is kept only to go on with the last trial. Parsed data stays.
  virtual void release() {}

  // Whether the order's segment may be in a call that does not end when it should stop: it waits for other processes, and one of
  // them hangs. Then nothing but the end of this process helps.
  virtual bool may_hang(const protocol::AssignmentOrder& order) const {
    static_cast<void>(order);
    return false;
  }

  // Keys (data_key) of the parsed data in memory. Any thread.
  virtual std::vector<std::string> data_keys() const { return {}; }
};

struct RunnerOptions {
  int threads = 1;                // for one trial, at the most
  std::string tracker_host{};     // of orders that name none: the server's host
  int group_silence_s_max = 120;  // of a rank that the others wait for; then their group is broken
};

std::unique_ptr<TrialRunner> make_command_runner(const RunnerOptions& options = {});  // command_runner.cpp
std::unique_ptr<TrialRunner> make_xgboost_runner(const RunnerOptions& options);       // xgboost_runner.cpp

// One runner for all trainer types: looks at order.trainer["type"] and hands on. A change of type releases the one before.
std::unique_ptr<TrialRunner> make_trial_runner(const RunnerOptions& options);

}  // namespace tuneband::workers
