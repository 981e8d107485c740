// check_trainer(): the trainer, the search space and the objective against each other.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/text.hpp"
#include "jobs/path_text.hpp"
#include "jobs/trainer_spec.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

constexpr const char* kFixedPath = "trainer.parameters";
constexpr const char* kTunedPath = "search_space";

// A parameter of the job, wherever it stands, with every value that is named in the document.
struct JobParameter {
  std::string name;
  std::string path;
  const TunedParameter* tuned = nullptr;  // null: fixed
  std::vector<std::string> values;        // fixed: one; tuned: the categories
};

std::vector<JobParameter> job_parameters(const XgboostSpec& spec, const std::vector<TunedParameter>& tuned) {
  std::vector<JobParameter> all;
  for (const auto& [name, value] : spec.parameters) all.push_back({name, join_path(kFixedPath, name), nullptr, {value}});
  for (const TunedParameter& parameter : tuned) {
    all.push_back({parameter.name, join_path(kTunedPath, parameter.name), &parameter, parameter.values});
  }
  return all;
}

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

void check_machine(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string_view name, std::string_view value, const std::string& instead) {
    if (!takes(parameters, name, value)) return;
    diagnostics.error(find_parameter(parameters, name)->path,
                      "`" + std::string(value) + "` needs a GPU, and XGBoost here is built without", "use " + instead);
  };
  refuse("tree_method", "gpu_hist", "hist");
  refuse("predictor", "gpu_predictor", "cpu_predictor");
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

// What a trial cannot be paused and resumed with, bit for bit.
void check_resume(const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  if (takes(parameters, "process_type", "update")) {
    diagnostics.error(find_parameter(parameters, "process_type")->path,
                      "`update` changes the trees of a model, and a trial starts without one");
  }
  if (const JobParameter* updater = find_parameter(parameters, "updater")) {
    diagnostics.warning(updater->path,
                        "with `updater` a trial that was paused may go on a little differently than one that never was");
  }
  for (const char* off : {"false", "0"}) {
    if (takes(parameters, "seed_per_iteration", off)) {
      diagnostics.warning(find_parameter(parameters, "seed_per_iteration")->path,
                          "is always on, so that a paused trial goes on as if it never was");
    }
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
                        "`best` needs a model that can be cut to its first rounds, and `booster` may be " + std::string(booster),
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

void check_classes(const std::vector<JobParameter>& parameters, const XgboostObjective& objective, const std::string& path,
                   Diagnostics& diagnostics) {
  const JobParameter* classes = find_parameter(parameters, "num_class");
  const auto count = classes != nullptr && classes->values.size() == 1 ? parse_number(classes->values[0]) : std::nullopt;
  if (objective.task == XgboostTask::multiclass) {
    if (classes == nullptr) {
      diagnostics.error(join_path(kFixedPath, "num_class"), "is missing: " + objective.name + " needs the number of classes");
    } else if (!count || *count < 2) {
      diagnostics.error(classes->path, objective.name + " needs one fixed number of classes, 2 or more");
    }
  } else if (classes != nullptr && count != 0.0) {
    diagnostics.error(classes->path, "is for multi:softmax and multi:softprob, not for " + objective.name, "leave it out");
  }
  if (objective.name == "survival:aft") {
    diagnostics.error(path, "survival:aft needs labels that are intervals, which are not supported");
  }
}

void check_base_score(const std::vector<JobParameter>& parameters, const XgboostObjective& objective, Diagnostics& diagnostics) {
  const JobParameter* score = find_parameter(parameters, "base_score");
  if (score == nullptr ||
      !(objective.name == "binary:logistic" || objective.name == "binary:logitraw" || objective.name == "reg:logistic"))
    return;
  for (const std::string& value : score->values) {
    const auto number = parse_number(value);
    if (number && !(*number > 0 && *number < 1)) {
      diagnostics.error(score->path,
                        "expected a number between 0 and 1 (both excluded) for " + objective.name + ", got " + value);
    }
  }
}

void check_ranking_data(const XgboostSpec& spec, const XgboostObjective& objective, const std::string& path,
                        Diagnostics& diagnostics) {
  if (objective.task != XgboostTask::ranking) return;
  if (spec.data.format == DataFormat::csv && spec.data.group.empty())
    diagnostics.error(path, objective.name + " needs queries", "name their column in trainer.data.group");
  if (!spec.data.weight.empty()) {
    diagnostics.error("trainer.data.weight",
                      "cannot be used with " + objective.name + ", where XGBoost weighs queries, not rows");
  }
}

// Rows of a group stay together, whatever their classes.
void check_strata(const DataSpec& data, Diagnostics& diagnostics) {
  const auto refuse = [&](const SplitSpec* split, const char* field) {
    if (split == nullptr || !split->stratified || data.group.empty()) return;
    diagnostics.error(join_path(field, "stratify"), "cannot be true where trainer.data.group is set", "leave one of them out");
  };
  refuse(data.validation_split(), "trainer.data.validation");
  refuse(data.test_split(), "trainer.data.test");
}

void check_files_differ(const DataSpec& data, Diagnostics& diagnostics) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const auto [before, is_new] = first.emplace(data.train[i], i);
    if (is_new) continue;
    diagnostics.warning(join_path("trainer.data.train", i),
                        "is " + join_path("trainer.data.train", before->second) +
                            " again: its rows count twice, and copies of them come to both sides of a split",
                        "name each file once");
  }
}

