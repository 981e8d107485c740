// Which data sets a benchmark's command line asks for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "benchmarks/search/real/datasets.hpp"

namespace tuneband {

struct WhichDatasets {
  std::string bank;
  bool large = false;
  std::size_t random = 0;  // instead of the seven
  std::string packages;    // instead of them too
};

// --bank, --random or --packages, and --large.
void add_dataset_options(CLI::App& app, WhichDatasets& which);

// Throws std::runtime_error where a file cannot be read.
std::vector<RealDataset> datasets_of(const WhichDatasets& which);

// Throws std::runtime_error where there is none.
const RealDataset& dataset_named(const std::vector<RealDataset>& datasets, const std::string& name);

}  // namespace tuneband
