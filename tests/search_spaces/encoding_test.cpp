// Configurations as points: which coordinates are active, and what lies near.
#include "search_spaces/encoding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "spaces.hpp"

namespace tuneband {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Gt;
using testing::Le;
using testing::Optional;
using testing::Pair;
using testing_spaces::space_of;

TEST(Encoding, IsActiveUnderAFixedParentAndUnderAnActiveOneOfTheRightValueAlone) {
  const Encoding encoding(space_of(R"({
    "booster": "dart",
    "normalize": {"type": "categorical", "values": ["tree", "forest"], "when": {"booster": "dart"}},
    "drops": {"type": "int", "min": 1, "max": 2, "when": {"normalize": "forest"}},
    "rate": {"type": "float", "min": 0, "max": 1, "when": {"drops": 2}}})"));
  Draws draws(1, 2, 3);
  std::map<std::size_t, int> active;
  for (int i = 0; i < 80; ++i) {
    const Point point = encoding.completed(Point(3, kInactive), draws);
    const Configuration configuration = encoding.decode(point);
    EXPECT_EQ(encoding.encode(configuration), point);
    const bool forest = configuration.at("normalize") == Value(std::string("forest"));
    EXPECT_EQ(configuration.contains("drops"), forest);
    EXPECT_EQ(configuration.contains("rate"), forest && configuration.at("drops") == Value(std::int64_t{2}));
    ++active[configuration.size()];
  }
  EXPECT_THAT(active, ElementsAre(Pair(2, Gt(20)), Pair(3, Gt(8)), Pair(4, Gt(8))));
}

TEST(Encoding, OfAPointCompletesWhatIsMissingAndLeavesTheRest) {
  const Encoding encoding(
      space_of(R"({"x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1}})"));
  Draws draws(1, 2, 3);
  EXPECT_THAT(encoding.completed({kInactive, 0.25}, draws), ElementsAre(AllOf(Ge(0), Le(1)), 0.25));
  EXPECT_THAT(encoding.completed({0.25, kInactive}, draws), ElementsAre(0.25, AllOf(Ge(0), Le(1))));
}

// A step may lead beyond an end several times over.
TEST(Encoding, NeighboursAreReflectedAtTheEnds) {
  const Encoding encoding(space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})"));
  Draws draws(1, 2, 3);
  double sum = 0;
  std::vector<double> near;
  for (int i = 0; i < 2'000; ++i) {
    const double x = encoding.neighbour({0.9}, 4, draws).front();
    EXPECT_GE(x, 0);
    EXPECT_LE(x, 1);
    sum += x;
    near.push_back(encoding.neighbour({0.99}, 0.01, draws).front());
  }
  EXPECT_NEAR(sum / 2'000, 0.5, 0.03) << "so wide a step forgets where it began";
  EXPECT_THAT(near, Each(AllOf(Ge(0.9), Le(1))));
}

TEST(Encoding, NeighboursTakeAnotherCategoryAsOftenAsSigmaSaysOrOneInTheDimensions) {
  const Encoding encoding(space_of(R"({"a": {"type": "categorical", "values": [1, 2, 3, 4]},
                                       "x": {"type": "float", "min": 0, "max": 1}, "y": {"type": "float", "min": 0, "max": 1},
                                       "z": {"type": "float", "min": 0, "max": 1}})"));
  Draws draws(1, 2, 3);
  const auto changed = [&](double sigma) {
    int count = 0;
    for (int i = 0; i < 4'000; ++i) count += encoding.neighbour({2, 0.5, 0.5, 0.5}, sigma, draws).front() != 2 ? 1 : 0;
    return count / 4'000.0;
  };
  EXPECT_NEAR(changed(0.01), 0.25 * 0.75, 0.02);  // one in four draws the same again
  EXPECT_NEAR(changed(0.8), 0.8 * 0.75, 0.03);
  const Encoding one(space_of(R"({"a": {"type": "categorical", "values": [1, 2, 3, 4]}})"));
  int kept = 0;
  for (int i = 0; i < 1'000; ++i) kept += one.neighbour({2}, 0.01, draws).front() == 2 ? 1 : 0;
  EXPECT_NEAR(kept / 1'000.0, 0.25, 0.05);
  const Encoding alone(space_of(R"({"a": {"type": "categorical", "values": [7]}})"));
  EXPECT_THAT(alone.neighbour({0}, 0.5, draws), ElementsAre(0));
}

TEST(Encoding, SeesOrderedCategoriesAsPlacesInTheirListAndStepsToTheirNeighbours) {
  const Encoding encoding(space_of(R"({
    "batch": {"type": "categorical", "values": [8, 16, 32, 64, 128], "ordered": true},
    "rate": {"type": "float", "min": 0, "max": 1, "when": {"batch": [32, 64]}}})"));
  EXPECT_EQ(encoding.dimensions().front().categories, 0U);
  Draws draws(1, 2, 3);
  std::map<std::int64_t, int> near;
  for (int i = 0; i < 200; ++i) {
    const Point point = encoding.neighbour({0.5, kInactive}, 0.1, draws);
    const Configuration configuration = encoding.decode(point);
    EXPECT_EQ(encoding.encode(configuration), point);
    const std::int64_t batch = std::get<std::int64_t>(configuration.at("batch"));
    EXPECT_EQ(configuration.contains("rate"), batch == 32 || batch == 64);
    ++near[batch];
  }
  EXPECT_THAT(near, ElementsAre(Pair(16, Gt(10)), Pair(32, Gt(50)), Pair(64, Gt(10))));
}

// Half a step at least, so that there is another integer to be drawn.
TEST(Encoding, NeighboursOfIntegersAreIntegersAndNotAlwaysTheSame) {
  const Encoding encoding(space_of(R"({"depth": {"type": "int", "min": 1, "max": 5}})"));
  Draws draws(1, 2, 3);
  int moved = 0;
  for (int i = 0; i < 1'000; ++i) {
    const Point near = encoding.neighbour({0.5}, 0.001, draws);
    EXPECT_NEAR(near.front() * 5 - 0.5, std::round(near.front() * 5 - 0.5), 1e-9);
    moved += near.front() != 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(moved / 1'000.0, 0.317, 0.05);  // beyond one deviation
}

TEST(Encoding, NeighboursOfASteppedValueAreItsStepsAndNotAlwaysTheSame) {
  for (const char* steps : {R"({"x": {"type": "int", "min": 10, "max": 100, "step": 10}})",
                            R"({"x": {"type": "float", "min": 10, "max": 100, "step": 10}})"}) {
    const Encoding encoding(space_of(steps));
    Draws draws(1, 2, 3);
    std::map<std::string, int> seen;
    for (int i = 0; i < 400; ++i) ++seen[to_string(encoding.decode(encoding.neighbour({0.45}, 0.001, draws)).at("x"))];
    EXPECT_GT(seen["40"], 40) << steps;
    EXPECT_GT(seen["50"], 200) << steps;
    EXPECT_GT(seen["60"], 40) << steps;
    EXPECT_GE(seen["40"] + seen["50"] + seen["60"], 395) << steps;
  }
}

TEST(Encoding, TakesAnEarlierResultThatLiesBetweenSteps) {
  const Encoding encoding(space_of(R"({"x": {"type": "int", "min": 0, "max": 90, "step": 10}})"));
  EXPECT_THAT(encoding.encode_foreign({{"x", std::int64_t{25}}}), Optional(ElementsAre(DoubleNear(0.3, 1e-9))));
  EXPECT_EQ(encoding.encode_foreign({{"x", std::int64_t{91}}}), std::nullopt);
}

}  // namespace
}  // namespace tuneband
