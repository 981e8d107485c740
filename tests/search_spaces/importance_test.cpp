#include "search_spaces/importance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "objectives.hpp"

namespace tuneband {
namespace {

using testing_spaces::number;
using testing_spaces::space_of;

SearchSpace cube() {
  return space_of(R"({"a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "float", "min": 0, "max": 1},
                      "c": {"type": "categorical", "values": ["x", "y", "z"]},
                      "d": {"type": "int", "min": 1, "max": 100}, "e": 5})");
}

template <class Cost>
History random_job(const SearchSpace& space, int trials, const Cost& cost) {
  const auto sampler = make_sampler({.type = SamplerType::random, .seed = 4}, space);
  History history({1, 9});
  for (int trial = 0; trial < trials; ++trial) {
    history.add_trial(sampler->suggest(trial, history));
    history.add_result(trial, 9, cost(history.trials().back().configuration));
  }
  return history;
}

double share(const Importance& importance, const std::string& parameter) {
  for (const MainEffect& effect : importance.parameters) {
    if (effect.parameter == parameter) return effect.share;
  }
  return -1;
}

// 4 a has a variance of 16 / 12, 2 b of 4 / 12; nothing else matters.
TEST(Importance, SplitsTheVarianceOfALinearFunctionAsItIs) {
  const SearchSpace space = cube();
  const auto importance = importance_of(
      space, random_job(space, 500, [](const Configuration& at) { return 4 * number(at, "a") + 2 * number(at, "b"); }));
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->resource, 9);
  EXPECT_EQ(importance->trials, 500u);
  EXPECT_GT(importance->explained, 0.95);
  EXPECT_EQ(importance->parameters.front().parameter, "a");
  EXPECT_NEAR(share(*importance, "a"), 0.8, 0.05);
  EXPECT_NEAR(share(*importance, "b"), 0.2, 0.05);
  EXPECT_LT(share(*importance, "c"), 0.01);
  EXPECT_LT(share(*importance, "d"), 0.01);
  EXPECT_EQ(share(*importance, "e"), -1);
  EXPECT_LT(importance->interactions.front().share, 0.05);
}

TEST(Importance, FindsAPureInteraction) {
  const SearchSpace space = cube();
  const auto importance = importance_of(space, random_job(space, 1000, [](const Configuration& at) {
                                          return (number(at, "a") > 0.5) == (number(at, "b") > 0.5) ? 1.0 : 0.0;
                                        }));
  ASSERT_TRUE(importance);
  EXPECT_LT(share(*importance, "a"), 0.1);
  EXPECT_EQ(importance->interactions.front().first + importance->interactions.front().second == "ab" ||
                importance->interactions.front().first + importance->interactions.front().second == "ba",
            true);
  EXPECT_GT(importance->interactions.front().share, 0.7);
}

TEST(Importance, DrawsTheDependenceOnEachParameter) {
  const SearchSpace space = cube();
  const auto importance = importance_of(space, random_job(space, 600, [](const Configuration& at) {
                                          return std::get<std::string>(at.at("c")) == "y" ? number(at, "d") / 100 : 5.0;
                                        }));
  ASSERT_TRUE(importance);
  ASSERT_EQ(importance->dependence.front().parameter, "c");
  EXPECT_EQ(importance->dependence.front().values, (std::vector<Value>{"x", "y", "z"}));
  EXPECT_NEAR(importance->dependence.front().mean[0], 5, 0.2);
  EXPECT_NEAR(importance->dependence.front().mean[1], 0.5, 0.3);
  const PartialDependence& of_d = importance->dependence[1];
  ASSERT_EQ(of_d.parameter, "d");
  EXPECT_EQ(of_d.values.size(), 20u);
  EXPECT_LT(of_d.mean.front(), of_d.mean.back());
}

