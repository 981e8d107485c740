#include "search_spaces/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "search_spaces/samplers.hpp"
#include "spaces.hpp"

namespace tuneband {
namespace {

using testing_spaces::boosters;
using testing_spaces::space_of;

std::unique_ptr<Sampler> sampler_of(SamplerType type, std::uint64_t seed, const SearchSpace& space) {
  return make_sampler({.type = type, .seed = seed, .grid_points = 4}, space);
}

std::vector<std::string> first(Sampler& sampler, std::int64_t count) {
  std::vector<std::string> trials;
  for (std::int64_t i = 0; i < count; ++i) trials.push_back(to_json(sampler.suggest(i, {})).dump());
  return trials;
}

SearchSpace unit_square() {
  return space_of(R"({"x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1}})");
}

class EverySampler : public testing::TestWithParam<SamplerType> {};
INSTANTIATE_TEST_SUITE_P(, EverySampler, testing::Values(SamplerType::random, SamplerType::grid, SamplerType::sobol));

TEST_P(EverySampler, GivesTheSameTrialsForTheSameSeed) {
  EXPECT_EQ(first(*sampler_of(GetParam(), 7, boosters()), 40), first(*sampler_of(GetParam(), 7, boosters()), 40));
}

TEST_P(EverySampler, GivesOtherTrialsForAnotherSeed) {
  EXPECT_NE(first(*sampler_of(GetParam(), 7, boosters()), 40), first(*sampler_of(GetParam(), 8, boosters()), 40));
}

TEST_P(EverySampler, DoesNotDependOnTheOrderOfAsking) {
  const auto sampler = sampler_of(GetParam(), 7, boosters());
  const auto trials = first(*sampler, 40);
  for (std::int64_t i = 39; i >= 0; --i) EXPECT_EQ(to_json(sampler->suggest(i, {})).dump(), trials[static_cast<std::size_t>(i)]);
}

// SearchSpace::check says whether a configuration is complete, within its domains and without inactive parameters.
TEST_P(EverySampler, StaysWithinTheSpace) {
  const SearchSpace space = boosters();
  const auto sampler = sampler_of(GetParam(), 3, space);
  for (std::int64_t i = 0; i < sampler->size().value_or(1000); ++i) {
    Diagnostics diagnostics;
    const Configuration suggested = sampler->suggest(i, {});
    EXPECT_EQ(space.check(to_json(suggested), "", diagnostics), suggested);
    for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error) << " in " << to_json(suggested);
  }
}

TEST_P(EverySampler, WorksWhenNothingIsTuned) {
  const auto sampler = sampler_of(GetParam(), 3, space_of(R"({"a": 1})"));
  EXPECT_EQ(to_json(sampler->suggest(0, {})).dump(), R"({"a":1})");
}

TEST(RandomSampler, KeepsAParametersValuesWhenAnotherIsAdded) {
  const auto before = sampler_of(SamplerType::random, 7, space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})"));
  const auto after = sampler_of(SamplerType::random, 7, unit_square());
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(before->suggest(i, {}).at("x"), after->suggest(i, {}).at("x"));
}

TEST(RandomSampler, DrawsParametersIndependently) {
  const auto sampler = sampler_of(SamplerType::random, 1, unit_square());
  double sum_xy = 0, sum_x = 0, sum_y = 0;
  constexpr int kDraws = 20'000;
  for (std::int64_t i = 0; i < kDraws; ++i) {
    const auto configuration = sampler->suggest(i, {});
    const double x = std::get<double>(configuration.at("x"));
    const double y = std::get<double>(configuration.at("y"));
    sum_xy += x * y;
    sum_x += x;
    sum_y += y;
  }
  EXPECT_NEAR(sum_x / kDraws, 0.5, 0.01);
  EXPECT_NEAR(sum_xy / kDraws - sum_x / kDraws * sum_y / kDraws, 0, 0.003);
}

TEST(RandomSampler, IsUniformOnTheScaleOfItsDomain) {
  const auto sampler =
      sampler_of(SamplerType::random, 1, space_of(R"({"x": {"type": "float", "min": 1e-4, "max": 1, "scale": "log"}})"));
  int below = 0;
  for (std::int64_t i = 0; i < 20'000; ++i) below += std::get<double>(sampler->suggest(i, {}).at("x")) < 1e-3;
  EXPECT_NEAR(below, 5000, 250);
}

// Warnock's formula for the L2 star discrepancy.
double discrepancy(Sampler& sampler, int count, const std::vector<std::string>& axes) {
  std::vector<std::vector<double>> points;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto configuration = sampler.suggest(i, {});
    std::vector<double>& point = points.emplace_back();
    for (const std::string& axis : axes) point.push_back(std::get<double>(configuration.at(axis)));
  }
  const double n = count;
  double squares = std::pow(1.0 / 3, static_cast<double>(axes.size()));
  for (const auto& a : points) {
    double single = 1;
    for (const double x : a) single *= (1 - x * x) / 2;
    squares -= 2 / n * single;
    for (const auto& b : points) {
      double pair = 1;
      for (std::size_t d = 0; d < a.size(); ++d) pair *= 1 - std::max(a[d], b[d]);
      squares += pair / (n * n);
    }
  }
  return std::sqrt(squares);
}

