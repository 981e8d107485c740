// One parameter's domain: its scale, what it contains, how it looks in a message.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

namespace {

// Without overflow for the widest ranges.
double between(double low, double high, double u) { return low * (1 - u) + high * u; }

// Both ends exact; exp(log(max)) need not be max.
double scaled(double min, double max, Scale scale, double u) {
  if (u <= 0) return min;
  if (u >= 1) return max;
  switch (scale) {
    case Scale::linear:
      return between(min, max, u);
    case Scale::log:
      return std::exp(between(std::log(min), std::log(max), u));
    case Scale::reverse_log:
      return 1 - std::exp(between(std::log1p(-min), std::log1p(-max), u));
  }
  return min;
}

std::size_t position(std::size_t count, double u) {
  return std::min(count - 1, static_cast<std::size_t>(u * static_cast<double>(count)));
}

// The values of a domain with a step, evenly spaced.
struct Steps {
  explicit Steps(const IntDomain& domain)
      : min(static_cast<double>(domain.min)), max(static_cast<double>(domain.max)), step(static_cast<double>(domain.step)) {
    if (domain.scale == Scale::log && domain.step > 1) below_on_log_scale();
  }
  explicit Steps(const FloatDomain& domain) : min(domain.min), max(domain.max), step(domain.step) {
    if (domain.scale == Scale::log) below_on_log_scale();
  }

  void below_on_log_scale() { low = min * (min / (min + step / 2)); }
  double count() const { return std::round((max - min) / step); }
  // Which of them is nearest, from 0.
  double index_of(double value) const { return std::clamp(std::floor((value - min) / step + 0.5), 0.0, count()); }
  double value_at(double index) const { return index == count() ? max : min + index * step; }

  double min;
  double max;
  double step;
  double low = min - step / 2;
  double high = max + step / 2;
};

std::int64_t nearest_in(const IntDomain& domain, double value) {
  const Steps steps(domain);
  const double index = steps.index_of(value);
  if (index == steps.count()) return domain.max;
  return domain.min + static_cast<std::int64_t>(index) * domain.step;  // which a double need not hold on the way
}

std::int64_t integer_at(const IntDomain& domain, double u) {
  const Steps steps(domain);
  return nearest_in(domain, scaled(steps.low, steps.high, domain.scale, u));
}

double real_at(const FloatDomain& domain, double u) {
  if (domain.step == 0) return std::clamp(scaled(domain.min, domain.max, domain.scale, u), domain.min, domain.max);
  const Steps steps(domain);
  return nearest_in(domain, scaled(steps.low, steps.high, domain.scale, u));
}

const char* scale_suffix(Scale scale) {
  switch (scale) {
    case Scale::linear:
      return "";
    case Scale::log:
      return " (log)";
    case Scale::reverse_log:
      return " (reverse log)";
  }
  return "";
}

std::string listed(const std::vector<Value>& values) {
  constexpr std::size_t kListedMax = 10;
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kListedMax; ++i) text += (i == 0 ? " " : ", ") + to_string(values[i]);
  if (values.size() > kListedMax) text += " and " + std::to_string(values.size() - kListedMax) + " more";
  return text;
}

struct ValueAt {
  double u;
  Value operator()(const FloatDomain& domain) const { return real_at(domain, u); }
  Value operator()(const IntDomain& domain) const { return integer_at(domain, u); }
  Value operator()(const CategoricalDomain& domain) const { return domain.values[position(domain.values.size(), u)]; }
  Value operator()(const FixedDomain& domain) const { return domain.value; }
};

// The inverse of scaled().
double unscaled(double value, double min, double max, Scale scale) {
  switch (scale) {
    case Scale::linear:
      return (value / 2 - min / 2) / (max / 2 - min / 2);
    case Scale::log:
      return (std::log(value) - std::log(min)) / (std::log(max) - std::log(min));
    case Scale::reverse_log:
      return (std::log1p(-value) - std::log1p(-min)) / (std::log1p(-max) - std::log1p(-min));
  }
  return 0;
}

