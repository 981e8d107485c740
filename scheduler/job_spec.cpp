#include "scheduler/job_spec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/random.hpp"
#include "core/text.hpp"
#include "scheduler/job_changes.hpp"
#include "scheduler/plan.hpp"
#include "search_spaces/encoding.hpp"

namespace tuneband {

namespace {

const std::vector<std::string> kSchedulerTypes{"hyperband",    "successive_halving", "asha_promotion",  "asha_stopping", "none",
                                               "asha_delayed", "async_hyperband",    "median_stopping", "pasha",         "auto"};

bool says(const Json& trainer, const char* field, const char* word) { return member(trainer, field) == word; }

// Of trainer.data.folds: {"count": 5, "early": 2} trains below max_resource 2 folds and all rows, at it 5 and all rows.
double read_early_work(const Json& trainer) {
  const Json& folds = member(member(trainer, "data"), "folds");
  const auto whole = [&](const char* field) {
    const Json& value = member(folds, field);
    return value.is_number_integer() ? value.get<double>() : 0;
  };
  const double early = whole("early");
  const double count = whole("count");
  return early >= 1 && early < count ? (early + 1) / (count + 1) : 1;
}

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

Constraint read_constraint(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  Constraint constraint;
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("metric");
  constraint.metric = reader.text_or("metric", "", {1, kMetricNameSizeMax});
  constraint.min = reader.number("min");
  constraint.max = reader.number("max");
  reader.finish();
  if (json.is_object() && !json.contains("min") && !json.contains("max")) {
    diagnostics.error(path, "bounds nothing", "give `min`, `max` or both");
  } else if (constraint.min && constraint.max && *constraint.min > *constraint.max) {
    diagnostics.error(reader.path_to("min"),
                      "expected at most max (" + format_number(*constraint.max) + "), got " + format_number(*constraint.min));
  }
  return constraint;
}

void read_constraints(const Json& json, const std::string& path, std::vector<Constraint>& constraints, Diagnostics& diagnostics) {
  if (!json.is_array() || json.empty() || json.size() > kConstraintsMax) {
    const std::string got = json.is_array() ? std::to_string(json.size()) + " of them" : excerpt(json);
    diagnostics.error(path, "expected a list of 1 to " + std::to_string(kConstraintsMax) + " constraints, got " + got);
    return;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    constraints.push_back(read_constraint(json[i], join_path(path, i), diagnostics));
    const std::string& metric = constraints.back().metric;
    const bool twice = std::any_of(constraints.begin(), constraints.end() - 1,
                                   [&](const Constraint& earlier) { return !metric.empty() && earlier.metric == metric; });
    if (twice) {
      diagnostics.error(join_path(join_path(path, i), "metric"), excerpt(metric) + " is bounded already",
                        "give min and max together");
    }
  }
}

// Its constraints are added to those there are.
Objective read_objective(const Json& json, const std::string& path, std::vector<Constraint>& constraints,
                         Diagnostics& diagnostics) {
  static const std::vector<std::string> kGoals{"maximize", "minimize"};
  Objective objective;
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("metric");
  reader.require_present("goal");
  objective.metric = reader.text_or("metric", "", {1, kMetricNameSizeMax});
  objective.goal = static_cast<Goal>(reader.word("goal", kGoals).value_or(0));
  objective.target = reader.number("target");
  if (const Json* bounds = reader.find("constraints")) {
    read_constraints(*bounds, reader.path_to("constraints"), constraints, diagnostics);
  }
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
  static const std::vector<std::string> kPromotions{"value", "prediction"};
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
  const Promotion otherwise_by = automatic && spec.rung_audit ? Promotion::prediction : Promotion::value;
  const auto promotion = reader.word("promotion", kPromotions);
  spec.promotion = promotion ? static_cast<Promotion>(*promotion) : otherwise_by;
  for (const char* field : {"rung_audit", "promotion"}) {
    refuse(reader, field, !automatic && spec.type != SchedulerType::asha_delayed,
           "is only for the scheduler types `asha_delayed` and `auto`");
  }
  spec.early_end = reader.boolean_or("early_end", false);
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
  limits.max_parallel_trials = read_max_parallel_trials(reader).value_or(limits.max_parallel_trials);
  limits.max_runtime_ms = read_max_runtime_ms(reader);
  limits.max_trials_without_improvement = count("max_trials_without_improvement", kTrialsMax);
  if (const Json* convergence = reader.find("convergence")) {
    ObjectReader fields(*convergence, reader.path_to("convergence"), diagnostics);
    Convergence read;
    fields.require_present("tolerance");
    read.tolerance = fields.number_or("tolerance", 1, {.min = 0, .min_excluded = true});
    read.suggestions = static_cast<int>(fields.integer_or("suggestions", read.suggestions, {1, kTrialsMax}));
    fields.finish();
    limits.convergence = read;
  }
  limits.max_attempts = count("max_attempts", kAttemptsMax).value_or(limits.max_attempts);
  limits.max_failures_in_a_row = count("max_failures_in_a_row", kTrialsMax).value_or(limits.max_failures_in_a_row);
  reader.finish();
  return limits;
}

// `read(json, path)` gives each.
template <class Read>
std::vector<Configuration> read_configurations(const Json& json, const SearchSpace& space, std::size_t most,
                                               const std::string& path, Diagnostics& diagnostics, const Read& read) {
  if (!json.is_array() || json.size() > most) {
    const std::string got = json.is_array() ? std::to_string(json.size()) : excerpt(json);
    diagnostics.error(path, "expected a list of at most " + std::to_string(most) + " configurations, got " + got);
    return {};
  }
  std::vector<Configuration> configurations;
  if (space.parameters().empty()) return configurations;  // it has faults of its own, told already
  for (std::size_t i = 0; i < json.size() && diagnostics.errors().size() <= kFaultsMax; ++i) {
    configurations.push_back(read(json[i], join_path(path, i)));
  }
  return configurations;
}

// What they lack is drawn at random, each on its own and the same whenever the document is read.
std::vector<Configuration> read_enqueued(const Json& json, const JobSpec& spec, Diagnostics& diagnostics) {
  const auto& parameters = spec.search_space.parameters();
  const auto read = [&](const Json& given, const std::string& path) {
    if (given.is_object() && given.empty()) diagnostics.error(path, "expected a value of one parameter or more, got none");
    return spec.search_space.complete(
        given,
        [&](std::size_t i) {
          return random_unit(spec.sampler.seed, {stable_hash(path), stable_hash(parameters[i].name)});
        },
        path, diagnostics);
  };
  return read_configurations(json, spec.search_space, kEnqueueMax, "enqueue", diagnostics, read);
}

std::vector<Configuration> read_candidates(const Json& json, const SearchSpace& space, Diagnostics& diagnostics) {
  if (json.is_array() && json.empty()) {
    diagnostics.error("candidates", "expected at least one configuration, got an empty list", "leave it out for the whole space");
  }
  return read_configurations(json, space, kCandidatesMax, "candidates", diagnostics,
                             [&](const Json& given, const std::string& path) { return space.check(given, path, diagnostics); });
}

SamplerSpec read_sampler(ObjectReader& reader, const std::string& job_name) {
  const Json* json = reader.find("sampler");
  SamplerSpec spec =
      SamplerSpec::parse(json != nullptr ? *json : Json::object(), reader.path_to("sampler"), reader.diagnostics());
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
  CategoricalDomain domain{.values = {}, .ordered = true};
  for (const int count : spec.replicas) domain.values.emplace_back(std::int64_t{count});
  spec.search_space.add({kReplicasParameter, std::move(domain), std::nullopt});
}

// with_priors() writes an id as a text too.
bool id_as_text(const std::string& text) {
  return !text.empty() && text.size() <= kJobNameSizeMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> read_job_names(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  if (!json.is_array() || json.empty() || json.size() > kWarmStartJobsMax) {
    diagnostics.error(
        path, "expected a list of 1 to " + std::to_string(kWarmStartJobsMax) + " names or ids of jobs, got " + excerpt(json));
    return names;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool id = json[i].is_number_unsigned();
    if (id) {
      names.push_back(json[i].dump());
    } else if (json[i].is_string() &&
               (valid_job_name(json[i].get_ref<const std::string&>()) || id_as_text(json[i].get_ref<const std::string&>()))) {
      names.push_back(json[i].get<std::string>());
    } else {
      diagnostics.error(join_path(path, i), "expected the name or the id of a job, got " + excerpt(json[i]));
    }
  }
  return names;
}

std::vector<PriorObservation> read_priors(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<PriorObservation> priors;
  if (!json.is_array() || json.size() > kPriorsMax * kWarmStartJobsMax) {
    diagnostics.error(path, "expected a list of observations, got " + excerpt(json));
    return priors;
  }
  for (std::size_t i = 0; i < json.size() && diagnostics.errors().size() <= kFaultsMax; ++i) {
    const std::string at = join_path(path, i);
    ObjectReader reader(json[i], at, diagnostics);
    PriorObservation prior;
    if (const Json* configuration = reader.require("configuration"); configuration != nullptr && configuration->is_object()) {
      for (const auto& [name, value] : configuration->items()) {
        if (const auto known = value_from_json(value)) prior.configuration[name] = *known;
      }
    }
    for (const char* field : {"resource_share", "score", "level_score"}) reader.require_present(field);
    prior.resource_share = reader.number_or("resource_share", 1, {.min = 0, .max = 1, .min_excluded = true});
    prior.score = reader.number_or("score", 0);
    prior.level_score = reader.number_or("level_score", 0);
    prior.counts = reader.boolean_or("counts", true);
    reader.finish();
    priors.push_back(std::move(prior));
  }
  return priors;
}

// ["earlier-job"], or as with_priors() writes it.
void read_warm_start(const Json& json, JobSpec& spec, Diagnostics& diagnostics) {
  if (!json.is_object()) {
    spec.warm_start = read_job_names(json, "warm_start", diagnostics);
    return;
  }
  ObjectReader reader(json, "warm_start", diagnostics);
  if (const Json* jobs = reader.require("jobs")) spec.warm_start = read_job_names(*jobs, reader.path_to("jobs"), diagnostics);
  if (const Json* observations = reader.require("observations")) {
    spec.priors = read_priors(*observations, reader.path_to("observations"), diagnostics);
  }
  reader.finish();
}

// `objective`, or `objectives`: two or more, which are compared as they are, without a target.
void read_objectives(ObjectReader& reader, JobSpec& spec) {
  Diagnostics& diagnostics = reader.diagnostics();
  const Json* several = reader.find("objectives");
  if (several == nullptr) {
    const Json* one = reader.require("objective");
    if (one != nullptr) spec.objective = read_objective(*one, "objective", spec.constraints, diagnostics);
    return;
  }
  if (reader.has("objective")) {
    diagnostics.error("objectives", "stands beside `objective`", "give one of both");
    return;
  }
  if (!several->is_array() || several->size() < 2 || several->size() > kObjectivesMax) {
    const std::string got = several->is_array() ? std::to_string(several->size()) + " of them" : excerpt(*several);
    diagnostics.error("objectives", "expected a list of 2 to " + std::to_string(kObjectivesMax) + " objectives, got " + got);
    return;
  }
  std::set<std::string> metrics;
  for (std::size_t i = 0; i < several->size(); ++i) {
    const std::string path = join_path("objectives", i);
    Objective objective = read_objective((*several)[i], path, spec.constraints, diagnostics);
    if (objective.target) {
      diagnostics.error(join_path(path, "target"),
                        "has no meaning with several objectives: a trial may reach it and be far from "
                        "the others",
                        "leave it out");
    }
    if (!objective.metric.empty() && !metrics.insert(objective.metric).second) {
      diagnostics.error(join_path(path, "metric"), excerpt(objective.metric) + " is an objective already");
    }
    if (i == 0) {
      spec.objective = std::move(objective);
    } else {
      spec.more_objectives.push_back(std::move(objective));
    }
  }
}

// What some schedulers cannot do with constraints or several objectives. Called for a document without faults.
void check_objectives(JobSpec& spec, Diagnostics& diagnostics) {
  const SchedulerType type = spec.scheduler.type;
  const std::string named = "`" + std::string(to_string(type)) + "`";
  if (!spec.constraints.empty() && type == SchedulerType::median_stopping) {
    diagnostics.error("scheduler.type", named + " compares averages of values, which cannot say how constraints are met",
                      "use `auto`");
  }
  if (spec.scheduler.early_end && (!spec.constraints.empty() || !spec.more_objectives.empty())) {
    diagnostics.error("scheduler.early_end", "is by one value, and here constraints or other objectives count too",
                      "leave it out");
  }
  if (spec.keeps_best && (!spec.constraints.empty() || !spec.more_objectives.empty())) {
    diagnostics.error("trainer.keep", "`best` is by one value, and here constraints or other objectives count too", "use last");
  }
  if (spec.more_objectives.empty()) return;
  for (const Objective& objective : spec.more_objectives) spec.scheduler.more_goals.push_back(objective.goal);
  const bool differences =
      type == SchedulerType::median_stopping || type == SchedulerType::pasha || type == SchedulerType::async_hyperband;
  if (differences) {
    diagnostics.error("scheduler.type", named + " compares values, and there is no single one with several objectives",
                      "use `auto`, `asha_promotion`, `asha_stopping`, `hyperband` or `successive_halving`");
  }
  if (type == SchedulerType::automatic) {
    spec.scheduler.rung_audit = false;
    spec.scheduler.promotion = Promotion::value;
  }
  if (spec.scheduler.promotion == Promotion::prediction) {
    diagnostics.error("scheduler.promotion", "`prediction` is of one value, and there is no single one with several objectives",
                      "use `value`");
  }
  if (type == SchedulerType::asha_delayed && spec.scheduler.rung_audit) {
    diagnostics.error("scheduler.rung_audit", "compares values, and there is no single one with several objectives",
                      "leave it out");
  }
  if (spec.limits.convergence) {
    diagnostics.error("limits.convergence", "needs a single objective, in whose unit its tolerance is", "leave it out");
  }
  const auto bound = trials_bound(spec);
  if (!bound || *bound > kTrialsOfSeveralObjectivesMax) {
    diagnostics.error("limits.max_trials",
                      "with several objectives a job starts at most " + std::to_string(kTrialsOfSeveralObjectivesMax) + " trials",
                      "give max_trials");
  }
}

void read_debug(const Json& json, JobSpec& spec, Diagnostics& diagnostics) {
  using debugger::TrainerKind;
  debugger::DebugContext context;
  context.trainer = trains_xgboost(spec.trainer) ? TrainerKind::xgboost : TrainerKind::command;
  context.max_resource = spec.scheduler.max_resource;
  context.judge = {spec.objective.metric, spec.objective.goal == Goal::maximize};
  spec.debug = json;
  spec.debugger = debugger::parse_debug(json, "debug", context, diagnostics);
}

// What only the whole document shows. Called for one without faults.
void check_bounds(const JobSpec& spec, Diagnostics& diagnostics) {
  const bool other_limit = spec.limits.convergence || spec.limits.max_runtime_ms || spec.limits.max_trials_without_improvement ||
                           spec.objective.target;
  const auto bound = trials_bound(spec);
  if (!bound && !other_limit) {
    diagnostics.error(
        "limits.max_trials", "is missing: nothing would end this job",
        "give max_trials, max_runtime_seconds, max_trials_without_improvement or convergence, or a target of the objective");
  } else if (bound && *bound > kTrialsMax && !other_limit) {
    const std::string what = spec.sampler.type == SamplerType::grid ? "the whole grid" : "one pass over the brackets";
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

bool has_gaussian_process(const JobSpec& spec) {
  if (spec.sampler.type == SamplerType::gp) return true;
  return spec.sampler.type == SamplerType::automatic && Encoding(spec.search_space).dimensions().size() <= kGpDimensionsMax;
}

// Of `auto`, what was not said: a model of all results sees more of how far the rungs can be trusted than their audit does.
void choose_hedge(const Json& scheduler, JobSpec& spec) {
  if (spec.scheduler.type != SchedulerType::automatic || spec.scheduler.promotion != Promotion::prediction) return;
  if (!has_gaussian_process(spec)) {
    if (!scheduler.contains("promotion")) spec.scheduler.promotion = Promotion::value;
  } else if (!scheduler.contains("rung_audit")) {
    spec.scheduler.rung_audit = false;
  }
}

// Samplers that have no model learn nothing and expect nothing.
void check_model(const JobSpec& spec, Diagnostics& diagnostics) {
  const SamplerType type = spec.sampler.type;
  const bool blind = type == SamplerType::random || type == SamplerType::grid || type == SamplerType::sobol;
  const std::string hint = "use the sampler `auto`, `gp`, `tpe`, `bohb` or `random_forest`";
  if (!has_gaussian_process(spec) && spec.limits.convergence) {
    diagnostics.error("limits.convergence", "needs a sampler whose model says what it expects",
                      "use the sampler `gp`, or `auto` with at most " + std::to_string(kGpDimensionsMax) + " tuned parameters");
  }
  if (blind && !spec.warm_start.empty()) {
    diagnostics.warning("warm_start", "has no effect: this sampler does not look at results", hint);
  }
}

// A rule that compares with a trial which there will not be, or with the only one.
void warn_of_other_trials(const JobSpec& spec, Diagnostics& diagnostics) {
  const auto bound = trials_bound(spec);
  if (!spec.debugger || !bound) return;
  for (std::size_t i = 0; i < spec.debugger->rules.size(); ++i) {
    const debugger::RuleSpec& rule = spec.debugger->rules[i];
    const auto other = rule.other_trial();
    if (!other || (*bound > 1 && *other < *bound)) continue;
    const std::string field = rule.declared ? "other_trial" : "parameters.other_trial";
    diagnostics.warning(join_path(join_path("debug.rules", i), field),
                        *bound == 1 ? "there is nothing to compare with: the job has one trial, number 0"
                                    : "there will be no trial " + std::to_string(*other) + " to compare with: the job has " +
                                          std::to_string(*bound) + ", from 0 to " + std::to_string(*bound - 1));
  }
}

void warn_of_a_small_space(const JobSpec& spec, Diagnostics& diagnostics) {
  const double count = spec.search_space.configurations_at_most();
  if (count == 1) {
    diagnostics.warning("search_space", "every parameter is fixed: all trials are the same");
  } else if (spec.limits.max_trials && spec.sampler.type != SamplerType::grid && count < *spec.limits.max_trials) {
    diagnostics.warning("limits.max_trials",
                        "is " + std::to_string(*spec.limits.max_trials) + ", and the search space has no more than " +
                            format_number(count) + " configurations: some are tried again",
                        "lower it, or take the sampler `grid`, which tries each once");
  }
}

// Where each rung is a training of its own, close ones cost more than what they stop saves.
void warn_of_dear_rungs(const SchedulerSpec& scheduler, Diagnostics& diagnostics) {
  if (!scheduler.restarts) return;
  const auto rungs = ladder(scheduler);
  const std::int64_t whole = std::accumulate(rungs.begin(), rungs.end(), std::int64_t{0});
  if (whole <= 2 * scheduler.max_resource) return;
  diagnostics.warning("scheduler.type",
                      "each of its " + std::to_string(rungs.size()) +
                          " rungs is a training of its own: a trial that goes to the end takes " + std::to_string(whole) +
                          ", and max_resource is " + std::to_string(scheduler.max_resource),
                      "take fewer rungs (a larger eta, or another scheduler), or trainings that go on");
}

void warn_of_oddities(const JobSpec& spec, Diagnostics& diagnostics) {
  warn_of_other_trials(spec, diagnostics);
  warn_of_a_small_space(spec, diagnostics);
  if (spec.scheduler.type != SchedulerType::none && ladder(spec.scheduler).size() == 1) {
    diagnostics.warning("scheduler.max_resource", "there is one rung only: no trial is stopped early",
                        "raise max_resource to eta * min_resource or more");
  }
  warn_of_dear_rungs(spec.scheduler, diagnostics);
}

}  // namespace

bool Objective::better(double a, double b) const {
  const auto tier = [](double value) { return std::isfinite(value) ? 0 : std::isinf(value) ? 1 : 2; };
  if (tier(a) != tier(b)) return tier(a) < tier(b);
  return goal == Goal::maximize ? a > b : a < b;
}

double Constraint::violation(double value) const {
  if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
  const auto beyond = [](double distance, double bound) { return std::max(0.0, distance) / std::max(1.0, std::abs(bound)); };
  return (min ? beyond(*min - value, *min) : 0) + (max ? beyond(value - *max, *max) : 0);
}

std::vector<std::string> JobSpec::further_metrics() const {
  std::vector<std::string> names;
  for (const Constraint& constraint : constraints) names.push_back(constraint.metric);
  for (const Objective& another : more_objectives) names.push_back(another.metric);
  return names;
}

double JobSpec::violation(const Metrics& metrics) const {
  double sum = 0;
  for (const Constraint& constraint : constraints) {
    sum += constraint.violation(find_metric(metrics, constraint.metric).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return sum;
}

int JobSpec::replicas_of(const Configuration& configuration) const {
  if (replicas.size() == 1) return replicas.front();
  return static_cast<int>(std::get<std::int64_t>(configuration.at(kReplicasParameter)));
}

Json with_priors(Json document, const JobSpec& spec) {
  Json observations = Json::array();
  for (const PriorObservation& prior : spec.priors) {
    observations.push_back({{"configuration", to_json(prior.configuration)},
                            {"resource_share", prior.resource_share},
                            {"score", prior.score},
                            {"level_score", prior.level_score},
                            {"counts", prior.counts}});
  }
  document["warm_start"] = {{"jobs", spec.warm_start}, {"observations", std::move(observations)}};
  return document;
}

bool rungs_restart(const Json& trainer) {
  return says(trainer, "type", "command") ? !says(trainer, "resume", "checkpoint") : says(trainer, "fidelity", "shrinkage");
}

bool trains_xgboost(const Json& trainer) { return says(trainer, "type", "xgboost"); }

std::optional<TreesTrainer> trees_trainer(const JobSpec& spec) {
  if (!trains_xgboost(spec.trainer)) return std::nullopt;
  TreesTrainer trees{.max_resource = spec.scheduler.max_resource, .equal_shrinkage = spec.scheduler.restarts};
  const Json& most = member(spec.trainer, "shrinkage_max");
  if (most.is_number()) trees.shrinkage_max = most.get<double>();
  const bool asked = member(spec.trainer, "adapt_eta") == true;
  trees.adapts_eta = asked && spec.scheduler.restarts && spec.keeps_best && spec.candidates.empty();
  const auto parameters = spec.trainer.find("parameters");
  if (parameters == spec.trainer.end() || !parameters->is_object()) return trees;
  if (says(*parameters, "booster", "gblinear")) return std::nullopt;
  for (const auto& [name, value] : parameters->items()) {
    if (value.is_number()) trees.fixed[name] = value.get<double>();
  }
  return trees;
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
  read_objectives(reader, spec);
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
  if (const Json* enqueue = reader.find("enqueue")) spec.enqueue = read_enqueued(*enqueue, spec, diagnostics);
  if (const Json* candidates = reader.find("candidates")) {
    spec.candidates = read_candidates(*candidates, spec.search_space, diagnostics);
  }
  if (const Json* scheduler = reader.require("scheduler")) spec.scheduler = read_scheduler(*scheduler, "scheduler", diagnostics);
  spec.scheduler.restarts = rungs_restart(spec.trainer);
  if (const Json* debug = reader.find("debug")) read_debug(*debug, spec, diagnostics);
  spec.keeps_best = trains_xgboost(spec.trainer) && says(spec.trainer, "keep", "best");
  if (trains_xgboost(spec.trainer)) spec.early_work = read_early_work(spec.trainer);
  if (const Json* warm_start = reader.find("warm_start")) read_warm_start(*warm_start, spec, diagnostics);
  if (const Json* limits = reader.find("limits")) spec.limits = read_limits(*limits, "limits", diagnostics);
  spec.weight = read_weight(reader).value_or(spec.weight);
  reader.finish();
  if (diagnostics.ok()) choose_hedge(json["scheduler"], spec);
  if (diagnostics.ok()) check_bounds(spec, diagnostics);
  if (diagnostics.ok()) check_objectives(spec, diagnostics);
  if (diagnostics.ok()) check_model(spec, diagnostics);
  if (diagnostics.ok()) warn_of_oddities(spec, diagnostics);
  return spec;
}

std::uint64_t seed_of_trial(const JobSpec& spec, int trial) {
  return random_bits(spec.sampler.seed, {static_cast<std::uint64_t>(trial), stable_hash("trainer")});
}

}  // namespace tuneband
