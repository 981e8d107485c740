#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "search_spaces/search_space.hpp"

namespace tuneband {
namespace {

using testing::ElementsAre;

double number(const Domain& domain, double u) { return std::get<double>(value_at(domain, u)); }
std::int64_t integer(const Domain& domain, double u) { return std::get<std::int64_t>(value_at(domain, u)); }

std::vector<double> numbers(const std::vector<Value>& values) {
  std::vector<double> read;
  for (const Value& value : values) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    read.push_back(whole ? static_cast<double>(*whole) : std::get<double>(value));
  }
  return read;
}

// How often each value comes for evenly spread u.
std::map<std::string, int> histogram(const Domain& domain, int draws) {
  std::map<std::string, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[to_string(value_at(domain, (i + 0.5) / draws))];
  return counts;
}

TEST(LinearFloat, GoesEvenlyFromMinToMax) {
  const FloatDomain domain{-1, 3, Scale::linear};
  EXPECT_EQ(number(domain, 0), -1);
  EXPECT_EQ(number(domain, 0.25), 0);
  EXPECT_EQ(number(domain, 1), 3);
}

TEST(LinearFloat, SpansTheWholeOfDoubleWithoutOverflow) {
  const double most = std::numeric_limits<double>::max();
  const FloatDomain domain{-most, most, Scale::linear};
  EXPECT_EQ(number(domain, 0.5), 0);
  EXPECT_TRUE(std::isfinite(number(domain, 0.999999)));
}

TEST(LogFloat, GivesEachDecadeTheSameShare) {
  const FloatDomain domain{1e-4, 1, Scale::log};
  EXPECT_DOUBLE_EQ(number(domain, 0.25), 1e-3);
  EXPECT_DOUBLE_EQ(number(domain, 0.5), 1e-2);
  EXPECT_EQ(number(domain, 0), 1e-4);
  EXPECT_EQ(number(domain, 1), 1);
}

TEST(ReverseLogFloat, CrowdsTowardsOne) {
  const FloatDomain domain{0, 0.9999, Scale::reverse_log};
  EXPECT_NEAR(number(domain, 0.25), 0.9, 1e-12);
  EXPECT_NEAR(number(domain, 0.5), 0.99, 1e-12);
  EXPECT_EQ(number(domain, 0), 0);
  EXPECT_NEAR(number(domain, 1), 0.9999, 1e-15);
}

TEST(FloatScales, RiseAndStayWithinTheirEnds) {
  for (const FloatDomain& domain :
       {FloatDomain{-5, 5, Scale::linear}, FloatDomain{1e-300, 1e300, Scale::log}, FloatDomain{0.1, 0.3, Scale::log},
        FloatDomain{0, 1 - 1e-16, Scale::reverse_log}, FloatDomain{0.2, 0.7, Scale::reverse_log}}) {
    double last = domain.min;
    for (int i = 0; i <= 1000; ++i) {
      const double value = number(domain, i / 1000.0);
      EXPECT_TRUE(contains(domain, value)) << describe(Domain(domain)) << " " << i;
      EXPECT_GE(value, last);
      last = value;
    }
  }
}

TEST(FloatScales, StayWithinTheNarrowestRange) {
  const double next = std::nextafter(0.1, 1);
  for (const Scale scale : {Scale::linear, Scale::log, Scale::reverse_log}) {
    const Domain domain = FloatDomain{0.1, next, scale};
    for (int i = 0; i <= 1000; ++i) EXPECT_TRUE(contains(domain, value_at(domain, i / 1000.0)));
  }
}

TEST(LinearInt, GivesItsEndsTheShareOfTheOthers) {
  const auto counts = histogram(IntDomain{1, 10}, 10'000);
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 1000, 1) << value;
}

TEST(LinearInt, CoversNegativeValues) {
  const auto counts = histogram(IntDomain{-2, 1}, 4000);
  EXPECT_EQ(counts.size(), 4u);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 1000, 1) << value;
}

TEST(LogInt, GivesDoublingsTheSameShare) {
  const IntDomain domain{1, 1024, Scale::log};
  EXPECT_EQ(integer(domain, 0), 1);
  EXPECT_EQ(integer(domain, 1), 1024);
  std::map<int, int> doublings;
  for (int i = 0; i < 11'000; ++i) ++doublings[static_cast<int>(std::log2(static_cast<double>(integer(domain, i / 11'000.0))))];
  for (int doubling = 2; doubling < 10; ++doubling) EXPECT_NEAR(doublings[doubling], 1000, 120) << doubling;
}

TEST(Ints, StayWithinTheWidestRange) {
  const IntDomain widest{-kIntegerMax, kIntegerMax};
  EXPECT_EQ(integer(widest, 0), -kIntegerMax);
  EXPECT_EQ(integer(widest, 1), kIntegerMax);
  const IntDomain log{1, kIntegerMax, Scale::log};
  EXPECT_EQ(integer(log, 1), kIntegerMax);
}

