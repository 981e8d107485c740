#include "workers/data/data_check.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "os/control_group.hpp"
#include "workers/data/data_folds.hpp"
#include "workers/data/data_queries.hpp"
#include "workers/data/data_shards.hpp"
#include "workers/data/data_table.hpp"
#include "workers/data/feature_places.hpp"
#include "workers/data/id_columns.hpp"
#include "workers/data/label_check.hpp"
#include "workers/data/model_features.hpp"
#include "workers/data/text_forms.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kColumnsShownMax = 8;

std::string text_of_scalar(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Every value that the job gives a parameter, fixed in the trainer or in the search space, or chosen from.
std::vector<std::string> values_of(const XgboostSpec& spec, const Json& job, const std::string& name) {
  for (const auto& [fixed, value] : spec.parameters) {
    if (fixed == name) return {value};
  }
  const auto space = job.find("search_space");
  if (space == job.end() || !space->is_object()) return {};
  const Json domain = space->value(name, Json());
  if (domain.is_string() || domain.is_number()) return {text_of_scalar(domain)};
  if (!domain.is_object()) return {};
  std::vector<std::string> values;
  if (domain.contains("value")) values.push_back(text_of_scalar(domain["value"]));
  for (const Json& value : domain.value("values", Json::array())) values.push_back(text_of_scalar(value));
  return values;
}

// Of a parameter that the job gives.
std::string field_of(const XgboostSpec& spec, const std::string& name) {
  const bool fixed =
      std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const auto& parameter) { return parameter.first == name; });
  return (fixed ? "trainer.parameters." : "search_space.") + name;
}

int class_count(const XgboostSpec& spec, const Json& job) {
  const auto values = values_of(spec, job, "num_class");
  const auto number = values.empty() ? std::nullopt : parse_number(values[0]);
  constexpr double kClassesMax = 1e6;
  return number && *number >= 0 && *number <= kClassesMax ? static_cast<int>(*number) : 0;
}

std::vector<std::string> objectives_of(const XgboostSpec& spec, const Json& job) {
  std::vector<std::string> names = values_of(spec, job, "objective");
  return names.empty() ? std::vector<std::string>{kXgboostObjectiveDefault} : names;
}

bool may_be(XgboostTask task, const XgboostSpec& spec, const Json& job) {
  const std::vector<std::string> names = objectives_of(spec, job);
  return std::any_of(names.begin(), names.end(), [task](const std::string& name) {
    const auto* objective = find_xgboost_objective(name);
    return objective != nullptr && objective->task == task;
  });
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
  for (int label = 0; label < classes && missing <= kColumnsShownMax; ++label) {
    if (labels.contains(static_cast<float>(label))) continue;
    const std::string name = ++missing > kColumnsShownMax ? "..." : label_in_words(column, static_cast<float>(label));
    list += (list.empty() ? "" : ", ") + name;
  }
  return (missing > 1 ? "the classes " : missing == 1 ? "the class " : "") + list;
}

