// ZIP as NumPy writes it: entries stored or deflated, the directory at the end (APPNOTE.TXT 6.3, 4.3). ZIP64 is read for what
// savez makes: it forces its extra field upon every entry.
#include <zlib.h>

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "debugger/files/array_formats.hpp"

namespace tuneband::debugger::files {

namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint32_t kInZip64 = 0xffffffff;
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

Error not_npz(const std::string& message) { return {ErrorCode::invalid_argument, "not an .npz file: " + message, "", ""}; }

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t unpacked = 0;
  std::uint64_t offset = 0;
};

// The sizes that did not fit their fields, in their order.
bool read_zip64(std::span<const std::byte> extra, ZipEntry& entry) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const auto id = number_at<std::uint16_t>(extra, at);
    const std::size_t size = number_at<std::uint16_t>(extra, at + 2);
    if (size > extra.size() - at - 4) return false;
    if (id == kZip64Field) {
      std::size_t place = at + 4;
      for (std::uint64_t* field : {&entry.unpacked, &entry.packed, &entry.offset}) {
        if (*field != kInZip64) continue;
        if (place + sizeof *field > at + 4 + size) return false;
        *field = number_at<std::uint64_t>(extra, place);
        place += sizeof *field;
      }
    }
    at += 4 + size;
  }
  return true;
}

// The end record is the last thing in a file without a comment, as Python writes it.
Result<std::vector<ZipEntry>> read_directory(std::span<const std::byte> bytes) {
  if (bytes.size() < kEndSize) return Error{kNotWhole, "the file is not whole", "", ""};
  const auto end = bytes.subspan(bytes.size() - kEndSize);
  if (number_at<std::uint32_t>(end, 0) != kEndSignature) return Error{kNotWhole, "the file is not whole", "", ""};
  const std::size_t count = number_at<std::uint16_t>(end, 10);
  const std::size_t size = number_at<std::uint32_t>(end, 12);
  const std::size_t offset = number_at<std::uint32_t>(end, 16);
  if (count > kArraysPerFileMax) return not_npz("more than " + std::to_string(kArraysPerFileMax) + " arrays");
  if (offset > bytes.size() || size > bytes.size() - offset) return not_npz("its directory lies outside of it");
  const auto directory = bytes.subspan(offset, size);
  std::vector<ZipEntry> entries;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (directory.size() - at < kEntrySize || number_at<std::uint32_t>(directory, at) != kEntrySignature)
      return not_npz("its directory is damaged");
    ZipEntry entry;
    const auto flags = number_at<std::uint16_t>(directory, at + 8);
    entry.method = number_at<std::uint16_t>(directory, at + 10);
    entry.crc = number_at<std::uint32_t>(directory, at + 16);
    entry.packed = number_at<std::uint32_t>(directory, at + 20);
    entry.unpacked = number_at<std::uint32_t>(directory, at + 24);
    const std::size_t name_size = number_at<std::uint16_t>(directory, at + 28);
    const std::size_t extra_size = number_at<std::uint16_t>(directory, at + 30);
    const std::size_t comment_size = number_at<std::uint16_t>(directory, at + 32);
    entry.offset = number_at<std::uint32_t>(directory, at + 42);
    if (directory.size() - at - kEntrySize < name_size + extra_size + comment_size) return not_npz("its directory is damaged");
    entry.name.assign(reinterpret_cast<const char*>(directory.data()) + at + kEntrySize, name_size);
    if ((flags & kEncrypted) != 0) return not_npz("it is encrypted");
    if (!read_zip64(directory.subspan(at + kEntrySize + name_size, extra_size), entry))
      return not_npz("its directory is damaged");
    entries.push_back(std::move(entry));
    at += kEntrySize + name_size + extra_size + comment_size;
  }
  return entries;
}

// The entry's bytes as they are in the file. Nothing: they lie outside of it.
std::optional<std::span<const std::byte>> packed_bytes(std::span<const std::byte> bytes, const ZipEntry& entry) {
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < kLocalSize) return std::nullopt;
  const auto local = bytes.subspan(entry.offset);
  if (number_at<std::uint32_t>(local, 0) != kLocalSignature) return std::nullopt;
  const std::size_t before = kLocalSize + number_at<std::uint16_t>(local, 26) + number_at<std::uint16_t>(local, 28);
  if (before > local.size() || entry.packed > local.size() - before) return std::nullopt;
  return local.subspan(before, entry.packed);
}

// Never more than it says that it unpacks to.
std::optional<std::string> inflated(std::span<const std::byte> packed, std::uint64_t size) {
  if (packed.size() > std::numeric_limits<uInt>::max() || size > std::numeric_limits<uInt>::max()) return std::nullopt;
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  return whole ? std::optional(std::move(out)) : std::nullopt;
}

std::uint32_t zip_crc(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<void> read_npz(std::span<const std::byte> bytes, std::size_t unpacked_max, const TakeArray& take) {
  const auto entries = read_directory(bytes);
  if (!entries) return entries.error();
  std::size_t left = unpacked_max;
  for (const ZipEntry& entry : *entries) {
    constexpr std::string_view kEnding = ".npy";
    const std::string shown = shortened(valid_utf8(entry.name), 100);
    if (!entry.name.ends_with(kEnding)) return not_npz("`" + shown + "` is no .npy");
    const auto packed = packed_bytes(bytes, entry);
    if (!packed) return not_npz("`" + shown + "` lies outside of it");
    if (entry.unpacked > left) return not_npz("it unpacks to more than " + std::to_string(unpacked_max) + " bytes");
    left -= entry.unpacked;
    std::span<const std::byte> content = *packed;
    std::optional<std::string> unpacked;
    if (entry.method == kDeflated) {
      unpacked = inflated(*packed, entry.unpacked);
      if (!unpacked) return not_npz("`" + shown + "` does not unpack to the size that it says");
      content = std::as_bytes(std::span<const char>(unpacked->data(), unpacked->size()));
    } else if (entry.method != kStored) {
      return not_npz("`" + shown + "` is packed by method " + std::to_string(entry.method));
    }
    if (content.size() != entry.unpacked || zip_crc(content) != entry.crc) return not_npz("`" + shown + "` is damaged");
    const auto array = read_npy(content);
    if (!array) return not_npz("`" + shown + "`: " + array.error().message);
    if (!take(entry.name.substr(0, entry.name.size() - kEnding.size()), *array)) return {};
  }
  return {};
}

}  // namespace tuneband::debugger::files
