#include <cstring>
#include <optional>
#include <utility>

#include "core/json.hpp"
#include "debugger/files/array_formats.hpp"

namespace tuneband::debugger::files {

namespace {

constexpr std::pair<std::string_view, DType> kSafetensorTypes[] = {
    {"BOOL", DType::boolean},  {"I8", DType::int8},     {"I16", DType::int16},   {"I32", DType::int32},  {"I64", DType::int64},
    {"U8", DType::uint8},      {"U16", DType::uint16},  {"U32", DType::uint32},  {"U64", DType::uint64}, {"F16", DType::float16},
    {"BF16", DType::bfloat16}, {"F32", DType::float32}, {"F64", DType::float64},
};

Error not_safetensors(const std::string& message) {
  return {ErrorCode::invalid_argument, "not a safetensors file: " + message, "", ""};
}

std::optional<DType> type_of(const Json& name) {
  for (const auto& [known, dtype] : kSafetensorTypes) {
    if (name.is_string() && name.get_ref<const std::string&>() == known) return dtype;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> whole_numbers(const Json& json) {
  if (!json.is_array() || json.size() > kDimensionsMax) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Json& number : json) {
    if (!number.is_number_unsigned()) return std::nullopt;
    numbers.push_back(number.get<std::int64_t>());
    if (numbers.back() < 0) return std::nullopt;
  }
  return numbers;
}

// {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
std::optional<ArrayView> array_of(const Json& entry, std::span<const std::byte> data, bool& not_whole) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
    return std::nullopt;
  const auto dtype = type_of(entry["dtype"]);
  const auto shape = whole_numbers(entry["shape"]);
  const auto offsets = whole_numbers(entry["data_offsets"]);
  if (!dtype || !shape || !offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) return std::nullopt;
  const auto begin = static_cast<std::size_t>((*offsets)[0]);
  const auto end = static_cast<std::size_t>((*offsets)[1]);
  const auto elements = elements_of(*shape);
  if (!elements || (end - begin) % size_of(*dtype) != 0 || (end - begin) / size_of(*dtype) != *elements) return std::nullopt;
  if (end > data.size()) {
    not_whole = true;
    return std::nullopt;
  }
  return ArrayView{*dtype, false, false, *shape, data.subspan(begin, end - begin)};
}

}  // namespace

Result<void> read_safetensors(std::span<const std::byte> bytes, const TakeArray& take) {
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) return Error{kNotWhole, "the file is not whole", "", ""};
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size > kHeaderSizeMax) return not_safetensors("a header of " + std::to_string(header_size) + " bytes");
  if (bytes.size() - sizeof header_size < header_size) return Error{kNotWhole, "the file is not whole", "", ""};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof header_size, header_size);
  const auto header = parse_json(text, {.values_max = 20 * kArraysPerFileMax});
  if (!header) return not_safetensors(header.error().message);
  if (!header->is_object() || header->size() > kArraysPerFileMax) return not_safetensors("its header is not an object of arrays");
  const std::span<const std::byte> data = bytes.subspan(sizeof header_size + header_size);
  std::vector<std::pair<std::string, ArrayView>> arrays;
  for (const auto& [name, entry] : header->items()) {
    if (name == "__metadata__") continue;
    bool not_whole = false;
    auto array = array_of(entry, data, not_whole);
    if (not_whole) return Error{kNotWhole, "the file is not whole", "", ""};
    if (!array) return not_safetensors("the entry of `" + excerpt(name) + "` does not fit");
    arrays.emplace_back(name, std::move(*array));
  }
  for (const auto& [name, array] : arrays) {
    if (!take(name, array)) return {};
  }
  return {};
}

}  // namespace tuneband::debugger::files
