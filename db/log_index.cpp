#include "db/log_index.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace tuneband {

namespace {

constexpr std::size_t kLogHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::uint32_t kVersion = 3007000;      // of both formats
constexpr std::uint32_t kLogMagic = 0x377f0682;  // | 1: checksums of big-endian words
constexpr int kReadsMax = 100;                   // of an index that a running server changes meanwhile

using Checksum = std::array<std::uint32_t, 2>;

std::uint32_t word_at(const char* bytes, bool big_endian) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return big_endian == (std::endian::native == std::endian::big) ? word : __builtin_bswap32(word);
}

// `size`: a multiple of 8.
Checksum add_checksum(Checksum sum, const char* bytes, std::size_t size, bool big_endian) {
  for (std::size_t i = 0; i < size; i += 8) {
    sum[0] += word_at(bytes + i, big_endian) + sum[1];
    sum[1] += word_at(bytes + i + 4, big_endian) + sum[0];
  }
  return sum;
}

struct LogIndex {
  std::uint32_t page_size = 0;
  std::uint32_t frames = 0;    // committed
  std::uint32_t in_file = 0;   // of these, the first so many are in the database itself
  Checksum last_checksum{};    // of the last frame
  std::array<char, 8> salt{};  // as in the log's header

  bool operator==(const LogIndex&) const = default;
};

// Nothing: there is none, or it is not whole.
std::optional<LogIndex> read_index(const std::string& path) {
  constexpr std::size_t kHeaderSize = 48;
  constexpr bool kNativeBig = std::endian::native == std::endian::big;
  std::array<char, 2 * kHeaderSize + 4> bytes{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  const char* header = bytes.data();
  const auto word = [header](std::size_t at) { return word_at(header + at, kNativeBig); };
  const bool twice = std::memcmp(header, header + kHeaderSize, kHeaderSize) == 0;
  const bool whole = add_checksum({}, header, 40, kNativeBig) == Checksum{word(40), word(44)};
  const bool begun = header[12] != 0;
  if (!twice || !whole || !begun || word(0) != kVersion) return std::nullopt;
  LogIndex index;
  std::uint16_t page_size = 0;
  std::memcpy(&page_size, header + 14, sizeof page_size);
  index.page_size = page_size == 1 ? 65536 : page_size;
  index.frames = word(16);
  index.last_checksum = {word(24), word(28)};
  std::memcpy(index.salt.data(), header + 32, index.salt.size());
  index.in_file = word(96);
  return index;
}

std::string fewer(std::uint32_t frames, const LogIndex& index) {
  return "is whole for " + std::to_string(frames) + " of the " + std::to_string(index.frames) +
         " pages that were committed to it";
}

// How many frames from the first on are whole, at most as many as are committed.
std::uint32_t whole_frames(std::ifstream& log, const LogIndex& index, bool big_endian, Checksum sum) {
  std::vector<char> frame(kFrameHeaderSize + index.page_size);
  for (std::uint32_t i = 0; i < index.frames; ++i) {
    if (!log.read(frame.data(), static_cast<std::streamsize>(frame.size()))) return i;
    if (std::memcmp(frame.data() + 8, index.salt.data(), index.salt.size()) != 0) return i;
    sum = add_checksum(sum, frame.data(), 8, big_endian);
    sum = add_checksum(sum, frame.data() + kFrameHeaderSize, index.page_size, big_endian);
    if (sum != Checksum{word_at(frame.data() + 16, true), word_at(frame.data() + 20, true)}) return i;
  }
  return sum == index.last_checksum ? index.frames : index.frames - 1;
}

std::optional<std::string> what_is_missing(const std::string& path, const LogIndex& index) {
  std::ifstream log(path, std::ios::binary);
  if (!log) return "is gone";
  std::array<char, kLogHeaderSize> header{};
  if (!log.read(header.data(), header.size())) return fewer(0, index);
  const std::uint32_t magic = word_at(header.data(), true);
  const bool big_endian = (magic & 1) != 0;
  const Checksum sum = add_checksum({}, header.data(), 24, big_endian);
  const bool whole = (magic & ~1U) == kLogMagic && word_at(header.data() + 4, true) == kVersion &&
                     sum == Checksum{word_at(header.data() + 24, true), word_at(header.data() + 28, true)};
  if (!whole) return fewer(0, index);
  // The first word of the salt counts how often the log was begun anew. The machine may have gone down with an index of a log
  // before this one on the disk.
  const auto begun = static_cast<std::int32_t>(word_at(header.data() + 16, true) - word_at(index.salt.data(), true));
  if (begun > 0) return std::nullopt;
  if (std::memcmp(header.data() + 16, index.salt.data(), index.salt.size()) != 0) return fewer(0, index);
  const std::uint32_t frames = whole_frames(log, index, big_endian, sum);
  return frames == index.frames ? std::nullopt : std::optional(fewer(frames, index));
}

}  // namespace

std::optional<std::string> what_the_log_lost(const std::string& database) {
  std::optional<LogIndex> index = read_index(database + "-shm");
  for (int reads = 0; index && reads < kReadsMax; ++reads) {
    if (index->frames <= index->in_file) return std::nullopt;
    std::optional<std::string> missing = what_is_missing(database + "-wal", *index);
    if (!missing) return std::nullopt;
    const std::optional<LogIndex> now = read_index(database + "-shm");
    if (now == index) return missing;
    index = now;
  }
  return std::nullopt;
}

}  // namespace tuneband
