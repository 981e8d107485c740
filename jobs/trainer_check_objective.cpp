// What XGBoost trains for, and what is measured of it.
#include <algorithm>
#include <array>

#include "core/ascii.hpp"
#include "core/text.hpp"
#include "jobs/path_text.hpp"
#include "jobs/trainer_check_parts.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

void check_classes(const std::vector<JobParameter>& parameters, const XgboostObjective& objective, const std::string& path,
                   Diagnostics& diagnostics) {
  const JobParameter* classes = find_parameter(parameters, "num_class");
  const auto count = classes != nullptr && classes->values.size() == 1 ? parse_number(classes->values[0]) : std::nullopt;
  if (objective.task == XgboostTask::multiclass) {
    if (classes != nullptr && (!count || *count < 2)) {
      diagnostics.error(classes->path, objective.name + " needs one fixed number of classes, 2 or more",
                        "leave it out, and the labels tell");
    }
  } else if (classes != nullptr && count != 0.0) {
    diagnostics.error(classes->path, "is for multi:softmax and multi:softprob, not for " + objective.name, "leave it out");
  }
  if (objective.name == "survival:aft") {
    diagnostics.error(path, "survival:aft needs labels that are intervals, which are not supported");
  }
}

// XGBoost starts from its logit or its logarithm.
void check_base_score(const std::vector<JobParameter>& parameters, const XgboostObjective& objective, Diagnostics& diagnostics) {
  const JobParameter* score = find_parameter(parameters, "base_score");
  if (score == nullptr || objective.link == XgboostLink::identity) return;
  const bool of_logarithm = objective.link == XgboostLink::logarithm;
  const auto check = [&](const std::string& path, double value) {
    if (value > 0 && (value < 1 || of_logarithm)) return;
    diagnostics.error(path, std::string("expected a number ") + (of_logarithm ? "above 0" : "between 0 and 1 (both excluded)") +
                                " for " + objective.name + ", got " + format_number(value));
  };
  for (const std::string& value : score->values) {
    if (const auto number = parse_number(value)) check(score->path, *number);
  }
  if (score->tuned == nullptr) return;
  if (score->tuned->min) check(join_path(score->path, "min"), *score->tuned->min);
  if (score->tuned->max) check(join_path(score->path, "max"), *score->tuned->max);
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

// Of weights in LibSVM files check_data() says it.
void check_weight_column(const XgboostSpec& spec, const XgboostObjective& objective, Diagnostics& diagnostics) {
  const std::string doubt = spec.data.weight.empty() ? "" : doubt_of_weights(objective);
  if (!doubt.empty()) diagnostics.warning("trainer.data.weight", doubt, kWeightsHint);
}

// What XGBoost measures in place of a metric that it lacks.
std::string metrics_instead_of(const std::string& name) {
  const std::string lower = lower_case(name);
  if (lower == "accuracy" || lower == "acc") return "minimize `error`, or of more classes `merror`, which is 1 less the accuracy";
  const std::string meant = did_you_mean(name, xgboost_metric_names());
  return meant.empty() ? "it has " + join_and(xgboost_metric_names()) : meant;
}

void tell_unknown_metric(const std::string& name, const std::string& path, Diagnostics& diagnostics) {
  if (const std::string fault = fault_of_suffix(name); !fault.empty()) {
    diagnostics.error(path, fault);
  } else {
    diagnostics.error(path, "XGBoost has no metric `" + name + "`", metrics_instead_of(name));
  }
}

void check_eval_metrics(const XgboostSpec& spec, const XgboostObjective* objective, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < spec.eval_metrics.size(); ++i) {
    const std::string& name = spec.eval_metrics[i];
    const std::string path = spec.eval_metrics.size() == 1 ? "trainer.eval_metric" : join_path("trainer.eval_metric", i);
    const XgboostMetric* metric = find_xgboost_metric(name);
    if (metric == nullptr) {
      tell_unknown_metric(name, path, diagnostics);
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

// Whose values are no measure of what is searched for, and fit the range of one all the same.
void check_what_is_measured(const XgboostMetric& metric, const XgboostObjective* objective, const std::string& path,
                            const std::vector<JobParameter>& parameters, Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 3> kOfQueries{"ndcg", "map", "pre"};
  const bool of_queries = std::find(kOfQueries.begin(), kOfQueries.end(), metric.name) != kOfQueries.end();
  if (of_queries && objective != nullptr && objective->task != XgboostTask::ranking) {
    diagnostics.warning(path, "`" + metric.name + "` is of all rows as one query: only the rank: objectives know queries",
                        "train a rank: objective");
  }
  const bool of_probabilities = metric.name == "logloss" || metric.name == "error";
  if (of_probabilities && objective != nullptr && objective->name == "binary:logitraw") {
    diagnostics.error(path, "`" + metric.name + "` takes predictions for probabilities, and those of binary:logitraw are margins",
                      "train binary:logistic, or measure auc");
  }
  const JobParameter* slope = find_parameter(parameters, "huber_slope");
  if (metric.name == "mphe" && slope != nullptr && slope->values.size() != 1) {
    diagnostics.error(slope->path, "`mphe` is measured with each trial's own huber_slope, so that the smallest one looks best",
                      "fix it, or measure mae or rmse");
  }
}

void check_metric(const XgboostSpec& spec, const XgboostObjective* objective, const std::vector<JobParameter>& parameters,
                  const MetricOfJob& asked, const MetricOfJob& first, Diagnostics& diagnostics) {
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
    tell_unknown_metric(metric_name, asked.path, diagnostics);
    return;
  }
  if (const std::string reported = reported_name(metric_name); reported != metric_name) {
    diagnostics.error(asked.path, "XGBoost reports `" + metric_name + "` as `" + reported + "`", "call it so");
    return;
  }
  check_direction(*metric, asked, diagnostics);
  check_what_is_measured(*metric, objective, asked.path, parameters, diagnostics);
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
  constexpr std::array<std::string_view, 2> kOfMore{"merror", "mlogloss"};
  for (const std::string& name : eval_metrics_for(spec, first.name)) {
    const XgboostMetric* metric = find_xgboost_metric(name);
    if (metric == nullptr) continue;
    const bool of_more = std::find(kOfMore.begin(), kOfMore.end(), metric->name) != kOfMore.end();
    if (!of_more && !measures_two_classes(*metric)) continue;
    diagnostics.warning(join_path(kFixedPath, "objective"),
                        "is not set: XGBoost trains a regression (" + std::string(kXgboostObjectiveDefault) + "), and `" + name +
                            "` is for classes",
                        of_more ? "set multi:softprob" : "set binary:logistic");
    return;
  }
}

}  // namespace

void check_objective(const XgboostSpec& spec, const std::vector<JobParameter>& parameters,
                     const std::vector<MetricOfJob>& metrics, Diagnostics& diagnostics) {
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
    check_weight_column(spec, *objective, diagnostics);
  }
  const XgboostObjective* only = names.size() == 1 ? find_xgboost_objective(names[0]) : nullptr;
  check_eval_metrics(spec, only, diagnostics);
  for (const MetricOfJob& asked : metrics) check_metric(spec, only, parameters, asked, metrics.front(), diagnostics);
}

}  // namespace tuneband
