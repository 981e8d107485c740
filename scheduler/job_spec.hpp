// What a user asks for: one tuning job. Parsed strictly; everything the core needs, and the trainer as the text it came in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/metrics.hpp"
#include "debugger/debug_spec.hpp"
#include "search_spaces/history.hpp"
#include "search_spaces/sampler.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

enum class Goal { maximize, minimize };

// What is minimised: the value, negated when it is maximised; and back.
inline double cost_of(double value, Goal goal) { return goal == Goal::maximize ? -value : value; }
inline double value_of(double cost, Goal goal) { return cost_of(cost, goal); }

struct Objective {
  std::string metric;
  Goal goal = Goal::maximize;
  std::optional<double> target;  // reached: the job is complete

  // The order of a rung: finite values by the goal, then infinities by the goal, then NaN.
  bool better(double a, double b) const;
};

// A bound on another metric, at the resource at which the objective is compared.
struct Constraint {
  std::string metric;
  std::optional<double> min;  // at least one of both
  std::optional<double> max;

  // How far outside: the distance from the bound, in units of the bound where that is above 1; 0: within; infinite for NaN.
  double violation(double value) const;
};

// hyperband           synchronous brackets (Li et al., JMLR 18 (2018), Algorithm 1)
// successive_halving  the most exploratory bracket of hyperband, over and over
// asha_promotion      asynchronous successive halving, pausing at rungs (Li et al., MLSys 2020, Algorithm 2)
// asha_stopping       the same, deciding when a trial arrives: stop or go on (as in Syne Tune and Ray Tune)
// none                every trial runs to max_resource
// asha_delayed        as asha_promotion, with the quota kept (scheduler/policies/promotion_rule.hpp)
// async_hyperband     asha_delayed in several brackets, the choice among them learned (scheduler/policies/bracket_choice.hpp)
// median_stopping     no ladder: worse than the median at a grid of resources (scheduler/policies/median_rule.hpp)
// pasha               asha_promotion with a cap on the resource that rises as needed (scheduler/policies/pasha_cap.hpp)
// automatic           "auto", and when no type is given: asha_delayed, and where the spec has it with the word of the sampler's
//                     model (model_share.hpp) or else an audit of the first rungs (rung_audit.hpp), and with either a few trials
//                     that no rung stops (uncut_share.hpp)
enum class SchedulerType {
  hyperband,
  successive_halving,
  asha_promotion,
  asha_stopping,
  none,
  asha_delayed,
  async_hyperband,
  median_stopping,
  pasha,
  automatic,
};
std::string_view to_string(SchedulerType type);
bool is_synchronous(SchedulerType type);

// How many trials bracket s starts with. algorithm1: ceil(K / (s + 1) * eta^s). table1: floor(K / (s + 1)) * eta^s, the
// numbers printed in the paper's Table 1.
enum class BracketRounding { algorithm1, table1 };

// Who says which trials go on: their values at the rungs, or for a share of the resource the sampler's model of all results
// (scheduler/policies/model_share.hpp). Samplers without such a model leave it to the value.
enum class Promotion { value, prediction };

struct SchedulerSpec {
  SchedulerType type = SchedulerType::hyperband;
  std::int64_t min_resource = 1;
  std::int64_t max_resource = 1;
  int eta = 3;
  std::vector<std::int64_t> rungs;  // the user's own ladder, strictly rising, ending in max_resource; empty: computed
  // A rung below min_resource where the first trials of several workers start (scheduler/policies/head_start.hpp); 0: there is
  // none. asha_delayed and automatic.
  std::int64_t first_resource = 0;
  BracketRounding rounding = BracketRounding::algorithm1;
  std::vector<Goal> more_goals;  // of the objectives after the first
  // What the trainer says of its rungs (rungs_restart()): true: each is a training of its own, from nothing, so that a trial that
  // goes on costs the whole of the next level; false: it goes on from the rung below and costs the difference.
  bool restarts = false;
  Promotion promotion = Promotion::value;  // asha_delayed and automatic
  bool rung_audit = false;                 // asha_delayed and automatic: does the first rung order trials as the next one does?
  bool early_end = false;  // a training until max_resource that will not be the best ends early (scheduler/early_end.hpp)
};

// The model expects less than `tolerance` of improvement (in the unit of the objective) from `suggestions` trials in a row.
struct Convergence {
  double tolerance = 0;
  int suggestions = 10;
};

inline constexpr int kParallelTrialsMax = 10'000;
inline constexpr int kParallelTrialsDefault = 1000;

struct Limits {
  std::optional<int> max_trials;
  int max_parallel_trials = kParallelTrialsDefault;
  std::optional<std::int64_t> max_runtime_ms;
  std::optional<int> max_trials_without_improvement;
  std::optional<Convergence> convergence;
  int max_attempts = 3;           // starts of one trial, counting retries after a lost worker or a crash
  int max_failures_in_a_row = 5;  // trials that fail with the same class, none succeeding in between: the job fails
};