// A model has trees for each class, in vain for those that no row has.
void check_class_count(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  const std::set<float> labels(tables.train.labels.begin(), tables.train.labels.end());
  const int classes = class_count(spec, job);
  const std::string missing = missing_classes(labels, classes, tables.encoding.label);
  if (missing.empty()) return;
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

// Where rows that a model is judged by lack a class. `folds`: of each row of the training data its fold; empty: there are none.
void check_aucs(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, XgboostTask task,
                const std::vector<int>& folds, Diagnostics& diagnostics) {
  const std::string objective = objective_metric_of(job);
  const auto warn = [&](const std::set<float>& labels, const std::string& field, const std::string& part,
                        const std::string& auc) {
    std::string fault;
    if (task == XgboostTask::multiclass) {
      const std::string missing = missing_classes(labels, class_count(spec, job), tables.encoding.label);
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
        check_labels(*objective, class_count(spec, job), tables.encoding.label, labels, tables.rows_of_all.has_value());
    if (checked) checked = check_measured(spec, job, *objective, labels);
    if (!checked) diagnostics.error(checked.error());
    if (!checked || tables.rows_of_all) continue;
    const auto folds = check_folds(spec, tables, objective->task, labels, diagnostics);
    if (folds) check_events_of_folds(*objective, tables, *folds, diagnostics);
    if (!folds || !tells_classes_apart(objective->task) || !tasks.insert(objective->task).second) continue;
    if (objective->task == XgboostTask::multiclass) check_class_count(spec, job, tables, diagnostics);
    check_aucs(spec, job, tables, objective->task, *folds, diagnostics);
  }
}

// What ranks share out.
std::string parts_text(const LoadedTables& tables, Sharding sharding) {
  if (sharding == Sharding::files) return std::to_string(tables.train.file_ends.size()) + " files";
  const std::size_t queries = tables.train.query_sizes.size();
  return queries == 0 ? std::to_string(tables.train.rows()) + " rows" : std::to_string(queries) + " queries";
}

// What each rank of a group would have to train on.
void check_shards(const XgboostSpec& spec, const Json& job, int replicas, const LoadedTables& tables, Diagnostics& diagnostics) {
  const std::set<float> classes(tables.train.labels.begin(), tables.train.labels.end());
  const bool classified = may_be(XgboostTask::binary, spec, job) || may_be(XgboostTask::multiclass, spec, job);
  bool warned = false;
  for (int rank = 0; rank < replicas; ++rank) {
    const Table shard = shard_of(tables, spec.sharding, rank, replicas);
    const std::string whose = "of " + std::to_string(replicas) + " replicas, rank " + std::to_string(rank) + " would have ";
    if (shard.rows() == 0) {
      diagnostics.error("trainer.replicas", whose + "no row to train on: there are " + parts_text(tables, spec.sharding),
                        "use fewer replicas");
      return;
    }
    const std::set<float> here(shard.labels.begin(), shard.labels.end());
    if (!classified || here.size() == classes.size() || std::exchange(warned, true)) continue;
    diagnostics.warning(
        "trainer.replicas",
        whose + std::to_string(here.size()) + " of the " + std::to_string(classes.size()) + " classes in its rows",
        "use fewer replicas, or rows in another order");
  }
}

// Whether categories may be native: check_trainer() refuses the rest.
bool splits_by_categories(const XgboostSpec& spec, const Json& job) {
  const auto takes = [&](const char* name, std::initializer_list<const char*> refused) {
    const std::vector<std::string> values = values_of(spec, job, name);
    return std::none_of(values.begin(), values.end(), [&](const std::string& value) {
      return std::find(refused.begin(), refused.end(), value) != refused.end();
    });
  };
  return takes("tree_method", {"exact", "auto"}) && takes("booster", {"gblinear"});
}

// Whether what constrains features finds them.
void check_constraints(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  for (const char* name : {"monotone_constraints", "interaction_constraints"}) {
    const XgboostParameter& parameter = *find_xgboost_parameter(name);
    for (const std::string& value : values_of(spec, job, name)) {
      if (!fault_of_value(parameter, value).empty()) continue;  // said by check_trainer()
      const auto placed = constraints_by_place(parameter, value, tables.encoding, tables.train.columns);
      if (placed) continue;
      const auto& [code, message, path, hint] = placed.error();
      if (tables.rows_of_all) {  // one-hot columns may have further categories, each a feature
        diagnostics.warning(field_of(spec, name), "of the sample that was checked: " + message,
                            "if the rest has no more features, the first trial fails");
      } else {
        diagnostics.error(field_of(spec, name), message, hint);
      }
    }
  }
}

// What the second derivative of a row of weight 1 is at most; nothing: not known.
std::optional<double> curvature_max(const std::string& objective) {
  if (objective == "reg:squarederror") return 1;
  if (objective == "binary:logistic" || objective == "binary:logitraw" || objective == "reg:logistic") return 0.25;
  if (objective.starts_with("multi:")) return 0.5;
  return std::nullopt;
}

// Of what the job may give a parameter the bound of this name ("min", "max"), of those that are numbers.
double bound_of(const XgboostSpec& spec, const Json& job, const std::string& name, const char* which, double otherwise) {
  const Json bound = member(member(member(job, "search_space"), name.c_str()), which);
  if (bound.is_number()) return bound.get<double>();
  std::vector<double> numbers;
  for (const std::string& value : values_of(spec, job, name)) {
    const auto number = parse_number(value);
    if (number) numbers.push_back(*number);
  }
  if (numbers.empty()) return otherwise;
  return which == std::string_view("min") ? std::ranges::min(numbers) : std::ranges::max(numbers);
}

// A leaf has at least min_child_weight of weights times second derivatives, so that of small weights no tree has a split.
void check_weights(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  constexpr double kMinChildWeightDefault = 1;
  if (tables.train.weights.empty() || !values_of(spec, job, "scale_pos_weight").empty()) return;
  const double share = tables.rows_of_all ? static_cast<double>(tables.rows()) / *tables.rows_of_all : 1;
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

// The Pseudo-Huber loss of an error e has the derivative e / sqrt(1 + (e / huber_slope)^2) and the second one
// (1 + (e / huber_slope)^2)^(-3/2): of a large error a step of Newton's goes (e / huber_slope)^2 times too far, to where the next
// one changes nothing, or no leaf has enough of second derivatives for a split. The first tree's errors are those of base_score.
void check_far_labels(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  constexpr double kFar = 10;
  constexpr double kBaseScoreDefault = 0.5;
  constexpr double kHuberSlopeDefault = 1;
  if (std::ranges::count(objectives_of(spec, job), "reg:pseudohubererror") == 0) return;
  std::vector<float> labels = tables.train.labels;
  const auto middle = labels.begin() + static_cast<std::ptrdiff_t>(labels.size() / 2);
  std::ranges::nth_element(labels, middle);
  const double median = *middle;
  const double slope = bound_of(spec, job, "huber_slope", "max", kHuberSlopeDefault);
  const double nearest = std::clamp(median, bound_of(spec, job, "base_score", "min", kBaseScoreDefault),
                                    bound_of(spec, job, "base_score", "max", kBaseScoreDefault));
  if (std::abs(median - nearest) <= kFar * slope) return;
  diagnostics.warning("trainer.data.label",
                      "the labels, of a median of " + short_number(median) + ", are far from the base_score of " +
                          short_number(nearest) + " for a huber_slope of " + short_number(slope) +
                          ": reg:pseudohubererror would learn next to nothing",
                      "set trainer.parameters.base_score near the median, and huber_slope to the size of usual errors");
}

// "a, b"; of many the first ones.
std::string listed(std::vector<std::string> columns) {
  if (columns.size() > kColumnsShownMax) columns.resize(kColumnsShownMax);
  std::string list;
  for (const std::string& column : columns) list += (list.empty() ? "" : ", ") + column;
  return list;
}

bool is_named(const std::vector<std::string>& columns, const FeatureColumn& feature) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return column == feature.name || column == std::to_string(feature.source);
  });
}