TEST(IntSteps, HaveEqualSharesFromMinToMax) {
  const auto counts = histogram(IntDomain{16, 64, Scale::linear, 16}, 4000);
  EXPECT_EQ(counts, (std::map<std::string, int>{{"16", 1000}, {"32", 1000}, {"48", 1000}, {"64", 1000}}));
}

TEST(IntSteps, AreWholeInTheWidestRangeToo) {
  constexpr std::int64_t kStep = (2 * kIntegerMax - 1) / 7;  // several of them are more than a double tells apart
  const IntDomain domain{1 - kIntegerMax, kIntegerMax, Scale::linear, kStep};
  const auto all = grid_values(domain, 8);
  ASSERT_EQ(all.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(integer(domain, (i + 0.5) / 8), domain.min + i * kStep) << i;
    EXPECT_EQ(all[static_cast<std::size_t>(i)], Value(domain.min + i * kStep)) << i;
  }
}

// The share of the least value reaches as far down on the scale as half a step reaches up.
TEST(LogSteps, GiveTheLeastValueNoMoreThanTwiceWhatLiesAboveIt) {
  const double all = 2 * std::log(12.0 / 8) + std::log(28.0 / 12);
  for (const Domain& domain : {Domain(IntDomain{8, 24, Scale::log, 8}), Domain(FloatDomain{8, 24, Scale::log, 8})}) {
    const auto counts = histogram(domain, 1000);
    EXPECT_EQ(counts.size(), 3u);
    EXPECT_NEAR(counts.at("8"), 1000 * 2 * std::log(12.0 / 8) / all, 1);
    EXPECT_NEAR(counts.at("16"), 1000 * std::log(20.0 / 12) / all, 1);
  }
  EXPECT_LT(histogram(FloatDomain{1, 20.9, Scale::log, 1.99}, 1000).at("1"), 400) << "a step of nearly twice the least";
}

TEST(FloatSteps, HaveEqualSharesAndAreWrittenAsTheUserWouldWriteThem) {
  const auto counts = histogram(FloatDomain{0.1, 0.5, Scale::linear, 0.1}, 5000);
  EXPECT_EQ(counts, (std::map<std::string, int>{{"0.1", 1000}, {"0.2", 1000}, {"0.3", 1000}, {"0.4", 1000}, {"0.5", 1000}}));
  EXPECT_EQ(number(FloatDomain{0.1, 0.5, Scale::linear, 0.1}, 0.5), 0.3);  // not 0.1 + 2 * 0.1
}

TEST(FloatSteps, HaveNoRestWhereTheyCrossZero) {
  EXPECT_EQ(number(FloatDomain{-0.3, 0.3, Scale::linear, 0.1}, 0.5), 0);
  EXPECT_FALSE(std::signbit(number(FloatDomain{-0.3, 0.3, Scale::linear, 0.1}, 0.5)));
}

