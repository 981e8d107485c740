// Parameter domains and the space they span.
//
// A domain maps the unit interval onto its values, so that every sampler works on [0, 1)^d:
//   float  linear:      min + u (max - min)
//          log:         exp(log min + u (log max - log min))              min > 0
//          reverse_log: 1 - the log scale of (1 - max, 1 - min)           0 <= min, max < 1; as SageMaker's ReverseLogarithmic
//   int    linear, log: the float scale over [min - 0.5, max + 0.5), rounded, so that the ends are as likely as the rest
//   with a step:        the same from half a step below min (on a log scale as far below as half a step is above) to half a step
//                       above max, rounded to min, min + step, ..., max
//   categorical:        values[floor(u n)], ordered or not
//   fixed:              its one value
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "search_spaces/value.hpp"

namespace tuneband {

enum class Scale { linear, log, reverse_log };

struct FloatDomain {
  double min = 0;
  double max = 1;
  Scale scale = Scale::linear;
  double step = 0;  // 0: none. Not with reverse_log. max is a whole number of them above min
};

struct IntDomain {
  std::int64_t min = 0;
  std::int64_t max = 1;
  Scale scale = Scale::linear;  // linear or log
  std::int64_t step = 1;        // as a float's
};

struct CategoricalDomain {
  std::vector<Value> values;
  bool ordered = false;  // neighbours in the list are alike: samplers see places in it, evenly spaced, as they see numbers
};

struct FixedDomain {
  Value value;
};

using Domain = std::variant<FloatDomain, IntDomain, CategoricalDomain, FixedDomain>;

// The parameter exists only where `parent` is active and has one of `values`.
struct Condition {
  std::string parent;
  std::vector<Value> values;
};

struct Parameter {
  std::string name;
  Domain domain;
  std::optional<Condition> condition;
};

// Of a categorical without an order, whose values are all equally far apart; else null.
const std::vector<Value>* nominal_values(const Domain& domain);
// `u` in [0, 1].
Value value_at(const Domain& domain, double u);
// Its inverse: where a value lies on its domain's scale, in [0, 1]; an int, a category or a fixed value in the middle of its
// share. What the domain does not contain is moved to its nearest end; a category it lacks counts as the first.
double unit_of(const Domain& domain, const Value& value);
bool contains(const Domain& domain, const Value& value);
// The same, where a number may also lie between two steps: a result of another job that tells of this domain.
bool spans(const Domain& domain, const Value& value);
// Of a float domain, the nearest value that it contains.
double nearest_in(const FloatDomain& domain, double value);
// A sum of steps as a person would write it, 0.3 for 0.1 + 2 * 0.1: to the decimals that 15 digits of `largest` have.
double as_written(double sum, double largest);
// How many; infinity of a float without a step.
double count_of_values(const Domain& domain);
std::string describe(const Domain& domain);  // "float 0.01..0.3 (log)", "int 16..64 by 16"

// What a grid tries of it: `points` (2 or more) values over a float's scale, both ends included; all of an int's values when
// there are no more than `points`, else `points` of them over its scale; every step (of kCategoriesMax or `points` or fewer)
// and category.
std::vector<Value> grid_values(const Domain& domain, int points);

inline constexpr std::size_t kParametersMax = 200;
inline constexpr std::size_t kParameterNameSizeMax = 100;  // bytes
inline constexpr std::size_t kCategoriesMax = 1000;
inline constexpr double kStepsMax = 1e6;                            // of a float domain
inline constexpr double kStepTolerance = 1e-6;                      // of a step: what decimal fractions are beside it
inline constexpr std::int64_t kIntegerMax = 9'007'199'254'740'992;  // 2^53, so that an int survives readers with doubles only

// Parameters in an order in which every parent stands before its children; otherwise by name.
class SearchSpace {
 public:
  SearchSpace() = default;

  // {"eta": {"type": "float", "min": 0, "max": 1, "scale": "linear"}, "rate_drop": {..., "when": {"booster": ["dart"]}},
  //  "batch": {"type": "categorical", "values": [16, 32, 64], "ordered": true}, "depth": 6}. A bare scalar is a fixed value.
  //  Errors: empty, unknown type, min >= max, a log scale that touches 0, a step that does not lead to max, a condition on
  //  itself, in a circle, on an unknown or float parameter or on a value its parent cannot take. Names are of [A-Za-z0-9._-] and
  //  begin with a letter or an underscore.
  static SearchSpace parse(const Json& json, const std::string& path, Diagnostics& diagnostics);
  Json to_json() const;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Parameter* find(const std::string& name) const;
  // How many there are; infinite where a parameter that may be there has a range of real numbers.
  double configurations() const;
  // Without a condition, and of a new name.
  void add(Parameter parameter);
  // Of a parameter that it has, on whose values no condition rests.
  void replace_domain(const std::string& name, Domain domain);

  // `unit(parameter index)` gives u in [0, 1) for each active parameter.
  template <class Unit>
  Configuration at(const Unit& unit) const;

  bool active(const Parameter& parameter, const Configuration& configuration) const;

  // A configuration that a user wrote. Inactive or unknown parameters and values outside their domain are errors; fixed
  // parameters are filled in; a missing active parameter is an error. An int for a float domain is converted.
  Configuration check(const Json& json, const std::string& path, Diagnostics& diagnostics) const;
  // The same of one that may lack parameters: `unit(parameter index)` in [0, 1) is where these lie on their domain's scale, or
  // of a parent among its values with which what is given of its children is active.
  using UnitOf = std::function<double(std::size_t)>;
  Configuration complete(const Json& json, const UnitOf& unit, const std::string& path, Diagnostics& diagnostics) const;

 private:
  std::vector<Parameter> parameters_;
};

template <class Unit>
Configuration SearchSpace::at(const Unit& unit) const {
  Configuration configuration;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (active(parameters_[i], configuration)) configuration[parameters_[i].name] = value_at(parameters_[i].domain, unit(i));
  }
  return configuration;
}

}  // namespace tuneband