double number_in(const Value& value, double min, double max) { return std::clamp(number_of(value).value_or(min), min, max); }

struct UnitOf {
  const Value& value;
  double operator()(const FloatDomain& domain) const {
    const Steps steps(domain);
    const double number = number_in(value, domain.min, domain.max);
    return std::clamp(unscaled(number, steps.low, steps.high, domain.scale), 0.0, 1.0);
  }
  double operator()(const IntDomain& domain) const {
    const Steps steps(domain);
    return unscaled(number_in(value, steps.min, steps.max), steps.low, steps.high, domain.scale);
  }
  double operator()(const CategoricalDomain& domain) const {
    const auto found =
        std::find_if(domain.values.begin(), domain.values.end(), [this](const Value& one) { return same(one, value); });
    const auto index = found == domain.values.end() ? 0 : found - domain.values.begin();
    return (static_cast<double>(index) + 0.5) / static_cast<double>(domain.values.size());
  }
  double operator()(const FixedDomain&) const { return 0.5; }
};

double largest_of(const FloatDomain& domain) { return std::max(std::abs(domain.min), std::abs(domain.max)); }

double tolerance_of(const FloatDomain& domain) {
  constexpr double kUnitsInTheLastPlace = 4;
  return std::max(kStepTolerance * domain.step,
                  kUnitsInTheLastPlace * std::numeric_limits<double>::epsilon() * largest_of(domain));
}

struct Spans {
  const Value& value;
  bool operator()(const FloatDomain& domain) const {
    const auto it = number_of(value);
    const double rounding = domain.step > 0 ? tolerance_of(domain) : 0;
    return it && *it >= domain.min - rounding && *it <= domain.max + rounding;
  }
  bool operator()(const IntDomain& domain) const {
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer != nullptr && *integer >= domain.min && *integer <= domain.max;
  }
  bool operator()(const CategoricalDomain& domain) const {
    return std::any_of(domain.values.begin(), domain.values.end(), [this](const Value& one) { return same(one, value); });
  }
  bool operator()(const FixedDomain& domain) const { return same(domain.value, value); }
};

// Of what a domain spans: is it min and so many steps, as far as it can be written?
struct OnStep {
  const Value& value;
  bool operator()(const FloatDomain& domain) const {
    const double number = *number_of(value);
    return std::abs(number - nearest_in(domain, number)) <= tolerance_of(domain);
  }
  bool operator()(const IntDomain& domain) const { return (std::get<std::int64_t>(value) - domain.min) % domain.step == 0; }
  bool operator()(const CategoricalDomain&) const { return true; }
  bool operator()(const FixedDomain&) const { return true; }
};

struct CountOfValues {
  double operator()(const FloatDomain& domain) const {
    return domain.step == 0 ? std::numeric_limits<double>::infinity() : Steps(domain).count() + 1;
  }
  double operator()(const IntDomain& domain) const { return Steps(domain).count() + 1; }
  double operator()(const CategoricalDomain& domain) const { return static_cast<double>(domain.values.size()); }
  double operator()(const FixedDomain&) const { return 1; }
};

struct Describe {
  std::string operator()(const FloatDomain& domain) const {
    const std::string by = domain.step == 0 ? "" : " by " + format_number(domain.step);
    return "float " + format_number(domain.min) + ".." + format_number(domain.max) + by + scale_suffix(domain.scale);
  }
  std::string operator()(const IntDomain& domain) const {
    const std::string by = domain.step == 1 ? "" : " by " + std::to_string(domain.step);
    return "int " + std::to_string(domain.min) + ".." + std::to_string(domain.max) + by + scale_suffix(domain.scale);
  }
  std::string operator()(const CategoricalDomain& domain) const {
    return "categorical" + listed(domain.values) + (domain.ordered ? " (ordered)" : "");
  }
  std::string operator()(const FixedDomain& domain) const { return "fixed " + to_string(domain.value); }
};

}  // namespace