TEST(FloatSteps, StayApartAndWithinTheirEndsFarFromZero) {
  const FloatDomain halves{1'700'000'000, 1'700'000'000.2578125, Scale::linear, 1.0 / 512};
  const auto counts = numbers(grid_values(halves, 2));
  ASSERT_EQ(counts.size(), 133u);
  for (std::size_t i = 1; i < counts.size(); ++i) EXPECT_GT(counts[i], counts[i - 1]);
  EXPECT_EQ(counts.back(), halves.max);
  EXPECT_TRUE(contains(FloatDomain{1'700'000'000, 1'700'000'001, Scale::linear, 0.001}, 1'700'000'000.003));
}

TEST(FloatSteps, ReachTheirEndsExactly) {
  const FloatDomain domain{0.1234567890123456, 0.9234567890123457, Scale::linear, 0.1};
  EXPECT_EQ(number(domain, 0), domain.min);
  EXPECT_EQ(number(domain, 1), domain.max);
  for (int i = 0; i <= 100; ++i) EXPECT_TRUE(contains(domain, number(domain, i / 100.0))) << i;
}

TEST(FloatSteps, TakeTheNearestOfThem) {
  const FloatDomain domain{0, 1, Scale::linear, 0.25};
  EXPECT_EQ(nearest_in(domain, 0.37), 0.25);
  EXPECT_EQ(nearest_in(domain, 0.38), 0.5);
  EXPECT_EQ(nearest_in(domain, -3), 0);
  EXPECT_EQ(nearest_in(domain, 7), 1);
  EXPECT_EQ(nearest_in(FloatDomain{0, 1}, 0.37), 0.37);
}

TEST(Categories, HaveEqualShares) {
  const auto counts = histogram(CategoricalDomain{{std::string("gbtree"), std::string("dart"), true}}, 3000);
  EXPECT_EQ(counts, (std::map<std::string, int>{{"gbtree", 1000}, {"dart", 1000}, {"true", 1000}}));
  EXPECT_EQ(value_at(CategoricalDomain{{std::int64_t{1}, std::int64_t{2}}}, 1.0), Value(std::int64_t{2}));
}

TEST(Contains, ComparesNumbersAsNumbersAndTextsAsTexts) {
  const Domain categories = CategoricalDomain{{std::int64_t{1}, 0.5, std::string("x"), false}};
  EXPECT_TRUE(contains(categories, 1.0));
  EXPECT_TRUE(contains(categories, std::int64_t{1}));
  EXPECT_TRUE(contains(categories, false));
  EXPECT_FALSE(contains(categories, true));
  EXPECT_FALSE(contains(categories, std::string("1")));
  EXPECT_FALSE(contains(categories, std::string("X")));
}

TEST(Contains, IncludesBothEnds) {
  const Domain floats = FloatDomain{0, 1};
  EXPECT_TRUE(contains(floats, 0.0));
  EXPECT_TRUE(contains(floats, std::int64_t{1}));
  EXPECT_FALSE(contains(floats, 1.0000001));
  EXPECT_FALSE(contains(floats, std::nan("")));
  EXPECT_FALSE(contains(floats, std::string("0")));
  EXPECT_FALSE(contains(floats, true));
  const Domain ints = IntDomain{1, 10};
  EXPECT_TRUE(contains(ints, std::int64_t{10}));
  EXPECT_FALSE(contains(ints, std::int64_t{11}));
  EXPECT_FALSE(contains(ints, 3.0));
}

TEST(Contains, WantsAWholeNumberOfStepsAndSpansDoesNot) {
  const Domain ints = IntDomain{16, 64, Scale::linear, 16};
  EXPECT_TRUE(contains(ints, std::int64_t{48}));
  EXPECT_FALSE(contains(ints, std::int64_t{40}));
  EXPECT_TRUE(spans(ints, std::int64_t{40}));
  EXPECT_FALSE(spans(ints, std::int64_t{80}));
  const Domain floats = FloatDomain{0.1, 0.7, Scale::linear, 0.1};
  EXPECT_TRUE(contains(floats, 0.1 + 2 * 0.1));
  EXPECT_TRUE(contains(floats, 0.3));
  EXPECT_FALSE(contains(floats, 0.31));
  EXPECT_TRUE(spans(floats, 0.31));
  EXPECT_TRUE(contains(floats, 7 * 0.1)) << "0.7000000000000001";
  EXPECT_FALSE(spans(floats, 0.71));
  EXPECT_FALSE(spans(Domain(FloatDomain{0, 0.7}), 7 * 0.1)) << "an end without steps is exact";
}

TEST(DescribeDomain, IsWhatAMessageShows) {
  EXPECT_EQ(describe(Domain(FloatDomain{0.01, 0.3, Scale::log})), "float 0.01..0.3 (log)");
  EXPECT_EQ(describe(Domain(IntDomain{1, 10})), "int 1..10");
  EXPECT_EQ(describe(Domain(IntDomain{16, 64, Scale::log, 16})), "int 16..64 by 16 (log)");
  EXPECT_EQ(describe(Domain(FloatDomain{0, 0.5, Scale::linear, 0.1})), "float 0..0.5 by 0.1");
  EXPECT_EQ(describe(Domain(FixedDomain{true})), "fixed true");
  EXPECT_EQ(describe(Domain(CategoricalDomain{{std::string("a"), std::int64_t{2}}})), "categorical a, 2");
  EXPECT_LT(describe(Domain(CategoricalDomain{std::vector<Value>(1000, Value(std::string("abc")))})).size(), 100u);
}

TEST(GridValues, SpaceFloatsOverTheirScaleWithBothEnds) {
  EXPECT_THAT(numbers(grid_values(FloatDomain{0, 1}, 5)), ElementsAre(0, 0.25, 0.5, 0.75, 1));
  const auto logs = numbers(grid_values(FloatDomain{0.001, 1, Scale::log}, 4));
  ASSERT_EQ(logs.size(), 4u);
  EXPECT_EQ(logs.front(), 0.001);
  EXPECT_NEAR(logs[1], 0.01, 1e-15);
  EXPECT_NEAR(logs[2], 0.1, 1e-15);
  EXPECT_EQ(logs.back(), 1);
  EXPECT_THAT(numbers(grid_values(FloatDomain{0.3, 0.7}, 2)), ElementsAre(0.3, 0.7));
}

TEST(GridValues, TakeEveryIntWhenThereAreFew) {
  EXPECT_THAT(numbers(grid_values(IntDomain{3, 7}, 5)), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(numbers(grid_values(IntDomain{3, 5}, 10)), ElementsAre(3, 4, 5));
}

TEST(GridValues, SpaceManyIntsOverTheirScale) {
  EXPECT_THAT(numbers(grid_values(IntDomain{0, 100}, 5)), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(numbers(grid_values(IntDomain{-5, 5}, 5)), ElementsAre(-5, -3, 0, 3, 5));
  EXPECT_THAT(numbers(grid_values(IntDomain{1, 10'000, Scale::log}, 5)), ElementsAre(1, 10, 100, 1000, 10'000));
  EXPECT_THAT(numbers(grid_values(IntDomain{1, 6, Scale::log}, 5)), ElementsAre(1, 2, 4, 6));  // 1.57 and 2.45 fall together
}

TEST(GridValues, AreOfTheStep) {
  EXPECT_THAT(numbers(grid_values(IntDomain{16, 64, Scale::linear, 16}, 5)), ElementsAre(16, 32, 48, 64));
  EXPECT_THAT(numbers(grid_values(FloatDomain{0.5, 1, Scale::linear, 0.25}, 2)), ElementsAre(0.5, 0.75, 1)) << "all of them";
  EXPECT_EQ(grid_values(IntDomain{0, 99'900, Scale::linear, 100}, 5).size(), 1000u);
  EXPECT_EQ(grid_values(FloatDomain{0, 1000, Scale::linear, 0.1}, 5).size(), 1000u) << "of 10,001";
}

TEST(GridValues, NeverRepeatAValueHoweverNarrowTheRange) {
  const double next = std::nextafter(0.1, 1);
  EXPECT_THAT(numbers(grid_values(FloatDomain{0.1, next}, 5)), ElementsAre(0.1, next));
}

TEST(UnitOf, IsWhereAFloatLiesOnItsScale) {
  for (const Domain& domain : {Domain(FloatDomain{-2, 6, Scale::linear}), Domain(FloatDomain{1e-4, 10, Scale::log}),
                               Domain(FloatDomain{0.5, 0.9999, Scale::reverse_log})}) {
    for (const double unit : {0.0, 0.125, 0.5, 0.75, 1.0}) {
      EXPECT_NEAR(unit_of(domain, value_at(domain, unit)), unit, 1e-9) << describe(domain);
    }
  }
  EXPECT_NEAR(unit_of(FloatDomain{0, 0.99, Scale::reverse_log}, Value(0.9)), 0.5, 1e-9);
}

TEST(UnitOf, IsTheMiddleOfAnIntegersOrACategorysShare) {
  const Domain linear = IntDomain{1, 10, Scale::linear};
  for (std::int64_t value = 1; value <= 10; ++value) {
    EXPECT_NEAR(unit_of(linear, Value(value)), (static_cast<double>(value) - 0.5) / 10, 1e-12);
  }
  const Domain steps = FloatDomain{0.5, 1, Scale::linear, 0.125};
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(unit_of(steps, Value(0.5 + 0.125 * i)), (i + 0.5) / 5, 1e-12);
  const Domain log = IntDomain{1, 100, Scale::log};
  for (const std::int64_t value : {1, 2, 10, 99, 100}) {
    EXPECT_EQ(value_at(log, unit_of(log, Value(value))), Value(value));
  }
  EXPECT_NEAR(unit_of(log, Value(std::int64_t{10})), std::log(10 / 0.5) / std::log(100.5 / 0.5), 1e-12);
  const Domain categories = CategoricalDomain{{Value(std::string("a")), Value(std::string("b"))}};
  EXPECT_EQ(unit_of(categories, Value(std::string("a"))), 0.25);
  EXPECT_EQ(unit_of(categories, Value(std::string("b"))), 0.75);
  EXPECT_EQ(unit_of(categories, Value(std::string("c"))), 0.25) << "one that is not there";
  EXPECT_EQ(unit_of(FixedDomain{Value(3.0)}, Value(3.0)), 0.5);
}

TEST(DescribeDomain, SaysThatCategoriesAreOrdered) {
  EXPECT_EQ(describe(CategoricalDomain{{Value(std::int64_t{16}), Value(std::int64_t{32})}, true}),
            "categorical 16, 32 (ordered)");
}

TEST(DescribeDomain, ListsTenCategoriesAndCountsTheOthers) {
  CategoricalDomain domain;
  for (std::int64_t i = 1; i <= 10; ++i) domain.values.emplace_back(i);
  EXPECT_EQ(describe(domain), "categorical 1, 2, 3, 4, 5, 6, 7, 8, 9, 10");
  domain.values.emplace_back(std::int64_t{11});
  domain.values.emplace_back(std::int64_t{12});
  EXPECT_EQ(describe(domain), "categorical 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more");
}

}  // namespace
}  // namespace tuneband