TEST(SobolSampler, FillsTheSpaceBetterThanRandomForEverySeed) {
  const SearchSpace space = space_of(R"({"a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "float", "min": 0, "max": 1},
                                         "c": {"type": "float", "min": 0, "max": 1},
                                         "d": {"type": "float", "min": 0, "max": 1}})");
  for (const int count : {16, 64, 256}) {
    double sobol = 0, random = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      sobol += discrepancy(*sampler_of(SamplerType::sobol, seed, space), count, {"a", "b", "c", "d"});
      random += discrepancy(*sampler_of(SamplerType::random, seed, space), count, {"a", "b", "c", "d"});
    }
    EXPECT_LT(sobol, random * 0.7) << count << " points";
  }
}

// The property that a digital shift keeps: each of 2^k equal intervals of every axis has one of the first 2^k points.
TEST(SobolSampler, HasOnePointInEachIntervalOfEveryAxis) {
  std::string text = "{";
  for (int i = 0; i < 50; ++i) text += (i ? ", \"x" : "\"x") + std::to_string(i) + R"(": {"type": "float", "min": 0, "max": 1})";
  const auto sampler = sampler_of(SamplerType::sobol, 5, space_of(text + "}"));
  std::map<std::string, std::set<int>> intervals;
  for (std::int64_t i = 0; i < 64; ++i) {
    for (const auto& [name, value] : sampler->suggest(i, {}))
      intervals[name].insert(static_cast<int>(std::get<double>(value) * 64));
  }
  ASSERT_EQ(intervals.size(), 50u);
  for (const auto& [name, filled] : intervals) EXPECT_EQ(filled.size(), 64u) << name;
}

