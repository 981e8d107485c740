#include "scheduler/scalarisation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace tuneband {
namespace {

// Least loss and greatest accuracy, of which the scales lie far apart.
JobSpec two_objectives() {
  JobSpec spec;
  spec.objective = {"loss", Goal::minimize, std::nullopt};
  spec.more_objectives = {{"accuracy", Goal::maximize, std::nullopt}};
  return spec;
}

DecisionRow result(double loss, double accuracy) {
  DecisionRow decision;
  decision.value = loss;
  decision.more_values = {accuracy};
  return decision;
}

std::vector<DecisionRow> spread_results() {
  std::vector<DecisionRow> decisions;
  for (int i = 0; i < 16; ++i) decisions.push_back(result(100.0 + i, 0.5 + 0.01 * ((i * 7) % 16)));
  return decisions;
}

TEST(Scalarisation, LessOfWhatIsMinimisedAndMoreOfWhatIsMaximisedCostsLess) {
  const Scalarisation scalarisation(two_objectives(), spread_results());
  const double cost = scalarisation.cost(result(108, 0.58));
  EXPECT_LT(scalarisation.cost(result(104, 0.62)), cost);
  EXPECT_GT(scalarisation.cost(result(112, 0.54)), cost);
}

// Of two results that are as bad where they are worst, the augmentation prefers the one that is better elsewhere.
TEST(Scalarisation, WhatIsBetterInOneObjectiveAloneCostsLess) {
  const Scalarisation scalarisation(two_objectives(), spread_results());
  const double cost = scalarisation.cost(result(108, 0.58));
  EXPECT_LT(scalarisation.cost(result(107, 0.58)), cost);
  EXPECT_LT(scalarisation.cost(result(108, 0.59)), cost);
  const double far_worse_in_loss = scalarisation.cost(result(500, 0.58));
  EXPECT_LT(scalarisation.cost(result(500, 0.59)), far_worse_in_loss);
  const double far_worse_in_accuracy = scalarisation.cost(result(108, 0.1));
  EXPECT_LT(scalarisation.cost(result(107, 0.1)), far_worse_in_accuracy);
}

// Of losses the median is 2 and the quartiles lie 2 apart; of accuracies 0.6 and 0.2.
TEST(Scalarisation, AResultCostsByItsDistanceFromTheBestValuesInQuartilesOrForDensitiesFromTheMedians) {
  JobSpec spec = two_objectives();
  for (const SamplerType type : {SamplerType::automatic, SamplerType::gp, SamplerType::tpe, SamplerType::bohb}) {
    spec.sampler.type = type;
    const bool density = type == SamplerType::tpe || type == SamplerType::bohb;
    const double loss = density ? 2 : 1;
    const double accuracy = density ? 0.6 : 0.9;
    const Scalarisation scalarisation(spec, {result(1, 0.7), result(4, 0.9), result(3, 0.5), result(2, 0.6)});
    EXPECT_EQ(scalarisation.cost(result(loss, accuracy)), 0);
    const double of_loss = scalarisation.cost(result(loss + 2, accuracy));
    const double of_accuracy = scalarisation.cost(result(loss, accuracy - 0.2));
    EXPECT_GT(of_loss, 0);
    EXPECT_GT(of_accuracy, 0);
    EXPECT_NEAR(of_loss + of_accuracy, 1.05, 1e-12) << "for the weights are 1 in all";
  }
}

// One end of a front costs least where its own objective weighs nearly all, and else the other.
TEST(Scalarisation, WeightsChooseBetweenTheEndsOfAFront) {
  std::vector<DecisionRow> front;
  for (int i = 0; i <= 40; ++i) front.push_back(result(i / 40.0, i / 40.0));  // loss against accuracy
  std::set<int> best;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    JobSpec spec = two_objectives();
    spec.sampler.seed = seed;
    const Scalarisation scalarisation(spec, front);
    int least = 0;
    for (int i = 1; i <= 40; ++i) {
      if (scalarisation.cost(front[static_cast<std::size_t>(i)]) < scalarisation.cost(front[static_cast<std::size_t>(least)]))
        least = i;
    }
    best.insert(std::min(3, least / 10));
  }
  EXPECT_EQ(best.size(), 4U) << "of its four quarters all";
}

