// How the features of a model are made from the columns of a table: as a text of JSON in the model file itself
// (docs/xgboost-trainer.md, "The model").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

inline constexpr const char* kFeaturesAttribute = "tuneband_features";
// In bytes: a longer text is left out, and what the model says of new rows cannot be known.
inline constexpr std::size_t kFeaturesSizeMax = 1024 * 1024;

std::string describe_features(const CsvEncoding& encoding);

// `columns` are those of the features alone, which stand elsewhere in the training file (FeatureColumn::source). Errors: it is no
// such text.
Result<CsvEncoding> read_features(std::string_view description);

}  // namespace tuneband::workers
