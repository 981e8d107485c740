// The parameters of XGBoost that a job fixes or tunes.
#include <algorithm>

#include "core/text.hpp"
#include "jobs/path_text.hpp"
#include "jobs/trainer_check_parts.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

constexpr const char* kTunedPath = "search_space";

// A domain's end may lie on a bound that is itself excluded: a float domain takes that very value with probability 0.
void check_end(const XgboostParameter& known, const JobParameter& parameter, const char* end, double value,
               Diagnostics& diagnostics) {
  const NumberRange& range = known.range;
  const std::string path = join_path(parameter.path, end);
  const std::string came = describe_range(known) + ", got " + format_number(value);
  if (value < range.min || value > range.max) {
    diagnostics.error(path, "`" + known.name + "` takes " + came);
  } else if ((range.min_excluded && value == range.min) || (range.max_excluded && value == range.max)) {
    if (parameter.tuned->real) {
      diagnostics.warning(path, "`" + known.name + "` takes " + came + "; a value of exactly " + format_number(value) +
                                    " is not to be expected from a float domain and is kept just inside");
    } else {
      diagnostics.error(path, "`" + known.name + "` takes " + came);
    }
  } else if (value > known.usual_max) {
    diagnostics.warning(
        path, "`" + known.name + "` is documented up to " + format_number(known.usual_max) + ", got " + format_number(value));
  }
}

void check_domain(const XgboostParameter& known, const JobParameter& parameter, Diagnostics& diagnostics) {
  const TunedParameter& tuned = *parameter.tuned;
  if (!tuned.values.empty()) return;  // each value is checked
  if (known.kind != ParameterKind::integer && known.kind != ParameterKind::real) {
    diagnostics.error(parameter.path, "`" + known.name + "` takes " + describe_range(known) + ", not a range of numbers",
                      "use a categorical domain");
    return;
  }
  if (known.kind == ParameterKind::integer && tuned.real) {
    diagnostics.error(join_path(parameter.path, "type"), "`" + known.name + "` takes integers only, got a float domain",
                      "use the type int");
    return;
  }
  if (tuned.min) check_end(known, parameter, "min", *tuned.min, diagnostics);
  if (tuned.max) check_end(known, parameter, "max", *tuned.max, diagnostics);
}

void check_values(const XgboostParameter& known, const JobParameter& parameter, Diagnostics& diagnostics) {
  for (const std::string& value : parameter.values) {
    const std::string fault = fault_of_value(known, value);
    const std::string& path = parameter.path;
    if (!fault.empty()) {
      diagnostics.error(
          path, fault,
          known.name == "objective" ? did_you_mean(value, xgboost_objective_names()) : did_you_mean(value, known.words));
    } else if (const auto number = parse_number(value); number && *number > known.usual_max) {
      diagnostics.warning(path, "`" + known.name + "` is documented up to " + format_number(known.usual_max) + ", got " + value);
    }
  }
}

void check_names(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  std::map<std::string, const JobParameter*> first;  // by the documented name
  for (const JobParameter& parameter : parameters) {
    if (const auto why = refused_xgboost_parameter(parameter.name); !why.empty()) {
      diagnostics.error(parameter.path, "`" + parameter.name + "` cannot be set here: " + std::string(why));
      continue;
    }
    const XgboostParameter* known = find_xgboost_parameter(parameter.name);
    if (known == nullptr) {
      diagnostics.error(parameter.path, "XGBoost has no parameter `" + parameter.name + "`",
                        did_you_mean(parameter.name, xgboost_parameter_names()));
      continue;
    }
    const auto [before, added] = first.emplace(known->name, &parameter);
    if (!added) {
      const JobParameter& other = *before->second;
      const bool tuned_and_fixed = (other.tuned == nullptr) != (parameter.tuned == nullptr);
      diagnostics.error(parameter.path,
                        other.name == parameter.name && tuned_and_fixed
                            ? "`" + parameter.name + "` is tuned here and fixed at " + other.path
                            : "`" + parameter.name + "` is the same parameter as `" + other.name + "` at " + other.path,
                        "keep one of them");
    }
    check_values(*known, parameter, diagnostics);
    if (parameter.tuned != nullptr) check_domain(*known, parameter, diagnostics);
  }
}