// Rows that a trial trained on say nothing of others.
void check_held_out_rows(const DataSpec& data, Diagnostics& diagnostics) {
  const auto warn = [&](const std::string* file, const char* field, const char* what) {
    if (file == nullptr || std::find(data.train.begin(), data.train.end(), *file) == data.train.end()) return;
    diagnostics.warning(field, "is a file of trainer.data.train: " + std::string(what) + " by rows that the trials train on",
                        "give other rows, or leave it out for a share of them");
  };
  warn(data.validation_file(), "trainer.data.validation", "trials are judged");
  warn(data.test_file(), "trainer.data.test", "the best one is judged");
  if (data.test_file() != nullptr && data.validation_file() != nullptr && *data.test_file() == *data.validation_file()) {
    diagnostics.warning("trainer.data.test", "is the file of trainer.data.validation: the best one was chosen by these rows");
  }
}

void check_eval_metrics(const XgboostSpec& spec, const XgboostObjective* objective, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < spec.eval_metrics.size(); ++i) {
    const std::string& name = spec.eval_metrics[i];
    const std::string path = spec.eval_metrics.size() == 1 ? "trainer.eval_metric" : join_path("trainer.eval_metric", i);
    const XgboostMetric* metric = find_xgboost_metric(name);
    if (metric == nullptr) {
      diagnostics.error(path, "XGBoost has no metric `" + name + "`", did_you_mean(name, xgboost_metric_names()));
    } else if (const std::string reported = reported_name(name); reported != name) {
      diagnostics.error(path, "XGBoost reports `" + name + "` as `" + reported + "`", "call it so, here and in the objective");
    } else if (objective != nullptr) {
      if (const std::string fault = fault_of_metric(*metric, *objective); !fault.empty()) diagnostics.error(path, fault);
    }
    if (std::find(spec.eval_metrics.begin(), spec.eval_metrics.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        spec.eval_metrics.begin() + static_cast<std::ptrdiff_t>(i)) {
      diagnostics.error(path, "`" + name + "` is named twice");
    }
  }
}

std::vector<std::string> observed_names(const XgboostSpec& spec) {
  std::vector<std::string> names;
  for (const std::string& metric : spec.eval_metrics) {
    names.push_back("validation-" + metric);
    if (spec.eval_train) names.push_back("train-" + metric);
  }
  return names;
}

void check_direction(const XgboostMetric& metric, const MetricOfJob& asked, Diagnostics& diagnostics) {
  if (!asked.maximize || metric.maximize == *asked.maximize) return;
  diagnostics.warning(asked.path.substr(0, asked.path.rfind('.') + 1) + "goal",
                      "`" + metric.name + "` is better when it is " + (metric.maximize ? "higher" : "lower") +
                          ", and the goal is to " + (*asked.maximize ? "maximize" : "minimize") + " it");
}

