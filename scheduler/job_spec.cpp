#include "scheduler/job_spec.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/random.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

const std::vector<std::string> kSchedulerTypes{"hyperband",    "successive_halving", "asha_promotion",  "asha_stopping", "none",
                                               "asha_delayed", "async_hyperband",    "median_stopping", "pasha",         "auto"};

bool is_synchronous(SchedulerType type) { return type == SchedulerType::hyperband || type == SchedulerType::successive_halving; }

std::string read_name(ObjectReader& reader) {
  reader.require_present("name");
  const auto name = reader.text("name");
  if (!name) return "";
  if (valid_job_name(*name)) return *name;
  const bool digits = std::all_of(name->begin(), name->end(), [](char c) { return c >= '0' && c <= '9'; });
  reader.diagnostics().error(reader.path_to("name"),
                             "expected up to " + std::to_string(kJobNameSizeMax) +
                                 " letters, digits, `.`, `_` and `-`, beginning with a letter, a digit or `_`, got " +
                                 excerpt(*name),
                             digits ? "a name of digits alone would look like a job's id" : "");
  return "";
}

Objective read_objective(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  static const std::vector<std::string> kGoals{"maximize", "minimize"};
  Objective objective;
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("metric");
  reader.require_present("goal");
  objective.metric = reader.text_or("metric", "", {1, kMetricNameSizeMax});
  objective.goal = static_cast<Goal>(reader.word("goal", kGoals).value_or(0));
  objective.target = reader.number("target");
  reader.finish();
  return objective;
}

// The user's own ladder.
std::vector<std::int64_t> read_rungs(const Json& json, const SchedulerSpec& spec, const std::string& path,
                                     Diagnostics& diagnostics) {
  if (!json.is_array() || json.empty() || json.size() > kRungsMax) {
    const std::string got = json.is_array() ? std::to_string(json.size()) + " of them" : excerpt(json);
    diagnostics.error(path, "expected a list of 1 to " + std::to_string(kRungsMax) + " levels of resource, got " + got);
    return {};
  }
  std::vector<std::int64_t> rungs;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto value = value_from_json(json[i]);
    const auto* level = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    const std::int64_t above = rungs.empty() ? 0 : rungs.back();
    if (level == nullptr || *level <= above || *level > spec.max_resource) {
      diagnostics.error(join_path(path, i),
                        "expected an integer above " + std::to_string(above) + " and of at most max_resource (" +
                            std::to_string(spec.max_resource) + "), got " + excerpt(json[i]),
                        "rungs rise strictly");
      return {};
    }
    rungs.push_back(*level);
  }
  if (rungs.back() == spec.max_resource) return rungs;
  diagnostics.error(join_path(path, rungs.size() - 1), "expected the last rung to be max_resource (" +
                                                           std::to_string(spec.max_resource) + "), got " +
                                                           std::to_string(rungs.back()));
  return {};
}

void refuse(ObjectReader& reader, const std::string& field, bool refused, const std::string& why) {
  if (refused && reader.has(field)) reader.diagnostics().error(reader.path_to(field), why, "leave it out");
}