// Dates that the user did not ask to be categories.
bool are_unasked_dates(const DataSpec& data, const FeatureColumn& feature) {
  return are_dates(feature.categories) && !is_named(data.categorical, feature);
}

// Columns that name rows. What was doubted already is not doubted twice.
void check_ids(const LoadedTables& tables, Diagnostics& diagnostics) {
  std::vector<std::string> ids = id_columns(tables);
  std::erase_if(ids, [&](const std::string& id) {
    return std::any_of(tables.encoding.doubts.begin(), tables.encoding.doubts.end(),
                       [&](const Error& doubt) { return doubt.message.find("`" + id + "`") != std::string::npos; });
  });
  if (ids.empty()) return;
  diagnostics.warning("trainer.data.train",
                      "columns with another whole number in each row, as ids have, which say nothing of new rows: " + listed(ids),
                      "name them in trainer.data.drop, unless they measure something, such as a time");
}

// A sample has no more texts than all rows.
void check_description(const LoadedTables& tables, Diagnostics& diagnostics) {
  if (tables.encoding.features.empty() || describe_features(tables.encoding).size() <= kFeaturesSizeMax) return;
  diagnostics.warning("trainer.data.train",
                      "the texts of the categories are too many to be kept in a model, which `tuneband predict` needs",
                      "drop columns of ids and of free text");
}

