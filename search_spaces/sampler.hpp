// Where configurations come from. A suggestion is a pure function of (space, seed, trial number, history): nothing to store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search_spaces/history.hpp"
#include "search_spaces/search_space.hpp"
#include "search_spaces/trees_trainer.hpp"

namespace tuneband {

inline constexpr std::int64_t kSeedMax = 9'007'199'254'740'991;  // 2^53 - 1: survives a reader that has only doubles
inline constexpr int kSpaceFillingTrialsMax = 1'000'000;
inline constexpr int kGridPointsMax = 1000;
inline constexpr std::int64_t kGridSizeMax = std::int64_t{1} << 62;

inline constexpr int kStartupTrialsMax = 1'000'000;
inline constexpr std::size_t kGpDimensionsMax = 50;  // beyond, auto is tpe

// random, grid, sobol   as their names say: they do not look at results
// tpe                   Parzen estimators with Optuna's defaults (search_spaces/tpe_sampler.hpp)
// bohb                  a kernel density over all parameters (search_spaces/bohb_sampler.hpp)
// random_forest         regression trees over configuration and level (search_spaces/forest_sampler.hpp)
// gp                    a Gaussian process over configuration and level (search_spaces/gp_sampler.hpp)
// automatic             "auto", and when no type is given: what is best by docs/search-measurements.md: gp, in wide spaces tpe
enum class SamplerType { random, grid, sobol, tpe, bohb, random_forest, gp, automatic };

struct SamplerSpec {
  SamplerType type = SamplerType::random;
  std::uint64_t seed = 0;
  int space_filling_trials = 0;  // random only: so many first trials come from the Sobol sequence
  int grid_points = 5;           // grid only: points on each float (and wide int) axis
  // tpe, random_forest, gp, auto: so many first trials without a model. Nothing: what the sampler's paper or peers have.
  std::optional<int> startup_trials = std::nullopt;
  // gp, auto: whether to begin with what trainings on other data sets have taught (search_spaces/experience.hpp).
  bool experience = true;

  // {"type": "random", "seed": 7, "space_filling_trials": 8}. All may be left out; without a type it is "auto". A field of
  // another type is an error.
  static SamplerSpec parse(const Json& json, const std::string& path, Diagnostics& diagnostics);
  Json to_json() const;
};

// A trial of the history and an index into History::levels(): where it waits, or heads for.
struct TrialAtLevel {
  int trial = 0;
  int level = 0;
  auto operator<=>(const TrialAtLevel&) const = default;
};

inline constexpr int kNewTrial = -1;

// What a free worker could do: train one that waits until a higher level, or a new one.
struct StepQuestion {
  std::vector<TrialAtLevel> waiting;
  std::vector<TrialAtLevel> under_way;
  bool restarts = false;                                    // what goes on begins anew, and costs the whole of its level
  const std::vector<const Configuration*>* pool = nullptr;  // what a new trial may have; nothing: the whole space
};
struct Step {
  std::optional<int> trial;     // nothing: a new one
  Configuration configuration;  // of a new one
  int level = 0;                // until there
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  // The configuration of the `index`-th sampled trial (0, 1, 2...; enqueued configurations are not counted), given what is known.
  // What it caches between calls must follow from the same history: after a restart it has to suggest the same. A sampler serves
  // one job: between calls its history only grows.
  virtual Configuration suggest(std::int64_t index, const History& history) = 0;
  // The same where only some configurations may be tried: the place in `pool` (not empty, of the space) of the one to try.
  // Nothing: it has no opinion of given ones, and the nearest to suggest() is as good.
  virtual std::optional<std::size_t> suggest_among(std::int64_t, const History&, const std::vector<const Configuration*>&) {
    return std::nullopt;
  }
  // How much less than the least cost so far, on average, the next suggestion is expected to reach at max_resource, in the unit
  // of the objective; 0 or more. Nothing: it has no model, or not yet. A function of the same things as the suggestion.
  virtual std::optional<double> expected_improvement(std::int64_t, const History&) { return std::nullopt; }
  // The same where only some configurations may be tried (`pool`, as of suggest_among()).
  virtual std::optional<double> expected_improvement_among(std::int64_t, const History&,
                                                           const std::vector<const Configuration*>&) {
    return std::nullopt;
  }
  // The step of which its model expects most for its cost, in what is found at max_resource; a new trial never begins at the last
  // level. Nothing: not yet, or there is none. A function of the same things as the suggestion and of the question.
  virtual std::optional<Step> next_step(std::int64_t, const History&, const StepQuestion&) { return std::nullopt; }
  virtual bool chooses_steps() const { return false; }  // ever
  // How many different configurations there are, where that is finite: a grid's size, at most kGridSizeMax. From there
  // on there is nothing to suggest, and to ask is a programming error.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
  // It looks at nothing: a suggestion takes microseconds. One of a model may take a second.
  virtual bool is_quick() const { return false; }
};

// How many of them a sampler of this space can learn from: they have a parameter in common with it, and no value outside of it.
std::size_t priors_within(const SearchSpace& space, const std::vector<PriorObservation>& priors);

// `trees`: the trainer, when it is one of which there is experience.
std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, const SearchSpace& space,
                                      const std::optional<TreesTrainer>& trees = std::nullopt);

}  // namespace tuneband