SchedulerSpec read_scheduler(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  static const std::vector<std::string> kRoundings{"algorithm1", "table1"};
  SchedulerSpec spec;
  ObjectReader reader(json, path, diagnostics);
  const auto type = reader.word("type", kSchedulerTypes);
  // One that is not understood is a fault already: the other fields are read as those of the type that has them all.
  const SchedulerType otherwise = reader.has("type") ? SchedulerType::hyperband : SchedulerType::automatic;
  spec.type = type ? static_cast<SchedulerType>(*type) : otherwise;
  reader.require_present("max_resource");
  const auto max_resource = reader.integer("max_resource", {1, kResourceMax});
  spec.max_resource = max_resource.value_or(kResourceMax);
  spec.min_resource = reader.integer_or("min_resource", 1, {1, kResourceMax});
  spec.eta = static_cast<int>(reader.integer_or("eta", spec.eta, {2, kEtaMax}));
  spec.rounding = static_cast<BracketRounding>(reader.word("bracket_rounding", kRoundings).value_or(0));

  const bool none = spec.type == SchedulerType::none;
  for (const char* field : {"min_resource", "eta", "rungs"}) {
    refuse(reader, field, none, "has no meaning for the scheduler type `none`: every trial runs to max_resource");
  }
  const bool median = spec.type == SchedulerType::median_stopping;
  refuse(reader, "eta", median, "has no meaning for the scheduler type `median_stopping`: the median decides");
  const bool automatic = spec.type == SchedulerType::automatic;
  spec.rung_audit = reader.boolean_or("rung_audit", automatic);
  refuse(reader, "rung_audit", !automatic && spec.type != SchedulerType::asha_delayed,
         "is only for the scheduler types `asha_delayed` and `auto`");
  refuse(reader, "bracket_rounding", spec.type != SchedulerType::hyperband, "is only for the scheduler type `hyperband`");
  if (none) spec.min_resource = spec.max_resource;

  const Json* rungs = reader.find("rungs");
  if (rungs != nullptr && max_resource && !none) {
    spec.rungs = read_rungs(*rungs, spec, reader.path_to("rungs"), diagnostics);
    if (!spec.rungs.empty() && reader.has("min_resource") && spec.min_resource != spec.rungs.front()) {
      diagnostics.error(
          reader.path_to("min_resource"),
          "is " + std::to_string(spec.min_resource) + ", but the first rung is " + std::to_string(spec.rungs.front()),
          "leave it out");
    }
    if (!spec.rungs.empty()) spec.min_resource = spec.rungs.front();
  } else if (spec.min_resource > spec.max_resource) {
    diagnostics.error(reader.path_to("min_resource"), "expected at most max_resource (" + std::to_string(spec.max_resource) +
                                                          "), got " + std::to_string(spec.min_resource));
  }
  reader.finish();
  return spec;
}

Limits read_limits(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  Limits limits;
  ObjectReader reader(json, path, diagnostics);
  const auto count = [&](const std::string& field, int most) -> std::optional<int> {
    const auto read = reader.integer(field, {1, most});
    if (!read) return std::nullopt;
    return static_cast<int>(*read);
  };
  limits.max_trials = count("max_trials", kTrialsMax);
  limits.max_parallel_trials = count("max_parallel_trials", kParallelTrialsMax).value_or(limits.max_parallel_trials);
  if (const auto seconds = reader.number("max_runtime_seconds", {.min = 0, .max = kRuntimeSecondsMax, .min_excluded = true})) {
    limits.max_runtime_ms = static_cast<std::int64_t>(std::ceil(*seconds * 1000));
  }
  limits.max_trials_without_improvement = count("max_trials_without_improvement", kTrialsMax);
  limits.max_attempts = count("max_attempts", kAttemptsMax).value_or(limits.max_attempts);
  limits.max_failures_in_a_row = count("max_failures_in_a_row", kTrialsMax).value_or(limits.max_failures_in_a_row);
  reader.finish();
  return limits;
}

std::vector<Configuration> read_configurations(const Json& json, const SearchSpace& space, std::size_t most,
                                               const std::string& path, Diagnostics& diagnostics) {
  if (!json.is_array() || json.size() > most) {
    const std::string got = json.is_array() ? std::to_string(json.size()) : excerpt(json);
    diagnostics.error(path, "expected a list of at most " + std::to_string(most) + " configurations, got " + got);
    return {};
  }
  std::vector<Configuration> configurations;
  if (space.parameters().empty()) return configurations;  // it has faults of its own, told already
  for (std::size_t i = 0; i < json.size() && diagnostics.errors().size() <= kFaultsMax; ++i) {
    configurations.push_back(space.check(json[i], join_path(path, i), diagnostics));
  }
  return configurations;
}