void check_metric(const XgboostSpec& spec, const XgboostObjective* objective, const MetricOfJob& asked, const MetricOfJob& first,
                  Diagnostics& diagnostics) {
  const std::string& name = asked.name;
  if (spec.data.folds() > 0 && name == first.name + kStandardErrorEnding) return;
  const bool of_validation = name.starts_with("validation-");
  const bool of_training = name.starts_with("train-");
  if (!of_validation && !of_training) {
    const std::string behind_prefix = name.substr(name.find_first_of("-_:/. ") + 1);  // "valid-auc", "val_auc", "auc"
    const bool meant = find_xgboost_metric(behind_prefix) != nullptr;
    diagnostics.error(asked.path, "expected `validation-` and a metric of XGBoost, such as validation-auc, got " + excerpt(name),
                      meant ? "did you mean `validation-" + behind_prefix + "`?" : did_you_mean(name, observed_names(spec)));
    return;
  }
  if (of_training && !spec.eval_train) {
    diagnostics.error(asked.path, "`" + name + "` is measured only with trainer.eval_train",
                      "set trainer.eval_train to true, or use validation-" + name.substr(std::string_view("train-").size()));
  }
  const std::string metric_name = name.substr(name.find('-') + 1);
  const XgboostMetric* metric = find_xgboost_metric(metric_name);
  if (metric == nullptr) {
    diagnostics.error(asked.path, "XGBoost has no metric `" + metric_name + "`",
                      did_you_mean(metric_name, xgboost_metric_names()));
    return;
  }
  if (const std::string reported = reported_name(metric_name); reported != metric_name) {
    diagnostics.error(asked.path, "XGBoost reports `" + metric_name + "` as `" + reported + "`", "call it so");
    return;
  }
  check_direction(*metric, asked, diagnostics);
  const std::vector<std::string> measured = eval_metrics_for(spec, first.name);
  if (std::find(measured.begin(), measured.end(), metric_name) == measured.end()) {
    diagnostics.error(asked.path,
                      "`" + metric_name + "` is not among trainer.eval_metric (" + one_of(measured) +
                          (spec.eval_metrics.empty() ? ": the objective's, as none is given" : "") + ")",
                      spec.eval_metrics.empty() ? "give trainer.eval_metric, with both" : "add it there");
  } else if (objective != nullptr && spec.eval_metrics.empty()) {
    if (const std::string fault = fault_of_metric(*metric, *objective); !fault.empty()) diagnostics.error(asked.path, fault);
  }
}

// What is not said trains, and measures something else than its user thinks.
void check_default_objective(const XgboostSpec& spec, const MetricOfJob& first, Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 4> kOfTwo{"logloss", "error", "auc", "aucpr"};
  constexpr std::array<std::string_view, 2> kOfMore{"merror", "mlogloss"};
  for (const std::string& name : eval_metrics_for(spec, first.name)) {
    const XgboostMetric* metric = find_xgboost_metric(name);
    if (metric == nullptr) continue;
    const bool of_more = std::find(kOfMore.begin(), kOfMore.end(), metric->name) != kOfMore.end();
    if (!of_more && std::find(kOfTwo.begin(), kOfTwo.end(), metric->name) == kOfTwo.end()) continue;
    diagnostics.warning(join_path(kFixedPath, "objective"),
                        "is not set: XGBoost trains a regression (" + std::string(kXgboostObjectiveDefault) + "), and `" + name +
                            "` is for classes",
                        of_more ? "set multi:softprob, and num_class" : "set binary:logistic");
    return;
  }
}