TEST(Scalarisation, AnObjectiveThatIsMostlyTheSameWeighsByItsRange) {
  std::vector<DecisionRow> decisions;
  for (int i = 0; i < 38; ++i) decisions.push_back(result(i, i < 36 ? 1e6 : 1e6 + 100));
  const Scalarisation scalarisation(two_objectives(), decisions);
  const double a_range = scalarisation.cost(result(0, 1e6)) - scalarisation.cost(result(0, 1e6 + 100));
  EXPECT_GT(a_range, 0);
  EXPECT_LE(a_range, 1.05) << "and not by its units";
}

TEST(Scalarisation, UnitsOfAnObjectiveDoNotMatter) {
  std::vector<DecisionRow> decisions = spread_results();
  const Scalarisation plain(two_objectives(), decisions);
  for (DecisionRow& decision : decisions) *decision.value *= 1000;
  const Scalarisation in_thousands(two_objectives(), decisions);
  EXPECT_NEAR(plain.cost(result(103, 0.6)), in_thousands.cost(result(103'000, 0.6)), 1e-9);
}

TEST(Scalarisation, WhereAnObjectiveBeginsDoesNotMatter) {
  std::vector<DecisionRow> decisions = spread_results();
  const Scalarisation plain(two_objectives(), decisions);
  for (DecisionRow& decision : decisions) *decision.value += 1024;
  const Scalarisation further_up(two_objectives(), decisions);
  EXPECT_NEAR(plain.cost(result(103, 0.6)), further_up.cost(result(1127, 0.6)), 1e-9);
}

TEST(Scalarisation, AnObjectiveThatIsAlwaysTheSameLeavesTheOthersAsTheyAre) {
  std::vector<DecisionRow> decisions = spread_results();
  for (DecisionRow& decision : decisions) decision.more_values = {0.5};
  const Scalarisation scalarisation(two_objectives(), decisions);
  EXPECT_LT(scalarisation.cost(result(104, 0.5)), scalarisation.cost(result(112, 0.5)));
}

TEST(Scalarisation, OfAValueThatIsNotFiniteThereIsNoCost) {
  const Scalarisation scalarisation(two_objectives(), spread_results());
  EXPECT_TRUE(std::isnan(scalarisation.cost(result(std::numeric_limits<double>::quiet_NaN(), 0.5))));
  EXPECT_TRUE(std::isnan(scalarisation.cost(result(100, std::numeric_limits<double>::infinity()))));
}

TEST(Scalarisation, WeightsChangeAsResultsCome) {
  const std::vector<DecisionRow> decisions = spread_results();
  const std::vector<DecisionRow> first(decisions.begin(), decisions.begin() + 4);
  const Scalarisation scalarisation(two_objectives(), first);
  EXPECT_FALSE(scalarisation.outdated({decisions.begin(), decisions.begin() + 7}));
  EXPECT_TRUE(scalarisation.outdated({decisions.begin(), decisions.begin() + 8}));
  const auto outdated_at = [](std::size_t known) {
    const Scalarisation of_known(two_objectives(), std::vector<DecisionRow>(known, result(1, 1)));
    std::size_t count = known;
    while (!of_known.outdated(std::vector<DecisionRow>(count, result(1, 1)))) ++count;
    return count;
  };
  std::vector<std::size_t> eras{0};
  while (eras.size() < 9) eras.push_back(outdated_at(eras.back()));
  EXPECT_EQ(eras, (std::vector<std::size_t>{0, 4, 8, 12, 16, 20, 25, 31, 38}));
}

}  // namespace
}  // namespace tuneband
