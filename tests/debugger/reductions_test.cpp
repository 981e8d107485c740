#include "debugger/reductions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuneband::debugger {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Summary summary_of(const std::vector<double>& values) {
  return summarise(view_of(std::span<const double>(values), {static_cast<std::int64_t>(values.size())}));
}

}  // namespace

TEST(Reductions, AllOfThemOfASmallTensor) {
  const Summary summary = summary_of({-3, 1, 2, 0});
  const auto at = [&](const char* name) { return summary.value(*reduction_from(name)); };
  EXPECT_EQ(at("min"), -3);
  EXPECT_EQ(at("max"), 2);
  EXPECT_EQ(at("mean"), 0);
  EXPECT_EQ(at("variance"), 3.5);
  EXPECT_EQ(at("std"), std::sqrt(3.5));
  EXPECT_EQ(at("sum"), 0);
  EXPECT_EQ(at("prod"), 0);
  EXPECT_EQ(at("l1_norm"), 6);
  EXPECT_EQ(at("l2_norm"), std::sqrt(14.0));
  EXPECT_EQ(at("abs_min"), 0);
  EXPECT_EQ(at("abs_max"), 3);
  EXPECT_EQ(at("abs_mean"), 1.5);
  EXPECT_EQ(at("abs_variance"), 1.25);
  EXPECT_EQ(at("count"), 4);
  EXPECT_EQ(at("zeros"), 1);
}

TEST(Reductions, NanAndInfinityAreCountedAndMakeOthersNan) {
  const Summary with_nan = summary_of({1, kNan, kInf});
  EXPECT_EQ(with_nan.nans, 1);
  EXPECT_EQ(with_nan.infs, 1);
  EXPECT_TRUE(std::isnan(with_nan.min));
  EXPECT_TRUE(std::isnan(with_nan.sum));
  const Summary infinite = summary_of({1, -kInf});
  EXPECT_EQ(infinite.sum, -kInf);
  EXPECT_EQ(infinite.min, -kInf);
  EXPECT_EQ(infinite.max, 1);
  EXPECT_FALSE(infinite.finite());
}

TEST(Reductions, AnEmptyTensorHasASumAndNoMean) {
  const Summary empty = summary_of({});
  EXPECT_EQ(empty.sum, 0);
  EXPECT_EQ(empty.prod, 1);
  EXPECT_TRUE(std::isnan(empty.value(Reduction::mean)));
  EXPECT_TRUE(std::isnan(empty.min));
}

TEST(Reductions, ASumDoesNotLoseSmallNumbersBesideALargeOne) {
  std::vector<double> values(10'000, 1.0);
  values.push_back(1e16);
  values.push_back(-1e16);
  EXPECT_EQ(summary_of(values).sum, 10'000);
}

TEST(Reductions, EveryNameIsReadBack) {
  for (const std::string& name : reduction_names()) EXPECT_EQ(to_string(*reduction_from(name)), name);
  EXPECT_FALSE(reduction_from("median"));
  EXPECT_FALSE(reduction_from("l1"));
}

TEST(Arrays, ShapesThatNoMemoryHoldsHaveNoSize) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(elements_of(std::vector<std::int64_t>{}), 1);
  EXPECT_EQ(elements_of(std::vector<std::int64_t>{0, 5}), 0);
  EXPECT_FALSE(elements_of(std::vector<std::int64_t>{huge, huge}));
  EXPECT_FALSE(elements_of(std::vector<std::int64_t>{-1}));
  EXPECT_FALSE(elements_of(std::vector<std::int64_t>(17, 1)));
}

TEST(Arrays, FortranOrderIsTurned) {
  const std::vector<double> columns{1, 4, 2, 5, 3, 6};
  ArrayView view = view_of(std::span<const double>(columns), {2, 3});
  view.fortran_order = true;
  EXPECT_EQ(values_of(view), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

}  // namespace tuneband::debugger
