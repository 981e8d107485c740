#include "workers/xgboost/refit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tuneband::workers {

Table all_rows(Table train, const Table& validation) {
  for (std::size_t row = 0; row < validation.rows(); ++row) append_row(validation, row, train);
  // A query of one file is another one than that of the same number in the other.
  train.query_sizes.insert(train.query_sizes.end(), validation.query_sizes.begin(), validation.query_sizes.end());
  return train;
}

std::int64_t refit_rounds(std::int64_t rounds, std::size_t trained_on, std::size_t all) {
  constexpr double kMost = 2;
  const double growth = std::min(kMost, static_cast<double>(all) / static_cast<double>(trained_on));
  return std::llround(growth * static_cast<double>(rounds));
}

Result<std::string> train_anew(const XgboostMatrix& rows, XgboostParameters parameters, std::int64_t rounds) {
  auto booster = XgboostBooster::create(rows, {}, std::move(parameters));
  if (!booster) return booster.error();
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (auto trained = booster->train_round(static_cast<int>(round)); !trained) return trained.error();
  }
  return booster->save();
}

}  // namespace tuneband::workers