void check_columns(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  for (const Error& doubt : tables.encoding.doubts) diagnostics.warning(doubt.path, doubt.message, doubt.hint);
  std::vector<std::string> ordinal;
  std::vector<std::string> commas;
  std::vector<std::string> dates;
  for (const FeatureColumn& feature : tables.encoding.features) {
    if (are_numbers_with_commas(feature.categories) && !is_named(spec.data.categorical, feature)) {
      commas.push_back(feature.name);
    } else if (are_unasked_dates(spec.data, feature)) {
      dates.push_back(feature.name);
    } else if (feature.kind == ColumnKind::ordinal) {
      ordinal.push_back(feature.name + " (" + std::to_string(feature.categories.size()) + ")");
    }
  }
  if (!commas.empty()) {
    diagnostics.warning("trainer.data.train", "columns of numbers with a comma, which count as categories: " + listed(commas),
                        "write them with a point, and nothing between thousands");
  }
  if (!dates.empty()) {
    diagnostics.warning("trainer.data.train",
                        "columns of dates, which count as categories, so that nothing is known of other days: " + listed(dates),
                        "give numbers in their place, such as days since one of them, month and weekday; or drop them");
  }
  check_ids(tables, diagnostics);
  check_description(tables, diagnostics);
  if (ordinal.empty()) return;
  diagnostics.warning(
      "trainer.data.train",
      "columns with more than " + std::to_string(kOneHotCategoriesMax) +
          " different texts become one number each, the text's place in sorted order: " + listed(ordinal),
      std::string(splits_by_categories(spec, job) ? "set trainer.data.categorical_encoding to native to keep them as categories; "
                                                  : "") +
          "drop those that are free text or ids");
}

// Which of a categorical column's texts the rows have, by its features in the table, the first of which is `first`.
std::optional<std::size_t> text_of(const Table& table, std::size_t row, const FeatureColumn& column, std::size_t first) {
  const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * table.columns + first);
  if (std::isnan(*begin)) return std::nullopt;
  if (column.kind != ColumnKind::one_hot) return static_cast<std::size_t>(*begin);
  return static_cast<std::size_t>(std::find(begin, begin + static_cast<std::ptrdiff_t>(column.categories.size()), 1.0F) - begin);
}

// Rows of `part` whose text in a column no row has that is trained on.
std::size_t rows_of_unknown_text(const LoadedTables& tables, const Table& part, std::size_t column, std::size_t first) {
  const FeatureColumn& feature = tables.encoding.features[column];
  std::vector<bool> trained(feature.categories.size());
  for (std::size_t row = 0; row < tables.train.rows(); ++row) {
    if (const auto text = text_of(tables.train, row, feature, first)) trained[*text] = true;
  }
  std::size_t rows = part.unknown_texts[column];
  for (std::size_t row = 0; row < part.rows(); ++row) {
    const auto text = text_of(part, row, feature, first);
    if (text && !trained[*text]) ++rows;
  }
  return rows;
}

// Of a column whose texts are others where a model is judged, it says nothing there.
void check_texts(const DataSpec& data, const LoadedTables& tables, const Table& part, const std::string& field, bool own_file,
                 Diagnostics& diagnostics) {
  std::size_t first = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < tables.encoding.features.size() && part.rows() > 0; ++i) {
    const FeatureColumn& feature = tables.encoding.features[i];
    const bool otherwise = feature.kind == ColumnKind::numeric || feature.width() == 0 || are_unasked_dates(data, feature);
    const std::size_t rows = otherwise ? 0 : rows_of_unknown_text(tables, part, i, first);
    first += feature.width();
    const auto share = share_of_unknown_texts(rows, part.rows());
    if (!share || told++ >= kColumnsShownMax) continue;
    diagnostics.warning(field,
                        "column `" + feature.name + "`: " + std::to_string(*share) +
                            " % of the rows have texts that the training data lacks: " +
                            (own_file ? "they count as missing" : "nothing is learnt of them"),
                        own_file ? "are they written in another way there?" : "drop it if it names rows or groups");
  }
}

