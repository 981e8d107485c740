#include "search_spaces/kernel_density.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

// A parameter that is active at times, categories, and one that has a single value.
const char* const kBranchedSpace = R"({"a": {"type": "float", "min": 0, "max": 1},
  "c": {"type": "categorical", "values": ["x", "y", "z"]}, "b": {"type": "float", "min": 0, "max": 1, "when": {"c": ["x", "y"]}},
  "n": {"type": "int", "min": 1, "max": 5}, "one": {"type": "categorical", "values": ["x"]}})";

class KernelDensityReference : public testing::Test {
 protected:
  KernelDensityReference() : encoding_(space()) {}

  static SearchSpace space() {
    Diagnostics diagnostics;
    SearchSpace parsed = SearchSpace::parse(Json::parse(kBranchedSpace), "search_space", diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    return parsed;
  }

  std::vector<Point> random_points(std::int64_t seed, int count) const {
    Draws draws(3, 4, seed);
    std::vector<Point> points;
    for (int i = 0; i < count; ++i) points.push_back(encoding_.random_point(draws));
    return points;
  }

  KernelDensity density_of(const std::vector<Point>& points) const {
    std::vector<const Point*> centres;
    for (const Point& point : points) centres.push_back(&point);
    return {encoding_, centres};
  }

  Json categories() const {
    Json counts = Json::array();
    for (const Encoding::Dimension& dimension : encoding_.dimensions()) counts.push_back(dimension.categories);
    return counts;
  }

  Encoding encoding_;
};

TEST_F(KernelDensityReference, IsAProductOfKernelsByTheNormalReferenceRule) {
  Json questions = Json::array();
  std::vector<double> found;
  for (const int count : {1, 2, 6, 40}) {
    const std::vector<Point> points = random_points(count, count);
    std::vector<Point> at = random_points(77, 30);
    at.push_back(points.front());
    const KernelDensity density = density_of(points);
    for (const Point& point : at) found.push_back(density.log_density(point));
    questions.push_back({{"what", "kernel_density"}, {"points", points}, {"at", at}, {"categories", categories()}});
  }
  std::vector<double> expected;
  for (const Json& answer : reference(questions)) {
    for (const Json& value : answer) expected.push_back(value.get<double>());
  }
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8) << i;
}

}  // namespace
}  // namespace tuneband::test
