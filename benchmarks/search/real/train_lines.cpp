// Trains what a searcher of another language asks for, with the product's own trainer: each line of the standard input is a
// question, a JSON object with `dataset`, `index` (of which the seed is a function), `rounds` (the first so many of a full
// training) and `configuration`; its answer is one line, the best round's `validation` and `test` value and the
// `seconds` of processor time that all of it took.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "benchmarks/bench_worker.hpp"
#include "benchmarks/run_program.hpp"
#include "benchmarks/search/real/trainings.hpp"
#include "benchmarks/search/real/which_datasets.hpp"

namespace tuneband {

namespace {

int answer_lines(const WhichDatasets& which) {
  const auto datasets = datasets_of(which);
  std::map<std::string, Matrices> matrices;
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json question = checked(parse_json(line));
    const RealDataset& dataset = dataset_named(datasets, question.at("dataset"));
    const Matrices& of_dataset = matrices.try_emplace(dataset.name, dataset).first->second;
    const auto rounds = question.at("rounds").get<std::int64_t>();
    const auto curve =
        train(dataset, of_dataset, {configuration_from_json(question.at("configuration")), question.at("index"), rounds, rounds});
    const Measured best = best_of(curve, rounds, dataset.goal == "maximize");
    std::cout << Json{{"validation", best.validation}, {"test", best.test}, {"seconds", curve.back().seconds}} << std::endl;
  }
  return 0;
}

}  // namespace

}  // namespace tuneband

int main(int argument_count, char** argument_values) {
  tuneband::start_with_passive_threads(argument_values);
  tuneband::WhichDatasets which;
  CLI::App app("Trains what is asked on the standard input.", "train_lines");
  tuneband::add_dataset_options(app, which);
  return tuneband::run_program(app, argument_count, argument_values, [&] { return tuneband::answer_lines(which); });
}