TEST(Importance, EachOfAFewIntegersHasTheCostOfItsOwn) {
  for (const int count : {2, 3, 6, 7, 8, 12, 16, 20}) {
    const SearchSpace space = space_of(R"({"x": {"type": "int", "min": 0, "max": )" + std::to_string(count - 1) +
                                       R"(}, "c": {"type": "categorical", "values": ["u", "v"]}})");
    const History history = random_job(space, 400, [](const Configuration& at) { return 100 * number(at, "x"); });
    const auto importance = importance_of(space, history);
    const auto surface = dependence_surface(space, history, "x", "c");
    ASSERT_TRUE(importance && surface);
    const PartialDependence& of_x = importance->dependence.front();
    ASSERT_EQ(of_x.parameter, "x");
    ASSERT_EQ(of_x.values.size(), static_cast<std::size_t>(count));
    for (int value = 0; value < count; ++value) {
      EXPECT_EQ(of_x.values[static_cast<std::size_t>(value)], Value(std::int64_t{value}));
      EXPECT_NEAR(of_x.mean[static_cast<std::size_t>(value)], 100 * value, 20) << count;
      EXPECT_NEAR(surface->mean[static_cast<std::size_t>(value)], 100 * value, 20) << count;
    }
  }
}

TEST(Importance, WhereMostCostsAreTheSameWhatDiffersMatters) {
  const SearchSpace space = cube();
  const auto importance = importance_of(
      space, random_job(space, 300, [](const Configuration& at) { return number(at, "a") < 0.2 ? 1 - number(at, "a") : 0.0; }));
  ASSERT_TRUE(importance);
  EXPECT_GT(importance->explained, 0.9);
  EXPECT_GT(share(*importance, "a"), 0.9);
}

TEST(Importance, DrawsTheSurfaceOverTwoParametersWithEachOnItsAxis) {
  const SearchSpace space = cube();
  const History history = random_job(space, 800, [](const Configuration& at) {
    return (std::get<std::string>(at.at("c")) == "y" ? 0.0 : 10.0) + (number(at, "d") > 50 ? 3.0 : 0.0) + number(at, "a");
  });
  const auto surface = dependence_surface(space, history, "d", "c");
  ASSERT_TRUE(surface);
  EXPECT_EQ(surface->resource, 9);
  EXPECT_EQ(surface->trials, 800u);
  EXPECT_GT(surface->explained, 0.9);
  EXPECT_EQ(surface->x.size(), 20u);
  EXPECT_EQ(surface->y, (std::vector<Value>{"x", "y", "z"}));
  ASSERT_EQ(surface->mean.size(), 60u);
  ASSERT_EQ(surface->deviation.size(), 60u);
  const auto mean = [&](std::size_t x, std::size_t y) { return surface->mean[y * 20 + x]; };
  EXPECT_NEAR(mean(2, 0), 10.5, 0.5);
  EXPECT_NEAR(mean(17, 0), 13.5, 0.5);
  EXPECT_NEAR(mean(2, 1), 0.5, 0.5);
  EXPECT_NEAR(mean(17, 1), 3.5, 0.5);
  const auto turned = dependence_surface(space, history, "c", "d");
  ASSERT_TRUE(turned);
  for (std::size_t x = 0; x < 20; ++x) {
    for (std::size_t y = 0; y < 3; ++y) EXPECT_NEAR(turned->mean[x * 3 + y], mean(x, y), 1e-9);
  }
}

// Of all its rows a surface's mean is the dependence on its other parameter: every cell weighs the same.
TEST(Importance, TheMeanOfASurfaceIsTheDependenceOnOneParameter) {
  const SearchSpace space = cube();
  const History history = random_job(space, 300, [](const Configuration& at) { return number(at, "a") * number(at, "b"); });
  const auto importance = importance_of(space, history);
  const auto surface = dependence_surface(space, history, "a", "b");
  ASSERT_TRUE(importance && surface);
  const auto of_a = std::find_if(importance->dependence.begin(), importance->dependence.end(),
                                 [](const PartialDependence& one) { return one.parameter == "a"; });
  for (std::size_t x = 0; x < 20; ++x) {
    double mean = 0;
    for (std::size_t y = 0; y < 20; ++y) mean += surface->mean[y * 20 + x] / 20;
    EXPECT_NEAR(mean, of_a->mean[x], 1e-9);
  }
  EXPECT_FALSE(dependence_surface(space, random_job(space, 5, [](const Configuration&) { return 1.0; }), "a", "b"));
}

