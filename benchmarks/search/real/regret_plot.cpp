#include "benchmarks/search/real/regret_plot.hpp"

#include <fmt/format.h>

#include <fstream>
#include <numeric>

#include "benchmarks/search/real/common.hpp"
#include "simulator/chart.hpp"
#include "simulator/comparison.hpp"
#include "simulator/csv.hpp"

namespace tuneband {

void add_means(Plotted& plotted, const std::string& method, const Regrets& mean, const std::vector<double>& budgets) {
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    for (std::size_t seed = 0; seed < mean.validation[i].size(); ++seed)
      plotted[method][budgets[i]][std::to_string(seed)] = {mean.validation[i][seed]};
  }
}

void add_file(Plotted& plotted, const std::string& path, int workers) {
  const Csv csv = checked(read_csv(path));
  const auto cell = [&](const std::vector<std::string>& row, const char* column) { return row.at(csv.column(column)); };
  for (const auto& row : csv.rows) {
    if (cell(row, "workers") != std::to_string(workers) || cell(row, "axis") != "resource") continue;
    plotted[cell(row, "method")][std::stod(cell(row, "budget"))][cell(row, "seed")].push_back(std::stod(cell(row, "regret")));
  }
}

void write_plot(const std::string& path, std::size_t datasets, int workers, const Plotted& plotted) {
  std::vector<ChartLine> lines;
  for (const auto& [method, by_budget] : plotted) {
    ChartLine line{method, {}};
    for (const auto& [budget, by_seed] : by_budget) {
      std::vector<double> means;
      for (const auto& [seed, regrets] : by_seed) {
        means.push_back(std::accumulate(regrets.begin(), regrets.end(), 0.0) / static_cast<double>(regrets.size()));
      }
      const Estimate here = estimate(means);
      line.points.push_back({budget, here.mean, here.half_width});
    }
    lines.push_back(std::move(line));
  }
  const std::string title = fmt::format("XGBoost on {} data sets, {} {}", datasets, workers, workers == 1 ? "worker" : "workers");
  std::ofstream(path) << chart_svg(lines, {title, "rounds spent / max_resource", "normalised regret"});
}

}  // namespace tuneband
