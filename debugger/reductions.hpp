// What of a tensor is kept when it is not kept whole. NumPy's meanings, in double precision: `std` and `variance` divide by the
// number of elements, a NaN makes every reduction NaN, and an empty tensor has no min, max, mean, std and variance (NaN).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/array.hpp"

namespace tuneband::debugger {

// Of the elements, and (abs_) of their absolute values.
enum class Reduction : std::uint8_t {
  min,
  max,
  mean,
  std,
  variance,
  sum,
  prod,
  l1_norm,
  l2_norm,
  abs_min,
  abs_max,
  abs_mean,
  abs_std,
  abs_variance,
  abs_sum,
  abs_prod,
  abs_l1_norm,
  abs_l2_norm,
  count,  // of all elements; the following of them
  nans,
  infs,
  zeros,
};
inline constexpr std::size_t kReductions = 22;

std::string_view to_string(Reduction reduction);
std::optional<Reduction> reduction_from(std::string_view name);
const std::vector<std::string>& reduction_names();

// From which every reduction follows: 14 numbers, whatever the tensor's size.
struct Summary {
  double count = 0;
  double nans = 0;
  double infs = 0;
  double zeros = 0;
  double min = 0;
  double max = 0;
  double sum = 0;
  double prod = 1;
  double l1 = 0;
  double l2 = 0;
  double variance = 0;
  double abs_min = 0;
  double abs_max = 0;
  double abs_variance = 0;

  double value(Reduction reduction) const;
  bool finite() const { return nans == 0 && infs == 0; }
  bool operator==(const Summary&) const = default;
};
inline constexpr std::size_t kSummaryNumbers = 14;
std::array<double, kSummaryNumbers> numbers_of(const Summary& summary);
Summary summary_from(const std::array<double, kSummaryNumbers>& numbers);

// Two passes over the elements.
Summary summarise(const ArrayView& array);
Summary summarise(double scalar);

}  // namespace tuneband::debugger
