// What is in a job's labels and weights that does not suit what it trains for and measures.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "workers/data/data_check_parts.hpp"
#include "workers/data/data_folds.hpp"
#include "workers/data/label_check.hpp"

namespace tuneband::workers {

namespace {

// XGBoost's num_class; 0: not given.
int classes_given(const XgboostSpec& spec, const Json& job) {
  const auto values = values_of(spec, job, "num_class");
  const auto number = values.empty() ? std::nullopt : parse_number(values[0]);
  constexpr double kClassesMax = 1e6;
  return number && *number >= 0 && *number <= kClassesMax ? static_cast<int>(*number) : 0;
}

int classes_of(const XgboostSpec& spec, const Json& job, const LoadedTables& tables) {
  const int given = classes_given(spec, job);
  return given > 0 ? given : class_count(tables.encoding.label, data_labels(tables));
}

// Of the metrics the first that is NaN where a class is missing; "": none is.
std::string auc_among(const std::vector<std::string>& metrics) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [](const std::string& metric) { return metric == "auc" || metric == "aucpr"; });
  return found == metrics.end() ? "" : *found;
}

// Of the numbers below `classes` those that are no labels; "": all are.
std::string missing_classes(const std::set<float>& labels, int classes, const LabelColumn& column) {
  std::string list;
  std::size_t missing = 0;
  for (int label = 0; label < classes && missing <= kNamesShownMax; ++label) {
    if (labels.contains(static_cast<float>(label))) continue;
    const std::string name = ++missing > kNamesShownMax ? "..." : label_in_words(column, static_cast<float>(label));
    list += (list.empty() ? "" : ", ") + name;
  }
  return (missing > 1 ? "the classes " : missing == 1 ? "the class " : "") + list;
}

// A model has trees for each class, in vain for those that no row has.
void check_class_count(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  const std::set<float> labels(tables.train.labels.begin(), tables.train.labels.end());
  const int given = classes_given(spec, job);
  const int classes = classes_of(spec, job, tables);
  const std::size_t texts = tables.encoding.label.classes.size();
  if (texts > 0 && static_cast<std::size_t>(classes) > texts) {
    diagnostics.error(field_of(spec, "num_class"),
                      "is " + std::to_string(classes) + ", and the labels are of " + std::to_string(texts) + " classes",
                      "set it to " + std::to_string(texts));
    return;
  }
  const std::string missing = missing_classes(labels, classes, tables.encoding.label);
  if (missing.empty()) return;
  if (given == 0) {
    diagnostics.warning("trainer.data.label", "the training data has no row of " + missing + ", of which nothing is learnt",
                        "train with such rows, or leave them out everywhere");
    return;
  }
  const bool last = static_cast<float>(labels.size()) == *labels.rbegin() + 1;
  diagnostics.warning(field_of(spec, "num_class"),
                      "is " + std::to_string(classes) + ", and the training data has no row of " + missing,
                      last ? "set it to " + std::to_string(labels.size()) : "");
}

// "fold 1 of 5", of which `fold` counts from 0.
std::string fold_in_words(const LoadedTables& tables, int fold) {
  return "fold " + std::to_string(fold + 1) + " of " + std::to_string(tables.folds);
}

// Of the rows that a fold holds out.
std::set<float> labels_of_fold(const LoadedTables& tables, const std::vector<int>& folds, int fold) {
  std::set<float> labels;
  for (std::size_t row = 0; row < folds.size(); ++row) {
    if (folds[row] == fold) labels.insert(tables.train.labels[row]);
  }
  return labels;
}

// Of times without an event nothing can be measured. Where a fold has every event the others have none, so that what is left to
// learn from is looked at as well.
void check_events_of_folds(const XgboostObjective& objective, const LoadedTables& tables, const std::vector<int>& folds,
                           Diagnostics& diagnostics) {
  if (!knows_events(objective) || folds.empty()) return;
  for (int fold = 0; fold < tables.folds; ++fold) {
    if (*labels_of_fold(tables, folds, fold).rbegin() > 0) continue;
    diagnostics.error("trainer.data.folds",
                      fold_in_words(tables, fold) + " has no label above 0, which " + objective.name +
                          " takes for the time of an event: nothing can be measured there",
                      "use fewer folds or another seed");
    return;
  }
}

// Of more than two classes a rare one need not be in every fold, where what is measured can do without it. True: said what is
// wrong.
bool check_rare_classes(const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  std::map<float, int> rows_of_class;
  for (const float label : tables.train.labels) ++rows_of_class[label];
  std::string list;
  std::size_t rare = 0;
  for (const auto& [label, rows] : rows_of_class) {
    if (rows >= tables.folds || ++rare > kNamesShownMax + 1) continue;
    list += list.empty() ? "" : ", ";
    list += rare > kNamesShownMax ? "..." : label_in_words(tables.encoding.label, label) + " (" + std::to_string(rows) + ")";
  }
  if (rare == 0) return false;
  const std::string fault = "fewer rows than the " + std::to_string(tables.folds) + " folds have the classes: " + list;
  const std::string auc = auc_among(eval_metrics_for({}, objective_metric_of(job)));
  if (!auc.empty()) {
    diagnostics.error("trainer.data.folds", fault + ": " + auc + " will be NaN",
                      "leave their rows out, or measure something else");
    return true;
  }
  diagnostics.warning("trainer.data.folds", fault + ": what some folds measure says nothing of these",
                      "use fewer folds, or give more rows, where these classes matter");
  return false;
}

