#include "search_spaces/crowded_bounds.hpp"

#include <gmock/gmock.h>

#include "tests/search_spaces/spaces.hpp"

namespace tuneband {
namespace {

using testing_spaces::space_of;

// `at` of twelve configurations have that value, the others one in the middle.
std::vector<Configuration> twelve(const std::string& parameter, const Value& value, const Value& middle, int at) {
  std::vector<Configuration> best(12, {{parameter, middle}});
  for (int i = 0; i < at; ++i) best[static_cast<std::size_t>(i)][parameter] = value;
  return best;
}

TEST(CrowdedBounds, MoreThanHalfOfTheBestWithinTwoHundredthsOfTheScaleAreACrowd) {
  const SearchSpace space = space_of(R"({"eta": {"type": "float", "min": 0.1, "max": 0.5}})");
  EXPECT_TRUE(crowded_bounds(space, twelve("eta", 0.493, 0.3, 6)).empty()) << "half is not more than half";
  EXPECT_TRUE(crowded_bounds(space, twelve("eta", 0.491, 0.3, 12)).empty()) << "0.9775 of the scale";
  const auto crowded = crowded_bounds(space, twelve("eta", 0.493, 0.3, 7));
  ASSERT_EQ(crowded.size(), 1u);
  EXPECT_EQ(crowded[0].parameter, "eta");
  EXPECT_TRUE(crowded[0].at_max);
  EXPECT_EQ(crowded[0].bound, Value(0.5));
  EXPECT_EQ(crowded[0].trials, 7);
  EXPECT_EQ(crowded[0].of, 12);
}

TEST(CrowdedBounds, AreMeasuredOnTheParametersScale) {
  const SearchSpace space = space_of(R"({"eta": {"type": "float", "min": 0.001, "max": 0.5, "scale": "log"}})");
  EXPECT_EQ(crowded_bounds(space, twelve("eta", 0.00113, 0.1, 12)).size(), 1u);
  EXPECT_TRUE(crowded_bounds(space, twelve("eta", 0.00114, 0.1, 12)).empty()) << "within 2 % of 0.001 on a linear scale";
}

TEST(CrowdedBounds, OfWholeNumbersAreTheEndsThemselves) {
  const SearchSpace depths = space_of(R"({"max_depth": {"type": "int", "min": 2, "max": 6}})");
  EXPECT_TRUE(crowded_bounds(depths, twelve("max_depth", std::int64_t{5}, std::int64_t{4}, 12)).empty());
  const auto crowded = crowded_bounds(depths, twelve("max_depth", std::int64_t{2}, std::int64_t{4}, 12));
  ASSERT_EQ(crowded.size(), 1u);
  EXPECT_FALSE(crowded[0].at_max);
  EXPECT_EQ(crowded[0].bound, Value(std::int64_t{2}));
  const SearchSpace four = space_of(R"({"max_depth": {"type": "int", "min": 2, "max": 5}})");
  EXPECT_TRUE(crowded_bounds(four, twelve("max_depth", std::int64_t{2}, std::int64_t{4}, 12)).empty());
}

TEST(CrowdedBounds, OfStepsAreThoseOfFiveValuesAtLeast) {
  const SearchSpace five = space_of(R"({"batch": {"type": "int", "min": 16, "max": 80, "step": 16}})");
  EXPECT_EQ(crowded_bounds(five, twelve("batch", std::int64_t{16}, std::int64_t{48}, 12)).size(), 1u);
  const SearchSpace four = space_of(R"({"batch": {"type": "int", "min": 16, "max": 64, "step": 16}})");
  EXPECT_TRUE(crowded_bounds(four, twelve("batch", std::int64_t{16}, std::int64_t{48}, 12)).empty());
  const SearchSpace five_rates = space_of(R"({"rate": {"type": "float", "min": 0.1, "max": 0.5, "step": 0.1}})");
  EXPECT_EQ(crowded_bounds(five_rates, twelve("rate", 0.1, 0.3, 12)).size(), 1u);
  const SearchSpace four_rates = space_of(R"({"rate": {"type": "float", "min": 0.1, "max": 0.4, "step": 0.1}})");
  EXPECT_TRUE(crowded_bounds(four_rates, twelve("rate", 0.1, 0.3, 12)).empty());
}

TEST(CrowdedBounds, TheEndsOfWhatMakesSenseAreNone) {
  const SearchSpace space = space_of(R"({"subsample": {"type": "float", "min": 0, "max": 1}})");
  EXPECT_TRUE(crowded_bounds(space, twelve("subsample", 1.0, 0.3, 12)).empty());
  EXPECT_TRUE(crowded_bounds(space, twelve("subsample", 0.0, 0.3, 12)).empty());
}

TEST(CrowdedBounds, CountTheTrialsThatHaveTheParameter) {
  const SearchSpace space = space_of(R"({
    "booster": {"type": "categorical", "values": ["gbtree", "dart"]},
    "rate_drop": {"type": "float", "min": 0.1, "max": 0.5, "when": {"booster": "dart"}}})");
  auto best = twelve("rate_drop", 0.5, 0.3, 6);
  best.resize(20);
  best.erase(best.begin() + 10, best.begin() + 12);  // ten have it
  const auto crowded = crowded_bounds(space, best);
  ASSERT_EQ(crowded.size(), 1u);
  EXPECT_EQ(crowded[0].trials, 6);
  EXPECT_EQ(crowded[0].of, 10);
  best.erase(best.begin() + 9);
  EXPECT_TRUE(crowded_bounds(space, best).empty()) << "nine say nothing";
}

TEST(CrowdedBounds, LookAtTheBestThirdFromThirtyTrialsOn) {
  EXPECT_EQ(crowd_size(29), 0);
  EXPECT_EQ(crowd_size(30), 10);
  EXPECT_EQ(crowd_size(89), 29);
  EXPECT_EQ(crowd_size(1'000'000), 30);
}

}  // namespace
}  // namespace tuneband
