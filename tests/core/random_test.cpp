#include "core/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace tuneband {
namespace {

// Pinned: stored jobs must go on with the same trials after an upgrade.
TEST(RandomBits, NeverChange) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cULL);
  static_assert(random_bits(7, {0, 1}) == random_bits(7, {0, 1}));
}

TEST(RandomBits, DifferBySeedByCounterAndByTheOrderOfCounters) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t a = 0; a < 20; ++a) {
      for (std::uint64_t b = 0; b < 20; ++b) seen.insert(random_bits(seed, {a, b}));
    }
  }
  EXPECT_EQ(seen.size(), 8000u);
  EXPECT_NE(random_bits(1, {2}), random_bits(1, {2, 0}));
}

TEST(RandomUnit, IsEvenlySpreadBelowOne) {
  constexpr int kDraws = 100'000;
  std::array<int, 10> histogram{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = random_unit(3, {i});
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++histogram[static_cast<std::size_t>(u * 10)];
  }
  double chi_square = 0;
  for (const int count : histogram) chi_square += (count - kDraws / 10.0) * (count - kDraws / 10.0) / (kDraws / 10.0);
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
  EXPECT_LT(to_unit(~std::uint64_t{0}), 1.0);
}

// Each counter's bits change half of the output's bits.
TEST(RandomBits, DependOnEveryBitOfACounter) {
  for (int bit = 0; bit < 64; ++bit) {
    int changed = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      changed += __builtin_popcountll(random_bits(1, {i, 5}) ^ random_bits(1, {i ^ (std::uint64_t{1} << bit), 5}));
    }
    EXPECT_NEAR(changed / 100.0, 32, 3) << "bit " << bit;
  }
}

}  // namespace
}  // namespace tuneband
