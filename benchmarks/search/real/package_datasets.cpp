#include "benchmarks/search/real/package_datasets.hpp"

#include <fstream>

#include "benchmarks/search/real/common.hpp"

namespace tuneband {

namespace {

RealDataset load(const Json& its, const std::string& directory, Json space) {
  RealDataset dataset;
  dataset.name = its.at("name");
  dataset.about = its.at("about");
  dataset.metric = its.at("metric");
  dataset.goal = dataset.metric.starts_with("auc") ? "maximize" : "minimize";
  dataset.parameters = {{"objective", its.at("objective").get<std::string>()}};
  if (const int classes = its.at("classes"); classes > 0) dataset.parameters.emplace_back("num_class", std::to_string(classes));
  dataset.search_space = std::move(space);
  DataSpec spec;
  spec.train = {directory + "/" + dataset.name + ".csv"};
  spec.label = "label";
  spec.validation = SplitSpec{.fraction = 0.25, .seed = 1};
  spec.test = SplitSpec{.fraction = 0.25, .seed = 1};
  auto tables = checked(workers::load_tables(spec));
  dataset.train = std::move(tables.train);
  dataset.validation = std::move(tables.validation);
  dataset.test = std::move(tables.test);
  return dataset;
}

}  // namespace

std::vector<RealDataset> package_datasets(const std::string& directory) {
  std::ifstream file(directory + "/index.json");
  if (!file) throw std::runtime_error("cannot read " + directory + "/index.json: package_datasets.R writes it");
  std::vector<RealDataset> datasets;
  for (const Json& its : Json::parse(file))
    datasets.push_back(load(its, directory, datasets.size() % 2 == 0 ? wide_space() : narrow_space()));
  return datasets;
}

}  // namespace tuneband
