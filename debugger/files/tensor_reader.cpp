#include "debugger/files/tensor_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>

#include "debugger/collections.hpp"
#include "debugger/files/tensor_files.hpp"
#include "debugger/files/tensor_format.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::debugger::files {

namespace {

os::UniqueFd open_file(const std::string& path) {
  return os::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool read_at(int fd, void* into, std::size_t size, std::uint64_t offset) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = ::pread(fd, at, size, static_cast<off_t>(offset));
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

// Takes numbers from the front; after the end of the bytes everything is 0 and ok() false.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}

  template <class Number>
  Number take() {
    Number number{};
    const std::string_view bytes = text(sizeof number);
    if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string_view text(std::size_t size) {
    if (size > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  bool done() const { return left_.empty(); }
  bool ok() const { return ok_; }
  void refuse() { ok_ = false; }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace

struct TensorReader::Row {
  RowKind kind = RowKind::name;
  std::uint32_t id = 0;
  std::string_view name;
  Mode mode = Mode::none;  // told
  double scalar = 0;
  DType dtype = DType::float64;
  std::vector<std::int64_t> shape;
  Summary summary;
  std::uint8_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  Dropped dropped;

  bool names() const { return kind == RowKind::name || kind == RowKind::moded; }

  void take_array(Bytes& bytes) {
    const auto type = bytes.take<std::uint8_t>();
    const auto dimensions = bytes.take<std::uint8_t>();
    if (type > static_cast<std::uint8_t>(DType::float64) || dimensions > kDimensionsMax) return bytes.refuse();
    dtype = static_cast<DType>(type);
    for (int axis = 0; axis < dimensions; ++axis) shape.push_back(bytes.take<std::int64_t>());
    if (!elements_of(shape)) bytes.refuse();
  }

  static Row take(Bytes& bytes) {
    Row row;
    row.kind = static_cast<RowKind>(bytes.take<std::uint8_t>());
    if (row.kind != RowKind::dropped) row.id = bytes.take<std::uint32_t>();
    switch (row.kind) {
      case RowKind::name:
        row.name = bytes.text(bytes.take<std::uint16_t>());
        break;
      case RowKind::moded: {
        const auto mode = bytes.take<std::uint8_t>();
        if (mode == static_cast<std::uint8_t>(Mode::none) || mode >= kModes) bytes.refuse();
        row.mode = static_cast<Mode>(mode);
        row.name = bytes.text(bytes.take<std::uint16_t>());
        break;
      }
      case RowKind::scalar:
        row.scalar = bytes.take<double>();
        break;
      case RowKind::summary: {
        row.take_array(bytes);
        std::array<double, kSummaryNumbers> numbers{};
        for (double& number : numbers) number = bytes.take<double>();
        row.summary = summary_from(numbers);
        break;
      }
      case RowKind::raw:
        row.take_array(bytes);
        row.flags = bytes.take<std::uint8_t>();
        row.offset = bytes.take<std::uint64_t>();
        row.size = bytes.take<std::uint64_t>();
        row.crc = bytes.take<std::uint32_t>();
        break;
      case RowKind::dropped:
        row.dropped.rows = bytes.take<std::uint64_t>();
        row.dropped.bytes = bytes.take<std::uint64_t>();
        break;
      default:
        bytes.refuse();
    }
    return row;
  }
};

ArrayView StoredArray::view() const {
  return {dtype, big_endian, fortran_order, shape, std::as_bytes(std::span<const char>(bytes.data(), bytes.size()))};
}

std::vector<int> TensorReader::ranks(const std::string& trial_dir) {
  std::set<int> ranks;
  for (const TensorFile& file : tensor_files(trial_dir)) ranks.insert(file.rank);
  return {ranks.begin(), ranks.end()};
}

Result<TensorReader> TensorReader::open(const std::string& trial_dir, int rank) {
  TensorReader reader;
  for (const TensorFile& file : tensor_files(trial_dir, rank)) reader.read_file(file.path, file.epoch);
  std::stable_sort(reader.blocks_.begin(), reader.blocks_.end(), [](const Block& a, const Block& b) { return a.step < b.step; });
  reader.drop_saved_again();
  reader.count_dropped();
  return reader;
}

// A step that a later epoch has saved again, whatever it began at, counts as that one has it; but what a process saves of a step
// when it goes on from having been held is more of that step.
void TensorReader::drop_saved_again() {
  for (auto begin = blocks_.begin(); begin != blocks_.end();) {
    const auto end = std::find_if(begin, blocks_.end(), [&](const Block& block) { return block.step != begin->step; });
    const auto process_of = [&](const Block& block) { return files_[block.file].process; };
    std::size_t newest = 0;
    for (auto block = begin; block != end; ++block) newest = std::max(newest, process_of(*block));
    for (auto block = begin; block != end; ++block) block->dropped = process_of(*block) != newest;
    begin = end;
  }
  std::erase_if(blocks_, [](const Block& block) { return block.dropped; });
}

// Each epoch counts from nothing.
void TensorReader::count_dropped() {
  std::vector<Dropped> by_file(files_.size());
  for (const Block& block : blocks_) {
    Dropped& most = by_file[block.file];
    most.rows = std::max(most.rows, block.no_room.rows);
    most.bytes = std::max(most.bytes, block.no_room.bytes);
  }
  for (const Dropped& dropped : by_file) {
    dropped_.rows += dropped.rows;
    dropped_.bytes += dropped.bytes;
  }
}

// In order of the epochs: what it trained takes the place of what those before had of the same steps.
void TensorReader::read_file(const std::string& path, std::int64_t epoch) {
  const os::UniqueFd fd = open_file(path);
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto end = static_cast<std::uint64_t>(status.st_size);
  char magic[sizeof kFileMagic];
  std::int64_t begin_step = 0;
  if (!read_at(fd.get(), magic, sizeof magic, 0)) return;
  const bool with_modes = std::memcmp(magic, kFileMagic, sizeof magic) == 0;
  if (!with_modes && std::memcmp(magic, kFileMagicWithoutModes, sizeof magic) != 0) return;
  if (!read_at(fd.get(), &begin_step, sizeof begin_step, sizeof magic)) return;
  std::erase_if(blocks_, [&](const Block& block) { return block.step > begin_step; });
  const std::size_t before = files_.empty() ? 0 : files_.back().process;
  files_.push_back({path, epoch, begin_step, with_modes, begin_step == kGoesOn ? before : before + 1, {}});
  std::uint64_t offset = kFileHeadSize;
  Head head;
  while (end - offset >= sizeof head && read_at(fd.get(), &head, sizeof head, offset)) {
    const std::uint64_t left = end - offset - sizeof head;
    const bool whole = head.magic == kBlockMagic && head.head_crc == crc_of(&head, offsetof(Head, head_crc)) &&
                       head.rows_size <= kRowsSizeMax && head.rows_size <= left && head.raw_size <= left - head.rows_size;
    if (!whole) return;
    Block block{files_.size() - 1, head.step, std::string(head.rows_size, '\0'), offset + sizeof head + head.rows_size,
                head.raw_size};
    if (!read_at(fd.get(), block.rows.data(), block.rows.size(), offset + sizeof head)) return;
    if (crc_of(block.rows.data(), block.rows.size()) != head.rows_crc || !take_rows(block)) return;
    offset = block.raw_offset + block.raw_size;
    blocks_.push_back(std::move(block));
  }
}

// Looks at every row once, so that later reads need not doubt them.
bool TensorReader::take_rows(Block& block) {
  File& file = files_[block.file];
  Bytes bytes(block.rows);
  while (!bytes.done() && bytes.ok()) {
    const Row row = Row::take(bytes);
    if (!bytes.ok()) return false;
    if (row.kind == RowKind::dropped) {
      block.no_room = row.dropped;
    } else if (row.names()) {
      const bool known = row.kind == RowKind::name || file.with_modes;
      if (!known || row.id > file.tensors.size() || row.id >= kNamesMax || !valid_tensor_name(row.name)) return false;
      if (row.id == file.tensors.size()) file.tensors.push_back({std::string(row.name), mode_of(row.name, row.mode)});
    } else if (row.id >= file.tensors.size()) {
      return false;
    }
    if (row.kind != RowKind::raw) continue;
    const auto elements = elements_of(row.shape);
    const bool inside = row.offset <= block.raw_size && row.size <= block.raw_size - row.offset;
    if (!inside || *elements != row.size / size_of(row.dtype) || row.size % size_of(row.dtype) != 0) return false;
  }
  return bytes.ok();
}

template <class Each>
void TensorReader::for_each_row(const Block& block, const Each& each) const {
  Bytes bytes(block.rows);
  while (!bytes.done()) {
    const Row row = Row::take(bytes);
    if (!row.names() && row.kind != RowKind::dropped) each(files_[block.file].tensors[row.id], row);
  }
}

template <class Each>
void TensorReader::for_each_block(std::int64_t from, std::int64_t until, const Each& each) const {
  auto block =
      std::lower_bound(blocks_.begin(), blocks_.end(), from, [](const Block& one, std::int64_t step) { return one.step < step; });
  for (; block != blocks_.end() && block->step <= until; ++block) {
    if (!each(*block)) return;
  }
}

std::vector<std::int64_t> TensorReader::steps() const {
  std::vector<std::int64_t> steps;
  for (const Block& block : blocks_) {
    if (steps.empty() || steps.back() != block.step) steps.push_back(block.step);
  }
  return steps;
}

std::vector<TensorEntry> TensorReader::tensors() const {
  std::map<std::pair<std::string, Mode>, TensorEntry> entries;
  for (const Block& block : blocks_) {
    for_each_row(block, [&](const Id& id, const Row& row) {
      TensorEntry& entry = entries[{id.name, id.mode}];
      if (row.kind == RowKind::raw) {
        entry.whole = true;
        return;
      }
      if (entry.steps == 0) entry.first_step = block.step;
      entry.name = id.name;
      entry.mode = id.mode;
      entry.last_step = block.step;
      ++entry.steps;
      entry.scalar = row.kind == RowKind::scalar;
      entry.dtype = row.dtype;
      entry.shape = row.shape;
    });
  }
  std::vector<TensorEntry> by_name;
  for (auto& [id, entry] : entries) by_name.push_back(std::move(entry));
  return by_name;
}

void TensorReader::for_each_step(std::int64_t from, std::int64_t until, const Take& take) const {
  for_each_block(from, until, [&](const Block& block) {
    std::vector<StoredTensor> tensors;
    for_each_row(block, [&](const Id& id, const Row& row) {
      if (row.kind == RowKind::raw) {
        for (StoredTensor& tensor : tensors) tensor.whole = tensor.whole || (tensor.name == id.name && tensor.mode == id.mode);
      } else {
        tensors.push_back(stored(id, row));
      }
    });
    return take(block.step, tensors);
  });
}

StoredTensor TensorReader::stored(const Id& id, const Row& row) {
  const bool scalar = row.kind == RowKind::scalar;
  return {id.name, scalar, row.dtype, row.shape, scalar ? summarise(row.scalar) : row.summary, false, id.mode};
}

std::vector<std::pair<std::int64_t, StoredTensor>> TensorReader::series(const std::string& name, std::int64_t from,
                                                                        std::int64_t until, std::optional<Mode> mode) const {
  std::vector<std::pair<std::int64_t, StoredTensor>> series;
  for_each_block(from, until, [&](const Block& block) {
    for_each_row(block, [&](const Id& id, const Row& row) {
      if (id.name != name || (mode && id.mode != *mode)) return;
      if (row.kind != RowKind::raw) return series.push_back({block.step, stored(id, row)});
      for (auto saved = series.rbegin(); saved != series.rend() && saved->first == block.step; ++saved) {
        if (saved->second.mode == id.mode) saved->second.whole = true;
      }
    });
    return true;
  });
  return series;
}

std::optional<StoredArray> TensorReader::array(const std::string& name, std::int64_t step, std::optional<Mode> mode) const {
  std::optional<StoredArray> array;
  for_each_block(step, step, [&](const Block& block) {
    for_each_row(block, [&](const Id& id, const Row& row) {
      if (row.kind != RowKind::raw || id.name != name || (mode && id.mode != *mode)) return;
      StoredArray found{row.dtype, (row.flags & kFlagBigEndian) != 0, (row.flags & kFlagFortranOrder) != 0, row.shape,
                        std::string(row.size, '\0')};
      const os::UniqueFd fd = open_file(files_[block.file].path);
      const bool read = fd.get() >= 0 && read_at(fd.get(), found.bytes.data(), found.bytes.size(), block.raw_offset + row.offset);
      if (read && crc_of(found.bytes.data(), found.bytes.size()) == row.crc) array = std::move(found);
    });
    return true;
  });
  return array;
}

}  // namespace tuneband::debugger::files
