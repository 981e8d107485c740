// Searchers side by side on the recorded trainings of the real benchmark (README.md beside this): regret of the model that the
// user gets, on the validation rows by which it was chosen and on rows that no search saw.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>

#include "benchmarks/run_program.hpp"
#include "benchmarks/search/real/common.hpp"
#include "benchmarks/search/real/real_tables.hpp"
#include "benchmarks/search/real/regret_plot.hpp"
#include "benchmarks/search/real/regrets.hpp"
#include "core/csv_cell.hpp"
#include "core/random.hpp"
#include "simulator/comparison.hpp"
#include "simulator/search_method.hpp"

namespace tuneband {

namespace {

struct Arguments {
  std::string tables;
  std::string csv;
  std::vector<std::string> beside;
  std::string plot;
  std::vector<std::string> datasets;
  std::vector<std::string> methods{"none/random@prefix", "auto/auto@shrinkage"};
  std::vector<double> budgets{3, 6, 10, 20, 30, 60};
  std::vector<int> workers{1, 8};
  int seeds = 20;
  int threads = 2;
  bool each = false;
};

// "scheduler/sampler@fidelity"
Regrets measure(const std::string& text, RealTable& table, const Arguments& arguments, int workers) {
  const auto slash = text.find('/');
  const auto at = text.find('@');
  const std::string fidelity = text.substr(at + 1);
  Json job = table.job;
  // Each data set has seeds of its own: several have one search space, and a lucky start would be one for all of them.
  job["sampler"] = {{"seed", stable_hash(table.name) & static_cast<std::uint64_t>(kSeedMax)}};
  job["objective"]["metric"] = fidelity;
  job["trainer"]["fidelity"] = fidelity;
  MethodOptions options;
  options.scheduler = text.substr(0, slash);
  options.sampler = text.substr(slash + 1, at - slash - 1);
  int outside = 0;
  const auto method = checked(make_method(job, table.by_metric.at(fidelity), options, outside));
  if (outside > 0) throw std::runtime_error(table.name + ": configurations outside of the search space");
  ComparisonOptions comparison;
  comparison.workers = workers;
  comparison.seeds = arguments.seeds;
  comparison.threads = arguments.threads;
  comparison.budgets = arguments.budgets;
  const auto runs = compare({method}, table.by_metric.at(fidelity), comparison);
  Regrets regrets;
  for (const double budget : arguments.budgets) {
    auto& validation = regrets.validation.emplace_back();
    auto& test = regrets.test.emplace_back();
    for (const SimulationResult& run : runs.front().runs) {
      validation.push_back(1);
      test.push_back(1);
      for (const Incumbent& incumbent : run.incumbents) {
        if (incumbent.resource > budget * kMaxResource) break;
        validation.back() = table.validation.of(table.cost(fidelity, incumbent.curve, incumbent.rung));
        test.back() = table.test.of(table.cost(fidelity + "-test", incumbent.curve, incumbent.rung));
      }
    }
  }
  return regrets;
}

void write_csv(std::ostream& csv, const std::string& table, const std::string& method, int workers, const Regrets& regrets,
               const std::vector<double>& budgets) {
  for (const auto& [axis, samples] : {std::pair{"resource", &regrets.validation}, {"test", &regrets.test}}) {
    for (std::size_t budget = 0; budget < budgets.size(); ++budget) {
      for (std::size_t seed = 0; seed < (*samples)[budget].size(); ++seed) {
        csv << fmt::format("{},{},{},{},{},{:g},{:.6f}\n", table, csv_cell(method), workers, seed, axis, budgets[budget],
                           (*samples)[budget][seed]);
      }
    }
  }
}

int run(const Arguments& arguments) {
  std::vector<RealTable> tables = load_real_tables(arguments.tables, arguments.datasets);
  const auto names = arguments.each ? names_of(tables) : std::vector<std::string>{};
  std::ofstream csv;
  if (!arguments.csv.empty()) csv.open(arguments.csv);
  csv << "table,method,workers,seed,axis,budget,regret\n";
  Plotted plotted;  // of the first number of workers
  for (const std::string& beside : arguments.beside) add_file(plotted, beside, arguments.workers.front());
  for (const int workers : arguments.workers) {
    print_head(tables.size(), workers, arguments.seeds, arguments.budgets);
    for (const std::string& method : arguments.methods) {
      std::vector<Regrets> of_tables;
      for (RealTable& table : tables) {
        of_tables.push_back(measure(method, table, arguments, workers));
        if (csv.is_open()) write_csv(csv, table.name, method, workers, of_tables.back(), arguments.budgets);
      }
      print_rows(method, of_tables, names);
      if (workers == arguments.workers.front()) add_means(plotted, method, mean_over(of_tables), arguments.budgets);
    }
  }
  if (!arguments.plot.empty()) write_plot(arguments.plot, tables.size(), arguments.workers.front(), plotted);
  return 0;
}

}  // namespace

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::Arguments arguments;
  CLI::App app("Searchers side by side on recorded trainings of XGBoost.", "bench_real");
  app.add_option("--tables", arguments.tables, "Directory of what record_real wrote")->required()->check(CLI::ExistingDirectory);
  app.add_option("--dataset", arguments.datasets, "Only these");
  app.add_option("--method", arguments.methods,
                 "scheduler/sampler@fidelity, each with fields if need be: hyperband,min_resource=3/random@prefix");
  app.add_option("--budgets", arguments.budgets, "In units of max_resource");
  app.add_option("--workers", arguments.workers, "Workers; several numbers, several runs");
  app.add_option("--seeds", arguments.seeds, "Runs of each");
  app.add_option("--threads", arguments.threads, "Real threads");
  app.add_option("--csv", arguments.csv, "Write every run's regrets here");
  app.add_option("--beside", arguments.beside, "Such files of other searchers: into the plot too")->check(CLI::ExistingFile);
  app.add_option("--plot", arguments.plot, "Draw regret over budget here (SVG), of the first number of workers");
  app.add_flag("--each", arguments.each, "Print each data set too");
  return tuneband::run_program(app, argument_count, argument_values, [&] { return tuneband::run(arguments); });
}
