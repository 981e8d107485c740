// Whether a table's labels suit XGBoost's objective, before XGBoost sees them: it keeps a faulty label set, or trains on
// nonsense.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

struct LabelFacts {
  float min = 0;
  float max = 0;
  bool whole = true;          // whole numbers only
  bool queries = false;       // rows belong to queries
  bool ranked = false;        // some query has rows of two labels
  bool weights = false;       // rows have weights
  bool signs = false;         // -1 and 1 only
  std::vector<bool> classes;  // of each number from 0 on, below kLabelClassesMax, whether some row has this label
};

// Of each part of the data.
struct DataLabels {
  LabelFacts train;
  LabelFacts validation;           // with folds: those of `train`
  std::optional<LabelFacts> test;  // nothing: the job has none
};

// Whether labels are times: of an event, or negative where nothing had happened until then.
bool knows_events(const XgboostObjective& objective);

// Of a label its text in the file, like `once`, else its number.
std::string label_in_words(const LabelColumn& column, float label);

// Of a table with at least one row.
LabelFacts label_facts(const Table& table);
DataLabels data_labels(const LoadedTables& tables);

// How many classes the labels tell of: the texts of their column, or else the numbers from 0 to the greatest label.
int class_count(const LabelColumn& column, const DataLabels& labels);

// Two classes written as -1 and 1, as LibSVM files often have them: XGBoost's binary objectives take 0 and 1.
bool are_signs(const DataLabels& labels);

// Those of tables whose labels -1 and 1 have become 0 and 1.
DataLabels labels_of_signs(const DataLabels& labels);

// Where `binary` and the labels are -1 and 1: they become 0 and 1 in all tables, and the classes -1 and 1 of the label column.
// Whether they did.
bool make_signs_classes(LoadedTables& tables, bool binary);

// `classes`: XGBoost's num_class, 0 where it is not given, and class_count() stands in for it. Errors: at "trainer.data.label",
// with what was found and what is expected. Of a `sample` nothing is said that rows beyond it may mend.
Result<void> check_labels(const XgboostObjective& objective, int classes, const LabelColumn& column, const DataLabels& labels,
                          bool sample = false);

// Whether these metrics can be measured on `rows`, "the test data", which have such labels. Errors: as of check_labels().
Result<void> check_metrics_of_labels(const XgboostObjective& objective, const std::vector<std::string>& metrics,
                                     const LabelFacts& facts, const std::string& rows);

}  // namespace tuneband::workers