struct JobSpec {
  std::string name;
  Objective objective;                     // of several: the first
  std::vector<Objective> more_objectives;  // the others; trials are then ranked by all of them (scheduler/nondominated_sort.hpp)
  std::vector<Constraint> constraints;
  SearchSpace search_space;
  SamplerSpec sampler;
  std::vector<Configuration> enqueue;     // tried first, in this order
  std::vector<std::string> warm_start;    // earlier jobs, by name or id, whose results the sampler learns from
  std::vector<PriorObservation> priors;   // those results; the server reads them when the job is submitted
  std::vector<Configuration> candidates;  // what the sampler chooses from (scheduler/candidates.hpp); empty: the whole space
  SchedulerSpec scheduler;
  Limits limits;
  double weight = 1;             // share of the workers against other jobs
  Json trainer;                  // as submitted; jobs/trainer_spec.hpp reads it
  std::vector<int> replicas{1};  // trainer.replicas, ascending: workers of a trial; several: tuned as the parameter `replicas`
  int metric_rank = 0;           // trainer.metric_rank: whose observations count
  // Trainer.grace_seconds, or its default where that is more: how long the other ranks of a command may go on once that one has
  // ended. Nothing: no command.
  std::optional<std::int64_t> group_grace_ms;
  bool keeps_best = false;    // trainer.keep: a trial's value is that of its best round, and so is its model, at any rung
  bool best_of_full = false;  // the same; but of what it has at max_resource alone, once it came there
  // Trainer.data.folds.early: what a unit below max_resource takes of one of a training until there. Below 1, values below
  // max_resource are of fewer folds, and no measure of those at it: the best trial is one at max_resource, once there is any.
  double early_work = 1;
  Json debug;                                   // as submitted; null: nothing is saved and no rule judges
  std::optional<debugger::DebugSpec> debugger;  // the same, read
  std::string data_key;  // jobs with the same key share parsed data in a warm worker; empty: nothing to share

  // What a unit of a training until there takes of one of a training to max_resource.
  double work_until(std::int64_t resource) const { return resource < scheduler.max_resource ? early_work : 1; }
  // The best trial, the model of one that came to max_resource and the target are of what was trained in full.
  bool full_alone() const { return early_work < 1 || best_of_full; }
  // The best trial may be one at any rung.
  bool rungs_compare() const { return keeps_best && !full_alone(); }
  // Of its trials' models those of completed ones alone can be joined: of others the value is no measure of one at max_resource,
  // or of no kept model.
  bool joins_completed_alone() const { return !keeps_best || early_work < 1; }
  int replicas_of(const Configuration& configuration) const;
  // Beside the objective's: of the constraints and the further objectives.
  std::vector<std::string> further_metrics() const;
  // Of all constraints together; a metric that is not there violates infinitely. 0: all are met.
  double violation(const Metrics& metrics) const;

  // Reads a whole job document. Of the trainer: `replicas`, `metric_rank`, `grace_seconds`, `keep`, `data.folds` and what
  // rungs_restart() looks at. `diagnostics` gets every fault; what is returned is a job only when there is none. Without a seed:
  // default_seed(name).
  static JobSpec parse(const Json& json, Diagnostics& diagnostics);
};

// The document with the results of the earlier jobs in it: `"warm_start": {"jobs": [...], "observations": [...]}`, which parse()
// reads back. So a job is whole without them, and may outlive them.
Json with_priors(Json document, const JobSpec& spec);

// Whether this trainer's rungs are trainings of their own: `fidelity: shrinkage`, or a command without `resume: checkpoint`.
bool rungs_restart(const Json& trainer);

// Whether it is of the type `xgboost`.
bool trains_xgboost(const Json& trainer);

// What samplers may know of the trainer beforehand: of `xgboost` with trees its fixed hyperparameters; of others nothing.
std::optional<TreesTrainer> trees_trainer(const JobSpec& spec);

// A stable hash of the job's name: the same document gives the same trials.
std::uint64_t default_seed(std::string_view job_name);

// 1 to kJobNameSizeMax of [A-Za-z0-9._-], beginning with a letter, a digit or `_` (so that it is neither a flag nor `..`), and
// not only digits (it must differ from an id).
bool valid_job_name(std::string_view name);

inline constexpr std::size_t kJobNameSizeMax = 64;
inline constexpr std::size_t kMetricNameSizeMax = 200;  // bytes
// "auc-standard-error": what a trainer may tell beside the metric "auc", where that is a mean.
inline constexpr const char* kStandardErrorEnding = "-standard-error";
inline constexpr std::size_t kConstraintsMax = 20;
inline constexpr std::size_t kObjectivesMax = 4;
inline constexpr int kTrialsOfSeveralObjectivesMax = 2000;  // an arrival ranks all results of its rung anew
inline constexpr std::int64_t kResourceMax = 1'000'000'000;
inline constexpr int kTrialsMax = 1'000'000;
inline constexpr std::size_t kEnqueueMax = 10'000;
inline constexpr std::size_t kWarmStartJobsMax = 20;
inline constexpr std::size_t kCandidatesMax = 10'000;
inline constexpr int kReplicasMax = 1000;
inline constexpr int kRankMax = kReplicasMax - 1;
inline constexpr double kGraceSecondsDefault = 10;  // trainer.grace_seconds of a command
inline constexpr double kGraceSecondsMax = 3600;
inline constexpr std::size_t kReplicasListMax = 20;
inline constexpr const char* kReplicasParameter = "replicas";
inline constexpr int kEtaMax = 100;
inline constexpr std::size_t kRungsMax = 30;  // as many as eta 2 makes below kResourceMax
inline constexpr int kAttemptsMax = 100;
inline constexpr double kRuntimeSecondsMax = 10 * 366 * 86400.0;
inline constexpr double kWeightMin = 0.001;
inline constexpr double kWeightMax = 1000;

// Of what its trainer draws. The same in every segment.
std::uint64_t seed_of_trial(const JobSpec& spec, int trial);

}  // namespace tuneband
