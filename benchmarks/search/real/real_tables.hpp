// The tables that record_real wrote, and the scale on which a model's value is a regret.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "simulator/curve_table.hpp"

namespace tuneband {

// What a model of some trial and rung is worth: 0 is the best of the table at any rung of any fidelity, 1 the median
// configuration after a full training. Below 0: better than the table's best.
struct RegretScale {
  double best = 0;
  double median = 0;
  double of(double cost) const { return std::min(1.0, (cost - best) / (median - best)); }
};

struct RealTable {
  std::string name;
  Json job;
  bool maximize = false;
  std::map<std::string, CurveTable> by_metric;  // "prefix", "shrinkage", "prefix-test", "shrinkage-test"
  RegretScale validation;
  RegretScale test;

  double cost(const std::string& metric, std::size_t curve, std::int64_t resource) const;
};

// Of a directory, by name; with `only`, those. Throws std::runtime_error where there is none, or one cannot be read.
std::vector<RealTable> load_real_tables(const std::string& directory, const std::vector<std::string>& only);
std::vector<std::string> names_of(const std::vector<RealTable>& tables);

}  // namespace tuneband
