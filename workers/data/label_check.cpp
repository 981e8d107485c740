#include "workers/data/label_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/text.hpp"
#include "workers/data/text_forms.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kClassesShownMax = 8;

Error label_fault(std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), "trainer.data.label", std::move(hint)};
}

std::string classes_text(const LabelColumn& column) {
  std::string text;
  for (std::size_t i = 0; i < std::min(column.classes.size(), kClassesShownMax); ++i)
    text += (i > 0 ? ", " : "") + column.classes[i];
  return valid_utf8(column.classes.size() > kClassesShownMax ? text + ", ..." : text);
}

// Texts have become 0, 1, ...: fine for classes, meaningless for everything else.
Result<void> check_text_label(const XgboostObjective& objective, const LabelColumn& column) {
  if (column.classes.empty() || !column.positive.empty()) return {};
  const std::string found = "the label `" + valid_utf8(column.name) + "` has the texts " + classes_text(column);
  if (objective.task == XgboostTask::binary && column.classes.size() > 2) {
    return label_fault(found + ", and " + objective.name + " needs two classes",
                       "name the one that counts as 1 in trainer.data.positive");
  }
  if (!tells_classes_apart(objective.task) && are_numbers_with_signs(column.classes)) {
    return label_fault("the label `" + valid_utf8(column.name) + "` has numbers with a comma or a sign, which are texts here",
                       kPlainNumbersHint);
  }
  if (!tells_classes_apart(objective.task)) {
    return label_fault(found + ", and " + objective.name + " needs numbers", "use binary:logistic or multi:softprob for classes");
  }
  return {};
}

Result<void> check_range(const XgboostObjective& objective, const LabelFacts& facts, const std::string& file) {
  const NumberRange& range = objective.label;
  const bool low = range.min_excluded ? !(facts.min > range.min) : !(facts.min >= range.min);
  const bool high = !(facts.max <= range.max);
  const double found = low ? facts.min : facts.max;
  const std::string got = file + " has the label " + format_number(found);
  if (!low && !high) return {};
  std::string expected = "labels above " + format_number(range.min);
  if (!range.min_excluded) expected = "labels of at least " + format_number(range.min);
  if (range.max == 1) expected = "labels between 0 and 1";
  return label_fault(got + ", and " + objective.name + " needs " + expected,
                     objective.task == XgboostTask::binary ? "name the label that counts as 1 in trainer.data.positive" : "");
}

// What makes classes of numbers that do not count them.
std::string classes_hint(const LabelColumn& column) {
  return column.name.empty() ? "count the classes from 0"
                             : "name the label's column in trainer.data.categorical, so that each number is a class";
}

Result<void> check_class_numbers(const XgboostObjective& objective, int classes, const LabelColumn& column,
                                 const LabelFacts& facts, const std::string& file) {
  const int most = classes > 0 ? classes : static_cast<int>(kLabelClassesMax);
  if (facts.whole && facts.min >= 0 && facts.max < static_cast<float>(most)) return {};
  const std::string needed = ", and " + objective.name + (classes > 0 ? " with num_class " + std::to_string(classes) : "") +
                             " needs whole numbers from 0 to " + std::to_string(most - 1);
  if (!facts.whole) return label_fault(file + " has labels with fractions" + needed, "use reg:squarederror for numbers");
  const bool too_few = classes > 0 && facts.min >= 0 && !(facts.min >= 1 && facts.max == static_cast<float>(classes));
  return label_fault(file + " has the label " + format_number(facts.min < 0 ? facts.min : facts.max) + needed,
                     too_few ? "set num_class to " + format_number(facts.max + 1) : classes_hint(column));
}