TEST(Importance, SaysThatNoiseExplainsNothing) {
  const SearchSpace space = cube();
  int trial = 0;
  const auto importance = importance_of(
      space, random_job(space, 300, [&](const Configuration&) { return random_unit(3, {static_cast<std::uint64_t>(++trial)}); }));
  ASSERT_TRUE(importance);
  EXPECT_LT(importance->explained, 0.1);
}

TEST(Importance, LooksAtTheHighestLevelWithEnoughTrials) {
  const SearchSpace space = space_of(R"({"a": {"type": "float", "min": 0, "max": 1}})");
  History history({1, 3, 9});
  for (int trial = 0; trial < 40; ++trial) {
    history.add_trial({{"a", Value(trial / 40.0)}});
    history.add_result(trial, 1, 1);
    if (trial < 12) history.add_result(trial, 3, trial);
    if (trial < 4) history.add_result(trial, 9, 1);
  }
  EXPECT_EQ(importance_of(space, history)->resource, 3);
  EXPECT_EQ(importance_of(space, history)->trials, 12u);
}

TEST(Importance, IsNotMoreThanIsKnown) {
  const SearchSpace space = cube();
  EXPECT_FALSE(importance_of(space, History({1, 9})));
  EXPECT_FALSE(importance_of(space, random_job(space, 9, [](const Configuration&) { return 1.0; })));
  EXPECT_FALSE(
      importance_of(space_of(R"({"e": 5})"), random_job(space_of(R"({"e": 5})"), 50, [](const Configuration&) { return 1.0; })));
}

TEST(Importance, TakesDivergedFailedAndConditionalTrials) {
  const testing_spaces::Objective branches = testing_spaces::branches();
  int trial = 0;
  History history = random_job(branches.space, 400, [&](const Configuration& at) {
    ++trial;
    return trial % 7 == 0 ? std::nan("") : trial % 11 == 0 ? 1e300 : branches.cost(at);
  });
  for (int i = 0; i < 20; ++i) {
    history.add_trial(history.trials()[static_cast<std::size_t>(i)].configuration);
    history.end_trial(400 + i, true);
  }
  const auto importance = importance_of(branches.space, history);
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->trials, 420u);
  double sum = 0;
  for (const MainEffect& effect : importance->parameters) {
    EXPECT_GE(effect.share, 0);
    sum += effect.share;
  }
  EXPECT_LE(sum, 1.0001);
  EXPECT_EQ(importance->parameters.size(), 5u);
}

TEST(Importance, LeavesOutInteractionsOfParametersOfVeryManyCategories) {
  Json space = Json::object();
  for (const char* name : {"a", "b", "c"}) {
    space[name] = {{"type", "categorical"}, {"values", Json::array()}};
    for (std::size_t i = 0; i < (name[0] == 'c' ? 5 : kCategoriesMax); ++i) space[name]["values"].push_back(i);
  }
  const SearchSpace wide = space_of(space.dump());
  const auto importance =
      importance_of(wide, random_job(wide, 1000, [](const Configuration& at) { return number(at, "a") * number(at, "c"); }));
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->parameters.size(), 3u);
  EXPECT_EQ(importance->interactions.size(), 2u);
}

// Trees that were grown of other trials do not vary, and say nothing of what the variance is of.
TEST(Importance, AllOfTheVarianceIsOfTheOnlyParameterWhereOneTrialAloneDiffers) {
  const SearchSpace space = space_of(R"({"a": {"type": "float", "min": 0, "max": 1}})");
  History history({1});
  for (int trial = 0; trial < 30; ++trial) {
    history.add_trial({{"a", trial / 29.0}});
    history.add_result(trial, 1, Loss(trial == 12 ? -1 : 0));
  }
  const auto importance = importance_of(space, history);
  ASSERT_TRUE(importance);
  EXPECT_DOUBLE_EQ(share(*importance, "a"), 1);
}

TEST(Importance, OfNothingButEqualCostsIsNone) {
  const SearchSpace space = cube();
  const auto importance = importance_of(space, random_job(space, 50, [](const Configuration&) { return 1.0; }));
  ASSERT_TRUE(importance);
  for (const MainEffect& effect : importance->parameters) EXPECT_EQ(effect.share, 0);
}

