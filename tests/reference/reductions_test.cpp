// Reductions against NumPy's, on arrays of every type, order and size, with NaN, infinities and nothing in them.
#include "debugger/reductions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/random.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::uint64_t kSeed = 20'251'122;
constexpr double kClose = 1e-9;  // NumPy sums in another order

struct Typed {
  DType dtype;
  const char* descr;  // NumPy's
};
constexpr Typed kTypesOfNumpy[] = {
    {DType::boolean, "|b1"}, {DType::int8, "|i1"},   {DType::int16, "i2"},   {DType::int32, "i4"},
    {DType::int64, "i8"},    {DType::uint8, "|u1"},  {DType::uint16, "u2"},  {DType::uint32, "u4"},
    {DType::uint64, "u8"},   {DType::float16, "f2"}, {DType::float32, "f4"}, {DType::float64, "f8"},
};

struct Case {
  std::string bytes;
  ArrayView view;
  Json question;
};

std::uint64_t drawn(std::uint64_t number, std::uint64_t what) { return random_bits(kSeed, {number, what}); }

// Bits at random are numbers of every size, and for floating point NaN and infinity; every other array has small numbers.
std::string random_bytes(std::uint64_t number, const Typed& type, std::size_t elements) {
  std::string bytes;
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t bits = random_bits(kSeed, {number, 100, i});
    if (type.dtype == DType::float64 && number % 4 != 0)
      bits = std::bit_cast<std::uint64_t>(10 * random_unit(kSeed, {number, 200, i}) - 5);
    if (type.dtype == DType::float32 && number % 4 != 0)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(10 * random_unit(kSeed, {number, 200, i}) - 5));
    if (type.dtype == DType::boolean) bits &= 1;
    if (number % 5 == 0 && i % 3 == 0) bits = 0;
    bytes.append(reinterpret_cast<const char*>(&bits), size_of(type.dtype));
  }
  return bytes;
}

std::string hex(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Case random_case(std::uint64_t number) {
  const Typed& type = kTypesOfNumpy[number % std::size(kTypesOfNumpy)];
  Case result;
  std::vector<std::int64_t> shape;
  for (std::uint64_t axis = 0; axis < drawn(number, 1) % 4; ++axis)
    shape.push_back(static_cast<std::int64_t>(drawn(number, 10 + axis) % 7));
  result.bytes = random_bytes(number, type, *elements_of(shape));
  const bool big = drawn(number, 2) % 2 == 0;
  const bool fortran = drawn(number, 3) % 2 == 0;
  const std::string descr = type.descr[0] == '|' ? type.descr : (big ? ">" : "<") + std::string(type.descr);
  result.question = Json{{"shape", shape}, {"fortran_order", fortran}, {"descr", descr}, {"bytes", hex(result.bytes)}};
  result.view = {type.dtype, big, fortran, shape, {}};
  return result;
}

void expect_close(double ours, const Json& theirs, const std::string& what) {
  const double numpy = *number_from_json(theirs);
  if (std::isnan(numpy) || std::isinf(numpy)) {
    EXPECT_TRUE(std::isnan(numpy) ? std::isnan(ours) : ours == numpy) << what << ": " << ours << " against " << numpy;
  } else {
    EXPECT_NEAR(ours, numpy, kClose * std::max(1.0, std::abs(numpy))) << what;
  }
}

}  // namespace

TEST(ReductionsReference, AreNumpysForEveryTypeOrderAndSize) {
  constexpr std::uint64_t kCases = 600;
  Json question{{"what", "reductions"}, {"arrays", Json::array()}};
  std::vector<Case> cases;
  for (std::uint64_t number = 0; number < kCases; ++number) {
    cases.push_back(random_case(number));
    question["arrays"].push_back(cases.back().question);
  }
  const Json answers = test::reference(question);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& one = cases[i];
    one.view.bytes = std::as_bytes(std::span<const char>(one.bytes.data(), one.bytes.size()));
    const Summary summary = summarise(one.view);
    const std::vector<double> values = values_of(one.view);
    ASSERT_EQ(values.size(), answers[i]["elements"].size());
    for (std::size_t k = 0; k < values.size(); ++k)
      expect_close(values[k], answers[i]["elements"][k], "element " + std::to_string(k) + " of " + one.question.dump());
    for (const std::string& name : reduction_names()) {
      // A sum of numbers near the largest double passes infinity or not, as the order has it.
      const double size = summary.abs_max;
      if (std::isfinite(size) && size > 1e100) continue;
      expect_close(summary.value(*reduction_from(name)), answers[i][name], name + " of " + one.question.dump());
    }
  }
}

}  // namespace tuneband::debugger
