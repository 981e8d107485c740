// Trains configurations drawn at random on the data sets of the real benchmark, at every fidelity and rung, and writes what they
// reached as tables that `tuneband simulate` and bench_search read (README.md beside this).
#include <fmt/format.h>
#include <sys/resource.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <iostream>

#include "benchmarks/bench_worker.hpp"
#include "benchmarks/search/real/datasets.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "jobs/fidelity.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

namespace {

constexpr std::int64_t kRounds = 81;
constexpr std::int64_t kRungs[] = {1, 3, 9, 27, 81};
constexpr std::uint64_t kConfigurationsSeed = 7;
constexpr double kLeastFloat = 1e-6;  // a share of columns may not be 0

struct Arguments {
  std::string bank;
  std::string out;
  std::vector<std::string> only;
  int configurations = 320;
};

template <typename T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  return std::move(*result);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Matrices {
  workers::XgboostMatrix train;
  workers::XgboostMatrix validation;
  workers::XgboostMatrix test;
};

struct Measured {
  double validation = 0;
  double test = 0;
};

// One training of some rounds, measured after each of them.
std::vector<Measured> train(const RealDataset& dataset, const Matrices& matrices, const Configuration& configuration,
                            std::size_t index, std::int64_t rounds) {
  workers::XgboostParameters parameters = dataset.parameters;
  for (const auto& [name, value] : configuration) {
    double number = std::holds_alternative<std::int64_t>(value) ? static_cast<double>(std::get<std::int64_t>(value))
                                                                : std::max(kLeastFloat, std::get<double>(value));
    if (name == "eta") number = shrunk_eta(number, rounds, kRounds);
    parameters.emplace_back(name, format_number(number));
  }
  const auto seed = random_bits(kConfigurationsSeed, {stable_hash(dataset.name), index}) & 0x7fffffff;
  const workers::XgboostParameters always{{"seed", std::to_string(seed)},
                                          {"tree_method", "hist"},
                                          {"verbosity", "0"},
                                          {"nthread", "1"},
                                          {"seed_per_iteration", "1"},
                                          {"disable_default_eval_metric", "1"},
                                          {"eval_metric", dataset.metric}};
  parameters.insert(parameters.end(), always.begin(), always.end());
  const std::vector<workers::EvaluationSet> sets{{"validation", &matrices.validation}, {"test", &matrices.test}};
  auto booster = checked(workers::XgboostBooster::create(matrices.train, sets, std::move(parameters)));
  std::vector<Measured> curve;
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (auto trained = booster.train_round(static_cast<int>(round)); !trained)
      throw std::runtime_error(describe(trained.error()));
    const auto metrics = checked(booster.evaluate(static_cast<int>(round), sets));
    curve.push_back({metrics.at(0).second, metrics.at(1).second});
  }
  return curve;
}

// Of the best of the first `rounds` rounds, the first of equals.
Measured best_of(const std::vector<Measured>& curve, std::int64_t rounds, bool maximize) {
  Measured best = curve.front();
  for (std::int64_t i = 1; i < rounds; ++i) {
    const Measured& here = curve[static_cast<std::size_t>(i)];
    if (maximize ? here.validation > best.validation : here.validation < best.validation) best = here;
  }
  return best;
}

std::string header_of(const RealDataset& dataset) {
  std::string line;
  for (const auto& [name, domain] : dataset.search_space.items()) line += name + ",";
  line += "seconds_per_unit";
  for (std::int64_t round = 1; round <= kRounds; ++round) line += fmt::format(",prefix_{}", round);
  for (const std::int64_t rung : kRungs) line += fmt::format(",last_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",shrinkage_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",prefix-test_{}", rung);
  for (const std::int64_t rung : kRungs) line += fmt::format(",shrinkage-test_{}", rung);
  return line + "\n";
}

std::string line_of(const RealDataset& dataset, const Matrices& matrices, const Configuration& configuration, std::size_t index) {
  const bool maximize = dataset.goal == "maximize";
  const double before = processor_seconds();
  const auto full = train(dataset, matrices, configuration, index, kRounds);
  const double seconds = processor_seconds() - before;
  std::string line;
  for (const auto& [name, domain] : dataset.search_space.items()) {
    const Value& value = configuration.at(name);
    line += std::holds_alternative<double>(value) ? fmt::format("{:.5g},", std::get<double>(value)) : to_string(value) + ",";
  }
  line += fmt::format("{:.3g}", seconds / kRounds);
  for (std::int64_t round = 1; round <= kRounds; ++round)
    line += fmt::format(",{:.5g}", best_of(full, round, maximize).validation);
  for (const std::int64_t rung : kRungs) line += fmt::format(",{:.5g}", full[static_cast<std::size_t>(rung) - 1].validation);
  std::string shrinkage_tests;
  for (const std::int64_t rung : kRungs) {
    const auto curve = rung == kRounds ? full : train(dataset, matrices, configuration, index, rung);
    const Measured best = best_of(curve, rung, maximize);
    line += fmt::format(",{:.5g}", best.validation);
    shrinkage_tests += fmt::format(",{:.5g}", best.test);
  }
  for (const std::int64_t rung : kRungs) line += fmt::format(",{:.5g}", best_of(full, rung, maximize).test);
  return line + shrinkage_tests + "\n";
}

void write_compressed(const std::string& path, const std::string& text) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "wb9"), gzclose);
  if (!file || gzwrite(file.get(), text.data(), static_cast<unsigned>(text.size())) != static_cast<int>(text.size()))
    throw std::runtime_error("cannot write " + path);
}

// The job whose search the table answers for, as `tuneband simulate --job` takes it.
Json job_of(const RealDataset& dataset) {
  return {{"name", dataset.name},
          {"description", dataset.about},
          {"objective", {{"metric", "prefix"}, {"goal", dataset.goal}}},
          {"search_space", dataset.search_space},
          {"trainer", {{"type", "xgboost"}, {"fidelity", "prefix"}, {"keep", "best"}}},
          {"scheduler", {{"max_resource", kRounds}}}};
}

void record(const RealDataset& dataset, const Arguments& arguments) {
  const double before = processor_seconds();
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(dataset.search_space, "search_space", diagnostics);
  RandomSampler sampler(space, kConfigurationsSeed);
  const Matrices matrices{checked(workers::XgboostMatrix::create(dataset.train)),
                          checked(workers::XgboostMatrix::create(dataset.validation)),
                          checked(workers::XgboostMatrix::create(dataset.test))};
  std::string text = header_of(dataset);
  for (int i = 0; i < arguments.configurations; ++i)
    text += line_of(dataset, matrices, sampler.suggest(i, History()), static_cast<std::size_t>(i));
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
  app.add_option("--bank", arguments.bank, "A file of examples/direct-marketing/generate.py --rows 7000")->required();
  app.add_option("--out", arguments.out, "Directory for the tables")->required();
  app.add_option("--only", arguments.only, "Only these data sets");
  app.add_option("--configurations", arguments.configurations, "Of each data set");
  try {
    app.parse(argument_count, argument_values);
    for (const auto& dataset : tuneband::real_datasets(arguments.bank)) {
      const bool wanted = arguments.only.empty() || std::ranges::find(arguments.only, dataset.name) != arguments.only.end();
      if (wanted) tuneband::record(dataset, arguments);
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "record_real: " << error.what() << '\n';
    return 2;
  }
}
