// The bytes of a file of tensors: TRIAL/tensors/<epoch>-<rank>.tensors, appended to by the one segment of that epoch.
//
//   file   "TBTENS02", i64 the step at which the segment began
//   block  of one step: a Head, `rows_size` bytes of rows, `raw_size` bytes of whole arrays. Appended in one piece.
//   row    u8 kind, and then
//     name     u32 id, u16 size, the name              before the first other row of that id, one of these two; an id is a
//     moded    u32 id, u8 Mode, u16 size, the name      tensor: the one whose mode its name says, if it has any, or of this mode
//     scalar   u32 id, f64                              13 bytes
//     summary  u32 id, array, 14 f64 (Summary)          of an array that is reduced
//     raw      u32 id, array, u8 flags, u64 offset among the raw bytes, u64 size, u32 CRC-32
//     dropped  u64 rows, u64 bytes                      so far, for want of room
//   array  u8 DType, u8 dimensions, i64 each
//
// Little-endian. A block counts when it is whole and its rows' CRC-32 is right; the first that is not ends the file. Of several
// epochs a later one takes the place of all steps after the one at which it began. "TBTENS01" is the same without rows `moded`.
#pragma once

#include <zlib.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tuneband::debugger::files {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kFileMagic[8] = {'T', 'B', 'T', 'E', 'N', 'S', '0', '2'};
inline constexpr char kFileMagicWithoutModes[8] = {'T', 'B', 'T', 'E', 'N', 'S', '0', '1'};
inline constexpr std::uint64_t kFileHeadSize = 16;
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4254;  // "TBLK"

struct Head {
  std::uint32_t magic = kBlockMagic;
  std::uint32_t rows_size = 0;
  std::uint64_t raw_size = 0;
  std::int64_t step = 0;
  std::uint32_t rows_crc = 0;
  std::uint32_t head_crc = 0;  // of the fields before
};
static_assert(sizeof(Head) == 32);

enum class RowKind : std::uint8_t { name = 0, scalar = 1, summary = 2, raw = 3, dropped = 4, moded = 5 };

inline constexpr std::uint8_t kFlagBigEndian = 1;
inline constexpr std::uint8_t kFlagFortranOrder = 2;

// What a reader refuses: no writer makes them.
inline constexpr std::uint32_t kRowsSizeMax = 256 * 1024 * 1024;  // bytes of one step
inline constexpr std::uint32_t kNamesMax = 1'000'000;             // of a file

inline std::uint32_t crc_of(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

// Where a segment begins that has nothing of what was trained before.
inline constexpr std::int64_t kFromNothing = -1;
// Segments whose first step is not known: one that goes on with the process of the segment before, and one whose process was
// started again and goes on from what it saved. That one may save steps again; its first says where it stands.
inline constexpr std::int64_t kGoesOn = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kStartedAgain = kGoesOn - 1;

inline constexpr const char* kTensorsDir = "tensors";
inline constexpr const char* kTensorsSuffix = ".tensors";

}  // namespace tuneband::debugger::files
