// What searches over the real benchmark's data sets came to, and the table that says it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tuneband {

struct Regrets {
  std::vector<std::vector<double>> validation;  // by budget, then seed
  std::vector<std::vector<double>> test;
  std::vector<double> left_out;  // by seed, in units of max_resource: what full trainings that were ended early were spared
  std::vector<double> spent;     // by seed, in the same unit; of bench_live
};

// Seed by seed. Requires: at least one, all of the same budgets and seeds.
Regrets mean_over(const std::vector<Regrets>& tables);

// By method, then data set: moves the 0 of each data set to the best that any run of any method came to, and leaves the 1. A data
// set where nothing is better than its 1 stays as it is.
void measure_from_best_found(std::vector<std::vector<Regrets>>& methods);

// `budgets`: in units of max_resource.
void print_head(std::size_t datasets, int workers, int seeds, const std::vector<double>& budgets);
// Means with their intervals, of the test rows at the last budget: of all data sets, and of each one by its name. `each`: by data
// set; `names`: as many, or none to leave out those rows.
void print_rows(const std::string& method, const std::vector<Regrets>& each, const std::vector<std::string>& names);

}  // namespace tuneband
