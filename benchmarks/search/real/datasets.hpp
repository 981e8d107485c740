// The data sets of the real benchmark: small enough that a full training takes a fraction of a second, and each of a structure
// that is known. All but the first are made here, a function of nothing but this code.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "workers/data/data_table.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband {

struct RealDataset {
  std::string name;
  std::string about;   // a line for README.md and docs
  std::string metric;  // of XGBoost
  std::string goal;
  workers::XgboostParameters parameters;  // fixed ones
  Json search_space;
  workers::Table train;
  workers::Table validation;
  workers::Table test;
};

// What data sets made here have in common: of so few rows more bins say little, and cost most of the time.
inline constexpr const char* kBins = "32";

// A hyperparameter of a search space.
inline Json number(const char* type, Json min, Json max, const char* scale) {
  return {{"type", type}, {"min", std::move(min)}, {"max", std::move(max)}, {"scale", scale}};
}

// Of somebody who knows nothing: everything from very little to very much.
Json wide_space();

// Of somebody who has tuned before.
Json narrow_space();

// `bank_csv`: a file of examples/direct-marketing/generate.py, or the public one of that form. `large`: more rows to train on,
// 12,000 instead of 1,600, of bank three fifths of the file. Throws std::runtime_error where it cannot be read.
std::vector<RealDataset> real_datasets(const std::string& bank_csv, bool large = false);

}  // namespace tuneband
