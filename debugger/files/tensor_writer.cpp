#include "debugger/files/tensor_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "debugger/files/tensor_files.hpp"
#include "debugger/files/tensor_format.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDroppedRowSize = 1 + 2 * sizeof(std::uint64_t);
constexpr std::size_t kScalarRowSize = 32 + sizeof(double);  // a row for its name included

Error system_error(const std::string& what) { return {ErrorCode::unavailable, what + ": " + std::strerror(errno), "", ""}; }

// Of so many bytes that were (-1: it failed): with fewer than all of them errno says nothing.
Error not_written(const std::string& what, ssize_t written) {
  if (written >= 0) errno = ENOSPC;
  return system_error(what);
}

template <class Number>
void put(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

std::int64_t size_of(const TensorFile& file) {
  struct stat status {};
  const bool is_one = ::lstat(file.path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_one ? static_cast<std::int64_t>(status.st_size) : 0;
}

std::int64_t size_of(const std::vector<TensorFile>& files) {
  std::int64_t size = 0;
  for (const TensorFile& file : files) size += size_of(file);
  return size;
}

// What this epoch and those before have saved takes no room where it begins with nothing: no reader counts any of it. Whoever has
// such a file open reads on. Takes those that are gone out of `files` and gives their bytes.
std::int64_t remove_until(std::int64_t epoch, std::vector<TensorFile>& files) {
  std::int64_t size = 0;
  std::erase_if(files, [&](const TensorFile& file) {
    const std::int64_t bytes = size_of(file);
    const bool removed = file.epoch <= epoch && bytes > 0 && ::unlink(file.path.c_str()) == 0;
    if (removed) size += bytes;
    return removed;
  });
  return size;
}

// Gone on with after a fault of its machine, or when its process has ended where it was held, an epoch has saved something
// already.
int next_part(std::int64_t epoch, const std::vector<TensorFile>& files) {
  int part = 0;
  for (const TensorFile& file : files) {
    if (file.epoch == epoch) part = std::max(part, file.part + 1);
  }
  return part;
}

}  // namespace

Result<TensorWriter> TensorWriter::open(const std::string& trial_dir, std::int64_t epoch, int rank, std::int64_t begin_step,
                                        std::int64_t bytes_max, std::int64_t job_bytes_max) {
  const fs::path directory = fs::path(trial_dir) / kTensorsDir;
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) return system_error("cannot make " + directory.string());
  TensorWriter writer(trial_dir, job_bytes_max);
  std::vector<TensorFile> others = tensor_files(trial_dir, rank);
  if (begin_step == kFromNothing) writer.room_.give_back(remove_until(epoch, others));
  writer.bytes_max_ = bytes_max;
  const fs::path path = directory / tensor_file_name(epoch, rank, next_part(epoch, others));
  writer.fd_ = os::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!writer.fd_) return system_error("cannot open " + path.string());
  writer.size_ = writer.earlier_ = size_of(others);
  std::string head(kFileMagic, sizeof kFileMagic);
  put(head, begin_step);
  const ssize_t written = ::write(writer.fd_.get(), head.data(), head.size());
  if (written != static_cast<ssize_t>(head.size())) return not_written("cannot write " + path.string(), written);
  writer.size_ += static_cast<std::int64_t>(head.size());
  return writer;
}

std::uint32_t TensorWriter::id_of(std::string_view name, Mode mode) {
  const auto next = static_cast<std::uint32_t>(ids_.size());
  const Mode told = told_mode(name, mode);
  std::string key(1, static_cast<char>(told));
  Id& id = ids_.try_emplace(key.append(name), Id{next, false}).first->second;
  if (!std::exchange(id.told, true)) {
    put(rows_, told == Mode::none ? RowKind::name : RowKind::moded);
    put(rows_, id.number);
    if (told != Mode::none) put(rows_, told);
    put(rows_, static_cast<std::uint16_t>(name.size()));
    rows_.append(name);
  }
  return id.number;
}

