#include "benchmarks/search/real/trainings.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <stdexcept>

#include "core/random.hpp"
#include "core/text.hpp"
#include "workers/xgboost/refit.hpp"

namespace tuneband {

namespace {

constexpr double kLeastFloat = 1e-6;  // a share of columns may not be 0

std::vector<float> margins_of(workers::XgboostBooster& booster, const workers::XgboostMatrix& matrix) {
  const auto rows = checked(booster.predict(matrix, workers::Prediction::margin));
  return {rows.values.begin(), rows.values.end()};
}

// Of the processor time of this thread, in which a training of one thread takes place.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

workers::XgboostParameters parameters_of(const RealDataset& dataset, const Training& training) {
  workers::XgboostParameters parameters = dataset.parameters;
  for (const auto& [name, value] : training.configuration) {
    double number = std::holds_alternative<std::int64_t>(value) ? static_cast<double>(std::get<std::int64_t>(value))
                                                                : std::max(kLeastFloat, std::get<double>(value));
    if (name == "eta") number = shrunk_eta(number, training.rounds, training.max_rounds, training.shrinkage_max);
    parameters.emplace_back(name, format_number(number));
  }
  const auto seed = random_bits(kConfigurationsSeed, {stable_hash(dataset.name), training.index}) & 0x7fffffff;
  const workers::XgboostParameters always{{"seed", std::to_string(seed)},
                                          {"tree_method", "hist"},
                                          {"verbosity", "0"},
                                          {"nthread", "1"},
                                          {"seed_per_iteration", "1"},
                                          {"disable_default_eval_metric", "1"},
                                          {"eval_metric", dataset.metric}};
  parameters.insert(parameters.end(), always.begin(), always.end());
  return parameters;
}

}  // namespace

Matrices::Matrices(const RealDataset& dataset)
    : train(checked(workers::XgboostMatrix::create(dataset.train))),
      validation(checked(workers::XgboostMatrix::create(dataset.validation))),
      test(checked(workers::XgboostMatrix::create(dataset.test))),
      refit(checked(workers::XgboostMatrix::create(workers::all_rows(dataset.train, dataset.validation)))) {}

std::vector<Measured> train(const RealDataset& dataset, const Matrices& matrices, const Training& training,
                            BestMargins* margins) {
  const std::vector<workers::EvaluationSet> sets{{"validation", &matrices.validation}, {"test", &matrices.test}};
  auto booster = checked(workers::XgboostBooster::create(matrices.train, sets, parameters_of(dataset, training)));
  std::vector<Measured> curve;
  double seconds = 0;
  for (std::int64_t round = 0; round < training.rounds; ++round) {
    const double before = thread_seconds();
    if (auto trained = booster.train_round(static_cast<int>(round)); !trained)
      throw std::runtime_error(describe(trained.error()));
    const auto metrics = checked(booster.evaluate(static_cast<int>(round), sets));
    seconds += thread_seconds() - before;
    curve.push_back({round + 1, metrics.at(0).second, metrics.at(1).second, seconds});
    const bool is_best = best_of(curve, round + 1, dataset.goal == "maximize").round == round + 1;
    if (margins != nullptr && is_best) *margins = {margins_of(booster, matrices.validation), margins_of(booster, matrices.test)};
  }
  return curve;
}

std::vector<float> refit_test_margins(const RealDataset& dataset, const Matrices& matrices, const Training& training,
                                      std::int64_t rounds) {
  const auto again = workers::refit_rounds(rounds, matrices.train.rows(), matrices.refit.rows());
  const std::string model = checked(workers::train_anew(matrices.refit, parameters_of(dataset, training), again));
  auto booster = checked(workers::XgboostBooster::of_model(model));
  return margins_of(booster, matrices.test);
}

Measured best_of(const std::vector<Measured>& curve, std::int64_t rounds, bool maximize) {
  Measured best = curve.front();
  for (std::int64_t i = 1; i < rounds; ++i) {
    const Measured& here = curve[static_cast<std::size_t>(i)];
    if (maximize ? here.validation > best.validation : here.validation < best.validation) best = here;
  }
  return best;
}

std::string configuration_cells(const RealDataset& dataset, const Configuration& configuration) {
  std::string cells;
  for (const auto& [name, domain] : dataset.search_space.items()) {
    const Value& value = configuration.at(name);
    cells += std::holds_alternative<double>(value) ? fmt::format("{:.5g},", std::get<double>(value)) : to_string(value) + ",";
  }
  return cells;
}

void write_compressed(const std::string& path, const std::string& text) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "wb9"), gzclose);
  if (!file || gzwrite(file.get(), text.data(), static_cast<unsigned>(text.size())) != static_cast<int>(text.size()))
    throw std::runtime_error("cannot write " + path);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace tuneband