void check_machine(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string_view name, std::string_view value, const std::string& instead) {
    if (!takes(parameters, name, value)) return;
    diagnostics.error(find_parameter(parameters, name)->path,
                      "`" + std::string(value) + "` needs a GPU, and XGBoost here is built without", "use " + instead);
  };
  refuse("tree_method", "gpu_hist", "hist");
  refuse("predictor", "gpu_predictor", "cpu_predictor");
  refuse("sampling_method", "gradient_based", "uniform");
  const JobParameter* gpu_id = find_parameter(parameters, "gpu_id");
  if (gpu_id != nullptr && gpu_id->values != std::vector<std::string>{"-1"}) {
    diagnostics.error(gpu_id->path, "XGBoost here is built without GPU support", "leave it out");
  }
  for (const char* slow : {"exact", "auto"}) {
    if (takes(parameters, "tree_method", slow)) {
      diagnostics.warning(find_parameter(parameters, "tree_method")->path,
                          std::string("`") + slow + "` is many times slower than `hist` on most tables" +
                              (std::string_view(slow) == "auto" ? ": it means `exact` below 4 million rows" : ""),
                          "leave tree_method out to get hist");
    }
  }
}

// What XGBoost refuses as it trains, each alone being fine.
void check_together(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  for (const char* selector : {"greedy", "thrifty", "random"}) {
    if (!takes(parameters, "booster", "gblinear") || !takes(parameters, "feature_selector", selector)) continue;
    const JobParameter* updater = find_parameter(parameters, "updater");
    if (updater != nullptr && updater->values == std::vector<std::string>{"coord_descent"}) continue;
    diagnostics.error(find_parameter(parameters, "feature_selector")->path,
                      "`" + std::string(selector) + "` needs the updater coord_descent", "set updater to coord_descent");
  }
  const JobParameter* depth = find_parameter(parameters, "max_depth");
  const bool unbounded =
      takes(parameters, "max_depth", "0") || (depth != nullptr && depth->tuned != nullptr && depth->tuned->min == 0.0);
  if (unbounded && takes(parameters, "tree_method", "exact"))
    diagnostics.error(depth->path, "0, for no limit, cannot go with the tree_method exact", "use hist, or 1 or more");
  const JobParameter* leaves = find_parameter(parameters, "max_leaves");
  if (takes(parameters, "max_leaves", "1") || (leaves != nullptr && leaves->tuned != nullptr && leaves->tuned->min == 1.0))
    diagnostics.warning(leaves->path, "a tree of 1 leaf tells no rows apart: such a model learns nothing",
                        "2 or more, or 0 for no limit");
}

// XGBoost 1.7 keeps the bins of a round before, or of a trial before, where an objective's second derivative is constant and its
// memory stands where it stood; with a sample of the rows it is not constant.
void check_bins_of_approx(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  const bool constant = takes(parameters, "objective", "reg:squarederror") || takes(parameters, "objective", "reg:absoluteerror");
  if (!constant || !takes(parameters, "tree_method", "approx")) return;
  if (const JobParameter* sample = find_parameter(parameters, "subsample");
      sample != nullptr && !takes(parameters, "subsample", "1")) {
    diagnostics.warning(sample->path,
                        "with `approx` and a squared or absolute error the bins of an earlier round or trial may be used again: "
                        "a trial depends a little on those that its worker trained before",
                        "use hist");
  }
}

// What a trial cannot be paused and resumed with, bit for bit.
void check_resume(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (takes(parameters, "process_type", "update")) {
    diagnostics.error(find_parameter(parameters, "process_type")->path,
                      "`update` changes the trees of a model, and a trial starts without one");
  }
  if (const JobParameter* updater = find_parameter(parameters, "updater")) {
    for (const std::string& value : updater->values) {
      if (value.starts_with("prune") || value.starts_with("refresh"))
        diagnostics.error(updater->path, "`" + value + "` begins with an updater that makes no trees",
                          "begin with one that does, as in `grow_quantile_histmaker,prune`");
    }
    diagnostics.warning(updater->path,
                        "with `updater` a trial that was paused may go on a little differently than one that never was");
  }
  for (const char* off : {"false", "0"}) {
    if (takes(parameters, "seed_per_iteration", off)) {
      diagnostics.warning(find_parameter(parameters, "seed_per_iteration")->path,
                          "is always on, so that a paused trial goes on as if it never was");
    }
  }
  check_bins_of_approx(parameters, diagnostics);
  const JobParameter* objective = find_parameter(parameters, "objective");
  const bool ranks = objective != nullptr && std::any_of(objective->values.begin(), objective->values.end(),
                                                         [](const std::string& value) { return value.starts_with("rank:"); });
  if (ranks && spec.threads > 1) {
    diagnostics.warning("trainer.threads",
                        "XGBoost draws the pairs of a ranking by thread: a worker that has fewer trains another model",
                        "start all workers with as many --threads, or use 1");
  }
}

