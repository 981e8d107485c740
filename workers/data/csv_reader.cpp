#include "workers/data/csv_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "os/open_regular.hpp"
#include "workers/data/decompressor.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kReadPieceSize = 256 * 1024;  // bytes

Error file_error(std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), "", std::move(hint)};
}

// Of the file, not of what is in it.
Error unreadable(const std::string& what) {
  return {ErrorCode::not_found, what + ": " + std::generic_category().message(errno), "", ""};
}

// What the first bytes give away about a file that is no plain text; "" for text.
std::string foreign_format(std::string_view start) {
  using namespace std::string_view_literals;
  if (start.starts_with("\xfd"
                        "7zXZ"sv)) {
    return "is compressed with xz";
  }
  if (start.starts_with("BZh"sv)) return "is compressed with bzip2";
  if (start.starts_with("PK\x03\x04"sv)) return "is a zip archive or a spreadsheet";
  if (start.starts_with("PAR1"sv)) return "is a Parquet file";
  if (start.starts_with("\xff\xfe"sv) || start.starts_with("\xfe\xff"sv)) return "is text in UTF-16";
  if (start.find('\0') != std::string_view::npos) return "is no text";
  return "";
}

// Text from a file, in plain, up to a bound.
class TextSink {
 public:
  TextSink(const std::string& path, const std::function<Result<void>(std::string_view)>& on_piece, std::uint64_t bytes_max)
      : path_(path), on_piece_(on_piece), left_(bytes_max) {}

  // Whether there may be more.
  Result<bool> take(std::string_view piece) {
    if (std::exchange(first_, false)) {
      const std::string foreign = make_decompressor(piece, path_) ? "is compressed twice" : foreign_format(piece);
      if (!foreign.empty()) {
        return file_error(path_ + " " + foreign, "CSV and LibSVM text can be read, plain or compressed with gzip or zstd");
      }
      piece = without_byte_order_mark(piece);
    }
    const bool cut = piece.size() > left_;
    if (cut) piece = piece.substr(0, left_);
    left_ -= piece.size();
    if (auto taken = on_piece_(piece); !taken) return taken.error();
    return !cut;
  }

 private:
  const std::string& path_;
  const std::function<Result<void>(std::string_view)>& on_piece_;
  std::uint64_t left_;
  bool first_ = true;
};

double share_of_file(int file, std::uint64_t bytes) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size <= 0) return 1;
  return std::min(1.0, static_cast<double>(bytes) / static_cast<double>(status.st_size));
}

}  // namespace

Result<TextRead> read_text_file(const std::string& path, const std::function<Result<void>(std::string_view)>& on_piece,
                                const ReadOptions& options) {
  const os::UniqueFd file = os::open_regular(path, O_RDONLY);
  if (!file && errno == EINVAL) return file_error(path + " is no regular file");
  if (!file) return unreadable("cannot open " + path);
  TextSink text(path, on_piece, options.bytes_max);
  const PieceSink sink = [&text](std::string_view piece) { return text.take(piece); };
  std::unique_ptr<Decompressor> decompressor;
  std::vector<char> buffer(kReadPieceSize);
  std::uint64_t read_bytes = 0;
  unsigned long checksum = ::crc32_z(0, nullptr, 0);
  for (bool first = true;; first = false) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable("cannot read " + path);
    if (got == 0) break;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    if (options.on_read) options.on_read(piece.size());
    checksum = ::crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    if (first) decompressor = make_decompressor(piece, path);
    const auto more = decompressor ? decompressor->feed(piece, sink) : sink(piece);
    if (!more) return more.error();
    read_bytes += piece.size() - (decompressor ? decompressor->unread() : 0);
    if (!*more) return TextRead{false, share_of_file(file.get(), decompressor ? read_bytes : options.bytes_max)};
  }
  if (decompressor) {
    if (auto ended = decompressor->finish(); !ended) return ended.error();
  }
  return TextRead{.checksum = static_cast<std::uint32_t>(checksum)};
}

std::string without_rows(const std::string& path, bool header) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0) return "is empty";
  return header ? "has no rows below its header" : "has no rows";
}

Result<TextRead> read_csv(const std::string& path, char delimiter, const std::function<Result<void>(const CsvRow&)>& on_row,
                          const ReadOptions& options) {
  CsvRows rows({.delimiter = delimiter}, on_row);
  const auto read = read_text_file(
      path, [&](std::string_view piece) { return rows.feed(piece); }, options);
  if (!read || !read->whole) return read;  // the row that the bound cut is none
  if (auto finished = rows.finish(); !finished) return finished.error();
  return read;
}

}  // namespace tuneband::workers
