// A trial's model trained once more, on the rows to validate on too: when everything is chosen, they need not be held out any
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "workers/data/data_table.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// The rows of both, those of `train` first; labels and queries are as make_suit() leaves them.
Table all_rows(Table train, const Table& validation);

// How many rounds a model of `rounds` rounds is trained once more: of more rows more are of use before it learns their noise, so
// as many for each row, up to twice as many (docs/search-measurements.md, "Trained once more on all rows").
std::int64_t refit_rounds(std::int64_t rounds, std::size_t trained_on, std::size_t all);

// The model of so many rounds, as XGBoost saves it. `parameters`: with constraints by place. Errors: XGBoost's.
Result<std::string> train_anew(const XgboostMatrix& rows, XgboostParameters parameters, std::int64_t rounds);

}  // namespace tuneband::workers
