#include "search_spaces/importance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

TEST(Importance, OfNothingButEqualCostsIsNone) {
  const SearchSpace space = cube();
  const auto importance = importance_of(space, random_job(space, 50, [](const Configuration&) { return 1.0; }));
  ASSERT_TRUE(importance);
  for (const MainEffect& effect : importance->parameters) EXPECT_EQ(effect.share, 0);
}

}  // namespace
}  // namespace tuneband
