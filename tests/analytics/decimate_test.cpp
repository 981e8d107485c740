// Which points of a curve are left when there are more than are asked for.
#include "analytics/decimate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace tuneband {
namespace {

using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<std::optional<double>>;

// The resources of those that are left: 1, 2, 3... of the values in their order.
std::vector<std::int64_t> left_of(const Values& values, std::int64_t points_max) {
  Decimator decimator(static_cast<std::int64_t>(values.size()), points_max);
  std::int64_t resource = 0;
  for (const auto& value : values) decimator.add({++resource, value, std::nullopt, {}});
  std::vector<std::int64_t> left;
  for (const CurvePoint& point : decimator.take()) left.push_back(point.resource);
  return left;
}

TEST(Decimator, LeavesAsManyAsAreAskedForAsTheyAre) {
  EXPECT_THAT(left_of({5, 4, 5, 4}, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(left_of({5, 5, 5, 5}, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(left_of({5}, 4), ElementsAre(1));
  EXPECT_THAT(left_of({}, 4), ElementsAre());
}

TEST(Decimator, KeepsTheFirstTheLastAndOfEachStretchTheLowestAndTheHighestInOrder) {
  EXPECT_THAT(left_of({5, 1, 9, 5, 5}, 4), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(left_of({5, 9, 1, 5, 5}, 4), ElementsAre(1, 2, 3, 5));
  // Two stretches of three.
  EXPECT_THAT(left_of({0, 3, 2, 1, 4, 6, 5, 0}, 6), ElementsAre(1, 2, 4, 5, 6, 8));
  EXPECT_THAT(left_of({0, 3, 2, 1, 4, 6, 5, 0}, 7), ElementsAre(1, 2, 4, 5, 6, 8));
}

TEST(Decimator, OfAStretchOfEqualsKeepsTheFirst) { EXPECT_THAT(left_of({5, 4, 4, 4, 5}, 4), ElementsAre(1, 2, 5)); }

TEST(Decimator, PrefersAValueToNone) {
  EXPECT_THAT(left_of({5, std::nullopt, kNan, 4, kNan, 6, 5}, 4), ElementsAre(1, 4, 6, 7));
  EXPECT_THAT(left_of({5, 4, std::nullopt, 6, kNan, 5}, 4), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(left_of({5, kNan, std::nullopt, kNan, 5}, 4), ElementsAre(1, 2, 5));
}

TEST(Decimator, KeepsWithinTheLimitTheShapeOfAnyCurve) {
  for (std::int64_t total = 5; total <= 40; ++total) {
    for (std::int64_t most = 4; most < total; ++most) {
      Values values;
      for (std::int64_t i = 0; i < total; ++i) values.emplace_back(random_unit(3, {static_cast<std::uint64_t>(100 * total + i)}));
      const std::vector<std::int64_t> left = left_of(values, most);
      EXPECT_LE(left.size(), static_cast<std::size_t>(most)) << total;
      EXPECT_TRUE(std::is_sorted(left.begin(), left.end(), std::less_equal<>())) << total << " " << most;
      EXPECT_EQ(left.front(), 1);
      EXPECT_EQ(left.back(), total);
      const auto lowest = std::min_element(values.begin(), values.end()) - values.begin() + 1;
      const auto highest = std::max_element(values.begin(), values.end()) - values.begin() + 1;
      EXPECT_THAT(left, ::testing::Contains(lowest)) << total << " " << most;
      EXPECT_THAT(left, ::testing::Contains(highest)) << total << " " << most;
      // No stretch is left out: none is twice as long as another.
      for (std::size_t i = 1; i < left.size(); ++i) {
        EXPECT_LE(left[i] - left[i - 1], 2 * ((total - 2) / ((most - 2) / 2) + 1)) << total << " " << most;
      }
    }
  }
}

}  // namespace
}  // namespace tuneband
