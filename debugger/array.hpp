// A numeric array as it lies in memory or in a file: element type, byte order, shape, order of the axes. Nothing is copied.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tuneband::debugger {

enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};
std::string_view to_string(DType dtype);  // "float32", as NumPy names them
std::optional<DType> dtype_from(std::string_view name);
std::size_t size_of(DType dtype);  // bytes

inline constexpr std::size_t kDimensionsMax = 16;

struct ArrayView {
  DType dtype = DType::float64;
  bool big_endian = false;
  bool fortran_order = false;        // the first axis varies fastest
  std::vector<std::int64_t> shape;   // empty: a scalar
  std::span<const std::byte> bytes;  // size() elements

  std::size_t size() const { return bytes.size() / size_of(dtype); }
  // Where element `index` of the order in which the last axis varies fastest lies.
  std::size_t position(std::size_t index) const;
};

// The product; nothing: an axis is negative, there are more than kDimensionsMax, or no 64-bit size holds it.
std::optional<std::size_t> elements_of(std::span<const std::int64_t> shape);

// C order, as this machine has its numbers.
ArrayView view_of(std::span<const float> values, std::vector<std::int64_t> shape);
ArrayView view_of(std::span<const double> values, std::vector<std::int64_t> shape);

double from_float16(std::uint16_t bits);

namespace detail {

template <class Bits>
Bits bits_at(const std::byte* at, bool swap) {
  Bits bits;
  std::memcpy(&bits, at, sizeof bits);
  if constexpr (sizeof(Bits) > 1) {
    if (swap) {
      Bits turned = 0;
      for (std::size_t i = 0; i < sizeof bits; ++i) turned = static_cast<Bits>((turned << 8) | ((bits >> (8 * i)) & 0xff));
      bits = turned;
    }
  }
  return bits;
}

template <class Bits, class Convert, class Take>
void each(const ArrayView& array, const Convert& convert, const Take& take) {
  const bool swap = array.big_endian != (std::endian::native == std::endian::big);
  const std::byte* at = array.bytes.data();
  for (std::size_t left = array.size(); left > 0; --left, at += sizeof(Bits)) take(convert(bits_at<Bits>(at, swap)));
}

template <class Number, class Bits>
double number(Bits bits) {
  return static_cast<double>(std::bit_cast<Number>(bits));
}

}  // namespace detail

// Every element as a double (integers beyond 2^53 rounded), in the order of the memory.
template <class Take>
void for_each_element(const ArrayView& array, const Take& take) {
  using namespace detail;
  switch (array.dtype) {
    case DType::boolean:
      return each<std::uint8_t>(
          array, [](std::uint8_t bits) { return bits != 0 ? 1.0 : 0.0; }, take);
    case DType::int8:
      return each<std::uint8_t>(array, number<std::int8_t, std::uint8_t>, take);
    case DType::int16:
      return each<std::uint16_t>(array, number<std::int16_t, std::uint16_t>, take);
    case DType::int32:
      return each<std::uint32_t>(array, number<std::int32_t, std::uint32_t>, take);
    case DType::int64:
      return each<std::uint64_t>(array, number<std::int64_t, std::uint64_t>, take);
    case DType::uint8:
      return each<std::uint8_t>(array, number<std::uint8_t, std::uint8_t>, take);
    case DType::uint16:
      return each<std::uint16_t>(array, number<std::uint16_t, std::uint16_t>, take);
    case DType::uint32:
      return each<std::uint32_t>(array, number<std::uint32_t, std::uint32_t>, take);
    case DType::uint64:
      return each<std::uint64_t>(array, number<std::uint64_t, std::uint64_t>, take);
    case DType::float16:
      return each<std::uint16_t>(array, from_float16, take);
    case DType::bfloat16:
      return each<std::uint16_t>(
          array,
          [](std::uint16_t bits) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)); },
          take);
    case DType::float32:
      return each<std::uint32_t>(array, number<float, std::uint32_t>, take);
    case DType::float64:
      return each<std::uint64_t>(array, number<double, std::uint64_t>, take);
  }
}

// All elements, the last axis varying fastest.
std::vector<double> values_of(const ArrayView& array);

}  // namespace tuneband::debugger
