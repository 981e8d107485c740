// What a scheduler decides: which trials go on from a rung, and what a free worker does next. One engine of rungs, results and
// decisions; each policy is a small file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// A trial ended its segment at a rung.
struct Arrival {
  int trial = 0;
  int bracket = 0;
  int rung = 0;
  std::optional<double> value;           // nothing: it failed on the way
  double violation = 0;                  // of the constraints; 0: all are met
  std::vector<double> more_values = {};  // of the objectives after the first
};
Arrival arrival_of(const DecisionRow& decision);

// What is decided on a trial that arrived (its verdict), with what explains it: the fields of DecisionRow.
struct Decision {
  int trial = 0;
  int bracket = 0;
  int rung = 0;
  Verdict verdict = Verdict::waiting;
  int rank = 0;
  int filled = 0;
  int slots = 0;
  int keep = 0;
  std::optional<double> cutoff;
  std::vector<int> ahead;
  std::string rule;
};

// A segment to run: of a promoted trial, or of a new one.
struct Work {
  std::optional<int> trial;  // nothing: start a new trial
  int bracket = 0;
  int rung = 0;                     // to head for
  std::int64_t until_resource = 0;  // its level
  bool at_random = false;           // a new trial's configuration is drawn at random, whatever the sampler
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Appends every decision that this arrival makes certain, on this trial or on others. A trial without one waits, paused.
  virtual void arrive(const Arrival& arrival, std::vector<Decision>& decisions) = 0;

  // Takes the next piece of work; `preferred` is the trial that the worker has in memory, taken when nothing is more urgent. A
  // rule that promotes only when a worker is free appends that decision.
  virtual std::optional<Work> take(std::optional<int> preferred, std::vector<Decision>& decisions) = 0;
  virtual bool has_work() const = 0;

  // The trials that wait, at which rung of the ladder, when a model is to say what take() gives. Nothing: take() needs no word of
  // it.
  virtual std::optional<std::vector<TrialAtLevel>> models_turn() const { return std::nullopt; }
  // The model's word: the next take() gives this, a trial that waits (or kNewTrial) until this rung of the ladder. False: it does
  // not wait below that.
  virtual bool choose(const TrialAtLevel&) { return false; }

  // The new trial that was taken last cannot be created yet, and need not be. True: it counts as never taken. Synchronous
  // policies hold to it where its bracket has others, as to all of an open bracket.
  virtual bool give_back_start() { return false; }

  // One that waits for its decision is stopped: its slot stays filled, as a failure's is, and the others rank without it.
  virtual void withdraw(const Arrival& arrival, std::vector<Decision>& decisions) = 0;
  // Of a trial that may go on and has no worker yet: as if take() had given its work.
  virtual Work take_promoted(int trial) = 0;

  // What was begun goes on to its end: asynchronous policies create no trial more, synchronous ones open no bracket more.
  virtual void start_no_more() = 0;

  // The job is over: decisions on up to `most` of the trials that still wait for one.
  virtual void close(std::vector<Decision>& decisions, std::size_t most) = 0;

  virtual int promoted_waiting() const = 0;  // trials that may go on and have no worker yet

  // Restore, in this order: every trial by number, every decision by sequence (`moved_on`: promoted and its next segment was
  // started), then recalled().
  virtual void recall_trial(const TrialRow& trial) = 0;
  virtual void recall_decision(const DecisionRow& decision, bool moved_on) = 0;
  virtual void recalled() {}
};

// `trials_max`: how many trials may be started in all; nothing: no bound.
std::unique_ptr<Policy> make_policy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max);

}  // namespace tuneband
