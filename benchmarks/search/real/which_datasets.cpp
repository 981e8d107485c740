#include "benchmarks/search/real/which_datasets.hpp"

#include <algorithm>
#include <stdexcept>

#include "benchmarks/search/experience/random_datasets.hpp"
#include "benchmarks/search/real/package_datasets.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kFirstUnseen = 1000;  // experience is of the first 48, and no default was chosen by those from here on

}  // namespace

void add_dataset_options(CLI::App& app, WhichDatasets& which) {
  CLI::Option_group* group = app.add_option_group("Data sets");
  group->add_option("--bank", which.bank, "The seven: a file of examples/direct-marketing/generate.py --rows 7000");
  group->add_option("--random", which.random, "So many of random structure, by which nothing was chosen")
      ->check(CLI::Range(1, 1000));
  auto* packages = group->add_option("--packages", which.packages, "Real ones: a directory of package_datasets.R");
  group->require_option(1);
  app.add_flag("--large", which.large, "With more rows")->excludes(packages);
}

std::vector<RealDataset> datasets_of(const WhichDatasets& which) {
  if (!which.packages.empty()) return package_datasets(which.packages);
  if (which.random == 0) return real_datasets(which.bank, which.large);
  std::vector<RealDataset> datasets;
  for (std::size_t i = 0; i < which.random; ++i) datasets.push_back(random_dataset(kFirstUnseen + i, which.large));
  return datasets;
}

const RealDataset& dataset_named(const std::vector<RealDataset>& datasets, const std::string& name) {
  const auto dataset = std::ranges::find(datasets, name, &RealDataset::name);
  if (dataset == datasets.end()) throw std::runtime_error("no data set is named " + name);
  return *dataset;
}

}  // namespace tuneband
