// Trains configurations drawn at random on data sets of random structure (random_datasets.hpp) and writes what they reached, one
// table for all, from which learn.py makes the experience that samplers begin with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "benchmarks/bench_worker.hpp"
#include "benchmarks/run_program.hpp"
#include "benchmarks/search/experience/random_datasets.hpp"
#include "benchmarks/search/real/trainings.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

struct Arguments {
  std::string out;
  std::size_t from = 0;
  std::size_t until = 48;
  int configurations = 72;
};

// Columns: the data set's number, its configuration, the rounds of a full training, and the cost (the lesser the better) of the
// best round on the validation rows of trainings of so many rounds, a third and a ninth, with equal total shrinkage.
std::string lines_of(std::size_t index, const Arguments& arguments) {
  const RealDataset dataset = random_dataset(index);
  const std::int64_t rounds = rounds_of_random_dataset(index);
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(dataset.search_space, "search_space", diagnostics);
  RandomSampler sampler(space, kConfigurationsSeed + index);
  const Matrices matrices(dataset);
  const bool maximize = dataset.goal == "maximize";
  std::string lines;
  for (int i = 0; i < arguments.configurations; ++i) {
    const Configuration configuration = sampler.suggest(i, History());
    std::string line = fmt::format("{},", index) + configuration_cells(dataset, configuration) + std::to_string(rounds);
    for (const std::int64_t length : {rounds, rounds / 3, rounds / 9}) {
      const auto curve = train(dataset, matrices, {configuration, static_cast<std::size_t>(i), length, rounds});
      const double value = best_of(curve, length, maximize).validation;
      line += fmt::format(",{:.5g}", maximize ? -value : value);
    }
    lines += line + "\n";
  }
  fmt::print("{:12}{:9}{:6} rows{:4} columns{:5} rounds\n", dataset.name, dataset.metric, dataset.train.rows(),
             dataset.train.columns, rounds);
  std::fflush(stdout);
  return lines;
}

int run(const Arguments& arguments) {
  std::string text = "dataset,";
  const RealDataset first = random_dataset(arguments.from);
  for (const auto& [name, domain] : first.search_space.items()) text += name + ",";
  text += "rounds,full,third,ninth\n";
  for (std::size_t index = arguments.from; index < arguments.until; ++index) {
    try {
      text += lines_of(index, arguments);
    } catch (const std::runtime_error& error) {  // a metric may have no value there, as the AUC of one class
      fmt::print("random-{} is left out: {}\n", index, error.what());
    }
  }
  write_compressed(arguments.out, text);
  return 0;
}

}  // namespace

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::start_with_passive_threads(argument_values);
  tuneband::Arguments arguments;
  CLI::App app("Records trainings on data sets of random structure.", "record_experience");
  app.add_option("--out", arguments.out, "The table (.csv.gz)")->required();
  app.add_option("--from", arguments.from, "The first data set's number");
  app.add_option("--until", arguments.until, "The number after the last one's");
  app.add_option("--configurations", arguments.configurations, "Of each data set");
  return tuneband::run_program(app, argument_count, argument_values, [&] { return tuneband::run(arguments); });
}
