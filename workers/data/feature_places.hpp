// The places of features that a job constrains by the names of their columns.
#pragma once

#include <string>

#include "core/error.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// `text` of a parameter that constrains_features() as XGBoost reads it: by places. `features`: how many the data has. Of a column
// of texts that is several features all of them are meant. Errors, without a path: no such column, or no such place; a direction
// of a column of texts, which have none; names where the data has none.
Result<std::string> constraints_by_place(const XgboostParameter& parameter, const std::string& text, const CsvEncoding& encoding,
                                         std::size_t features);

}  // namespace tuneband::workers
