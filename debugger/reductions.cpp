#include "debugger/reductions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tuneband::debugger {

namespace {

constexpr std::array<std::string_view, kReductions> kNames{
    "min",         "max",         "mean",    "std",      "variance", "sum",          "prod",    "l1_norm",
    "l2_norm",     "abs_min",     "abs_max", "abs_mean", "abs_std",  "abs_variance", "abs_sum", "abs_prod",
    "abs_l1_norm", "abs_l2_norm", "count",   "nans",     "infs",     "zeros"};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Neumaier's summation: the error does not grow with the number of elements.
class Sum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  // With an infinity or a NaN in it what was lost is not a number.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

// The first pass: everything but the variances.
struct FirstPass {
  Summary summary;
  Sum sum;
  Sum l1;
  Sum squares;
  double prod = 1;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double abs_min = std::numeric_limits<double>::infinity();
  double abs_max = 0;

  void take(double value) {
    const double magnitude = std::abs(value);
    summary.count += 1;
    if (std::isnan(value)) {
      summary.nans += 1;
    } else {
      if (magnitude == std::numeric_limits<double>::infinity()) summary.infs += 1;
      if (value == 0) summary.zeros += 1;
    }
    min = value < min ? value : min;
    max = value > max ? value : max;
    abs_min = magnitude < abs_min ? magnitude : abs_min;
    abs_max = magnitude > abs_max ? magnitude : abs_max;
    sum.add(value);
    l1.add(magnitude);
    squares.add(value * value);
    prod *= value;
  }

  Summary result() const {
    Summary of_all = summary;
    const bool defined = summary.count > 0 && summary.nans == 0;
    of_all.min = defined ? min : kNan;
    of_all.max = defined ? max : kNan;
    of_all.abs_min = defined ? abs_min : kNan;
    of_all.abs_max = defined ? abs_max : kNan;
    of_all.sum = sum.value();
    of_all.l1 = l1.value();
    of_all.l2 = std::sqrt(squares.value());
    of_all.prod = prod;
    return of_all;
  }
};

}  // namespace

std::string_view to_string(Reduction reduction) { return kNames[static_cast<std::size_t>(reduction)]; }

std::optional<Reduction> reduction_from(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Reduction>(found - kNames.begin());
}

const std::vector<std::string>& reduction_names() {
  static const std::vector<std::string> names(kNames.begin(), kNames.end());
  return names;
}

double Summary::value(Reduction reduction) const {
  switch (reduction) {
    case Reduction::min:
      return min;
    case Reduction::max:
      return max;
    case Reduction::mean:
      return count > 0 ? sum / count : kNan;
    case Reduction::std:
      return std::sqrt(variance);
    case Reduction::variance:
      return variance;
    case Reduction::sum:
      return sum;
    case Reduction::prod:
      return prod;
    case Reduction::l1_norm:
    case Reduction::abs_sum:
    case Reduction::abs_l1_norm:
      return l1;
    case Reduction::l2_norm:
    case Reduction::abs_l2_norm:
      return l2;
    case Reduction::abs_min:
      return abs_min;
    case Reduction::abs_max:
      return abs_max;
    case Reduction::abs_mean:
      return count > 0 ? l1 / count : kNan;
    case Reduction::abs_std:
      return std::sqrt(abs_variance);
    case Reduction::abs_variance:
      return abs_variance;
    case Reduction::abs_prod:
      return std::abs(prod);
    case Reduction::count:
      return count;
    case Reduction::nans:
      return nans;
    case Reduction::infs:
      return infs;
    case Reduction::zeros:
      return zeros;
  }
  return kNan;
}

static_assert(sizeof(Summary) == kSummaryNumbers * sizeof(double));
std::array<double, kSummaryNumbers> numbers_of(const Summary& summary) {
  return std::bit_cast<std::array<double, kSummaryNumbers>>(summary);
}
Summary summary_from(const std::array<double, kSummaryNumbers>& numbers) { return std::bit_cast<Summary>(numbers); }

Summary summarise(const ArrayView& array) {
  FirstPass pass;
  for_each_element(array, [&](double value) { pass.take(value); });
  Summary summary = pass.result();
  const double mean = summary.value(Reduction::mean);
  const double abs_mean = summary.value(Reduction::abs_mean);
  Sum squares;
  Sum abs_squares;
  for_each_element(array, [&](double value) {
    squares.add((value - mean) * (value - mean));
    const double from_abs_mean = std::abs(value) - abs_mean;
    abs_squares.add(from_abs_mean * from_abs_mean);
  });
  summary.variance = summary.count > 0 ? squares.value() / summary.count : kNan;
  summary.abs_variance = summary.count > 0 ? abs_squares.value() / summary.count : kNan;
  return summary;
}

Summary summarise(double scalar) { return summarise(view_of(std::span<const double>(&scalar, 1), {})); }

}  // namespace tuneband::debugger
