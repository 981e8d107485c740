#include "workers/data/data_seal.hpp"

#include <filesystem>
#include <optional>

#include "os/file_text.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace {

std::string checksum_file(const std::string& trial_dir) {
  return (std::filesystem::path(trial_dir).parent_path() / protocol::kDataChecksumFile).string();
}

std::string line_of(std::uint32_t checksum) { return std::to_string(checksum) + "\n"; }

Result<void> compare(const std::optional<std::string>& first, const std::string& own) {
  if (!first || first == own) return {};
  return Error{ErrorCode::invalid_argument, "the files are not what they were when the job's first trial read them",
               "trainer.data", "submit the job again, under another name: values on other rows cannot be compared"};
}

}  // namespace

Result<void> require_same_data(const std::string& trial_dir, std::uint32_t checksum) {
  const std::string file = checksum_file(trial_dir);
  const std::optional<std::string> first = os::read_small_file(file);
  if (!first) static_cast<void>(os::replace_file(file, line_of(checksum)));
  return compare(first, line_of(checksum));
}

Result<void> compare_with_data_of(const std::string& trial_dir, std::uint32_t checksum) {
  return compare(os::read_small_file(checksum_file(trial_dir)), line_of(checksum));
}

}  // namespace tuneband::workers