TEST(SobolSampler, TakesTheWidestSpaceAndTheLastTrialOfAJob) {
  Json widest = Json::object();
  for (std::size_t i = 0; i < kParametersMax; ++i) widest["p" + std::to_string(i)] = {{"type", "float"}, {"min", 0}, {"max", 1}};
  const auto sampler = sampler_of(SamplerType::sobol, 5, space_of(widest.dump()));
  EXPECT_EQ(sampler->suggest(999'999, {}).size(), kParametersMax);
  EXPECT_NE(sampler->suggest(999'999, {}), sampler->suggest(999'998, {}));
}

// Pinned: stored jobs must go on with the same trials after an upgrade.
TEST(Samplers, NeverChangeWhatASeedMeans) {
  const SearchSpace space =
      space_of(R"({"depth": {"type": "int", "min": 1, "max": 10}, "eta": {"type": "float", "min": 0, "max": 1}})");
  EXPECT_EQ(first(*sampler_of(SamplerType::random, 7, space), 2),
            (std::vector<std::string>{R"({"depth":6,"eta":0.20286497167998552})", R"({"depth":4,"eta":0.1460595566815247})"}));
  EXPECT_EQ(first(*sampler_of(SamplerType::sobol, 7, space), 3),
            (std::vector<std::string>{R"({"depth":9,"eta":0.6811078790047626})", R"({"depth":4,"eta":0.18110787900476255})",
                                      R"({"depth":2,"eta":0.9311078790047626})"}));
  EXPECT_EQ(first(*sampler_of(SamplerType::grid, 7, space), 3),
            (std::vector<std::string>{R"({"depth":4,"eta":0.3333333333333333})", R"({"depth":1,"eta":0.6666666666666666})",
                                      R"({"depth":4,"eta":0.6666666666666666})"}));
}

TEST(SpaceFillingStart, TakesTheFirstTrialsFromSobolAndTheOthersAtRandom) {
  const auto mixed = make_sampler({.type = SamplerType::random, .seed = 7, .space_filling_trials = 8}, boosters());
  const auto sobol = sampler_of(SamplerType::sobol, 7, boosters());
  const auto random = sampler_of(SamplerType::random, 7, boosters());
  for (std::int64_t i = 0; i < 16; ++i) EXPECT_EQ(mixed->suggest(i, {}), (i < 8 ? sobol : random)->suggest(i, {})) << i;
  EXPECT_EQ(mixed->size(), std::nullopt);
}

TEST(GridSampler, CoversEveryCombinationOnceAndConditionalOnesOnlyWhereActive) {
  const auto grid = sampler_of(SamplerType::grid, 7, boosters());
  // eta 4 values x (gbtree: 4 depths + dart: 4 depths x (tree + forest x 4 drops) + gblinear)
  constexpr std::int64_t kSize = 4 * (4 + 4 * (1 + 4) + 1);
  ASSERT_EQ(grid->size(), kSize);
  const auto trials = first(*grid, kSize);
  EXPECT_EQ(std::set<std::string>(trials.begin(), trials.end()).size(), static_cast<std::size_t>(kSize));
}

TEST(GridSampler, CoversTwoConditionalBranchesUnderOneValue) {
  const auto grid = sampler_of(SamplerType::grid, 1, space_of(R"({"on": {"type": "categorical", "values": [true, false]},
      "a": {"type": "int", "min": 1, "max": 3, "when": {"on": true}},
      "b": {"type": "int", "min": 1, "max": 2, "when": {"on": true}}})"));
  ASSERT_EQ(grid->size(), 3 * 2 + 1);
  const auto trials = first(*grid, 7);
  EXPECT_EQ(std::set<std::string>(trials.begin(), trials.end()).size(), 7u);
}

TEST(GridSampler, CombinesTheChildrenOfOneValueWithEachOther) {
  const auto grid = sampler_of(SamplerType::grid, 7, space_of(R"({
      "booster": {"type": "categorical", "values": ["dart", "tree", "other"]},
      "a": {"type": "int", "min": 1, "max": 2, "when": {"booster": "dart"}},
      "b": {"type": "int", "min": 1, "max": 4, "when": {"booster": "dart"}},
      "c": {"type": "int", "min": 1, "max": 4, "when": {"booster": "tree"}}})"));
  ASSERT_EQ(grid->size(), 2 * 4 + 4 + 1);
  const auto trials = first(*grid, 13);
  EXPECT_EQ(std::set<std::string>(trials.begin(), trials.end()).size(), 13u);
}

TEST(AutomaticSampler, HasAModelOfAllParametersAsLongAsTheyAreFifty) {
  for (const std::size_t count : {kGpDimensionsMax, kGpDimensionsMax + 1}) {
    Json wide = Json::object();
    for (std::size_t i = 0; i < count; ++i) wide["x" + std::to_string(i)] = {{"type", "float"}, {"min", 0}, {"max", 1}};
    EXPECT_EQ(sampler_of(SamplerType::automatic, 7, space_of(wide.dump()))->chooses_steps(), count == kGpDimensionsMax);
  }
}

TEST(GridSampler, VisitsTheGridInAMixedOrder) {
  const auto grid = make_sampler({.type = SamplerType::grid, .seed = 7, .grid_points = 100}, unit_square());
  ASSERT_EQ(grid->size(), 10'000);
  int left = 0, low = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto configuration = grid->suggest(i, {});
    left += std::get<double>(configuration.at("x")) < 0.5;
    low += std::get<double>(configuration.at("y")) < 0.5;
  }
  EXPECT_NEAR(left, 100, 30);
  EXPECT_NEAR(low, 100, 30);
}

TEST(GridSampler, SaturatesItsSizeAndStaysWithinTheSpace) {
  Json widest = Json::object();
  for (std::size_t i = 0; i < kParametersMax; ++i) widest["p" + std::to_string(i)] = {{"type", "float"}, {"min", 0}, {"max", 1}};
  const auto grid = sampler_of(SamplerType::grid, 5, space_of(widest.dump()));
  EXPECT_EQ(grid->size(), kGridSizeMax);
  const auto trials = first(*grid, 1000);
  EXPECT_EQ(std::set<std::string>(trials.begin(), trials.end()).size(), 1000u);
  EXPECT_EQ(grid->suggest(kGridSizeMax - 1, {}).size(), kParametersMax);
  std::map<std::string, std::set<double>> values;
  for (std::int64_t i = 0; i < 200; ++i) {
    for (const auto& [name, value] : grid->suggest(i, {})) values[name].insert(std::get<double>(value));
  }
  for (const auto& [name, its] : values) EXPECT_EQ(its.size(), 4u) << name << " takes all of its values";
}

TEST(GridSamplerDeathTest, HasNothingToSuggestBeyondItsEnd) {
  const auto grid = sampler_of(SamplerType::grid, 5, unit_square());
  EXPECT_DEATH(grid->suggest(16, {}), "no such configuration");
}

TEST(Permuted, IsAPermutationForEverySize) {
  for (std::uint64_t size = 1; size <= 200; ++size) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto image = permuted(i, size, 11);
      ASSERT_LT(image, size);
      seen.insert(image);
    }
    ASSERT_EQ(seen.size(), size);
  }
}

TEST(Permuted, ReachesEveryOrderOfThree) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    orders.insert({permuted(0, 3, seed), permuted(1, 3, seed), permuted(2, 3, seed)});
  EXPECT_EQ(orders.size(), 6u);
}

TEST(SamplerSpec, ReadsItsOwnJsonBackTheSame) {
  for (const char* text :
       {R"({"type": "random", "seed": 7, "space_filling_trials": 8})", R"({"type": "grid", "seed": 1, "grid_points": 3})",
        R"({"type": "sobol", "seed": 9007199254740991})"}) {
    Diagnostics diagnostics;
    EXPECT_EQ(SamplerSpec::parse(Json::parse(text), "sampler", diagnostics).to_json(), Json::parse(text));
    EXPECT_TRUE(diagnostics.ok());
  }
}

}  // namespace
}  // namespace tuneband