const std::vector<Value>* nominal_values(const Domain& domain) {
  const auto* categories = std::get_if<CategoricalDomain>(&domain);
  return categories && !categories->ordered ? &categories->values : nullptr;
}

Value value_at(const Domain& domain, double u) { return std::visit(ValueAt{u}, domain); }

double unit_of(const Domain& domain, const Value& value) { return std::visit(UnitOf{value}, domain); }

bool spans(const Domain& domain, const Value& value) { return std::visit(Spans{value}, domain); }

bool contains(const Domain& domain, const Value& value) { return spans(domain, value) && std::visit(OnStep{value}, domain); }

double nearest_in(const FloatDomain& domain, double value) {
  const double within = std::clamp(value, domain.min, domain.max);
  if (domain.step == 0) return within;
  const Steps steps(domain);
  const double index = steps.index_of(within);
  const double exact = steps.value_at(index);
  if (index == 0 || index == steps.count()) return exact;
  const double written = as_written(exact, largest_of(domain));
  return std::abs(written - exact) <= tolerance_of(domain) ? written : exact;
}

double as_written(double sum, double largest) {
  constexpr int kDigits = 15;
  const int decimals =
      kDigits - 1 - static_cast<int>(std::floor(std::log10(std::max(largest, std::numeric_limits<double>::min()))));
  return parse_number(fmt::format("{:.{}f}", sum, std::max(decimals, 0))).value_or(sum) + 0.0;  // no -0
}

double count_of_values(const Domain& domain) { return std::visit(CountOfValues{}, domain); }

std::string describe(const Domain& domain) { return std::visit(Describe{}, domain); }

namespace {

// `points` values from min to max, both included; fewer where neighbours fall together.
template <class Number, class At>
std::vector<Value> grid_axis(Number min, Number max, int points, const At& at) {
  std::vector<Value> values{Value(min)};
  Number last = min;
  for (int i = 1; i < points; ++i) {
    const Number value = i + 1 == points ? max : at(static_cast<double>(i) / (points - 1));
    if (value <= last) continue;
    values.emplace_back(value);
    last = value;
  }
  return values;
}

// All values of a domain in steps where there are no more than `points`, else as grid_axis().
template <class D, class At>
std::vector<Value> grid_of_steps(const D& domain, double points, const At& at) {
  const Steps steps(domain);
  if (steps.count() >= points) return grid_axis(domain.min, domain.max, static_cast<int>(points), at);
  std::vector<Value> all;
  for (double index = 0; index <= steps.count(); ++index) all.emplace_back(nearest_in(domain, steps.value_at(index)));
  return all;
}

struct GridValues {
  int points;
  double steps_max() const { return std::max<double>(points, kCategoriesMax); }
  std::vector<Value> operator()(const FloatDomain& domain) const {
    const auto at = [&](double u) { return nearest_in(domain, scaled(domain.min, domain.max, domain.scale, u)); };
    return domain.step > 0 ? grid_of_steps(domain, steps_max(), at) : grid_axis(domain.min, domain.max, points, at);
  }
  std::vector<Value> operator()(const IntDomain& domain) const {
    const auto min = static_cast<double>(domain.min);
    const auto max = static_cast<double>(domain.max);
    const auto at = [&](double u) {
      const double value = scaled(min, max, domain.scale, u);
      return domain.step == 1 ? std::min(static_cast<std::int64_t>(std::llround(value)), domain.max) : nearest_in(domain, value);
    };
    return grid_of_steps(domain, domain.step == 1 ? points : steps_max(), at);
  }
  std::vector<Value> operator()(const CategoricalDomain& domain) const { return domain.values; }
  std::vector<Value> operator()(const FixedDomain& domain) const { return {domain.value}; }
};

}  // namespace

std::vector<Value> grid_values(const Domain& domain, int points) { return std::visit(GridValues{points}, domain); }

}  // namespace tuneband
