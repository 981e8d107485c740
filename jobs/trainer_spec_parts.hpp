// The parts of parse_trainer(), each with a file of its own. For nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"

namespace tuneband {

XgboostSpec read_xgboost(ObjectReader& reader);  // trainer_spec_xgboost.cpp
DataSpec read_data(ObjectReader& trainer);       // trainer_spec_data.cpp
CommandSpec read_command(ObjectReader& reader);  // trainer_spec_command.cpp

// ---- what several of them need
// -------------------------------------------------------------------------------------------------

inline constexpr std::size_t kPathSizeMax = 4000;  // bytes

// Argument, path and environment end up as C strings.
bool has_nul(const std::string& text);
// A text as it is, a number or truth value as JSON writes it; nothing: it is neither.
std::optional<std::string> scalar_text(const Json& value);
std::string normal_path(const std::string& path);
// Of a field that has to be there; "": it has a fault, which was told.
std::string read_path(ObjectReader& reader, const std::string& field);

}  // namespace tuneband
