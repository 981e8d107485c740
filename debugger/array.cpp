#include "debugger/array.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace tuneband::debugger {

namespace {

struct KnownType {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr KnownType kTypes[] = {
    {DType::boolean, "bool", 1},    {DType::int8, "int8", 1},         {DType::int16, "int16", 2},
    {DType::int32, "int32", 4},     {DType::int64, "int64", 8},       {DType::uint8, "uint8", 1},
    {DType::uint16, "uint16", 2},   {DType::uint32, "uint32", 4},     {DType::uint64, "uint64", 8},
    {DType::float16, "float16", 2}, {DType::bfloat16, "bfloat16", 2}, {DType::float32, "float32", 4},
    {DType::float64, "float64", 8},
};

}  // namespace

std::string_view to_string(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)].name; }
std::size_t size_of(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)].size; }

std::optional<DType> dtype_from(std::string_view name) {
  for (const KnownType& type : kTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

std::optional<std::size_t> elements_of(std::span<const std::int64_t> shape) {
  if (shape.size() > kDimensionsMax) return std::nullopt;
  std::uint64_t product = 1;
  bool empty = false;
  for (const std::int64_t axis : shape) {
    if (axis < 0) return std::nullopt;
    if (axis == 0) {
      empty = true;
    } else if (product > std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(axis)) {
      return std::nullopt;
    } else {
      product *= static_cast<std::uint64_t>(axis);
    }
  }
  return empty ? 0 : static_cast<std::size_t>(product);
}

std::size_t ArrayView::position(std::size_t index) const {
  if (!fortran_order || shape.size() < 2) return index;
  std::size_t stride = size();
  std::size_t place = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    stride /= extent;
    place += index % extent * stride;
    index /= extent;
  }
  return place;
}

ArrayView view_of(std::span<const float> values, std::vector<std::int64_t> shape) {
  return {DType::float32, std::endian::native == std::endian::big, false, std::move(shape), std::as_bytes(values)};
}

ArrayView view_of(std::span<const double> values, std::vector<std::int64_t> shape) {
  return {DType::float64, std::endian::native == std::endian::big, false, std::move(shape), std::as_bytes(values)};
}

// IEEE 754 binary16: 1 sign bit, 5 of the exponent, 10 of the fraction.
double from_float16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = 0;
  if (exponent == 0x1f) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::vector<double> values_of(const ArrayView& array) {
  std::vector<double> in_memory;
  in_memory.reserve(array.size());
  for_each_element(array, [&](double value) { in_memory.push_back(value); });
  if (!array.fortran_order || array.shape.size() < 2) return in_memory;
  std::vector<double> ordered(in_memory.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = in_memory[array.position(i)];
  return ordered;
}

}  // namespace tuneband::debugger
