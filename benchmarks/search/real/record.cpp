// Trains configurations drawn at random on the data sets of the real benchmark, at every fidelity and rung, and writes what they
// reached as tables that `tuneband simulate` and bench_search read (README.md beside this).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "benchmarks/bench_worker.hpp"
#include "benchmarks/run_program.hpp"
#include "benchmarks/search/real/trainings.hpp"
#include "benchmarks/search/real/which_datasets.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

constexpr std::int64_t kRungs[] = {1, 3, 9, 27, 81};

struct Arguments {
  WhichDatasets which;
  std::string out;
  std::vector<std::string> only;
  int configurations = 320;
  double shrinkage_max = kShrinkageMax;
};

std::string header_of(const RealDataset& dataset) {
  std::string line;
  for (const auto& [name, domain] : dataset.search_space.items()) line += name + ",";
  line += "seconds_per_unit";
  for (std::int64_t round = 1; round <= kMaxResource; ++round) line += fmt::format(",prefix_{}", round);
  for (const std::int64_t rung : kRungs) line += fmt::format(",last_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",shrinkage_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",prefix-test_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",shrinkage-test_{}", rung);
  return line + "\n";
}

std::string line_of(const RealDataset& dataset, const Matrices& matrices, const Configuration& configuration, std::size_t index,
                    double shrinkage_max) {
  const bool maximize = dataset.goal == "maximize";
  const double before = processor_seconds();
  const auto full = train(dataset, matrices, {configuration, index, kMaxResource, kMaxResource});
  const double seconds = processor_seconds() - before;
  std::string line = configuration_cells(dataset, configuration);
  line += fmt::format("{:.3g}", seconds / kMaxResource);
  for (std::int64_t round = 1; round <= kMaxResource; ++round)
    line += fmt::format(",{:.5g}", best_of(full, round, maximize).validation);
  for (const std::int64_t rung : kRungs) line += fmt::format(",{:.5g}", full[static_cast<std::size_t>(rung) - 1].validation);
  std::string shrinkage_tests;
  for (const std::int64_t rung : kRungs) {
    const auto curve =
        rung == kMaxResource ? full : train(dataset, matrices, {configuration, index, rung, kMaxResource, shrinkage_max});
    const Measured best = best_of(curve, rung, maximize);
    line += fmt::format(",{:.5g}", best.validation);
    shrinkage_tests += fmt::format(",{:.5g}", best.test);
  }
  for (const std::int64_t rung : kRungs) line += fmt::format(",{:.5g}", best_of(full, rung, maximize).test);
  return line + shrinkage_tests + "\n";
}

// The job whose search the table answers for, as `tuneband simulate --job` takes it.
Json job_of(const RealDataset& dataset) {
  return {{"name", dataset.name},
          {"description", dataset.about},
          {"objective", {{"metric", "prefix"}, {"goal", dataset.goal}}},
          {"search_space", dataset.search_space},
          {"trainer", {{"type", "xgboost"}, {"fidelity", "prefix"}, {"keep", "best"}}},
          {"scheduler", {{"max_resource", kMaxResource}}}};
}

void record(const RealDataset& dataset, const Arguments& arguments) {
  const double before = processor_seconds();
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(dataset.search_space, "search_space", diagnostics);
  RandomSampler sampler(space, kConfigurationsSeed);
  const Matrices matrices(dataset);
  std::string text = header_of(dataset);
  for (int i = 0; i < arguments.configurations; ++i)
    text += line_of(dataset, matrices, sampler.suggest(i, History()), static_cast<std::size_t>(i), arguments.shrinkage_max);
  write_compressed(arguments.out + "/" + dataset.name + ".csv.gz", text);
  Json job = job_of(dataset);
  job.erase("description");
  std::ofstream(arguments.out + "/" + dataset.name + ".json") << job.dump(2) << "\n";
  fmt::print("{:14}{} configurations, {} + {} + {} rows, {:.0f} s of processor time\n", dataset.name, arguments.configurations,
             dataset.train.rows(), dataset.validation.rows(), dataset.test.rows(), processor_seconds() - before);
  std::fflush(stdout);
}

}  // namespace

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::start_with_passive_threads(argument_values);
  tuneband::Arguments arguments;
  CLI::App app("Records the tables of the real benchmark.", "record_real");
  tuneband::add_dataset_options(app, arguments.which);
  app.add_option("--out", arguments.out, "Directory for the tables")->required();
  app.add_option("--only", arguments.only, "Only these data sets");
  app.add_option("--configurations", arguments.configurations, "Of each data set");
  app.add_option("--shrinkage-max", arguments.shrinkage_max, "trainer.shrinkage_max of the fidelity `shrinkage`");
  return tuneband::run_program(app, argument_count, argument_values, [&] {
    for (const auto& dataset : tuneband::datasets_of(arguments.which)) {
      const bool wanted = arguments.only.empty() || std::ranges::find(arguments.only, dataset.name) != arguments.only.end();
      if (wanted) tuneband::record(dataset, arguments);
    }
    return 0;
  });
}
