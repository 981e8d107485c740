#include "scheduler/job_spec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/random.hpp"
#include "core/time.hpp"
#include "scheduler/job_changes.hpp"
#include "scheduler/job_spec_parts.hpp"

namespace tuneband {

namespace {

bool says(const Json& trainer, const char* field, const char* word) { return member(trainer, field) == word; }

// Of trainer.data.folds: {"count": 5, "early": 2} trains below max_resource 2 folds and all rows, at it 5 and all rows.
double read_early_work(const Json& trainer) {
  const Json& folds = member(member(trainer, "data"), "folds");
  const auto whole = [&](const char* field) { return static_cast<double>(integer_of(folds, field)); };
  const double early = whole("early");
  const double count = whole("count");
  return early >= 1 && early < count ? (early + 1) / (count + 1) : 1;
}

void name_elsewhere(ObjectReader& reader) {
  reader.also_called("search_space", {"space", "parameters", "hyperparameters", "param_space", "config"});
  reader.also_called("sampler", {"algorithm", "search_algorithm", "search_alg", "strategy"});
  reader.also_called("enqueue", {"points_to_evaluate", "initial_points", "baseline"});
  reader.also_called("objective.metric", {"metric"});
  reader.also_called("objective.goal", {"goal", "direction", "mode"});
  reader.also_called("objective.constraints", {"constraints"});
  reader.also_called("scheduler.max_resource", {"max_resource"});
  reader.also_called("limits.max_trials", {"max_trials", "n_trials", "num_samples"});
  reader.also_called("limits.max_parallel_trials", {"max_parallel_trials"});
  reader.also_called("limits.max_runtime_seconds", {"max_runtime_seconds", "timeout"});
  reader.also_called("trainer.data", {"data"});
}

std::string read_name(ObjectReader& reader) {
  const std::string expected =
      "up to " + std::to_string(kJobNameSizeMax) + " letters, digits, `.`, `_` and `-`, beginning with a letter, a digit or `_`";
  if (reader.require("name", expected) == nullptr) return "";
  const auto name = reader.text("name");
  if (!name) return "";
  if (valid_job_name(*name)) return *name;
  const bool digits = std::all_of(name->begin(), name->end(), [](char c) { return c >= '0' && c <= '9'; });
  reader.expected("name", expected, *name, digits ? "a name of digits alone would look like a job's id" : "");
  return "";
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
    const auto count = integer_from_json(json);
    if (!count || *count < 1 || *count > kReplicasMax) {
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
  const auto number = integer_from_json(*rank);
  if (!number || *number < 0 || *number >= spec.replicas.front()) {
    diagnostics.error("trainer.metric_rank", "expected a rank from 0 to " + std::to_string(spec.replicas.front() - 1) +
                                                 ", below the least of `replicas`, got " + excerpt(*rank));
    return;
  }
  spec.metric_rank = static_cast<int>(*number);
}

// Who wants a command that is told to end to be killed fast does not want ranks to be cut off that still save: those have the
// default.
std::optional<std::int64_t> read_group_grace(const Json& trainer) {
  if (!says(trainer, "type", "command")) return std::nullopt;
  const Json& seconds = member(trainer, "grace_seconds");
  const double within =
      seconds.is_number() ? std::clamp(seconds.get<double>(), kGraceSecondsDefault, kGraceSecondsMax) : kGraceSecondsDefault;
  return ms_of(within);
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

void read_debug(const Json& json, JobSpec& spec, Diagnostics& diagnostics) {
  using debugger::TrainerKind;
  debugger::DebugContext context;
  context.trainer = trains_xgboost(spec.trainer) ? TrainerKind::xgboost : TrainerKind::command;
  context.max_resource = spec.scheduler.max_resource;
  context.judge = {spec.objective.metric, spec.objective.goal == Goal::maximize};
  spec.debug = json;
  spec.debugger = debugger::parse_debug(json, "debug", context, diagnostics);
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

bool is_synchronous(SchedulerType type) { return type == SchedulerType::hyperband || type == SchedulerType::successive_halving; }

std::string_view to_string(SchedulerType type) { return scheduler_type_names()[static_cast<std::size_t>(type)]; }

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
  name_elsewhere(reader);
  spec.name = read_name(reader);
  read_objectives(reader, spec);
  if (const Json* space = reader.require(
          "search_space",
          "an object of hyperparameters by name, like {\"eta\": {\"type\": \"float\", \"min\": 0.01, \"max\": 1}}")) {
    spec.search_space = SearchSpace::parse(*space, "search_space", diagnostics);
  }
  if (const Json* trainer = reader.require("trainer", "an object with the `type`, `xgboost` or `command`, and its fields")) {
    ObjectReader only_an_object(*trainer, "trainer", diagnostics);
    spec.trainer = *trainer;
    read_replicas(*trainer, spec, diagnostics);
    spec.group_grace_ms = read_group_grace(*trainer);
  }
  if (spec.replicas.size() > 1) tune_replicas(spec, diagnostics);
  spec.sampler = read_sampler(reader, spec.name);
  if (const Json* enqueue = reader.find("enqueue")) spec.enqueue = read_enqueued(*enqueue, spec, diagnostics);
  if (const Json* candidates = reader.find("candidates")) {
    spec.candidates = read_candidates(*candidates, spec.search_space, diagnostics);
  }
  if (const Json* scheduler = reader.require("scheduler", "an object with `max_resource`, what a full training takes"))
    spec.scheduler = read_scheduler(*scheduler, "scheduler", diagnostics);
  spec.scheduler.restarts = rungs_restart(spec.trainer);
  if (const Json* debug = reader.find("debug")) read_debug(*debug, spec, diagnostics);
  if (trains_xgboost(spec.trainer)) {
    spec.best_of_full = says(spec.trainer, "keep", "best_full");
    spec.keeps_best = spec.best_of_full || says(spec.trainer, "keep", "best");
    spec.early_work = read_early_work(spec.trainer);
  }
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