// Parts of XGBoost that do not work together with other ranks, or work otherwise.
void check_distribution(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, const MetricOfJob& first,
                        int replicas, Diagnostics& diagnostics) {
  const auto with_replicas = "with " + std::to_string(replicas) + " replicas";
  const auto alone = "cannot be distributed, and a trial has " + std::to_string(replicas) + " replicas";
  const auto refuse = [&](const char* name, const char* value, const char* hint) {
    if (!takes(parameters, name, value)) return;
    diagnostics.error(find_parameter(parameters, name)->path, "`" + std::string(value) + "` " + alone, hint);
  };
  refuse("tree_method", "exact", "leave tree_method out to get hist");
  refuse("booster", "gblinear", "");
  refuse("objective", "survival:cox", "");
  if (spec.data.folds() > 0) {
    diagnostics.error("trainer.data.folds", "cross-validation " + alone, "use a validation file or fraction");
  }
  for (const char* slow : {"approx", "auto"}) {
    if (!takes(parameters, "tree_method", slow)) continue;
    diagnostics.warning(find_parameter(parameters, "tree_method")->path,
                        with_replicas + " `" + slow + "` makes its sketch of the data anew, together, in every round",
                        "leave tree_method out to get hist");
  }
  if (const JobParameter* updater = find_parameter(parameters, "updater")) {
    for (const std::string& value : updater->values) {
      for (const char* by_column : {"grow_colmaker", "shotgun", "coord_descent"}) {
        if (value.find(by_column) != std::string::npos)
          diagnostics.error(updater->path, "`" + std::string(by_column) + "` " + alone);
      }
    }
  }
  for (const std::string& metric : eval_metrics_for(spec, first.name)) {
    const XgboostMetric* known = find_xgboost_metric(metric);
    if (known == nullptr || !(known->name == "ams" || known->name == "cox-nloglik")) continue;
    diagnostics.error(spec.eval_metrics.empty() ? first.path : "trainer.eval_metric", "`" + metric + "` " + alone);
  }
  if (spec.sharding == Sharding::files && spec.data.train.size() < static_cast<std::size_t>(replicas)) {
    diagnostics.error("trainer.sharding",
                      "expected at least " + std::to_string(replicas) +
                          " files in trainer.data.train, one for each of the replicas, got " +
                          std::to_string(spec.data.train.size()),
                      "use rows");
  }
}

void check_xgboost(const XgboostSpec& spec, std::vector<TunedParameter> tuned, const std::vector<MetricOfJob>& metrics,
                   int replicas_max, Diagnostics& diagnostics) {
  std::erase_if(tuned, [](const TunedParameter& parameter) { return parameter.name == kReplicasParameter; });
  const std::vector<JobParameter> parameters = job_parameters(spec, tuned);
  check_names(parameters, diagnostics);
  check_machine(parameters, diagnostics);
  check_resume(parameters, diagnostics);
  check_fidelity(spec, parameters, diagnostics);
  check_keep(spec, parameters, diagnostics);
  check_eta_adaptation(spec, parameters, diagnostics);
  check_categories(spec, parameters, diagnostics);
  check_files_differ(spec.data, diagnostics);
  check_held_out_rows(spec.data, diagnostics);
  check_strata(spec.data, diagnostics);
  if (replicas_max > 1) check_distribution(spec, parameters, metrics.front(), replicas_max, diagnostics);

  const JobParameter* chosen = find_parameter(parameters, "objective");
  const std::string path = chosen == nullptr ? join_path(kFixedPath, "objective") : chosen->path;
  if (chosen == nullptr) check_default_objective(spec, metrics.front(), diagnostics);
  const std::vector<std::string> names = chosen == nullptr ? std::vector<std::string>{kXgboostObjectiveDefault} : chosen->values;
  for (const std::string& name : names) {
    const XgboostObjective* objective = find_xgboost_objective(name);
    if (objective == nullptr) continue;
    check_classes(parameters, *objective, path, diagnostics);
    check_base_score(parameters, *objective, diagnostics);
    check_ranking_data(spec, *objective, path, diagnostics);
  }
  const XgboostObjective* only = names.size() == 1 ? find_xgboost_objective(names[0]) : nullptr;
  check_eval_metrics(spec, only, diagnostics);
  for (const MetricOfJob& asked : metrics) check_metric(spec, only, asked, metrics.front(), diagnostics);
}

const std::vector<std::string>& builtin_placeholders() {
  static const std::vector<std::string> names{
      "resource", "from_resource", "until_resource", "max_resource", "checkpoint_dir", "parameters_file", "trial_dir",
      "seed",     "job",           "trial",          "attempt",      "rank",           "world_size",      "replicas"};
  return names;
}

bool placeholder_character(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return alphanumeric || c == '_' || c == '-' || c == '.';
}