// Where num_class is not given each number up to the greatest label is a class, which has trees of its own.
Result<void> check_all_classes(const LabelColumn& column, const DataLabels& labels) {
  if (!column.classes.empty() && column.positive.empty()) return {};
  const int classes = class_count(column, labels);
  const auto has = [](const LabelFacts& facts, std::size_t label) {
    return label < facts.classes.size() && facts.classes[label];
  };
  for (std::size_t label = 0; label < static_cast<std::size_t>(classes); ++label) {
    if (has(labels.train, label) || has(labels.validation, label) || (labels.test && has(*labels.test, label))) continue;
    return label_fault("no row has the label " + std::to_string(label) + ", and the greatest is " + std::to_string(classes - 1),
                       classes_hint(column) + ", or set num_class to " + std::to_string(classes));
  }
  return {};
}

// Without an event there is nothing to learn or to measure.
Result<void> check_events(const XgboostObjective& objective, const LabelFacts& facts, const std::string& rows) {
  if (!knows_events(objective) || facts.max > 0) return {};
  return label_fault(rows + " has no label above 0, which " + objective.name + " takes for the time of an event",
                     "write the times of events as they are, and negative those at which nothing had happened yet");
}

// A query whose rows have one label has no order that is better than another.
bool has_ranked_query(const Table& table) {
  auto row = table.labels.begin();
  return std::ranges::any_of(table.query_sizes, [&row](unsigned size) {
    const auto first = std::exchange(row, row + size);
    return std::adjacent_find(first, row, std::not_equal_to()) != row;
  });
}

// Of the first part in which `check` finds one the fault. It is given a part's facts and name.
template <class Check>
Result<void> check_parts(const DataLabels& labels, const Check& check) {
  if (Result<void> checked = check(labels.train, "the training data"); !checked) return checked;
  if (Result<void> checked = check(labels.validation, "the validation data"); !checked) return checked;
  return labels.test ? check(*labels.test, "the test data") : Result<void>();
}

Result<void> check_ranked(const LabelFacts& facts, const std::string& rows) {
  if (facts.ranked) return {};
  return label_fault("no query of " + rows + " has rows of two labels: there is no order to learn or to measure",
                     "a query is what shares a value of trainer.data.group, or a qid");
}

}  // namespace

bool knows_events(const XgboostObjective& objective) { return objective.name == "survival:cox"; }

std::string label_in_words(const LabelColumn& column, float label) {
  const bool text = column.positive.empty() && label >= 0 && label < static_cast<float>(column.classes.size());
  return text ? "`" + valid_utf8(column.classes[static_cast<std::size_t>(label)]) + "`" : format_number(label);
}

namespace {

std::vector<bool> classes_among(const std::vector<float>& labels) {
  std::vector<bool> classes;
  for (const float label : labels) {
    if (!(label >= 0 && label < static_cast<float>(kLabelClassesMax)) || std::floor(label) != label) continue;
    const auto number = static_cast<std::size_t>(label);
    if (number >= classes.size()) classes.resize(number + 1);
    classes[number] = true;
  }
  return classes;
}

}  // namespace

LabelFacts label_facts(const Table& table) {
  const auto [min, max] = std::minmax_element(table.labels.begin(), table.labels.end());
  LabelFacts facts;
  facts.min = *min;
  facts.max = *max;
  facts.whole = std::all_of(table.labels.begin(), table.labels.end(), [](float label) { return std::floor(label) == label; });
  facts.queries = !table.query_sizes.empty();
  facts.ranked = has_ranked_query(table);
  facts.weights = !table.weights.empty();
  facts.signs = std::all_of(table.labels.begin(), table.labels.end(), [](float label) { return label == -1 || label == 1; });
  facts.classes = classes_among(table.labels);
  return facts;
}

DataLabels data_labels(const LoadedTables& tables) {
  return {label_facts(tables.train), label_facts(tables.folds > 0 ? tables.train : tables.validation),
          tables.test.rows() > 0 ? std::optional(label_facts(tables.test)) : std::nullopt};
}

int class_count(const LabelColumn& column, const DataLabels& labels) {
  if (!column.classes.empty() && column.positive.empty()) return static_cast<int>(column.classes.size());
  float most = std::max(labels.train.max, labels.validation.max);
  if (labels.test) most = std::max(most, labels.test->max);
  return static_cast<int>(std::clamp(most, 0.0F, static_cast<float>(kLabelClassesMax - 1))) + 1;
}

