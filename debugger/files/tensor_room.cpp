#include "debugger/files/tensor_room.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "debugger/files/tensor_format.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPiece = 256 * 1024;           // bytes
constexpr std::int64_t kCountedAgainSeconds = 10;     // at the soonest, by all together
constexpr std::int64_t kAskedAgainSeconds = 2;        // by one writer that found no room
constexpr std::uint64_t kMagic = 0x31304d4f4f524254;  // "TBROOM01"

struct Ledger {
  std::uint64_t magic = kMagic;
  std::int64_t bytes = 0;
  std::uint64_t dropped_rows = 0;
  std::uint64_t dropped_bytes = 0;
  std::int64_t counted_at = 0;  // seconds since 1970
};

std::int64_t seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec;
}

// What is no such file counts as an empty one.
Ledger read_ledger(int fd) {
  Ledger ledger;
  const bool whole = ::pread(fd, &ledger, sizeof ledger, 0) == sizeof ledger;
  return whole && ledger.magic == kMagic ? ledger : Ledger{};
}

// Changes the file under its lock. False: it cannot be.
template <class Change>
bool change_ledger(const std::string& path, const Change& change) {
  const os::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd || ::flock(fd.get(), LOCK_EX) != 0) return false;
  Ledger ledger = read_ledger(fd.get());
  change(ledger);
  return ::pwrite(fd.get(), &ledger, sizeof ledger, 0) == sizeof ledger;
}

std::int64_t size_of_tensors(const fs::path& trials_dir) {
  std::int64_t size = 0;
  std::error_code error;
  for (fs::directory_iterator trial(trials_dir, error), end; !error && trial != end; trial.increment(error)) {
    std::error_code none;
    for (fs::directory_iterator file(trial->path() / kTensorsDir, none); !none && file != end; file.increment(none)) {
      std::error_code gone;
      const auto bytes = file->file_size(gone);
      if (!gone) size += static_cast<std::int64_t>(bytes);
    }
  }
  return size;
}

}  // namespace

std::optional<JobTensors> tensors_of_job(const std::string& job_dir) {
  const os::UniqueFd fd(::open((fs::path(job_dir) / kTensorRoomFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return std::nullopt;
  const Ledger ledger = read_ledger(fd.get());
  return JobTensors{std::max<std::int64_t>(0, ledger.bytes), {ledger.dropped_rows, ledger.dropped_bytes}};
}

TensorRoom::TensorRoom(const std::string& trial_dir, std::int64_t bytes_max) : bytes_max_(bytes_max) {
  const fs::path trials = fs::path(trial_dir).parent_path();
  if (trials.filename() != "trials") return;
  trials_dir_ = trials.string();
  path_ = (trials.parent_path() / kTensorRoomFile).string();
}

TensorRoom::TensorRoom(TensorRoom&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      trials_dir_(std::move(other.trials_dir_)),
      bytes_max_(other.bytes_max_),
      taken_(std::exchange(other.taken_, 0)),
      used_(other.used_),
      refused_at_(other.refused_at_),
      refused_(other.refused_),
      dropped_(other.dropped_),
      told_(other.told_) {}

TensorRoom::~TensorRoom() {
  if (path_.empty()) return;
  tell_dropped();
  give_back(taken_ - used_);
}

void TensorRoom::give_back(std::int64_t bytes) {
  if (path_.empty() || bytes <= 0) return;
  change_ledger(path_, [&](Ledger& ledger) { ledger.bytes = std::max<std::int64_t>(0, ledger.bytes - bytes); });
}

bool TensorRoom::has(std::int64_t bytes) {
  if (path_.empty() || bytes <= taken_) return true;
  const std::int64_t missing = bytes - taken_;
  const std::int64_t now = seconds_of(CLOCK_MONOTONIC);
  if (refused_at_ >= 0 && missing >= refused_ && now - refused_at_ < kAskedAgainSeconds) return false;
  bool fits = true;
  const bool changed = change_ledger(path_, [&](Ledger& ledger) {
    const std::int64_t today = seconds_of(CLOCK_REALTIME);
    const std::int64_t age = today - ledger.counted_at;
    if (ledger.bytes + missing > bytes_max_ && (age < 0 || age >= kCountedAgainSeconds)) {
      ledger.bytes = size_of_tensors(trials_dir_) + std::max<std::int64_t>(0, taken_ - used_);
      ledger.counted_at = today;
    }
    fits = ledger.bytes + missing <= bytes_max_;
    if (!fits) return;
    const std::int64_t piece = std::max(missing, std::min(kPiece, bytes_max_ - ledger.bytes));
    ledger.bytes += piece;
    taken_ += piece;
  });
  if (!changed) taken_ = bytes + kPiece;  // and it is not tried again for each row
  refused_at_ = fits ? -1 : now;
  refused_ = missing;
  return fits;
}

void TensorRoom::tell_dropped() {
  if (path_.empty() || dropped_ == told_) return;
  change_ledger(path_, [&](Ledger& ledger) {
    ledger.dropped_rows += dropped_.rows - told_.rows;
    ledger.dropped_bytes += dropped_.bytes - told_.bytes;
  });
  told_ = dropped_;
}

}  // namespace tuneband::debugger::files
