#include "workers/model_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "core/random.hpp"
#include "workers/machine_fault.hpp"
#include "workers/open_regular.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelEnding = ".ubj";
constexpr std::string_view kChecksumEnding = ".sum";

Error write_error(const std::string& path, int error_number) {
  return fault_of(ErrorCode::internal, "cannot write " + path, error_number);
}

// No link stands for the trial's directory or its checkpoints: what is there would be replaced and removed.
bool is_in_its_place(const std::string& trial_dir) {
  const auto directory = protocol::TrialDirectory::open(trial_dir);
  return directory && directory->inside(protocol::kCheckpointDir);
}

// A name of its own for each process: a worker thought lost may still be writing the same file.
std::string aside(const std::string& path) { return path + ".tmp" + std::to_string(::getpid()); }

bool write_bytes(const std::string& path, std::string_view bytes, Flush flush) {
  const UniqueFd file = open_regular(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  if (!file) return false;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return flush == Flush::no || ::fsync(file.get()) == 0;
}

// What has been written under another name gets its own; if not, nothing of it stays.
Result<void> put_in_place(const std::string& temporary, const std::string& path, bool written) {
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Error error = write_error(path, errno);
  ::unlink(temporary.c_str());
  return error;
}

Result<void> write_whole(const std::string& path, std::string_view bytes, Flush flush) {
  const std::string temporary = aside(path);
  return put_in_place(temporary, path, write_bytes(temporary, bytes, flush));
}

// A second name for the checkpoint where the file system can, else a copy.
Result<void> link_whole(const std::string& existing, const std::string& path, std::string_view bytes, Flush flush) {
  const std::string temporary = aside(path);
  ::unlink(temporary.c_str());
  if (::link(existing.c_str(), temporary.c_str()) != 0) return write_whole(path, bytes, flush);
  const auto placed = put_in_place(temporary, path, true);
  ::unlink(temporary.c_str());  // still there when both were the same file already
  return placed;
}

// The names in it, to the disk itself. Some network file systems have no such call for a directory: they do it by themselves.
Result<void> flush_directory(const std::string& path) {
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && (::fsync(directory.get()) == 0 || errno == EINVAL || errno == ENOTSUP)) return {};
  return write_error(path, errno);
}

std::string checksum(std::string_view bytes) {
  return std::to_string(bytes.size()) + " " + std::to_string(stable_hash(bytes)) + "\n";
}

std::string checkpoint_path(const std::string& trial_dir, std::int64_t resource, std::string_view ending) {
  return trial_dir + "/" + protocol::kCheckpointDir + "/" + std::to_string(resource) + std::string(ending);
}

// The resources that have a checkpoint, the most first.
std::vector<std::int64_t> stored_resources(const std::string& trial_dir) {
  std::vector<std::int64_t> resources;
  std::error_code error;
  for (fs::directory_iterator entry(trial_dir + "/" + protocol::kCheckpointDir, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != kModelEnding) continue;
    const std::string stem = entry->path().stem().string();
    std::int64_t resource = 0;
    const auto [rest, fault] = std::from_chars(stem.data(), stem.data() + stem.size(), resource);
    if (fault == std::errc{} && rest == stem.data() + stem.size() && resource > 0) resources.push_back(resource);
  }
  std::sort(resources.rbegin(), resources.rend());
  return resources;
}

void remove_checkpoint(const std::string& trial_dir, std::int64_t resource) {
  std::error_code ignored;
  fs::remove(checkpoint_path(trial_dir, resource, kModelEnding), ignored);
  fs::remove(checkpoint_path(trial_dir, resource, kChecksumEnding), ignored);
}

Result<void> make_place(const std::string& trial_dir) {
  std::error_code error;
  const std::string checkpoints = trial_dir + "/" + protocol::kCheckpointDir;
  fs::create_directories(checkpoints, error);
  if (error) return write_error(trial_dir, error.value());
  if (!is_in_its_place(trial_dir)) return write_error(checkpoints, ENOTDIR);
  return {};
}

enum class Named { as_checkpoint, also_as_the_model };

Result<void> store_checkpoint(const std::string& trial_dir, std::int64_t resource, std::string_view model, Flush flush,
                              Named named) {
  const std::string checkpoints = trial_dir + "/" + protocol::kCheckpointDir;
  if (auto made = make_place(trial_dir); !made) return made;
  const std::string path = checkpoint_path(trial_dir, resource, kModelEnding);
  const std::string sum_path = checkpoint_path(trial_dir, resource, kChecksumEnding);
  if (auto written = write_whole(sum_path, checksum(model), flush); !written) return written;
  if (auto written = write_whole(path, model, flush); !written) return written;
  if (named == Named::also_as_the_model) {
    if (auto linked = link_whole(path, trial_dir + "/" + protocol::kModelFile, model, flush); !linked) return linked;
  }
  if (flush == Flush::yes) {
    // The directories above are older than these names: what keeps the names keeps them.
    for (const std::string& directory : {checkpoints, trial_dir}) {
      if (auto flushed = flush_directory(directory); !flushed) return flushed;
    }
  }
  for (const std::int64_t older : stored_resources(trial_dir)) {
    if (older < resource) remove_checkpoint(trial_dir, older);
  }
  return {};
}

}  // namespace

Result<void> store_model(const std::string& trial_dir, std::int64_t resource, std::string_view model, Flush flush) {
  return store_checkpoint(trial_dir, resource, model, flush, Named::also_as_the_model);
}

Result<void> store_checkpoint(const std::string& trial_dir, std::int64_t resource, std::string_view model, Flush flush) {
  return store_checkpoint(trial_dir, resource, model, flush, Named::as_checkpoint);
}

Result<void> store_kept_model(const std::string& trial_dir, std::string_view model, Flush flush) {
  if (auto made = make_place(trial_dir); !made) return made;
  if (auto written = write_whole(trial_dir + "/" + protocol::kModelFile, model, flush); !written) return written;
  return flush == Flush::yes ? flush_directory(trial_dir) : Result<void>();
}

void remove_checkpoints(const std::string& trial_dir) {
  if (!is_in_its_place(trial_dir)) return;
  for (const std::int64_t resource : stored_resources(trial_dir)) remove_checkpoint(trial_dir, resource);
}

std::optional<StoredModel> newest_model(const std::string& trial_dir, std::int64_t resource_max,
                                        std::vector<std::string>& notes) {
  if (!is_in_its_place(trial_dir)) return std::nullopt;
  for (const std::int64_t resource : stored_resources(trial_dir)) {
    if (resource > resource_max) continue;
    auto bytes = read_regular(checkpoint_path(trial_dir, resource, kModelEnding));
    const auto sum = read_regular(checkpoint_path(trial_dir, resource, kChecksumEnding));
    if (bytes && sum && *sum == checksum(*bytes)) return StoredModel{resource, std::move(*bytes)};
    notes.push_back("the checkpoint of " + std::to_string(resource) + " rounds is damaged and is not used");
  }
  return std::nullopt;
}

}  // namespace tuneband::workers
