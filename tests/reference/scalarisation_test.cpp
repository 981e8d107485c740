#include "scheduler/scalarisation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

JobSpec objectives(const std::vector<Goal>& goals, std::uint64_t seed) {
  JobSpec spec;
  spec.sampler.seed = seed;
  spec.objective = {"m0", goals[0], std::nullopt};
  for (std::size_t i = 1; i < goals.size(); ++i)
    spec.more_objectives.push_back({"m" + std::to_string(i), goals[i], std::nullopt});
  return spec;
}

DecisionRow result(const std::vector<double>& values) {
  DecisionRow decision;
  decision.value = values[0];
  decision.more_values.assign(values.begin() + 1, values.end());
  return decision;
}

// Values of each objective on a scale of its own.
std::vector<double> values_of(Draws& draws, std::size_t objectives) {
  std::vector<double> values;
  for (std::size_t i = 0; i < objectives; ++i)
    values.push_back(100.0 * static_cast<double>(i) + std::pow(10, i) * draws.normal());
  return values;
}

struct Scales {
  std::vector<double> origin, spread;
};

// Where one objective is its spread worse than its best value and the others are at theirs, the cost is 1.05 times its weight.
std::vector<double> weights_of(const Scalarisation& scalarisation, const Scales& scales, const std::vector<Goal>& goals) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    std::vector<double> values = scales.origin;
    values[i] += goals[i] == Goal::maximize ? -scales.spread[i] : scales.spread[i];
    weights.push_back(scalarisation.cost(result(values)) / 1.05);
  }
  return weights;
}

// The scale is of the first 20 of 24 results, of those that have finite values.
TEST(ScalarisationReference, IsTheAugmentedChebyshevCostWhateverTheGoals) {
  for (const std::vector<Goal>& goals :
       {std::vector{Goal::minimize, Goal::maximize}, {Goal::maximize, Goal::minimize, Goal::maximize}}) {
    Draws draws(5, 6, static_cast<std::int64_t>(goals.size()));
    std::vector<DecisionRow> decisions;
    Json rows = Json::array();
    for (int i = 0; i < 24; ++i) {
      std::vector<double> values = values_of(draws, goals.size());
      if (i == 9) values[1] = std::numeric_limits<double>::infinity();
      decisions.push_back(result(values));
      if (i == 3) decisions.back().value.reset();
      if (i < 20) rows.push_back(i == 3 || i == 9 ? Json(nullptr) : Json(values));
    }
    Json maximize = Json::array();
    for (const Goal goal : goals) maximize.push_back(goal == Goal::maximize);
    const Json answer = reference({{"what", "scales"}, {"rows", rows}, {"maximize", maximize}});
    const Scales scales{answer["origin"].get<std::vector<double>>(), answer["spread"].get<std::vector<double>>()};
    const Scalarisation scalarisation(objectives(goals, 11), decisions);
    const std::vector<double> weights = weights_of(scalarisation, scales, goals);
    std::vector<std::vector<double>> at;
    for (int i = 0; i < 40; ++i) at.push_back(values_of(draws, goals.size()));
    const Json costs = reference({{"what", "chebyshev"},
                                  {"rows", at},
                                  {"maximize", maximize},
                                  {"origin", scales.origin},
                                  {"spread", scales.spread},
                                  {"weights", weights}});
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(scalarisation.cost(result(at[i])), costs[i].get<double>(), 1e-9) << i;
  }
}

// Of three weights whose sum is 1, each is below a half in three of four cases, and a third on average.
TEST(ScalarisationReference, WeightsAreUniformOverThoseWhoseSumIsOne) {
  const std::vector<Goal> goals(3, Goal::minimize);
  const Scales units{{0, 0, 0}, {1, 1, 1}};
  constexpr int kSeeds = 2000;
  std::vector<double> means(3);
  std::vector<double> below_half(3);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<double> weights = weights_of(Scalarisation(objectives(goals, seed), {}), units, goals);
    ASSERT_NEAR(weights[0] + weights[1] + weights[2], 1, 1e-9);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_GE(weights[i], 0);
      means[i] += weights[i] / kSeeds;
      below_half[i] += (weights[i] < 0.5 ? 1.0 : 0.0) / kSeeds;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(means[i], 1.0 / 3, 0.02);
    EXPECT_NEAR(below_half[i], 0.75, 0.04);
  }
}

}  // namespace
}  // namespace tuneband::test
