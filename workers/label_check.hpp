// Whether a table's labels suit XGBoost's objective, before XGBoost sees them: it keeps a faulty label set, or trains on
// nonsense.
#pragma once

#include "core/error.hpp"
#include "workers/data_table.hpp"
#include "workers/protocol/xgboost_parameters.hpp"

namespace tuneband::workers {

struct LabelFacts {
  float min = 0;
  float max = 0;
  bool whole = true;     // whole numbers only
  bool queries = false;  // rows belong to queries
};

// Of a table with at least one row.
LabelFacts label_facts(const Table& table);

// `classes`: XGBoost's num_class, 0 where there is none. Errors: at "trainer.data.label", with what was found and what is
// expected.
Result<void> check_labels(const protocol::XgboostObjective& objective, int classes, const LabelColumn& column,
                          const LabelFacts& train, const LabelFacts& validation);

}  // namespace tuneband::workers