SamplerSpec read_sampler(ObjectReader& reader, const std::string& job_name) {
  const Json* json = reader.find("sampler");
  SamplerSpec spec;
  if (json != nullptr) spec = SamplerSpec::parse(*json, reader.path_to("sampler"), reader.diagnostics());
  if (json == nullptr || !json->is_object() || !json->contains("seed")) spec.seed = default_seed(job_name);
  return spec;
}

// Whatever its type, a trainer says on how many workers a trial runs: one number, or several to choose from.
void read_replicas(const Json& trainer, JobSpec& spec, Diagnostics& diagnostics) {
  if (!trainer.is_object()) return;
  const std::string path = join_path("trainer", kReplicasParameter);
  const std::string expected = "expected an integer from 1 to " + std::to_string(kReplicasMax) + ", got ";
  std::set<int> replicas;
  const auto add = [&](const Json& json, const std::string& where) {
    const auto value = value_from_json(json);
    const auto* count = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    if (count == nullptr || *count < 1 || *count > kReplicasMax) {
      diagnostics.error(where, expected + excerpt(json));
    } else if (!replicas.insert(static_cast<int>(*count)).second) {
      diagnostics.error(where, excerpt(json) + " stands twice in the list");
    }
  };
  const auto found = trainer.find(kReplicasParameter);
  if (found != trainer.end() && found->is_array()) {
    if (found->empty() || found->size() > kReplicasListMax) {
      diagnostics.error(path,
                        "expected 1 to " + std::to_string(kReplicasListMax) + " numbers of workers, got " + excerpt(*found));
      return;
    }
    for (std::size_t i = 0; i < found->size(); ++i) add((*found)[i], join_path(path, i));
  } else if (found != trainer.end()) {
    add(*found, path);
  }
  if (!replicas.empty()) spec.replicas.assign(replicas.begin(), replicas.end());

  const auto rank = trainer.find("metric_rank");
  if (rank == trainer.end()) return;
  if (!rank->is_number_integer() || *rank < 0 || *rank >= spec.replicas.front()) {
    diagnostics.error("trainer.metric_rank", "expected a rank from 0 to " + std::to_string(spec.replicas.front() - 1) +
                                                 ", below the least of `replicas`, got " + excerpt(*rank));
    return;
  }
  spec.metric_rank = rank->get<int>();
}

// Several numbers of replicas are one more thing to tune.
void tune_replicas(JobSpec& spec, Diagnostics& diagnostics) {
  if (spec.search_space.find(kReplicasParameter) != nullptr) {
    diagnostics.error(join_path("search_space", kReplicasParameter), "is taken: trainer.replicas lists what to choose from",
                      "leave it out here");
    return;
  }
  CategoricalDomain domain;
  for (const int count : spec.replicas) domain.values.emplace_back(std::int64_t{count});
  spec.search_space.add({kReplicasParameter, std::move(domain), std::nullopt});
}

// What only the whole document shows. Called for one without faults.
void check_bounds(const JobSpec& spec, Diagnostics& diagnostics) {
  const bool other_limit = spec.limits.max_runtime_ms || spec.limits.max_trials_without_improvement || spec.objective.target;
  const auto bound = trials_bound(spec);
  if (!bound && !other_limit) {
    diagnostics.error("limits.max_trials", "is missing: nothing would end this job",
                      "give max_trials, max_runtime_seconds or max_trials_without_improvement, or a target of the objective");
  } else if (bound && *bound > kTrialsMax && !other_limit) {
    const bool in_passes = is_synchronous(spec.scheduler.type) || spec.scheduler.type == SchedulerType::automatic;
    const std::string what =
        in_passes && spec.sampler.type != SamplerType::grid ? "one pass over the brackets" : "the whole grid";
    diagnostics.error(
        "limits.max_trials",
        "is missing: " + what + " starts " + std::to_string(*bound) + " trials, more than " + std::to_string(kTrialsMax),
        "give max_trials, or make the job smaller");
  }
  if (bound && static_cast<std::int64_t>(spec.enqueue.size()) > *bound) {
    diagnostics.error("enqueue", std::to_string(spec.enqueue.size()) + " configurations are enqueued, but the job starts only " +
                                     std::to_string(*bound) + " trials");
  }
}

