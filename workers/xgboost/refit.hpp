// A trial's model trained once more, on the rows to validate on too: when everything is chosen, they need not be held out any
// more.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "workers/data/data_table.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// The rows of both, those of `train` first; labels and queries are as make_suit() leaves them.
Table all_rows(Table train, const Table& validation);

// The model of so many rounds, as XGBoost saves it. `parameters`: with constraints by place. Errors: XGBoost's.
Result<std::string> train_anew(const XgboostMatrix& rows, XgboostParameters parameters, std::int64_t rounds);

}  // namespace tuneband::workers
