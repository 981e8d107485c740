// Functions with a known optimum, and jobs that minimise them.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "search_spaces/sampler.hpp"
#include "spaces.hpp"

namespace tuneband::testing_spaces {

inline double number(const Configuration& configuration, const std::string& name) {
  const Value& value = configuration.at(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

// A function to minimise, and its least value.
struct Objective {
  std::string name;
  SearchSpace space;
  std::function<double(const Configuration&)> cost;
  double least = 0;
};

// Branin and Hoo, as in Dixon and Szegoe, "Towards Global Optimization 2" (1978).
inline Objective branin() {
  return {"Branin", space_of(R"({"x": {"type": "float", "min": -5, "max": 10}, "y": {"type": "float", "min": 0, "max": 15}})"),
          [](const Configuration& at) {
            const double x = number(at, "x");
            const double bowl =
                number(at, "y") - 5.1 / (4 * std::numbers::pi * std::numbers::pi) * x * x + 5 / std::numbers::pi * x - 6;
            return bowl * bowl + 10 * (1 - 1 / (8 * std::numbers::pi)) * std::cos(x) + 10;
          },
          0.397887};
}

inline Objective hartmann6() {
  Json space = Json::object();
  for (int i = 0; i < 6; ++i) space["x" + std::to_string(i)] = {{"type", "float"}, {"min", 0}, {"max", 1}};
  return {"Hartmann6", space_of(space.dump()),
          [](const Configuration& at) {
            static const double alpha[] = {1, 1.2, 3, 3.2};
            static const double a[4][6] = {
                {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
            static const double p[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                           {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                           {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                           {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
            double sum = 0;
            for (int i = 0; i < 4; ++i) {
              double exponent = 0;
              for (int j = 0; j < 6; ++j) {
                const double off = number(at, "x" + std::to_string(j)) - p[i][j];
                exponent += a[i][j] * off * off;
              }
              sum -= alpha[i] * std::exp(-exponent);
            }
            return sum;
          },
          -3.32237};
}

// One of three branches, each with parameters of its own: the best is `b` with depth 7 and rate 0.01.
inline Objective branches() {
  return {"branches", space_of(R"({
    "branch": {"type": "categorical", "values": ["a", "b", "c"]},
    "rate": {"type": "float", "min": 0.0001, "max": 1, "scale": "log"},
    "depth": {"type": "int", "min": 1, "max": 12, "when": {"branch": ["a", "b"]}},
    "drop": {"type": "float", "min": 0, "max": 1, "when": {"branch": "b"}},
    "kind": {"type": "categorical", "values": ["u", "v", "w", "x"], "when": {"branch": "c"}},
    "rounds": 10})"),
          [](const Configuration& at) {
            const double rate = std::log10(number(at, "rate")) + 2;
            const std::string branch = std::get<std::string>(at.at("branch"));
            if (branch == "c") return 2 + rate * rate + (std::get<std::string>(at.at("kind")) == "w" ? 0.0 : 1.0);
            const double depth = (number(at, "depth") - 7) / 4;
            const double common = rate * rate + depth * depth;
            if (branch == "a") return 1 + common;
            const double drop = 2 * (number(at, "drop") - 0.3);
            return common + drop * drop;
          },
          0};
}

// A job of one level whose trials end at once, `parallel` at a time. After each trial, the least cost so far.
inline std::vector<double> minimise(const Objective& objective, Sampler& sampler, int trials, int parallel = 1) {
  History history({1});
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < trials; ++trial) {
    history.add_trial(sampler.suggest(trial, history));
    if ((trial + 1) % parallel != 0 && trial + 1 < trials) continue;
    for (int done = static_cast<int>(best.size()); done <= trial; ++done) {
      const double cost = objective.cost(history.trials()[static_cast<std::size_t>(done)].configuration);
      history.add_result(done, 1, cost);
      history.end_trial(done, false);
      least = std::min(least, cost);
      best.push_back(least);
    }
  }
  return best;
}

}  // namespace tuneband::testing_spaces
