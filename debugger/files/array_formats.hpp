// Arrays as other programs write them: .npy, .npz and safetensors. Everything here comes from a trial's own program, so that
// nothing in it is believed: sizes are held against the bytes that are there, and no object is ever unpickled.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "debugger/array.hpp"

namespace tuneband::debugger::files {

// Error::code of a file that is not whole yet: look again when it has grown.
inline constexpr ErrorCode kNotWhole = ErrorCode::unavailable;

inline constexpr std::size_t kArraysPerFileMax = 10'000;
inline constexpr std::size_t kHeaderSizeMax = 1024 * 1024;  // bytes of JSON or of a Python literal

// The array views `bytes`. Errors: not NumPy's format, a type that holds no numbers (objects, texts, structures), kNotWhole.
Result<ArrayView> read_npy(std::span<const std::byte> bytes);

// The name in the file and the array, which lives during the call alone. False ends it.
using TakeArray = std::function<bool(const std::string& name, const ArrayView& array)>;

// A ZIP of .npy entries, stored or deflated (numpy.savez, numpy.savez_compressed). `unpacked_max`: of all entries together.
Result<void> read_npz(std::span<const std::byte> bytes, std::size_t unpacked_max, const TakeArray& take);

// u64 size, that many bytes of JSON, then the arrays.
Result<void> read_safetensors(std::span<const std::byte> bytes, const TakeArray& take);

// A file of that array, NumPy's version 1.0, in the order of its elements' last axis.
std::string write_npy(const ArrayView& array);

}  // namespace tuneband::debugger::files
