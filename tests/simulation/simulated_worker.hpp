// A worker as the protocol describes it, on a simulated clock: it trains, reports, forgets nothing until it is acknowledged, and
// does as it is told. Faults happen to it as drawn.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/scheduler.hpp"
#include "tests/simulation/draw.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/simulated_clock.hpp"

namespace tuneband::test {

// The value that a configuration has at a resource, the same whenever and wherever it is trained.
double objective_value(const Configuration& configuration, std::int64_t resource, double not_finite_share);
// Of another metric, always finite.
double cost_value(const Configuration& configuration, std::int64_t resource);

struct SimulatedDisk {
  // What workers have ever stored: of a trial, in the directory of an epoch, at a resource.
  std::set<std::tuple<TrialId, Epoch, std::int64_t>> checkpoints;
  bool others_are_told_of = false;  // by a peer that lies
};

class SimulatedWorker {
 public:
  // Carries the worker's call to the server; may lose it.
  using Send = std::function<void(SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call)>;
  using Died = std::function<void(SimulatedWorker& worker)>;

  SimulatedWorker(std::string id, SimulatedClock& clock, Draw& draw, const Faults& faults, SimulatedDisk& disk, Send send,
                  Died died);

  const WorkerId& id() const { return id_; }
  bool alive() const { return alive_; }
  bool unheard() const { return clock_.now_ms() < unheard_until_ms_; }
  void begin() { call(); }

  // The answer to a call; nothing: the connection was refused. Answers to calls that it gave up are ignored.
  void hear(std::uint64_t call, const std::optional<WorkerReply>& reply);

 private:
  // What it executes, or has ended without an acknowledgement.
  struct Run {
    Assignment assignment;
    Epoch files_epoch;  // in whose directory it writes
    std::int64_t resource = 0;
    std::int64_t checkpoint = 0;
    std::int64_t training_ms = 0;
    std::vector<ReportedObservation> unacknowledged;
    std::vector<debugger::Finding> findings;
    std::optional<ExitClass> exit;
    std::string message;
    bool stopping = false;
  };

  bool wait_while_frozen(std::function<void()> what);  // true: `what` happens once it goes on
  void call();
  void call_after_ms(std::int64_t delay_ms);
  WorkerSynced message() const;
  void execute(const Assignment& assignment);
  Epoch directory_for(const Assignment& assignment) const;
  void find_something_lacking();
  void forget_what_lacks();
  void fire_a_rule();
  void train_one_unit(Epoch epoch);
  void end_at_rung(Epoch epoch);
  void end_run(ExitClass exit, std::string message);
  void stop_run();
  void die();

  WorkerId id_;
  SimulatedClock& clock_;
  Draw& draw_;
  const Faults& faults_;
  SimulatedDisk& disk_;
  Send send_;
  Died died_;
  std::int64_t unit_ms_;
  std::int64_t checkpoint_every_;
  bool holds_commands_;
  std::optional<Run> run_;
  std::optional<Run> held_;  // the last one that reached its rung, when its process is held there
  bool alive_ = true;
  bool draining_ = false;
  std::vector<Lack> lacks_;
  std::vector<Lack> lacks_sent_;  // with the open call
  std::int64_t unheard_until_ms_ = 0;
  std::int64_t frozen_until_ms_ = 0;
  std::uint64_t last_call_ = 0;
  bool call_open_ = false;
  std::size_t observations_sent_ = 0;  // with the open call
  Epoch epoch_sent_;
  bool exit_sent_ = false;
};

}  // namespace tuneband::test
