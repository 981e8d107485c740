// Searchers side by side on every recorded table of a directory: regret of the best trial so far, by resource spent and by time.
// benchmarks/search/README.md says which tables there are and how docs/search.md is made.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "simulator/comparison.hpp"
#include "simulator/search_method.hpp"

namespace tuneband {

namespace {

namespace fs = std::filesystem;

// A folder of tables that have the same columns.
struct Family {
  std::string folder;
  std::string metric;
  std::string goal;
  std::int64_t max_resource = 0;
};

const std::vector<Family> kFamilies{
    {"lcbench", "val_accuracy", "maximize", 52},
    {"taskset", "valid_loss", "minimize", 50},
    {"xgboost", "val_auc", "maximize", 243},
};

struct Arguments {
  std::string tables;
  std::string csv;
  std::vector<std::string> families;
  std::vector<std::string> methods{"none/random", "asha_promotion/random"};
  std::vector<double> budgets{1, 3, 6, 10, 20, 30, 40};
  std::vector<int> workers{8};
  int seeds = 10;
  int threads = 2;
  std::int64_t min_resource = 1;
  bool each = false;
};

// "scheduler/sampler", each a type or a type and fields: "asha_delayed,eta=4,rung_audit=true/tpe".
SearchMethod method_of(const std::string& text, const Family& family, CurveTable& table, std::int64_t min_resource) {
  const auto slash = text.find('/');
  const Json document{{"objective", {{"metric", family.metric}, {"goal", family.goal}}},
                      {"sampler", {{"seed", 1}}},
                      {"scheduler", {{"max_resource", family.max_resource}, {"min_resource", min_resource}}}};
  int outside = 0;
  MethodOptions options;
  options.scheduler = text.substr(0, slash);
  options.sampler = text.substr(slash + 1);
  auto method = make_method(document, table, options, outside);
  if (!method) throw std::runtime_error(text + ": " + describe(method.error()));
  return std::move(*method);
}

std::vector<CurveTable> tables_of(const fs::path& folder, const Family& family) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("configs.")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CurveTable> tables;
  for (const fs::path& path : paths) {
    auto table = load_curve_table(path.string(), {family.metric, "", ""});
    if (!table) throw std::runtime_error(describe(table.error()));
    tables.push_back(std::move(*table));
  }
  return tables;
}

using ByBudget = std::vector<std::vector<double>>;

// The mean over tables, seed by seed.
ByBudget mean_over(const std::vector<ByBudget>& tables) {
  ByBudget mean = tables.front();
  for (std::size_t budget = 0; budget < mean.size(); ++budget) {
    for (std::size_t seed = 0; seed < mean[budget].size(); ++seed) {
      double sum = 0;
      for (const ByBudget& table : tables) sum += table[budget][seed];
      mean[budget][seed] = sum / static_cast<double>(tables.size());
    }
  }
  return mean;
}

std::string cell_of(const std::vector<double>& sample) {
  const Estimate here = estimate(sample);
  return fmt::format(" {:.3f} ± {:.3f} |", here.mean, here.half_width);
}

// Regret by resource at each budget, and by time at the last one.
void print_row(const std::string& name, const ByBudget& by_resource, const ByBudget& by_time, double suggest_ms) {
  fmt::print("| {} |", name);
  for (const auto& sample : by_resource) fmt::print("{}", cell_of(sample));
  fmt::print("{} {:.1f} |\n", cell_of(by_time.back()), suggest_ms);
  std::fflush(stdout);
}

void run_family(const Family& family, const Arguments& arguments, int workers, std::ostream* csv) {
  std::vector<CurveTable> tables = tables_of(fs::path(arguments.tables) / family.folder, family);
  ComparisonOptions options;
  options.workers = workers;
  options.seeds = arguments.seeds;
  options.threads = arguments.threads;
  options.budgets = arguments.budgets;
  fmt::print("\n### {}, {} tables, {} workers, {} runs of each\n\n| scheduler / sampler |", family.folder, tables.size(), workers,
             options.seeds);
  for (const double budget : options.budgets) fmt::print(" {:g} R |", budget);
  fmt::print(" {:g} R of time | ms a trial |\n|---|", options.budgets.back());
  for (std::size_t i = 0; i < options.budgets.size() + 2; ++i) fmt::print("--:|");
  fmt::print("\n");
  for (const std::string& method : arguments.methods) {
    std::vector<ByBudget> by_resource;
    std::vector<ByBudget> by_time;
    double suggest_ms = 0;
    for (CurveTable& table : tables) {
      const auto runs = compare({method_of(method, family, table, arguments.min_resource)}, table, options);
      if (csv != nullptr) *csv << comparison_csv(runs, table, options);
      by_resource.push_back(runs.front().regret_by_resource);
      by_time.push_back(runs.front().regret_by_time);
      double of_table = 0;
      for (const SimulationResult& run : runs.front().runs) of_table += run.suggest_seconds * 1000 / options.seeds;
      if (arguments.each) print_row("  " + table.name, by_resource.back(), by_time.back(), of_table);
      suggest_ms += of_table / static_cast<double>(tables.size());
    }
    print_row(method, mean_over(by_resource), mean_over(by_time), suggest_ms);
  }
}

}  // namespace

int run(const Arguments& arguments) {
  const auto before = std::chrono::steady_clock::now();
  std::ofstream csv;
  if (!arguments.csv.empty()) csv.open(arguments.csv);
  for (const Family& family : kFamilies) {
    const bool wanted = arguments.families.empty() || std::find(arguments.families.begin(), arguments.families.end(),
                                                                family.folder) != arguments.families.end();
    if (!wanted || !fs::exists(fs::path(arguments.tables) / family.folder)) continue;
    for (const int workers : arguments.workers) run_family(family, arguments, workers, csv.is_open() ? &csv : nullptr);
  }
  fmt::print(stderr, "{:.0f} s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  return 0;
}

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::Arguments arguments;
  CLI::App app("Searchers side by side on recorded learning curves.", "bench_search");
  app.add_option("--tables", arguments.tables, "Directory with the folders lcbench, taskset, xgboost")
      ->envname("TUNEBAND_TABLES")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--method", arguments.methods, "scheduler/sampler, each with fields if need be: asha_delayed,eta=4/random");
  app.add_option("--family", arguments.families, "Only these folders");
  app.add_option("--budgets", arguments.budgets, "In units of max_resource");
  app.add_option("--workers", arguments.workers, "Workers; several numbers, several runs");
  app.add_option("--seeds", arguments.seeds, "Runs of each");
  app.add_option("--threads", arguments.threads, "Real threads");
  app.add_option("--min-resource", arguments.min_resource, "Of every scheduler that has rungs");
  app.add_option("--csv", arguments.csv, "Write every run's regrets here");
  app.add_flag("--each", arguments.each, "Print each table too");
  try {
    app.parse(argument_count, argument_values);
    return tuneband::run(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "bench_search: " << error.what() << '\n';
    return 2;
  }
}