// A linear model's learning rate shrinks the steps of one model: there are no trees that fewer, larger steps would make do
// without.
void check_fidelity(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (spec.fidelity != Fidelity::shrinkage || !takes(parameters, "booster", "gblinear")) return;
  diagnostics.error("trainer.fidelity", "`shrinkage` is for trees, and `booster` may be gblinear", "use prefix");
}

// XGBoost 1.7 splits by categories with hist and approx alone.
void check_categories(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (spec.data.categorical_encoding != CategoricalEncoding::native) return;
  const auto refuse = [&](const char* name, const char* value) {
    if (!takes(parameters, name, value)) return;
    diagnostics.error("trainer.data.categorical_encoding",
                      "`native` needs trees of the methods hist or approx, and `" + std::string(name) + "` may be " + value,
                      "use numbers, or another " + std::string(name));
  };
  refuse("tree_method", "exact");
  refuse("tree_method", "auto");
  refuse("booster", "gblinear");
  const JobParameter* updater = find_parameter(parameters, "updater");
  if (updater == nullptr) return;
  for (const std::string& value : updater->values) {
    if (value.find("grow_colmaker") != std::string::npos) refuse("updater", value.c_str());
  }
}

// Later rounds of dart change the weights of earlier trees, and those of gblinear its one model: neither can be cut.
void check_keep(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (!spec.keep_best) return;
  for (const char* booster : {"dart", "gblinear"}) {
    if (takes(parameters, "booster", booster)) {
      diagnostics.error("trainer.keep",
                        "a best round needs a model that can be cut to it, and `booster` may be " + std::string(booster),
                        "use last");
    }
  }
}

// What is changed as a trial goes on is a learning rate that is tuned, by the round that the trial keeps.
void check_eta_adaptation(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (!spec.adapt_eta) return;
  const JobParameter* eta = find_parameter(parameters, "eta");
  if (eta == nullptr || eta->tuned == nullptr || !eta->tuned->real) {
    diagnostics.error("trainer.adapt_eta", "needs a learning rate in the search space, as a float", "leave it out");
  } else if (!spec.keep_best) {
    diagnostics.error("trainer.adapt_eta", "goes by a trial's best round, and `keep` is last", "leave it out, or use best");
  }
}

}  // namespace

const JobParameter* find_parameter(const std::vector<JobParameter>& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [name](const JobParameter& parameter) {
    const XgboostParameter* known = find_xgboost_parameter(parameter.name);
    return known != nullptr && known->name == name;
  });
  return found == parameters.end() ? nullptr : &*found;
}

bool takes(const std::vector<JobParameter>& parameters, std::string_view name, std::string_view value) {
  const JobParameter* parameter = find_parameter(parameters, name);
  return parameter != nullptr && std::find(parameter->values.begin(), parameter->values.end(), value) != parameter->values.end();
}

std::vector<JobParameter> job_parameters(const XgboostSpec& spec, const std::vector<TunedParameter>& tuned) {
  std::vector<JobParameter> all;
  for (const auto& [name, value] : spec.parameters) all.push_back({name, join_path(kFixedPath, name), nullptr, {value}});
  for (const TunedParameter& parameter : tuned) {
    all.push_back({parameter.name, join_path(kTunedPath, parameter.name), &parameter, parameter.values});
  }
  return all;
}

void check_parameters(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  check_names(parameters, diagnostics);
  check_machine(parameters, diagnostics);
  check_together(parameters, diagnostics);
  check_resume(spec, parameters, diagnostics);
  check_fidelity(spec, parameters, diagnostics);
  check_keep(spec, parameters, diagnostics);
  check_eta_adaptation(spec, parameters, diagnostics);
  check_categories(spec, parameters, diagnostics);
}

}  // namespace tuneband
