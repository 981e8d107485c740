// check_data() in parts, each in a file of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "workers/data/data_check.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

inline constexpr double kMinChildWeightDefault = 1;  // XGBoost's
inline constexpr std::size_t kNamesShownMax = 8;     // of columns or classes in one sentence

// Names of parameters are the documented ones, whatever the job calls them. Every value that the job gives a parameter, fixed in
// the trainer or in the search space, or chosen from.
std::vector<std::string> values_of(const XgboostSpec& spec, const Json& job, const std::string& name);
// Of what the job may give a parameter the bound of this name ("min", "max"), of those that are numbers.
double bound_of(const XgboostSpec& spec, const Json& job, const std::string& name, const char* which, double otherwise);
// Of all rows those that were read: 1, but of a sample.
double share_read(const LoadedTables& tables);
// The path of a parameter that the job gives.
std::string field_of(const XgboostSpec& spec, const std::string& name);
// At least one: XGBoost's default, where the job gives none.
std::vector<std::string> objectives_of(const XgboostSpec& spec, const Json& job);
bool may_be(XgboostTask task, const XgboostSpec& spec, const Json& job);

// ---- data_check_labels.cpp ----------------------------------------------------------------------------------------------------

// Whether the labels suit each objective and what is measured, also in each fold.
void check_objectives(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);
// Of small weights no tree has a split.
void check_weights(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);

// ---- data_check_base_score.cpp ------------------------------------------------------------------------------------------------

// Labels that few or no trees come to from the base_score.
void check_far_labels(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);

// ---- data_check_columns.cpp ---------------------------------------------------------------------------------------------------

// "a, b"; of many the first ones.
std::string listed(std::vector<std::string> columns);
// Which of a categorical column's texts a row has, by its features in the table, the first of which is `first`. Nothing: it is
// missing.
std::optional<std::size_t> category_of(const Table& table, std::size_t row, const FeatureColumn& column, std::size_t first);
// Columns that are taken for something else than they are, or say nothing of new rows.
void check_columns(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);
// Of a column whose texts are others in `part`, where a model is judged, it says nothing there.
void check_texts(const DataSpec& data, const LoadedTables& tables, const Table& part, const std::string& field, bool own_file,
                 Diagnostics& diagnostics);
// Of columns that have no texts in the sample of the training data. Where all of it has none the first trial fails.
void check_texts_of_sample(const CsvEncoding& encoding, const Table& part, const std::string& field, Diagnostics& diagnostics);
// Whether what constrains features finds them.
void check_constraints(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);

// ---- data_check_leaks.cpp -----------------------------------------------------------------------------------------------------

// Columns that know the label.
void check_leaks(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics);

}  // namespace tuneband::workers
