#include "workers/data/data_split.hpp"

#include <bit>
#include <cmath>

#include "core/random.hpp"

namespace tuneband::workers {

bool RowSplit::holds_out(const RowKey& row) {
  if (row.group) return draw(*row.group) < fraction_;
  if (spec_.stratified) return holds_out(strata_[row.label], row.label);
  return draw(row.number) < fraction_;
}

double RowSplit::draw(std::uint64_t key) const {
  return purpose_ ? random_unit(spec_.seed, {key, *purpose_}) : random_unit(spec_.seed, {key});
}

// Of every 1 / fraction rows of the label one, at random among them: so the share is right of any number of rows, to one row,
// and nothing has to be known of those to come (Cochran 1977, "Sampling Techniques", chapter 8).
bool RowSplit::holds_out(Stratum& stratum, float label) {
  if (!(fraction_ > 0)) return false;
  const std::uint64_t which = mix64(std::bit_cast<std::uint32_t>(label + 0.0F)) ^ stratum.held_out;  // -0 is 0
  const double place = std::floor((static_cast<double>(stratum.held_out) + draw(which)) / fraction_);
  const bool held_out = place <= static_cast<double>(stratum.rows++);
  if (held_out) ++stratum.held_out;
  return held_out;
}

}  // namespace tuneband::workers