// The names in braces; "{{" is a brace itself, and braces around what cannot be a name are text.
std::vector<std::string> placeholders_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    const std::size_t begin = ++i;
    if (text[begin] == '{') continue;
    std::size_t end = begin;
    while (placeholder_character(text[end])) ++end;  // a NUL byte ends the text, and is none
    if (end > begin && text[end] == '}') names.push_back(text.substr(begin, end - begin));
  }
  return names;
}

// Each parameter is in the command's environment too, under a name with fewer characters.
void check_variables(const std::vector<TunedParameter>& tuned, Diagnostics& diagnostics) {
  std::map<std::string, std::string> parameters;
  for (const TunedParameter& parameter : tuned) {
    const auto [other, fresh] = parameters.emplace(variable_of_parameter(parameter.name), parameter.name);
    if (fresh) continue;
    diagnostics.warning(join_path("search_space", parameter.name),
                        "has the environment variable " + other->first + " in common with `" + other->second +
                            "`: it holds the value of one of them",
                        "rename one, or read the parameters from argv or {parameters_file}");
  }
}

void check_command(const CommandSpec& spec, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics) {
  if (!spec.argv.empty()) {
    if (const auto unsupported = unsupported_path(spec.argv.front()))
      diagnostics.error("trainer.argv[0]", unsupported->message, unsupported->hint);
  }
  for (std::size_t i = 1; i < spec.argv.size(); ++i) {
    if (spec.argv[i].starts_with("~/")) {
      diagnostics.warning(join_path("trainer.argv", i), "`~` is passed on as it is: no shell takes part that would replace it");
    }
  }
  std::vector<std::string> known = builtin_placeholders();
  for (const TunedParameter& parameter : tuned) known.push_back(parameter.name);
  for (std::size_t i = 0; i < spec.argv.size(); ++i) {
    for (const std::string& name : placeholders_in(spec.argv[i])) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string meant = did_you_mean(name, known);
      diagnostics.error(join_path("trainer.argv", i), "`{" + name + "}` is no parameter of the search space",
                        meant.empty() ? "write {{" + name + "}} for the braces themselves" : meant);
    }
  }
  check_variables(tuned, diagnostics);
  std::vector<std::string> printed;
  for (const MetricPattern& pattern : spec.metrics) printed.push_back(pattern.name);
  const bool any_name = printed.empty() || std::find(printed.begin(), printed.end(), "") != printed.end();
  for (const MetricOfJob& asked : metrics) {
    if (any_name || std::find(printed.begin(), printed.end(), asked.name) != printed.end()) continue;
    diagnostics.error(asked.path, "`" + asked.name + "` is not among trainer.metrics (" + one_of(printed) + ")",
                      did_you_mean(asked.name, printed));
  }
}

TunedParameter tuned_parameter(const Parameter& parameter) {
  TunedParameter result;
  result.name = parameter.name;
  const auto add_value = [&](const Value& value) {
    result.values.push_back(to_string(value));
    result.text = result.text || std::holds_alternative<std::string>(value);
  };
  if (const auto* domain = std::get_if<FloatDomain>(&parameter.domain)) {
    result.real = true;
    result.min = domain->min;
    result.max = domain->max;
  } else if (const auto* integers = std::get_if<IntDomain>(&parameter.domain)) {
    result.min = static_cast<double>(integers->min);
    result.max = static_cast<double>(integers->max);
  } else if (const auto* categories = std::get_if<CategoricalDomain>(&parameter.domain)) {
    for (const Value& value : categories->values) add_value(value);
  } else {
    add_value(std::get<FixedDomain>(parameter.domain).value);
  }
  return result;
}

}  // namespace

std::vector<TunedParameter> tuned_parameters(const SearchSpace& space) {
  std::vector<TunedParameter> tuned;
  for (const Parameter& parameter : space.parameters()) tuned.push_back(tuned_parameter(parameter));
  return tuned;
}

void check_trainer(const TrainerSpec& trainer, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics, int replicas_max) {
  if (const auto* xgboost = std::get_if<XgboostSpec>(&trainer)) {
    check_xgboost(*xgboost, tuned, metrics, replicas_max, diagnostics);
  } else {
    check_command(std::get<CommandSpec>(trainer), tuned, metrics, diagnostics);
  }
}

}  // namespace tuneband
