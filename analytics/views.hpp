// What the API's reads give, as structs with the names of docs/api.md. Their JSON follows from their descriptions here
// (core/described_json.hpp); of those that hold a row it is in row_json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/described_json.hpp"
#include "core/error.hpp"
#include "scheduler/job_spec.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/rows.hpp"
#include "scheduler/rule_status.hpp"
#include "search_spaces/importance.hpp"

namespace tuneband {

std::string_view to_string(Goal goal);
void write_json(JsonWriter& json, const Value& value);

BOOST_DESCRIBE_STRUCT(Objective, (), (metric, goal))
BOOST_DESCRIBE_STRUCT(Constraint, (), (metric, min, max))
BOOST_DESCRIBE_STRUCT(MainEffect, (), (parameter, share, deviation))
BOOST_DESCRIBE_STRUCT(Interaction, (), (first, second, share, deviation))
BOOST_DESCRIBE_STRUCT(PartialDependence, (), (parameter, values, mean, deviation))
BOOST_DESCRIBE_STRUCT(RuleStatus, (), (rule, type, action, status, details, changed_at, saved_steps, judged_steps, last_step))
BOOST_DESCRIBE_STRUCT(Importance, (), (resource, trials, explained, parameters, interactions, dependence))

}  // namespace tuneband

