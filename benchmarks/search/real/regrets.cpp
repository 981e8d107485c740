#include "benchmarks/search/real/regrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "simulator/comparison.hpp"

namespace tuneband {

namespace {

void print_row(const std::string& name, const Regrets& regrets) {
  const double left_out = regrets.left_out.empty() ? 0 : estimate(regrets.left_out).mean;
  fmt::print("| {}{} |", name, left_out > 0 ? fmt::format(", {:.1f} R left out", left_out) : "");
  for (const auto& sample : regrets.validation) {
    const Estimate here = estimate(sample);
    fmt::print(" {:.3f} ± {:.3f} |", here.mean, here.half_width);
  }
  const Estimate test = estimate(regrets.test.back());
  fmt::print(" {:.3f} ± {:.3f} |\n", test.mean, test.half_width);
  std::fflush(stdout);
}

}  // namespace

Regrets mean_over(const std::vector<Regrets>& tables) {
  Regrets mean = tables.front();
  for (std::size_t seed = 0; seed < mean.left_out.size(); ++seed) {
    double sum = 0;
    for (const Regrets& table : tables) sum += table.left_out[seed];
    mean.left_out[seed] = sum / static_cast<double>(tables.size());
  }
  for (auto axis : {&Regrets::validation, &Regrets::test}) {
    for (std::size_t budget = 0; budget < (mean.*axis).size(); ++budget) {
      for (std::size_t seed = 0; seed < (mean.*axis)[budget].size(); ++seed) {
        double sum = 0;
        for (const Regrets& table : tables) sum += (table.*axis)[budget][seed];
        (mean.*axis)[budget][seed] = sum / static_cast<double>(tables.size());
      }
    }
  }
  return mean;
}

void measure_from_best_found(std::vector<std::vector<Regrets>>& methods) {
  for (auto axis : {&Regrets::validation, &Regrets::test}) {
    for (std::size_t dataset = 0; dataset < methods.front().size(); ++dataset) {
      double best = 1;
      for (const auto& datasets : methods) {
        for (const auto& sample : datasets[dataset].*axis) best = std::min(best, *std::ranges::min_element(sample));
      }
      if (best == 1) continue;
      for (auto& datasets : methods) {
        for (auto& sample : datasets[dataset].*axis) {
          for (double& regret : sample) regret = (regret - best) / (1 - best);
        }
      }
    }
  }
}

void print_head(std::size_t datasets, int workers, int seeds, const std::vector<double>& budgets) {
  fmt::print("\n### {} data sets, {} {}, {} runs of each\n\n| method |", datasets, workers, workers == 1 ? "worker" : "workers",
             seeds);
  for (const double budget : budgets) fmt::print(" {:g} R |", budget);
  fmt::print(" {:g} R, test |\n|---|", budgets.back());
  for (std::size_t i = 0; i <= budgets.size(); ++i) fmt::print("--:|");
  fmt::print("\n");
}

void print_rows(const std::string& method, const std::vector<Regrets>& each, const std::vector<std::string>& names) {
  print_row(method, mean_over(each));
  for (std::size_t i = 0; i < names.size(); ++i) print_row("  " + names[i], each[i]);
}

}  // namespace tuneband
