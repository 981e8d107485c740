// The table of brackets and rungs, known before anything runs. A pure value: the scheduler, POST /v1/plans and `tuneband plan`
// share it. Integer arithmetic only: log(R)/log(eta) in floating point loses a bracket at (243, 3) and (1000, 10).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

struct PlannedRung {
  std::int64_t resource = 0;  // level: what a trial here has been trained for
  int trials = 0;             // slots; 0 at first_resource: how many start there depends on the workers
};

struct PlannedBracket {
  int index = 0;  // 0, 1, 2... in the order in which brackets open
  int s = 0;      // the paper's s: rungs after the first
  std::vector<PlannedRung> rungs;
  bool trimmed = false;  // max_trials left it fewer trials than the algorithm asks for

  bool restarts = false;  // SchedulerSpec::restarts

  // Sum over rungs of trials x (resource - resource of the rung before): trials go on from their checkpoints. Where they
  // restart: of trials x resource.
  std::int64_t total_resource() const;
  std::int64_t resource_at(std::size_t rung) const;  // the part of it that is spent on the way there
};

inline constexpr int kMedianStoppingGridMax = 10;  // resources at which its trials are compared, max_resource among them

// K rungs: K = 1 + the largest s with min_resource * eta^s <= max_resource; r_k = round(R / eta^(K-1-k)), the last one R, the
// first not below min_resource, strictly rising. A ladder that the user gave is returned as it is. For `none`: max_resource
// alone. With first_resource below them, if there is one.
std::vector<std::int64_t> ladder(const SchedulerSpec& spec);
std::vector<std::int64_t> ladder_from_min(const SchedulerSpec& spec);  // without it

// Trials that one pass over the brackets starts; what a synchronous job without any limit runs. At most the largest int.
int trials_of_one_pass(const SchedulerSpec& spec);

// A short ladder has few brackets: one pass over a single rung would be one trial.
inline constexpr int kAutomaticTrialsMin = 20;

// How many trials the job starts at most: the least of max_trials, the size of a grid or of a list of candidates (with the
// enqueued ones on top) and, for a synchronous or `auto` job without any limit, one pass (for `auto` as many as one of
// hyperband, but at least kAutomaticTrialsMin). Nothing: another limit ends it. May be above kTrialsMax, which bounds every job.
std::optional<std::int64_t> trials_bound(const JobSpec& spec);

// The `index`-th bracket of a synchronous scheduler (hyperband cycles s = K-1 ... 0; successive halving repeats s = K-1), given
// how many trials may still be started (at least 1). Bracket s of K starts at rung K-1-s with n0 trials (BracketRounding, or what
// is left), and floor(n0 / eta^i), at least 1, reach its i-th rung.
PlannedBracket planned_bracket(const SchedulerSpec& spec, int index, std::optional<int> trials_left);

inline constexpr std::size_t kPlannedBracketsMax = 1000;

struct PlannedLearningRate {  // what new trials of boosted trees begin with; they go on with what their curves call for
  std::string parameter;      // "eta" or "learning_rate"
  double min = 0;
  double max = 0;
};

struct Plan {
  std::vector<std::int64_t> ladder;
  // Asynchronous and none: one, with the trials expected at each rung if the rule keeps 1/eta. Synchronous without a bound on the
  // trials: one pass. At most kPlannedBracketsMax.
  std::vector<PlannedBracket> brackets;
  std::int64_t brackets_left_out = 0;  // further ones; the totals count them
  std::optional<int> trials;           // nothing: until another limit
  std::int64_t total_resource = 0;     // over all of them, and of the model
  std::int64_t model_resource = 0;     // spent where the sampler's model expects to learn most, whichever trials
  std::int64_t front_resource = 0;     // at most on top of it, where first fronts go on (promotion_rule.hpp)
  // At most on top of it, about, where the audit of the rungs (rung_audit.hpp) finds as many of them misleading as it looks at:
  // new trials then start above those, and each costs more.
  std::int64_t audit_resource = 0;
  std::int64_t total_resource_without_stopping = 0;  // every trial to max_resource
  bool restarts = false;                             // SchedulerSpec::restarts
  std::optional<PlannedLearningRate> learning_rate;  // nothing: trials begin anywhere in their domain, and keep theirs
  double early_work = 1;                             // JobSpec::early_work
  bool exact = true;                                 // false for asynchronous rules: how many go on depends on arrival order
};

Plan make_plan(const JobSpec& spec);

// What a unit of what is spent takes of one of a training to max_resource, on average: 1 but with fewer folds at early rungs
// (JobSpec::early_work).
double work_of_a_unit(const Plan& plan, const JobSpec& spec);
Json to_json(const Plan& plan);

}  // namespace tuneband