bool are_signs(const DataLabels& labels) {
  const bool test = !labels.test || labels.test->signs;
  return labels.train.signs && labels.validation.signs && test && std::min(labels.train.min, labels.validation.min) < 0;
}

DataLabels labels_of_signs(const DataLabels& labels) {
  const auto changed = [](LabelFacts facts) {
    facts.min = std::max(facts.min, 0.0F);
    facts.max = std::max(facts.max, 0.0F);
    facts.signs = false;
    return facts;
  };
  return {changed(labels.train), changed(labels.validation), labels.test ? std::optional(changed(*labels.test)) : std::nullopt};
}

bool make_signs_classes(LoadedTables& tables, bool binary) {
  if (!binary || !are_signs(data_labels(tables))) return false;
  for (Table* table : tables.parts()) {
    for (float& label : table->labels) label = std::max(label, 0.0F);
  }
  tables.encoding.label.classes = {"-1", "1"};
  return true;
}

Result<void> check_labels(const XgboostObjective& objective, int classes, const LabelColumn& column, const DataLabels& labels,
                          bool sample) {
  const auto& [train, validation, test] = labels;
  if (auto checked = check_text_label(objective, column); !checked) return checked;
  const bool numbers_classes = objective.task == XgboostTask::multiclass;
  const auto in_range = [&](const LabelFacts& facts, const char* rows) {
    return numbers_classes ? check_class_numbers(objective, classes, column, facts, rows) : check_range(objective, facts, rows);
  };
  if (auto checked = check_parts(labels, in_range); !checked) return checked;
  if (!sample && tells_classes_apart(objective.task) && train.min == train.max) {
    return label_fault("every row of the training data has the label " + label_in_words(column, train.min) +
                       ": there is nothing to tell apart");
  }
  if (numbers_classes && classes == 0 && !sample) {
    if (auto checked = check_all_classes(column, labels); !checked) return checked;
  }
  const auto has_events = [&](const LabelFacts& facts, const char* rows) { return check_events(objective, facts, rows); };
  if (auto checked = sample ? Result<void>() : check_parts(labels, has_events); !checked) return checked;
  if (objective.task == XgboostTask::ranking && train.weights) {
    return label_fault("the rows have weights, and " + objective.name + " takes none: XGBoost weighs queries, not rows",
                       "write label in place of label:weight");
  }
  const bool queries = train.queries && validation.queries && (!test || test->queries);
  if (objective.task == XgboostTask::ranking && !queries)
    return label_fault(objective.name +
                       " needs queries: in LibSVM files qid:1, of CSV files trainer.data.group, a column of each");
  if (objective.task == XgboostTask::ranking && !sample) return check_parts(labels, check_ranked);
  return {};
}

// The AUC of a ranking is of pairs of grades, whatever they are, and multi: objectives have one of each class.
Result<void> check_metrics_of_labels(const XgboostObjective& objective, const std::vector<std::string>& metrics,
                                     const LabelFacts& facts, const std::string& rows) {
  if (objective.task == XgboostTask::multiclass || (facts.min >= 0 && facts.max <= 1)) return {};
  const bool ranks = objective.task == XgboostTask::ranking;
  for (const std::string& name : metrics) {
    const auto* metric = find_xgboost_metric(name);
    if (metric == nullptr || !measures_two_classes(*metric) || (ranks && metric->name == "auc")) continue;
    const std::string hint = ranks                                     ? "measure ndcg or map"
                             : objective.task == XgboostTask::survival ? "measure cox-nloglik"
                                                                       : "measure rmse or mae, or train for classes";
    return label_fault(rows + " has the label " + format_number(facts.min < 0 ? facts.min : facts.max) + ", and `" + name +
                           "` of " + objective.name + " needs labels between 0 and 1",
                       hint);
  }
  return {};
}

}  // namespace tuneband::workers
