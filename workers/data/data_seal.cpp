#include "workers/data/data_seal.hpp"

#include <filesystem>
#include <optional>

#include "os/file_text.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

Result<void> require_same_data(const std::string& trial_dir, std::uint32_t checksum) {
  const std::string file = (std::filesystem::path(trial_dir).parent_path() / protocol::kDataChecksumFile).string();
  const std::string own = std::to_string(checksum) + "\n";
  const std::optional<std::string> first = os::read_small_file(file);
  if (first == own) return {};
  if (first) {
    return Error{ErrorCode::invalid_argument, "the files are not what they were when the job's first trial read them",
                 "trainer.data", "submit the job again, under another name: values on other rows cannot be compared"};
  }
  static_cast<void>(os::replace_file(file, own));
  return {};
}

}  // namespace tuneband::workers
