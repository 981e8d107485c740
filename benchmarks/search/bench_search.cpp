// Searchers side by side on every recorded table of a directory: regret of the best trial so far, by resource spent and by time.
// benchmarks/search/README.md says which tables there are and how docs/search-measurements.md is made.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>

#include "benchmarks/run_program.hpp"
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
    {"lcbench", "val_accuracy", "maximize", 52}, {"taskset", "valid_loss", "minimize", 50},
    {"xgboost", "val_auc", "maximize", 243},     {"made", "loss", "minimize", 50},
    {"crossing", "loss", "minimize", 50},
};

struct Arguments {
  std::string tables;
  std::string csv;
  std::vector<std::string> families;
  std::vector<std::string> methods{"none/random", "asha_promotion/random"};
  std::vector<std::string> schedulers;  // not empty: each with each sampler, instead of the methods
  std::vector<std::string> samplers{"random", "auto"};
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

std::string cell_of(const std::vector<double>& sample) {
  const Estimate here = estimate(sample);
  return fmt::format("{:.3f} ± {:.3f}", here.mean, here.half_width);
}

// One method on every table of a family.
struct Measured {
  ByBudget by_resource;
  ByBudget by_time;
  double suggest_ms = 0;  // a trial
};

// Regret by resource at each budget, and by time at the last one.
void print_row(const std::string& name, const Measured& measured) {
  fmt::print("| {} |", name);
  for (const auto& sample : measured.by_resource) fmt::print(" {} |", cell_of(sample));
  fmt::print(" {} | {:.1f} |\n", cell_of(measured.by_time.back()), measured.suggest_ms);
  std::fflush(stdout);
}

class FamilyBench {
 public:
  FamilyBench(const Family& family, const Arguments& arguments, int workers, std::ostream* csv)
      : family_(family),
        arguments_(arguments),
        tables_(tables_of(fs::path(arguments.tables) / family.folder, family)),
        csv_(csv) {
    options_.workers = workers;
    options_.seeds = arguments.seeds;
    options_.threads = arguments.threads;
    options_.budgets = arguments.budgets;
  }

  void print_methods() {
    fmt::print("\n### {}\n\n| scheduler / sampler |", title());
    for (const double budget : options_.budgets) fmt::print(" {:g} R |", budget);
    fmt::print(" {:g} R of time | ms a trial |\n|---|", options_.budgets.back());
    for (std::size_t i = 0; i < options_.budgets.size() + 2; ++i) fmt::print("--:|");
    fmt::print("\n");
    for (const std::string& method : arguments_.methods) print_row(method, measure(method));
  }

  // Every scheduler with every sampler: a table for each budget, its best method in bold.
  void print_cross() {
    std::vector<std::vector<Measured>> cross;
    for (const std::string& scheduler : arguments_.schedulers) {
      cross.emplace_back();
      for (const std::string& sampler : arguments_.samplers) cross.back().push_back(measure(scheduler + "/" + sampler));
    }
    for (std::size_t budget = 0; budget < options_.budgets.size(); ++budget) {
      fmt::print("\n### {}, at {:g} R\n\n| scheduler |", title(), options_.budgets[budget]);
      for (const std::string& sampler : arguments_.samplers) fmt::print(" {} |", sampler);
      fmt::print("\n|---|");
      for (std::size_t i = 0; i < arguments_.samplers.size(); ++i) fmt::print("--:|");
      fmt::print("\n");
      print_matrix(cross, budget);
    }
  }

 private:
  std::string title() const {
    return fmt::format("{}, {} {}, {} {}, {} runs of each", family_.folder, tables_.size(),
                       tables_.size() == 1 ? "table" : "tables", options_.workers, options_.workers == 1 ? "worker" : "workers",
                       options_.seeds);
  }