// Of columns that have no texts in the sample of the training data. Where all of it has none the first trial fails.
void check_texts_of_sample(const CsvEncoding& encoding, const Table& part, const std::string& field, Diagnostics& diagnostics) {
  std::size_t told = 0;
  for (std::size_t i = 0; i < part.unknown_texts.size(); ++i) {
    if (encoding.features[i].kind != ColumnKind::numeric || part.unknown_texts[i] == 0 || told++ >= kColumnsShownMax) continue;
    diagnostics.warning(field,
                        "column `" + encoding.features[i].name + "` has texts there, and none in the sample of the training data",
                        "a fault if the rest of that has none: correct the cells, or leave them empty");
  }
}

void tell_of_sample(const DataSpec& data, const LoadedTables& tables, Diagnostics& diagnostics) {
  diagnostics.warning("trainer.data",
                      "of the data's " + os::in_megabytes(static_cast<double>(size_of_files(data))) + " a sample was checked: " +
                          std::to_string(tables.rows()) + " rows of about " + std::to_string(std::llround(*tables.rows_of_all)) +
                          "; loading them takes about " + os::in_megabytes(memory_to_load(tables)) + " of memory in each worker",
                      "a fault further down is found when the first trial loads the data");
}

}  // namespace

int replicas_max_of(const Json& job) {
  const auto trainer = job.find("trainer");
  if (trainer == job.end() || !trainer->is_object()) return 1;
  const Json replicas = trainer->value("replicas", Json());
  const std::vector<Json> listed = replicas.is_array() ? replicas.get<std::vector<Json>>() : std::vector<Json>{replicas};
  int most = 1;
  for (const Json& count : listed) {
    if (count.is_number_integer() && count > 1 && count <= protocol::kWorldSizeMax) most = std::max(most, count.get<int>());
  }
  return most;
}

std::string objective_metric_of(const Json& job) {
  const Json several = job.value("objectives", Json());
  const Json objective = several.is_array() && !several.empty() ? several.front() : job.value("objective", Json());
  const Json metric = objective.is_object() ? objective.value("metric", Json()) : Json();
  return metric.is_string() ? metric.get<std::string>() : "";
}

void check_data(const XgboostSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics) {
  try {
    auto tables = load_tables(spec.data, {.sample_bytes = kCheckedBytesMax, .on_progress = {}});
    if (!tables && tables.error().code == ErrorCode::too_large) {
      diagnostics.warning(tables.error().path, tables.error().message, "a fault in it is found when the first trial loads it");
      return;
    }
    if (!tables) {
      diagnostics.error(tables.error());
      return;
    }
    if (tables->rows_of_all) {
      check_texts_of_sample(tables->encoding, tables->validation, "trainer.data.validation", diagnostics);
      check_texts_of_sample(tables->encoding, tables->test, "trainer.data.test", diagnostics);
    } else {
      check_texts(spec.data, *tables, tables->validation, "trainer.data.validation", spec.data.validation_file() != nullptr,
                  diagnostics);
      check_texts(spec.data, *tables, tables->test, "trainer.data.test", spec.data.test_file() != nullptr, diagnostics);
    }
    if (may_be(XgboostTask::ranking, spec, job)) make_queries(*tables);
    check_objectives(spec, job, *tables, diagnostics);
    if (tables->rows_of_all) tell_of_sample(spec.data, *tables, diagnostics);
    check_memory(*tables, machine, diagnostics);
    const int replicas = replicas_max_of(job);
    check_training_memory(spec, job, *tables, machine, training_at_once(job, replicas, machine.workers), diagnostics);
    if (replicas > 1 && !tables->rows_of_all) check_shards(spec, job, replicas, *tables, diagnostics);
    check_columns(spec, job, *tables, diagnostics);
    check_weights(spec, job, *tables, diagnostics);
    check_far_labels(spec, job, *tables, diagnostics);
    check_constraints(spec, job, *tables, diagnostics);
  } catch (const std::bad_alloc&) {
    diagnostics.warning("trainer.data.train", "the data is too large to be checked beforehand");
  }
}

}  // namespace tuneband::workers
