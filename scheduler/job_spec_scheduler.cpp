// The scheduler and the limits of a job's document.
#include "scheduler/job_changes.hpp"
#include "scheduler/job_spec_parts.hpp"

namespace tuneband {

namespace {

constexpr const char* kDelayedAlone = "is only for the scheduler types `asha_delayed` and `auto`";

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
    const auto level = integer_from_json(json[i]);
    const std::int64_t above = rungs.empty() ? 0 : rungs.back();
    if (!level || *level <= above || *level > spec.max_resource) {
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

// `auto` is `asha_delayed` with more.
bool is_delayed(const SchedulerSpec& spec) {
  return spec.type == SchedulerType::automatic || spec.type == SchedulerType::asha_delayed;
}

// Below the ladder, which is known. 0 is none, whatever else there is.
void check_first_resource(ObjectReader& reader, const SchedulerSpec& spec) {
  if (spec.first_resource == 0) return;
  const bool by_model = spec.promotion == Promotion::prediction && !spec.rung_audit;
  refuse(reader, "first_resource", !is_delayed(spec), kDelayedAlone);
  refuse(reader, "first_resource", spec.rung_audit, "excludes `rung_audit`, which says where trials start");
  refuse(reader, "first_resource", by_model, "excludes `promotion: prediction`, whose model says where trials start");
  if (spec.first_resource < spec.min_resource) return;
  reader.diagnostics().error(reader.path_to("first_resource"), "expected less than the first rung (" +
                                                                   std::to_string(spec.min_resource) + "), got " +
                                                                   std::to_string(spec.first_resource));
}

}  // namespace

const std::vector<std::string>& scheduler_type_names() {
  static const std::vector<std::string> names{"hyperband",    "successive_halving", "asha_promotion",  "asha_stopping", "none",
                                              "asha_delayed", "async_hyperband",    "median_stopping", "pasha",         "auto"};
  return names;
}

SchedulerSpec read_scheduler(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  static const std::vector<std::string> kRoundings{"algorithm1", "table1"};
  static const std::vector<std::string> kPromotions{"value", "prediction"};
  SchedulerSpec spec;
  ObjectReader reader(json, path, diagnostics);
  const auto type = reader.word("type", scheduler_type_names());
  // One that is not understood is a fault already: the other fields are read as those of the type that has them all.
  const SchedulerType otherwise = reader.has("type") ? SchedulerType::hyperband : SchedulerType::automatic;
  spec.type = type ? static_cast<SchedulerType>(*type) : otherwise;
  reader.also_called("max_resource", {"max_t", "max_epochs", "max_iterations", "R", "max_units"});
  reader.also_called("min_resource", {"grace_period", "min_t", "min_epochs", "r_min", "min_early_stopping"});
  reader.also_called("eta", {"reduction_factor", "factor", "divisor"});
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
  spec.first_resource = reader.integer_or("first_resource", 0, {0, kResourceMax});
  spec.rung_audit = reader.boolean_or("rung_audit", automatic && spec.first_resource == 0);
  const Promotion otherwise_by = automatic && spec.rung_audit ? Promotion::prediction : Promotion::value;
  const auto promotion = reader.word("promotion", kPromotions);
  spec.promotion = promotion ? static_cast<Promotion>(*promotion) : otherwise_by;
  for (const char* field : {"rung_audit", "promotion"}) {
    refuse(reader, field, !is_delayed(spec), kDelayedAlone);
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
  check_first_resource(reader, spec);
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
  reader.also_called("max_trials", {"n_trials", "num_samples", "max_evals", "max_number_of_training_jobs"});
  reader.also_called("max_parallel_trials", {"n_jobs", "max_concurrent", "max_concurrent_trials", "max_parallel_training_jobs"});
  reader.also_called("max_runtime_seconds", {"timeout", "time_budget_s", "max_wallclock_time"});
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

}  // namespace tuneband