  void print_matrix(const std::vector<std::vector<Measured>>& cross, std::size_t budget) const {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& row : cross) {
      for (const Measured& measured : row) best = std::min(best, estimate(measured.by_resource[budget]).mean);
    }
    for (std::size_t i = 0; i < cross.size(); ++i) {
      fmt::print("| {} |", arguments_.schedulers[i]);
      for (const Measured& measured : cross[i]) {
        const auto& sample = measured.by_resource[budget];
        const char* emphasis = estimate(sample).mean <= best + 0.0005 ? "**" : "";  // what is shown has three digits
        fmt::print(" {}{}{} |", emphasis, cell_of(sample), emphasis);
      }
      fmt::print("\n");
    }
    std::fflush(stdout);
  }

  Measured measure(const std::string& method) {
    std::vector<Measured> of_tables;
    for (CurveTable& table : tables_) {
      const auto runs = compare({method_of(method, family_, table, arguments_.min_resource)}, table, options_);
      if (csv_ != nullptr) *csv_ << comparison_csv(runs, table, options_);
      Measured measured{runs.front().regret_by_resource, runs.front().regret_by_time};
      for (const SimulationResult& run : runs.front().runs) measured.suggest_ms += run.suggest_seconds * 1000 / options_.seeds;
      if (arguments_.each) print_row("  " + table.name, measured);
      of_tables.push_back(std::move(measured));
    }
    return mean_over(of_tables);
  }

  // Seed by seed.
  static Measured mean_over(const std::vector<Measured>& tables) {
    Measured mean = tables.front();
    const auto share = 1 / static_cast<double>(tables.size());
    mean.suggest_ms = 0;
    for (const Measured& table : tables) mean.suggest_ms += table.suggest_ms * share;
    const auto average = [&](ByBudget Measured::*axis) {
      for (std::size_t budget = 0; budget < (mean.*axis).size(); ++budget) {
        for (std::size_t seed = 0; seed < (mean.*axis)[budget].size(); ++seed) {
          double sum = 0;
          for (const Measured& table : tables) sum += (table.*axis)[budget][seed];
          (mean.*axis)[budget][seed] = sum * share;
        }
      }
    };
    average(&Measured::by_resource);
    average(&Measured::by_time);
    return mean;
  }

  const Family& family_;
  const Arguments& arguments_;
  std::vector<CurveTable> tables_;
  std::ostream* csv_;
  ComparisonOptions options_;
};

}  // namespace

int run(const Arguments& arguments) {
  const auto before = std::chrono::steady_clock::now();
  std::ofstream csv;
  if (!arguments.csv.empty()) csv.open(arguments.csv);
  for (const Family& family : kFamilies) {
    const bool wanted = arguments.families.empty() || std::find(arguments.families.begin(), arguments.families.end(),
                                                                family.folder) != arguments.families.end();
    if (!wanted || !fs::exists(fs::path(arguments.tables) / family.folder)) continue;
    for (const int workers : arguments.workers) {
      FamilyBench bench(family, arguments, workers, csv.is_open() ? &csv : nullptr);
      if (arguments.schedulers.empty()) {
        bench.print_methods();
      } else {
        bench.print_cross();
      }
    }
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
  app.add_option("--scheduler", arguments.schedulers, "Each with each sampler: a table for each budget, instead of methods");
  app.add_option("--sampler", arguments.samplers, "Samplers for --scheduler");
  app.add_option("--family", arguments.families, "Only these folders");
  app.add_option("--budgets", arguments.budgets, "In units of max_resource");
  app.add_option("--workers", arguments.workers, "Workers; several numbers, several runs");
  app.add_option("--seeds", arguments.seeds, "Runs of each");
  app.add_option("--threads", arguments.threads, "Real threads");
  app.add_option("--min-resource", arguments.min_resource, "Of every scheduler that has rungs");
  app.add_option("--csv", arguments.csv, "Write every run's regrets here");
  app.add_flag("--each", arguments.each, "Print each table too");
  return tuneband::run_program(app, argument_count, argument_values, [&] { return tuneband::run(arguments); });
}