// Where rows that a model is judged by lack a class. `folds`: of each row of the training data its fold; empty: there are none.
void check_aucs(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, XgboostTask task,
                const std::vector<int>& folds, Diagnostics& diagnostics) {
  const int classes = classes_of(spec, job, tables);
  const std::string objective = objective_metric_of(job);
  const auto warn = [&](const std::set<float>& labels, const std::string& field, const std::string& part,
                        const std::string& auc) {
    std::string fault;
    if (task == XgboostTask::multiclass) {
      const std::string missing = missing_classes(labels, classes, tables.encoding.label);
      if (!missing.empty()) fault = part + " has no row of " + missing;
    } else if (labels.size() == 1) {
      fault = "every row of " + part + " has the label " + label_in_words(tables.encoding.label, *labels.begin());
    }
    if (fault.empty() || auc.empty()) return false;
    diagnostics.warning(field, fault + ": " + auc + " will be NaN", "hold out rows of each class, or measure something else");
    return true;
  };
  const auto labels_of = [](const Table& table) { return std::set<float>(table.labels.begin(), table.labels.end()); };
  const std::string measured = auc_among(eval_metrics_for(spec, objective));
  if (folds.empty()) warn(labels_of(tables.validation), "trainer.data.validation", "the validation data", measured);
  for (int fold = 0; fold < tables.folds && !folds.empty(); ++fold) {
    if (warn(labels_of_fold(tables, folds, fold), "trainer.data.folds", fold_in_words(tables, fold), measured)) break;
  }
  const std::string of_test = auc_among(eval_metrics_for({}, objective));
  if (tables.test.rows() > 0) warn(labels_of(tables.test), "trainer.data.test", "the test data", of_test);
}

// Metrics that are not defined for a label of the rows that models are judged by.
void check_defined(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  const std::vector<float>& labels = (tables.folds > 0 ? tables.train : tables.validation).labels;
  for (const std::string& metric : eval_metrics_for(spec, objective_metric_of(job))) {
    const bool of_none = metric == "mape" && std::ranges::count(labels, 0.0F) > 0;
    const bool of_low = metric == "rmsle" && std::ranges::any_of(labels, [](float label) { return label <= -1; });
    if (!of_none && !of_low) continue;
    diagnostics.warning("trainer.data.label",
                        of_none ? "some labels are 0, by which mape divides: it will be infinite"
                                : "some labels are -1 or less, of which rmsle has no logarithm: it will be NaN",
                        "measure mae or rmse");
  }
}

// Whether what is measured can be, of the rows that it is measured on.
Result<void> check_measured(const XgboostSpec& spec, const Json& job, const XgboostObjective& objective,
                            const DataLabels& labels) {
  const std::string of_job = objective_metric_of(job);
  const std::vector<std::string> measured = eval_metrics_for(spec, of_job);
  const auto check = [&objective](const std::vector<std::string>& metrics, const LabelFacts& facts, const std::string& rows) {
    return check_metrics_of_labels(objective, metrics, facts, rows);
  };
  if (spec.eval_train || spec.data.folds() > 0) {
    if (auto checked = check(measured, labels.train, "the training data"); !checked) return checked;
  }
  if (auto checked = check(measured, labels.validation, "the validation data"); !checked || !labels.test) return checked;
  return check(eval_metrics_for({}, of_job), *labels.test, "the test data");
}

// Of the fold of each row of the training data; nothing: it was said what is wrong.
std::optional<std::vector<int>> check_folds(const XgboostSpec& spec, const LoadedTables& tables, XgboostTask task,
                                            const DataLabels& labels, Diagnostics& diagnostics) {
  if (tables.folds == 0) return std::vector<int>();
  const auto folds =
      folds_of_rows(tables.train, std::get<FoldsSpec>(spec.data.validation), are_stratified(task, labels), tables.encoding.label);
  if (folds) return *folds;
  diagnostics.error(folds.error());
  return std::nullopt;
}