TEST(Importance, WhatAllCostsHaveInCommonChangesNothing) {
  const SearchSpace space = cube();
  constexpr double kInCommon = 1 << 27;
  const auto job_above = [&](double common) {  // costs of few enough bits that nothing is rounded
    return random_job(space, 200, [common](const Configuration& at) {
      return common +
             std::round(0x1p20 * (4 * number(at, "a") + 2 * number(at, "b") + number(at, "a") * number(at, "b"))) / 0x1p20;
    });
  };
  const auto near = importance_of(space, job_above(0));
  const auto far = importance_of(space, job_above(kInCommon));
  ASSERT_TRUE(near && far);
  EXPECT_EQ(far->explained, near->explained);
  for (std::size_t i = 0; i < near->parameters.size(); ++i) {
    EXPECT_EQ(far->parameters[i].parameter, near->parameters[i].parameter);
    EXPECT_EQ(far->parameters[i].share, near->parameters[i].share);
  }
  for (std::size_t i = 0; i < near->interactions.size(); ++i) EXPECT_EQ(far->interactions[i].share, near->interactions[i].share);
  const auto expect_above = [](const auto& high, const auto& low) {
    ASSERT_EQ(high.mean.size(), low.mean.size());
    for (std::size_t i = 0; i < low.mean.size(); ++i) EXPECT_NEAR(high.mean[i], kInCommon + low.mean[i], 1e-6);
    EXPECT_EQ(high.deviation, low.deviation);
  };
  expect_above(far->dependence.front(), near->dependence.front());
  expect_above(*dependence_surface(space, job_above(kInCommon), "a", "b"), *dependence_surface(space, job_above(0), "a", "b"));
}

TEST(Importance, IsTheSameWhateverTheUnitOfTheCosts) {
  const SearchSpace space = cube();
  const auto in_units_of = [&](double unit) {
    return importance_of(space, random_job(space, 60, [unit](const Configuration& at) {
                           return unit * (number(at, "a") < 0.4 ? 1 : number(at, "a") - number(at, "b"));
                         }));
  };
  const auto expected = in_units_of(1);
  for (const int exponent : {-1000, 700, 1023}) {
    const auto importance = in_units_of(std::ldexp(1.0, exponent));
    EXPECT_EQ(importance->explained, expected->explained) << exponent;
    EXPECT_EQ(share(*importance, "a"), share(*expected, "a"));
    for (std::size_t i = 0; i < expected->dependence[0].mean.size(); ++i) {
      EXPECT_EQ(importance->dependence[0].mean[i], std::ldexp(expected->dependence[0].mean[i], exponent));
      EXPECT_EQ(importance->dependence[0].deviation[i], std::ldexp(expected->dependence[0].deviation[i], exponent));
    }
  }
}

TEST(Importance, IsUnknownOfNothingButDivergedOrFailedTrials) {
  const SearchSpace space = cube();
  EXPECT_FALSE(importance_of(space, random_job(space, 50, [](const Configuration&) { return std::nan(""); })));
  History failed = random_job(space, 0, [](const Configuration&) { return 0.0; });
  for (int trial = 0; trial < 50; ++trial) {
    failed.add_trial(make_sampler({.type = SamplerType::random, .seed = 4}, space)->suggest(trial, failed));
    failed.end_trial(trial, true);
  }
  EXPECT_FALSE(importance_of(space, failed));
}

TEST(Importance, ShowsTheBestOfVeryManyCategoriesInTheirOrder) {
  Json document;
  document["a"] = {{"type", "categorical"}, {"values", Json::array()}};
  for (std::size_t i = 0; i < kDependenceCategories + 10; ++i) document["a"]["values"].push_back(i);
  const SearchSpace space = space_of(document.dump());
  const auto last_are_best = [](const Configuration& at) { return number(at, "a") < kDependenceCategories ? 1.0 : 0.0; };
  const auto importance = importance_of(space, random_job(space, 300, last_are_best));
  ASSERT_TRUE(importance);
  const std::vector<Value>& shown = importance->dependence.front().values;
  ASSERT_EQ(shown.size(), kDependenceCategories);
  for (std::size_t i = 1; i <= 10; ++i) {
    EXPECT_EQ(shown[shown.size() - i], Value(static_cast<std::int64_t>(kDependenceCategories + 10 - i)));
  }
}

