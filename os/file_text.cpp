#include "os/file_text.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "os/atomic_file.hpp"

namespace tuneband::os {
namespace {
constexpr std::uintmax_t kSmallFileBytesMax = 1024 * 1024;
}

std::optional<std::string> read_small_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kSmallFileBytesMax) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool is_want_of_room(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

Result<void> replace_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  if (file.is_open() && file.write(text) && file.commit()) return {};
  const int why = errno;
  return Error{is_want_of_room(why) ? ErrorCode::unavailable : ErrorCode::internal,
               "cannot write " + path + ": " + std::strerror(why), "", ""};
}

}  // namespace tuneband::os
