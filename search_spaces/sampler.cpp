#include "search_spaces/sampler.hpp"

#include <algorithm>

#include "search_spaces/bohb_sampler.hpp"
#include "search_spaces/forest_sampler.hpp"
#include "search_spaces/gp_sampler.hpp"
#include "search_spaces/samplers.hpp"
#include "search_spaces/tpe_sampler.hpp"

namespace tuneband {

namespace {

const std::vector<std::string> kSamplerTypes{"random", "grid", "sobol", "tpe", "bohb", "random_forest", "gp", "auto"};

constexpr int kTpeStartup = 10;
constexpr int kSurrogateStartup = 8;

bool has_startup(SamplerType type) {
  return type == SamplerType::tpe || type == SamplerType::random_forest || type == SamplerType::gp ||
         type == SamplerType::automatic;
}

std::unique_ptr<Sampler> make_gp(const SamplerSpec& spec, const SearchSpace& space, const std::optional<TreesTrainer>& trees) {
  return std::make_unique<GpSampler>(space, spec.seed, spec.startup_trials.value_or(kSurrogateStartup), trees, spec.experience);
}

std::unique_ptr<Sampler> make_automatic(const SamplerSpec& spec, const SearchSpace& space,
                                        const std::optional<TreesTrainer>& trees) {
  if (Encoding(space).dimensions().size() > kGpDimensionsMax) {
    return std::make_unique<TpeSampler>(space, spec.seed, spec.startup_trials.value_or(kTpeStartup));
  }
  return make_gp(spec, space, trees);
}

// A field that only some types of samplers have.
void only_for(ObjectReader& reader, const std::string& field, bool allowed, const std::string& types) {
  if (allowed || !reader.has(field)) return;
  reader.diagnostics().error(reader.path_to(field), "is only for " + types, "leave it out");
}

}  // namespace

SamplerSpec SamplerSpec::parse(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  SamplerSpec spec;
  ObjectReader reader(json, path, diagnostics);
  constexpr auto kDefaultType = static_cast<std::size_t>(SamplerType::automatic);
  const auto type = reader.has("type") ? reader.word("type", kSamplerTypes) : std::optional(kDefaultType);
  if (!type) return spec;
  spec.type = static_cast<SamplerType>(*type);
  spec.seed = static_cast<std::uint64_t>(reader.integer_or("seed", 0, {0, kSeedMax}));
  spec.space_filling_trials = static_cast<int>(reader.integer_or("space_filling_trials", 0, {0, kSpaceFillingTrialsMax}));
  spec.grid_points = static_cast<int>(reader.integer_or("grid_points", spec.grid_points, {2, kGridPointsMax}));
  if (reader.has("startup_trials")) {
    if (const auto given = reader.integer("startup_trials", {1, kStartupTrialsMax}))
      spec.startup_trials = static_cast<int>(*given);
  }
  spec.experience = reader.boolean_or("experience", true);
  only_for(reader, "experience", spec.type == SamplerType::gp || spec.type == SamplerType::automatic,
           "the sampler types `gp` and `auto`");
  only_for(reader, "space_filling_trials", spec.type == SamplerType::random, "the sampler type `random`");
  only_for(reader, "grid_points", spec.type == SamplerType::grid, "the sampler type `grid`");
  only_for(reader, "startup_trials", has_startup(spec.type), "samplers that begin without a model");
  reader.finish();
  return spec;
}

Json SamplerSpec::to_json() const {
  Json json{{"type", kSamplerTypes[static_cast<std::size_t>(type)]}, {"seed", seed}};
  if (type == SamplerType::random) json["space_filling_trials"] = space_filling_trials;
  if (type == SamplerType::grid) json["grid_points"] = grid_points;
  if (!experience) json["experience"] = false;
  if (startup_trials) json["startup_trials"] = *startup_trials;
  return json;
}

std::size_t priors_within(const SearchSpace& space, const std::vector<PriorObservation>& priors) {
  const Encoding encoding(space);
  return static_cast<std::size_t>(std::count_if(priors.begin(), priors.end(), [&](const PriorObservation& prior) {
    return encoding.encode_foreign(prior.configuration).has_value();
  }));
}

std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, const SearchSpace& space,
                                      const std::optional<TreesTrainer>& trees) {
  switch (spec.type) {
    case SamplerType::random:
      if (spec.space_filling_trials == 0) return std::make_unique<RandomSampler>(space, spec.seed);
      return std::make_unique<SpaceFillingStart>(space, spec.seed, spec.space_filling_trials);
    case SamplerType::grid:
      return std::make_unique<GridSampler>(space, spec.seed, spec.grid_points);
    case SamplerType::sobol:
      return std::make_unique<SobolSampler>(space, spec.seed);
    case SamplerType::tpe:
      return std::make_unique<TpeSampler>(space, spec.seed, spec.startup_trials.value_or(kTpeStartup));
    case SamplerType::bohb:
      return std::make_unique<BohbSampler>(space, spec.seed);
    case SamplerType::random_forest:
      return std::make_unique<ForestSampler>(space, spec.seed, spec.startup_trials.value_or(kSurrogateStartup));
    case SamplerType::gp:
      return make_gp(spec, space, trees);
    case SamplerType::automatic:
      return make_automatic(spec, space, trees);
  }
  return nullptr;
}

}  // namespace tuneband