// Room is kept for the word on what was dropped.
bool TensorWriter::room_for(std::size_t bytes, std::size_t rows) {
  const std::size_t with_it = rows_.size() + raw_.size() + bytes;
  const std::size_t needed = with_it + sizeof(Head) + kDroppedRowSize;
  const std::int64_t size = size_ + static_cast<std::int64_t>(needed);
  const bool fits =
      rows_.size() + bytes < kRowsSizeMax && ids_.size() < kNamesMax && size <= bytes_max_ && room_.has(size - earlier_);
  if (!fits) {
    dropped_.rows += rows;
    dropped_.bytes += bytes;
    room_.dropped(dropped_);
  }
  return fits;
}

void TensorWriter::add(std::string_view name, double scalar, Mode mode) {
  if (!room_for(kScalarRowSize + name.size(), 1)) return;
  const std::uint32_t id = id_of(name, mode);
  put(rows_, RowKind::scalar);
  put(rows_, id);
  put(rows_, scalar);
  ++rows_count_;
}

void TensorWriter::put_array(const ArrayView& array) {
  put(rows_, static_cast<std::uint8_t>(array.dtype));
  put(rows_, static_cast<std::uint8_t>(array.shape.size()));
  for (const std::int64_t axis : array.shape) put(rows_, axis);
}

void TensorWriter::add(std::string_view name, const ArrayView& array, const Summary& summary, bool whole, Mode mode) {
  constexpr std::size_t kArraySizeMax = 2 + kDimensionsMax * sizeof(std::int64_t);
  constexpr std::size_t kFixedSize = 64 + kArraySizeMax + kSummaryNumbers * sizeof(double);
  if (!room_for(kFixedSize + name.size(), 1)) return;
  const std::uint32_t id = id_of(name, mode);
  put(rows_, RowKind::summary);
  put(rows_, id);
  put_array(array);
  for (const double number : numbers_of(summary)) put(rows_, number);
  ++rows_count_;
  if (!whole || !room_for(array.bytes.size() + kFixedSize, 1)) return;
  put(rows_, RowKind::raw);
  put(rows_, id);
  put_array(array);
  const int flags = (array.big_endian ? kFlagBigEndian : 0) | (array.fortran_order ? kFlagFortranOrder : 0);
  put(rows_, static_cast<std::uint8_t>(flags));
  put(rows_, static_cast<std::uint64_t>(raw_.size()));
  put(rows_, static_cast<std::uint64_t>(array.bytes.size()));
  put(rows_, crc_of(array.bytes.data(), array.bytes.size()));
  raw_.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
}

Result<void> TensorWriter::commit(std::int64_t step) {
  if (dropped_ != told_ && size_ + static_cast<std::int64_t>(sizeof(Head) + kDroppedRowSize) <= bytes_max_) {
    // Told again only when it has doubled: it costs room of its own.
    const bool news = dropped_.rows >= 2 * told_.rows || rows_count_ > 0;
    if (news) {
      put(rows_, RowKind::dropped);
      put(rows_, dropped_.rows);
      put(rows_, dropped_.bytes);
      told_ = dropped_;
      room_.tell_dropped();
    }
  }
  if (rows_.empty()) return {};
  Head head;
  head.rows_size = static_cast<std::uint32_t>(rows_.size());
  head.raw_size = raw_.size();
  head.step = step;
  head.rows_crc = crc_of(rows_.data(), rows_.size());
  head.head_crc = crc_of(&head, offsetof(Head, head_crc));
  const iovec pieces[] = {{&head, sizeof head}, {rows_.data(), rows_.size()}, {raw_.data(), raw_.size()}};
  const auto size = static_cast<ssize_t>(sizeof head + rows_.size() + raw_.size());
  const off_t before = ::lseek(fd_.get(), 0, SEEK_END);
  const ssize_t written = ::writev(fd_.get(), pieces, 3);
  const std::size_t rows = std::exchange(rows_count_, 0);
  rows_.clear();
  raw_.clear();
  if (written == size) {
    size_ += size;
    room_.used(size_ - earlier_);
    return {};
  }
  const Error error = not_written("cannot write tensors", written);
  dropped_.rows += rows;
  dropped_.bytes += static_cast<std::uint64_t>(size);
  room_.dropped(dropped_);
  for (auto& [name, id] : ids_) id.told = false;  // it may have been in what was not written
  if (written > 0 && before >= 0 && ::ftruncate(fd_.get(), before) != 0) bytes_max_ = 0;  // nothing can follow a torn block
  return error;
}

}  // namespace tuneband::debugger::files
