#include "simulator/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "core/csv_cell.hpp"
#include "core/random.hpp"
#include "core/statistics.hpp"

namespace tuneband {

namespace {

// The two-sided 95 % quantile of Student's t: a table up to 10 degrees of freedom, then its expansion (Cornish and Fisher).
double student_t95(std::size_t degrees) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (degrees <= std::size(kTable)) return kTable[degrees - 1];
  constexpr double z = 1.959964;
  const double n = static_cast<double>(degrees);
  return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

double regret_of(const SimulationResult& run, const Regret& regret, RegretAxis axis, double limit) {
  double last = 1;
  for (const Incumbent& incumbent : run.incumbents) {
    if ((axis == RegretAxis::resource ? incumbent.resource : incumbent.seconds) > limit) break;
    last = std::min(regret.of_value(incumbent.value), regret.of(incumbent.curve));
  }
  return last;
}

// Workers that one training needs; where a job chooses from several numbers, on average.
double mean_replicas(const JobSpec& spec) {
  double sum = 0;
  for (const int replicas : spec.replicas) sum += replicas;
  return sum / static_cast<double>(spec.replicas.size());
}

}  // namespace

Estimate estimate(const std::vector<double>& sample) {
  Estimate result;
  if (sample.empty()) return result;
  const auto [mean, deviation] = mean_and_deviation(sample);
  result.mean = mean;
  if (sample.size() < 2) return result;
  result.half_width = student_t95(sample.size() - 1) * deviation / std::sqrt(static_cast<double>(sample.size()));
  return result;
}

std::vector<std::vector<double>> regret_at(const std::vector<SimulationResult>& runs, const Regret& regret, RegretAxis axis,
                                           const std::vector<double>& limits) {
  std::vector<std::vector<double>> result;
  for (const double limit : limits) {
    auto& sample = result.emplace_back();
    for (const SimulationResult& run : runs) sample.push_back(regret_of(run, regret, axis, limit));
  }
  return result;
}

std::vector<ChartLine> regret_lines(const std::vector<MethodRuns>& methods, const Regret& regret, double max_resource,
                                    double budget) {
  constexpr int kPoints = 80;
  constexpr double kFirst = 0.5;  // in trainings until max_resource
  std::vector<double> budgets;
  std::vector<double> limits;
  for (int i = 0; i <= kPoints; ++i) {
    budgets.push_back(kFirst * std::pow(std::max(budget, 2 * kFirst) / kFirst, static_cast<double>(i) / kPoints));
    limits.push_back(budgets.back() * max_resource);
  }
  std::vector<ChartLine> lines;
  for (const MethodRuns& method : methods) {
    ChartLine line{method.name, {}};
    const auto samples = regret_at(method.runs, regret, RegretAxis::resource, limits);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Estimate here = estimate(samples[i]);
      line.points.push_back({budgets[i], here.mean, here.half_width});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<MethodRuns> compare(const std::vector<SearchMethod>& methods, const CurveTable& table,
                                const ComparisonOptions& options) {
  std::vector<MethodRuns> results(methods.size());
  const auto seeds = static_cast<std::size_t>(options.seeds);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    results[i].name = methods[i].name;
    results[i].runs.resize(seeds);
  }
  const auto seconds_of = [&](double budget, const SearchMethod& method) {
    const double training = table.seconds_of_training(method.spec.scheduler.max_resource) * mean_replicas(method.spec);
    return budget * training / options.workers;
  };
  const double most = *std::max_element(options.budgets.begin(), options.budgets.end());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t job = next++; job < methods.size() * seeds; job = next++) {
      const std::size_t method = job / seeds;
      JobSpec spec = methods[method].spec;
      spec.sampler.seed = random_bits(spec.sampler.seed, {job % seeds}) & static_cast<std::uint64_t>(kSeedMax);
      SimulationOptions simulation;
      simulation.workers = options.workers;
      simulation.resource_max = most * static_cast<double>(spec.scheduler.max_resource);
      simulation.seconds_max = seconds_of(most, methods[method]);
      results[method].runs[job % seeds] = simulate(std::move(spec), table, simulation);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  for (std::size_t method = 0; method < methods.size(); ++method) {
    const JobSpec& spec = methods[method].spec;
    const Regret regret(table, spec.objective.goal, spec.scheduler.max_resource);
    std::vector<double> units;
    std::vector<double> seconds;
    for (const double budget : options.budgets) {
      units.push_back(budget * static_cast<double>(spec.scheduler.max_resource));
      seconds.push_back(seconds_of(budget, methods[method]));
    }
    results[method].regret_by_resource = regret_at(results[method].runs, regret, RegretAxis::resource, units);
    results[method].regret_by_time = regret_at(results[method].runs, regret, RegretAxis::seconds, seconds);
  }
  return results;
}

std::string comparison_csv(const std::vector<MethodRuns>& methods, const CurveTable& table, const ComparisonOptions& options) {
  std::string text = "table,method,workers,seed,axis,budget,regret\n";
  for (const MethodRuns& method : methods) {
    for (const bool by_time : {false, true}) {
      const auto& regret = by_time ? method.regret_by_time : method.regret_by_resource;
      for (std::size_t budget = 0; budget < regret.size(); ++budget) {
        for (std::size_t seed = 0; seed < regret[budget].size(); ++seed) {
          text += fmt::format("{},{},{},{},{},{:g},{:.6f}\n", csv_cell(table.name), csv_cell(method.name), options.workers, seed,
                              by_time ? "time" : "resource", options.budgets[budget], regret[budget][seed]);
        }
      }
    }
  }
  return text;
}

}  // namespace tuneband