void warn_of_oddities(const JobSpec& spec, Diagnostics& diagnostics) {
  const auto& parameters = spec.search_space.parameters();
  if (std::all_of(parameters.begin(), parameters.end(),
                  [](const Parameter& one) { return std::holds_alternative<FixedDomain>(one.domain); })) {
    diagnostics.warning("search_space", "every parameter is fixed: all trials are the same");
  }
  if (spec.scheduler.type != SchedulerType::none && ladder(spec.scheduler).size() == 1) {
    diagnostics.warning("scheduler.max_resource", "there is one rung only: no trial is stopped early",
                        "raise max_resource to eta * min_resource or more");
  }
}

}  // namespace

bool Objective::better(double a, double b) const {
  const auto tier = [](double value) { return std::isfinite(value) ? 0 : std::isinf(value) ? 1 : 2; };
  if (tier(a) != tier(b)) return tier(a) < tier(b);
  return goal == Goal::maximize ? a > b : a < b;
}

int JobSpec::replicas_of(const Configuration& configuration) const {
  if (replicas.size() == 1) return replicas.front();
  return static_cast<int>(std::get<std::int64_t>(configuration.at(kReplicasParameter)));
}

std::string_view to_string(SchedulerType type) { return kSchedulerTypes[static_cast<std::size_t>(type)]; }

std::uint64_t default_seed(std::string_view job_name) { return stable_hash(job_name) & static_cast<std::uint64_t>(kSeedMax); }

bool valid_job_name(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto word = [&](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || digit(c); };
  return !name.empty() && name.size() <= kJobNameSizeMax && word(name.front()) && !std::all_of(name.begin(), name.end(), digit) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return word(c) || c == '.' || c == '-'; });
}

JobSpec JobSpec::parse(const Json& json, Diagnostics& diagnostics) {
  JobSpec spec;
  ObjectReader reader(json, "", diagnostics);
  spec.name = read_name(reader);
  if (const Json* objective = reader.require("objective")) spec.objective = read_objective(*objective, "objective", diagnostics);
  if (const Json* space = reader.require("search_space")) {
    spec.search_space = SearchSpace::parse(*space, "search_space", diagnostics);
  }
  if (const Json* trainer = reader.require("trainer")) {
    ObjectReader only_an_object(*trainer, "trainer", diagnostics);
    spec.trainer = *trainer;
    read_replicas(*trainer, spec, diagnostics);
  }
  if (spec.replicas.size() > 1) tune_replicas(spec, diagnostics);
  spec.sampler = read_sampler(reader, spec.name);
  if (const Json* enqueue = reader.find("enqueue")) {
    spec.enqueue = read_configurations(*enqueue, spec.search_space, kEnqueueMax, "enqueue", diagnostics);
  }
  if (const Json* candidates = reader.find("candidates")) {
    spec.candidates = read_configurations(*candidates, spec.search_space, kCandidatesMax, "candidates", diagnostics);
  }
  if (const Json* scheduler = reader.require("scheduler")) spec.scheduler = read_scheduler(*scheduler, "scheduler", diagnostics);
  if (const Json* limits = reader.find("limits")) spec.limits = read_limits(*limits, "limits", diagnostics);
  spec.weight = reader.number_or("weight", spec.weight, {kWeightMin, kWeightMax});
  reader.finish();
  if (diagnostics.ok()) check_bounds(spec, diagnostics);
  if (diagnostics.ok()) warn_of_oddities(spec, diagnostics);
  return spec;
}

}  // namespace tuneband