TEST(Importance, ASurfaceHasAsManyCategoriesAsItHasRoomFor) {
  Json document;
  document["a"] = {{"type", "categorical"}, {"values", Json::array()}};
  document["b"] = {{"type", "float"}, {"min", 0}, {"max", 1}};
  for (std::size_t i = 0; i < 3 * kDependenceCategories; ++i) document["a"]["values"].push_back(i);
  const SearchSpace space = space_of(document.dump());
  const auto surface =
      dependence_surface(space, random_job(space, 300, [](const Configuration& at) { return number(at, "a"); }), "a", "b");
  ASSERT_TRUE(surface);
  EXPECT_EQ(surface->x.size(), 3 * kDependenceCategories);
  EXPECT_EQ(surface->mean.size(), surface->x.size() * surface->y.size());
}

// Jobs of one parameter, by the costs of their trials.
History line_of(const std::vector<double>& costs) {
  History history({1});
  for (std::size_t i = 0; i < costs.size(); ++i) {
    history.add_trial({{"a", (static_cast<double>(i) + 0.5) / static_cast<double>(costs.size())}});
    history.add_result(static_cast<int>(i), 1, costs[i]);
  }
  return history;
}

SearchSpace line() { return space_of(R"({"a": {"type": "float", "min": 0, "max": 1}})"); }

TEST(Importance, CostsBeyondThreeInterquartileRangesCountAsThatMuch) {
  // Of 24 values the quartiles are those at 6 and 18: 12 and 24.
  std::vector<double> costs;
  for (int i = 0; i < 22; ++i) costs.push_back((i * 7) % 22 * 1.0);
  for (double& cost : costs) cost += cost < 6 ? 0 : 6;  // 0 to 5, 12 to 27
  std::vector<double> far = costs;
  far.insert(far.end(), {1000, 1e300});
  std::vector<double> sorted = far;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted[6], 12);
  ASSERT_EQ(sorted[18], 24);
  const double fence = 24 + 3 * (24 - 12);
  std::vector<double> near = costs;
  near.insert(near.end(), {fence, fence});
  const auto of_far = importance_of(line(), line_of(far));
  const auto of_near = importance_of(line(), line_of(near));
  ASSERT_TRUE(of_far && of_near);
  EXPECT_EQ(of_far->dependence.front().mean, of_near->dependence.front().mean);
  far.push_back(std::nan(""));  // what diverged counts as much
  near.push_back(fence);
  EXPECT_EQ(importance_of(line(), line_of(far))->dependence.front().mean,
            importance_of(line(), line_of(near))->dependence.front().mean);
}

TEST(Importance, WhatDivergedCountsAsTheGreatestCostWhereNoneIsFarAway) {
  std::vector<double> costs;
  for (int i = 0; i < 22; ++i) costs.push_back((i * 7) % 22);
  std::vector<double> greatest = costs;
  costs.push_back(std::nan(""));
  greatest.push_back(21);
  EXPECT_EQ(importance_of(line(), line_of(costs))->dependence.front().mean,
            importance_of(line(), line_of(greatest))->dependence.front().mean);
}

double mean_at(const RegressionForest& forest, const RegressionForest::Tree& tree, double coordinate) {
  std::size_t at = 0;
  while (tree[at].left >= 0) {
    at = static_cast<std::size_t>(tree[at].left) + (forest.goes_left(tree[at], coordinate) ? 0 : 1);
  }
  return tree[at].mean;
}

