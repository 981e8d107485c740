#include "workers/trial_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "os/host_name.hpp"
#include "os/open_regular.hpp"
#include "workers/machine_fault.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;

// Below the server's directory of jobs, which is there where its data directory is: elsewhere nobody would see what a trial
// leaves.
Result<void> make_trial_dir(const std::string& trial_dir) {
  const fs::path jobs = fs::path(trial_dir).parent_path().parent_path().parent_path();
  const std::string there = jobs.parent_path().string() + " on this machine (" + os::host_name() + ")";
  std::error_code failure;
  if (fs::status(jobs, failure).type() == fs::file_type::not_found) {
    return fault_for(waiting::kDataDirectory, "the server's data directory is not at " + there +
                                                  ": mount it there (docs/distributed.md, \"Several hosts\")");
  }
  failure.clear();
  fs::create_directories(trial_dir, failure);
  if (failure == std::errc::permission_denied || failure == std::errc::operation_not_permitted) {
    return fault_for(waiting::kDataDirectory, "the worker's user may not write to the server's data directory at " + there +
                                                  ": start the worker as the server's user");
  }
  if (failure) return fault_of(ErrorCode::unavailable, "cannot make the trial's directory " + trial_dir, failure.value());
  return {};
}

}  // namespace

Result<TrialLog> TrialLog::open(const std::string& trial_dir, int rank, std::int64_t size_max) {
  if (auto made = make_trial_dir(trial_dir); !made) return made.error();
  const std::string name = protocol::log_file_of(rank);
  const std::string path = trial_dir + "/" + name;
  const auto directory = protocol::TrialDirectory::open(trial_dir);
  if (!directory) return fault_of(ErrorCode::unavailable, "cannot open " + trial_dir, errno);
  os::UniqueFd file = os::open_regular(directory->path() + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
  if (!file && errno == ELOOP) file = directory->make_file(name, 0644);  // a link: the trial's own doing
  if (!file && errno == EINVAL) return Error{ErrorCode::unavailable, "cannot open " + path + ": it is no regular file", "", ""};
  if (!file) return fault_of(ErrorCode::unavailable, "cannot open " + path, errno);
  struct stat info {};
  const std::int64_t size = ::fstat(file.get(), &info) == 0 ? info.st_size : 0;
  return TrialLog(std::move(file), size, size_max);
}

void TrialLog::write(std::string_view text) {
  const std::int64_t room = size_max_ - size_;
  const auto wanted = static_cast<std::int64_t>(text.size());
  if (wanted <= room) {
    append(text);
    return;
  }
  if (room > 0) append(text.substr(0, static_cast<std::size_t>(room)));
  if (!cut_)
    append("\n[tuneband] the log has reached its limit of " + std::to_string(size_max_) + " bytes; the rest is left out\n");
  cut_ = true;
}

void TrialLog::note(std::string_view text) { write("[tuneband] " + std::string(text) + "\n"); }

void TrialLog::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    size_ += written;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace tuneband::workers
