#include "benchmarks/search/real/real_tables.hpp"

#include <filesystem>
#include <limits>

#include "benchmarks/search/real/common.hpp"
#include "simulator/csv.hpp"

namespace tuneband {

namespace {

namespace fs = std::filesystem;

RegretScale scale_of(const RealTable& table, const std::string& suffix) {
  std::vector<double> at_the_end;
  RegretScale scale{std::numeric_limits<double>::infinity(), 0};
  for (const std::string fidelity : {"prefix", "shrinkage"}) {
    const auto& curves = table.by_metric.at(fidelity + suffix).curves;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      for (const auto& [resource, value] : curves[i].points) scale.best = std::min(scale.best, table.maximize ? -value : value);
      if (fidelity == "prefix") at_the_end.push_back(table.cost(fidelity + suffix, i, kMaxResource));
    }
  }
  std::sort(at_the_end.begin(), at_the_end.end());
  scale.median = at_the_end[(at_the_end.size() - 1) / 2];
  return scale;
}

RealTable load(const fs::path& path) {
  RealTable table;
  table.name = path.stem().string();
  table.job = checked(parse_json(checked(read_text(path.string()))));
  table.maximize = table.job["objective"]["goal"] == "maximize";
  Diagnostics diagnostics;
  CurveTableOptions options;
  options.space = SearchSpace::parse(table.job["search_space"], "search_space", diagnostics);
  options.name = table.name;
  const std::string csv = fs::path(path).replace_extension(".csv.gz").string();
  for (const char* metric : {"prefix", "shrinkage", "prefix-test", "shrinkage-test"}) {
    options.metric = metric;
    table.by_metric.emplace(metric, checked(load_curve_table(csv, options)));
  }
  table.validation = scale_of(table, "");
  table.test = scale_of(table, "-test");
  return table;
}

}  // namespace

double RealTable::cost(const std::string& metric, std::size_t curve, std::int64_t resource) const {
  const double value = by_metric.at(metric).curves[curve].at(resource).value();
  return maximize ? -value : value;
}

std::vector<RealTable> load_real_tables(const std::string& directory, const std::vector<std::string>& only) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const bool wanted = only.empty() || std::ranges::find(only, entry.path().stem().string()) != only.end();
    if (entry.path().extension() == ".json" && wanted) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) throw std::runtime_error("no table in " + directory);
  std::vector<RealTable> tables;
  for (const fs::path& path : paths) tables.push_back(load(path));
  return tables;
}

std::vector<std::string> names_of(const std::vector<RealTable>& tables) {
  std::vector<std::string> names;
  for (const RealTable& table : tables) names.push_back(table.name);
  return names;
}

}  // namespace tuneband