namespace tuneband::views {

// ---- jobs ---------------------------------------------------------------------------------------------------------------------

using Waiting = std::vector<std::pair<std::string, int>>;  // Scheduler::waiting_by_reason

struct TrialCounts {
  int created = 0;
  int pending = 0;
  int running = 0;
  int paused = 0;
  int completed = 0;
  int stopped = 0;
  int failed = 0;
  int cancelled = 0;
  std::optional<int> planned;
};
BOOST_DESCRIBE_STRUCT(TrialCounts, (), (created, pending, running, paused, completed, stopped, failed, cancelled, planned))

struct BestValue {
  int trial = 0;
  double value = 0;
  std::int64_t resource = 0;
  RawJson configuration;
  std::optional<double> test_value;  // TrialRow::test_value
};
BOOST_DESCRIBE_STRUCT(BestValue, (), (trial, value, resource, test_value, configuration))

struct Job {
  JobId id;
  std::string name;
  JobState state = JobState::running;
  std::string reason;
  Timestamp created_at;
  std::optional<Timestamp> ended_at;
  Objective objective;
  std::vector<Objective> more_objectives;
  std::vector<Constraint> constraints;
  std::string scheduler;  // "": this version cannot read the job's document
  std::int64_t max_resource = 0;
  std::string resource_name;
  bool rungs_compare = false;  // trials keep the best of all rungs, and are compared by it
  TrialCounts trials;
  std::optional<BestValue> best;
  std::optional<BestValue> best_anywhere;
  std::int64_t resource_spent = 0;
  double training_seconds = 0;
  std::optional<double> expected_improvement;
  std::string note;
  // What may be changed while it runs.
  bool held = false;
  double weight = 1;
  int max_parallel_trials = 1;
  std::optional<double> max_runtime_seconds;
};
BOOST_DESCRIBE_STRUCT(Job, (),
                      (id, name, state, reason, created_at, ended_at, objective, more_objectives, constraints, scheduler,
                       max_resource, resource_name, rungs_compare, trials, best, best_anywhere, resource_spent, training_seconds,
                       expected_improvement, note, held, weight, max_parallel_trials, max_runtime_seconds))

struct JobDetail : Job {
  RawJson spec;  // without what is secret in it
  Waiting waiting;
  std::optional<int> queue_position;
};
BOOST_DESCRIBE_STRUCT(JobDetail, (Job), (spec, waiting, queue_position))

// With what the scheduler says of it.
struct StandingJob : Job {
  Waiting waiting;
  std::optional<int> queue_position;
};
BOOST_DESCRIBE_STRUCT(StandingJob, (Job), (waiting, queue_position))

// The bests of a job over its time, some of them: each is better than the one before.
struct Sparkline {
  std::vector<double> seconds;  // since the job's creation
  std::vector<double> value;
};
BOOST_DESCRIBE_STRUCT(Sparkline, (), (seconds, value))

struct Card : StandingJob {
  std::string waits_for;           // one sentence; "": for nothing
  std::optional<double> progress;  // 0..1
  Sparkline sparkline;
};
BOOST_DESCRIBE_STRUCT(Card, (StandingJob), (waits_for, progress, sparkline))

struct Jobs {
  std::vector<Job> jobs;  // the newest first
  std::optional<std::string> next;
};
BOOST_DESCRIBE_STRUCT(Jobs, (), (jobs, next))

struct Cards {
  std::vector<Card> jobs;  // the newest first
  std::optional<std::string> next;
  std::int64_t event = 0;  // the newest of the log
};
BOOST_DESCRIBE_STRUCT(Cards, (), (jobs, next, event))

struct Note {
  std::string note;             // "": there is none
  std::optional<Timestamp> at;  // likewise nothing
};
BOOST_DESCRIBE_STRUCT(Note, (), (note, at))

// ---- trials -------------------------------------------------------------------------------------------------------------------

struct Refit {
  std::int64_t rounds = 0;  // num_boost_round
  RawJson parameters;       // of XGBoost, by documented name
  bool exact = false;       // nothing was drawn, and by one worker: it gives the same model
};
BOOST_DESCRIBE_STRUCT(Refit, (), (rounds, parameters, exact))

struct Trial {
  TrialRow row;  // without its configuration
  RawJson configuration;
  Timestamp now;                    // until which one that has not ended waits
  std::optional<std::string> note;  // nothing: it is left out
  std::string would_fit;            // what else there is to advise one that ran out of memory
  std::optional<Refit> refit = {};  // refit_of(); nothing, where it was not asked for: it is left out
};

struct Trials {
  std::vector<Trial> trials;
  std::optional<std::string> next;
};
BOOST_DESCRIBE_STRUCT(Trials, (), (trials, next))

struct Best {
  Trial trial;
  std::optional<std::string> model;  // its file
  std::optional<double> test_value;  // TrialRow::test_value, which is not told of other trials: nobody shall choose by it
};
BOOST_DESCRIBE_STRUCT(Best, (), (trial, model, test_value))

struct Observation {
  std::int64_t resource = 0;
  std::optional<double> objective;
  RawJson metrics;
  Timestamp at;
};
BOOST_DESCRIBE_STRUCT(Observation, (), (resource, objective, metrics, at))

struct Observations {
  std::vector<Observation> observations;
};
BOOST_DESCRIBE_STRUCT(Observations, (), (observations))

struct TrialObservation {
  int trial = 0;
  Observation observation;
};

struct TrialNote {
  int trial = 0;
  std::string note;
};
BOOST_DESCRIBE_STRUCT(TrialNote, (), (trial, note))

struct Decisions {
  std::vector<DecisionRow> decisions;
  std::vector<std::string> explanation;  // explain_decision() of each, then explain_state()
};
BOOST_DESCRIBE_STRUCT(Decisions, (), (decisions, explanation))

struct Findings {
  std::vector<FindingRow> findings;
};
BOOST_DESCRIBE_STRUCT(Findings, (), (findings))

struct TrialRules {
  std::vector<RuleStatus> rules;
};
BOOST_DESCRIBE_STRUCT(TrialRules, (), (rules))

struct JobRules {
  std::vector<RuleOfJob> rules;
};
BOOST_DESCRIBE_STRUCT(JobRules, (), (rules))

// ---- the log ------------------------------------------------------------------------------------------------------------------

struct Event {
  std::int64_t id = 0;
  std::string kind;  // as it is: later versions may have others
  std::optional<JobId> job;
  std::optional<std::string> job_name;  // nothing: it was deleted
  std::optional<std::int64_t> trial;
  std::string worker;
  std::optional<std::int64_t> resource;
  std::optional<double> value;
  std::optional<std::string> exit_class;
  std::string message;
  Timestamp at;
};
BOOST_DESCRIBE_STRUCT(Event, (), (id, kind, job, job_name, trial, worker, resource, value, exit_class, message, at))

struct Events {
  std::vector<Event> events;
  std::optional<std::int64_t> next;
  std::int64_t oldest = 0;
  std::int64_t newest = 0;
  bool gap = false;
};
BOOST_DESCRIBE_STRUCT(Events, (), (events, next, oldest, newest, gap))

// ---- a whole job --------------------------------------------------------------------------------------------------------------

struct Rung {
  int bracket = 0;
  int rung = 0;
  std::int64_t resource = 0;
  std::optional<int> planned;
  int reached = 0;
  int promoted = 0;
  int stopped = 0;
  int waiting = 0;
  int failed = 0;
};
BOOST_DESCRIBE_STRUCT(Rung, (), (bracket, rung, resource, planned, reached, promoted, stopped, waiting, failed))

struct PlanAndActual {
  Plan plan;
  std::vector<Rung> actual;
};

struct BestSoFar {
  Timestamp at;
  double seconds = 0;  // since the job's creation
  std::int64_t trial = 0;
  double value = 0;
  std::int64_t resource = 0;
};
BOOST_DESCRIBE_STRUCT(BestSoFar, (), (at, seconds, trial, value, resource))

struct ParetoPoint {
  int trial = 0;
  RawJson values;
};
BOOST_DESCRIBE_STRUCT(ParetoPoint, (), (trial, values))

struct BestOfReplicas {
  int trial = 0;
  double objective = 0;
  double training_seconds = 0;
  double worker_seconds = 0;
};
BOOST_DESCRIBE_STRUCT(BestOfReplicas, (), (trial, objective, training_seconds, worker_seconds))

struct ReplicasTotals {
  int replicas = 0;
  int trials = 0;
  double training_seconds = 0;
  double worker_seconds = 0;
  std::optional<double> seconds_per_unit;
  std::optional<BestOfReplicas> best;
};
BOOST_DESCRIBE_STRUCT(ReplicasTotals, (), (replicas, trials, training_seconds, worker_seconds, seconds_per_unit, best))

struct Replicas {
  std::vector<ReplicasTotals> totals;
  std::vector<int> non_dominated_by_training_seconds;
  std::vector<int> non_dominated_by_worker_seconds;
};
BOOST_DESCRIBE_STRUCT(Replicas, (), (totals, non_dominated_by_training_seconds, non_dominated_by_worker_seconds))

// What the job cost, and what early stopping saved of that.
struct Costs {
  std::int64_t resource_spent = 0;
  double training_seconds = 0;
  double wall_seconds = 0;
  std::int64_t resource_without_stopping = 0;
  double training_seconds_without_stopping = 0;
  std::int64_t resource_saved = 0;
  double training_seconds_saved = 0;
  std::int64_t trials_measured = 0;
  std::int64_t trials_not_finite = 0;
  std::optional<std::int64_t> first_not_finite;
  std::int64_t trials_violating = 0;
};
BOOST_DESCRIBE_STRUCT(Costs, (),
                      (resource_spent, training_seconds, wall_seconds, resource_without_stopping,
                       training_seconds_without_stopping, resource_saved, training_seconds_saved, trials_measured,
                       trials_not_finite, first_not_finite, trials_violating))

// A trial in Analytics: a row of its table.
struct TableTrial {
  const TrialRow& row;
  std::string_view configuration;  // JSON
  Timestamp now;
};

struct ImportanceOfJob {
  std::optional<Importance> importance;  // nothing: too few results
};
BOOST_DESCRIBE_STRUCT(ImportanceOfJob, (), (importance))

struct Surface {
  std::int64_t resource = 0;
  std::size_t trials = 0;
  double explained = 0;
  std::string x;  // parameters
  std::string y;
  std::vector<Value> x_values;
  std::vector<Value> y_values;
  std::vector<double> mean;  // a row of x for each y
  std::vector<double> deviation;
};
BOOST_DESCRIBE_STRUCT(Surface, (), (resource, trials, explained, x, y, x_values, y_values, mean, deviation))

struct SurfaceOfJob {
  std::optional<Surface> surface;  // nothing: too few results
};
BOOST_DESCRIBE_STRUCT(SurfaceOfJob, (), (surface))

// ---- timelines ----------------------------------------------------------------------------------------------------------------

struct TimelineJob {
  JobId id;
  std::string name;
  Timestamp created_at;
  std::optional<Timestamp> ended_at;
  std::optional<int> max_parallel_trials;  // nothing: this version cannot read the job's document
};
BOOST_DESCRIBE_STRUCT(TimelineJob, (), (id, name, created_at, ended_at, max_parallel_trials))

struct TimelineJobs {
  std::vector<TimelineJob> jobs;  // the newest first
  bool more_jobs = false;
};
BOOST_DESCRIBE_STRUCT(TimelineJobs, (), (jobs, more_jobs))

struct ServerStart {
  Timestamp at;
  Timestamp silent_since;  // the last that is known before
};
BOOST_DESCRIBE_STRUCT(ServerStart, (), (at, silent_since))

struct TimelineEvents {
  std::vector<Event> events;
  bool more_events = false;
  std::vector<ServerStart> server_starts;
};
BOOST_DESCRIBE_STRUCT(TimelineEvents, (), (events, more_events, server_starts))

// ---- Summary ------------------------------------------------------------------------------------------------------------------

struct SummaryPlan {
  std::vector<std::int64_t> ladder;
  std::optional<int> trials;
  std::int64_t total_resource = 0;
  std::int64_t front_resource = 0;
  std::int64_t total_resource_without_stopping = 0;
  bool restarts = false;
  bool exact = true;
  std::vector<Rung> actual;
  int actual_brackets_left_out = 0;
};
BOOST_DESCRIBE_STRUCT(SummaryPlan, (),
                      (ladder, trials, total_resource, front_resource, total_resource_without_stopping, restarts, exact, actual,
                       actual_brackets_left_out))

struct FailureClass {  // trials that failed with one class of exit
  std::string exit_class;
  std::int64_t trials = 0;
  int example = 0;  // the first of them
  std::string message;
  std::string advice;
};
BOOST_DESCRIBE_STRUCT(FailureClass, (), (exit_class, trials, example, message, advice))

struct ResultsForImportance {
  std::int64_t results = 0;  // the most at one level of the ladder
  std::size_t results_needed = kImportanceTrialsMin;
};
BOOST_DESCRIBE_STRUCT(ResultsForImportance, (), (results, results_needed))

struct CrowdedBound {
  std::string parameter;
  std::string end;  // "min" or "max"
  Value bound;
  int trials = 0;
  int of = 0;
};
BOOST_DESCRIBE_STRUCT(CrowdedBound, (), (parameter, end, bound, trials, of))

struct DroppedTensors {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(DroppedTensors, (), (rows, bytes))

// Of all trials of a job: what the debugger saved, about, and what found no room.
struct SavedTensors {
  std::int64_t bytes = 0;
  DroppedTensors dropped;
};
BOOST_DESCRIBE_STRUCT(SavedTensors, (), (bytes, dropped))

struct Summary {
  StandingJob job;
  std::optional<Best> best;
  SummaryPlan plan;
  std::vector<FailureClass> failures;  // the most frequent first
  Replicas replicas;                   // of the trials that nothing dominates only the best of a number of replicas
  std::vector<ParetoPoint> pareto;
  std::size_t pareto_left_out = 0;
  ResultsForImportance importance;
  std::vector<CrowdedBound> crowded_bounds;
  Costs summary;
  std::vector<RuleOfJob> rules;         // of the debugger
  std::optional<SavedTensors> tensors;  // nothing: none were saved
};
BOOST_DESCRIBE_STRUCT(Summary, (),
                      (job, best, plan, failures, replicas, pareto, pareto_left_out, importance, crowded_bounds, summary, rules,
                       tensors))

}  // namespace tuneband::views