// Of one parameter a tree's dependence is its prediction: its values, the deviation among trees and what is explained can be
// counted by hand.
TEST(Importance, OfOneParameterShowsTheForestsPredictionsAndHowMuchTheyExplain) {
  std::vector<double> costs;
  for (std::uint64_t i = 0; i < 40; ++i) costs.push_back(std::sin(0.2 * static_cast<double>(i)) + random_unit(5, {i}));
  const History history = line_of(costs);
  const SearchSpace space = line();
  const auto importance = importance_of(space, history);
  ASSERT_TRUE(importance);

  const Encoding encoding(space);
  std::vector<Point> points;
  for (const History::Trial& trial : history.trials()) points.push_back(encoding.encode(trial.configuration));
  std::vector<const double*> rows;
  for (const Point& point : points) rows.push_back(point.data());
  const RegressionForest forest({RegressionForest::Kind::number}, rows, costs, kImportanceForest, kImportanceStream);

  const PartialDependence& dependence = importance->dependence.front();
  ASSERT_EQ(dependence.mean.size(), 20u);
  for (std::size_t point = 0; point < 20; ++point) {
    double sum = 0;
    double squares = 0;
    for (const auto& tree : forest.trees()) {
      const auto cell = static_cast<double>(2 * point);
      const double mean = (mean_at(forest, tree, (cell + 0.5) / 40) + mean_at(forest, tree, (cell + 1.5) / 40)) / 2;
      sum += mean;
      squares += mean * mean;
    }
    const double trees = static_cast<double>(forest.trees().size());
    EXPECT_NEAR(dependence.mean[point], sum / trees, 1e-9);
    EXPECT_NEAR(dependence.deviation[point], std::sqrt(squares / trees - sum / trees * sum / trees), 1e-7);
    EXPECT_EQ(std::get<double>(dependence.values[point]), (static_cast<double>(point) + 0.5) / 20);
  }

  double mean = 0;
  for (const double cost : costs) mean += cost / static_cast<double>(costs.size());
  double all = 0;
  double left = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    ASSERT_FALSE(std::isnan(forest.out_of_bag()[i]));
    all += std::pow(costs[i] - mean, 2);
    left += std::pow(costs[i] - forest.out_of_bag()[i], 2);
  }
  EXPECT_NEAR(importance->explained, 1 - left / all, 1e-9);
}

// 60 trials whose cost at the lower level, 1, is `a`; at the upper one, 9, they have the `loss` of their number and their `a`.
History job_of_two_levels(const SearchSpace& space, const std::function<Loss(int, double)>& loss) {
  History history({1, 9});
  const auto sampler = make_sampler({.type = SamplerType::random, .seed = 4}, space);
  for (int trial = 0; trial < 60; ++trial) {
    history.add_trial(sampler->suggest(trial, history));
    const double a = number(history.trials().back().configuration, "a");
    history.add_result(trial, 1, Loss(a, 0));
    history.add_result(trial, 9, loss(trial, a));
  }
  return history;
}

TEST(Importance, IsOfTheHighestLevelWhoseResultsMeetTheConstraints) {
  const SearchSpace space = cube();
  const History history = job_of_two_levels(space, [](int, double a) { return Loss(a, 0.5); });
  const auto importance = importance_of(space, history);
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->resource, 1);
  EXPECT_GT(share(*importance, "a"), 0.8);
  EXPECT_EQ(dependence_surface(space, history, "a", "b")->resource, 1);
}

TEST(Importance, IsOfALevelWhereSomeResultIsFiniteAndMeetsTheConstraints) {
  const SearchSpace space = cube();
  const History history =
      job_of_two_levels(space, [](int trial, double a) { return trial % 2 == 0 ? Loss(std::nan(""), 0) : Loss(a, 0.5); });
  const auto importance = importance_of(space, history);
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->resource, 1);
}

TEST(Importance, IsUnknownWhereNoResultMeetsTheConstraints) {
  const SearchSpace space = cube();
  const History some_diverged =
      random_job(space, 60, [](const Configuration& at) { return number(at, "a") < 0.5 ? Loss(std::nan(""), 0) : Loss(1, 0.5); });
  EXPECT_FALSE(importance_of(space, some_diverged));
  const History history = random_job(space, 60, [](const Configuration& at) { return Loss(number(at, "a"), 0.5); });
  EXPECT_FALSE(importance_of(space, history));
  EXPECT_FALSE(dependence_surface(space, history, "a", "b"));
}

}  // namespace
}  // namespace tuneband
