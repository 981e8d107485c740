// Regret over budget as a picture.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks/search/real/regrets.hpp"

namespace tuneband {

// Of one number of workers, by method and budget: each seed's regrets on the data sets.
using Plotted = std::map<std::string, std::map<double, std::map<std::string, std::vector<double>>>>;

// Means over data sets, as mean_over makes them.
void add_means(Plotted& plotted, const std::string& method, const Regrets& mean, const std::vector<double>& budgets);

// A file of bench_real --csv or of optuna_real.py. Throws std::runtime_error where it cannot be read.
void add_file(Plotted& plotted, const std::string& path, int workers);

void write_plot(const std::string& path, std::size_t datasets, int workers, const Plotted& plotted);

}  // namespace tuneband
