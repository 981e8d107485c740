// A trial's log file: what its segments print, one after the other, for the user to read. Bounded, so that a trial which prints
// without end does not fill the disk. A full disk or a lost file never stops training: what cannot be written is dropped.
//
// One thread at a time. Every write reaches the kernel before it returns, so that a follower sees it and a crash loses nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "os/unique_fd.hpp"
#include "workers/protocol/log_file.hpp"

namespace tuneband::workers {

inline constexpr std::int64_t kLogSizeMax = 64LL * 1024 * 1024;  // bytes, of one rank of a trial, over all its segments

class TrialLog {
 public:
  // Makes `trial_dir` and opens the log of one of the trial's ranks there for appending. Errors: the directory or file cannot be
  // made, or the server's data directory is not there.
  static Result<TrialLog> open(const std::string& trial_dir, int rank = 0, std::int64_t size_max = kLogSizeMax);

  // Appends as is. Past the bound one line says that the log was cut; the rest is left out.
  void write(std::string_view text);
  // A line of the worker's own: "[tuneband] " before, a newline after it.
  void note(std::string_view text);

 private:
  TrialLog(os::UniqueFd file, std::int64_t size, std::int64_t size_max)
      : file_(std::move(file)), size_(size), size_max_(size_max) {}
  void append(std::string_view text);

  os::UniqueFd file_;
  std::int64_t size_ = 0;
  std::int64_t size_max_ = 0;
  bool cut_ = false;
};

}  // namespace tuneband::workers