// XGBoost shifts 1 by a grade, an unsigned number of 32 bits.
void check_grades(const XgboostSpec& spec, const Json& job, const DataLabels& labels, Diagnostics& diagnostics) {
  constexpr float kGradeMax = 31;
  const auto is_ndcg = [](const std::string& name) { return name == "rank:ndcg" || name.starts_with("ndcg"); };
  const std::vector<std::string> metrics = eval_metrics_for(spec, objective_metric_of(job));
  if (std::ranges::none_of(objectives_of(spec, job), is_ndcg) && std::ranges::none_of(metrics, is_ndcg)) return;
  float most = std::max(labels.train.max, labels.validation.max);
  bool whole = labels.train.whole && labels.validation.whole;
  if (labels.test) {
    most = std::max(most, labels.test->max);
    whole = whole && labels.test->whole;
  }
  if (most > kGradeMax) {
    diagnostics.error("trainer.data.label", "has the label " + format_number(most) + ", and ndcg needs grades from 0 to 31",
                      "a grade counts 2^grade - 1: give 0 to 4, or use rank:map or rank:pairwise and map");
  } else if (!whole) {
    diagnostics.error("trainer.data.label", "has labels with fractions, and ndcg cuts grades to whole numbers",
                      "give whole grades from 0 to 31, or use rank:pairwise and map");
  }
}

// Some objectives would take -1 and 1 as 0 and 1, and some as they are.
void check_signs(const XgboostSpec& spec, const Json& job, const DataLabels& labels, Diagnostics& diagnostics) {
  if (!are_signs(labels) || !may_be(XgboostTask::binary, spec, job) || !may_be(XgboostTask::regression, spec, job)) return;
  diagnostics.error("trainer.data.label",
                    "the labels are -1 and 1, which count as 0 and 1 for binary objectives alone, and the job has others too",
                    "write 0 and 1");
}

// Of a column of weights check_trainer() says it.
void check_weights_in_rows(const XgboostSpec& spec, const XgboostObjective& objective, const DataLabels& labels,
                           Diagnostics& diagnostics) {
  const bool in_rows = labels.train.weights && spec.data.weight.empty();
  const std::string doubt = in_rows ? doubt_of_weights(objective) : "";
  if (!doubt.empty()) diagnostics.warning("trainer.data.label", "the rows have weights: " + doubt, kWeightsHint);
}

// What the second derivative of a row of weight 1 is at most; nothing: not known.
std::optional<double> curvature_max(const std::string& objective) {
  if (objective == "reg:squarederror") return 1;
  if (objective == "binary:logistic" || objective == "binary:logitraw" || objective == "reg:logistic") return 0.25;
  if (objective.starts_with("multi:")) return 0.5;
  return std::nullopt;
}

}  // namespace

void check_objectives(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  const DataLabels found = data_labels(tables);
  check_grades(spec, job, found, diagnostics);
  check_signs(spec, job, found, diagnostics);
  check_defined(spec, job, tables, diagnostics);
  bool signs_told = false;
  std::set<XgboostTask> tasks;  // whose classes were looked at
  for (const std::string& name : objectives_of(spec, job)) {
    const auto* objective = find_xgboost_objective(name);
    if (objective == nullptr) continue;  // said by check_trainer()
    check_weights_in_rows(spec, *objective, found, diagnostics);
    const bool signs = objective->task == XgboostTask::binary && are_signs(found);
    const DataLabels labels = signs ? labels_of_signs(found) : found;
    if (signs && !std::exchange(signs_told, true)) {
      diagnostics.warning("trainer.data.label", "the labels are -1 and 1, and " + name + " needs 0 and 1: -1 counts as 0",
                          "a model's predictions are the probability of 1");
    }
    auto checked =
        check_labels(*objective, classes_given(spec, job), tables.encoding.label, labels, tables.rows_of_all.has_value());
    if (checked) checked = check_measured(spec, job, *objective, labels);
    if (!checked) diagnostics.error(checked.error());
    if (!checked || tables.rows_of_all) continue;
    const auto folds = check_folds(spec, tables, objective->task, labels, diagnostics);
    if (folds) check_events_of_folds(*objective, tables, *folds, diagnostics);
    if (!folds || !tells_classes_apart(objective->task) || !tasks.insert(objective->task).second) continue;
    if (objective->task == XgboostTask::multiclass) {
      check_class_count(spec, job, tables, diagnostics);
      if (check_rare_classes(job, tables, diagnostics)) continue;
    }
    check_aucs(spec, job, tables, objective->task, *folds, diagnostics);
  }
}

// A leaf has at least min_child_weight of weights times second derivatives, so that of small weights no tree has a split.
void check_weights(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  if (tables.train.weights.empty() || !values_of(spec, job, "scale_pos_weight").empty()) return;
  const double share = share_read(tables);
  const double sum = std::accumulate(tables.train.weights.begin(), tables.train.weights.end(), 0.0) / share;
  if (sum >= static_cast<double>(tables.train.rows()) / share) return;  // of as many rows without weights it is the same
  const double least = bound_of(spec, job, "min_child_weight", "min", kMinChildWeightDefault);
  for (const std::string& objective : objectives_of(spec, job)) {
    const auto curvature = curvature_max(objective);
    if (!curvature || sum * *curvature >= 2 * least) continue;
    diagnostics.warning("trainer.data.weight",
                        "the training rows' weights sum to " + short_number(sum) + ": with a min_child_weight of " +
                            short_number(least) + " or more no tree of " + objective + " can split",
                        "multiply them so that their mean is 1, or lower min_child_weight");
    return;
  }
}

}  // namespace tuneband::workers
