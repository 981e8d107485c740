#include "os/token.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/shell_word.hpp"
#include "os/open_regular.hpp"

namespace tuneband::os {

namespace {

constexpr std::size_t kTokenSizeMin = 16;
constexpr std::size_t kTokenSizeMax = 1'024;

Error fault(std::string message, std::string hint) {
  return {ErrorCode::invalid_argument, std::move(message), "", std::move(hint)};
}

bool is_token(std::string_view text) {
  return text.size() >= kTokenSizeMin && text.size() <= kTokenSizeMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Error no_token(const std::string& where, const std::string& put) {
  return fault(where + " has to be a token: one line of " + std::to_string(kTokenSizeMin) + " to " +
                   std::to_string(kTokenSizeMax) + " visible characters of ASCII",
               "this makes one: (umask 077; head -c 32 /dev/urandom | base64 >" + put + ")");
}

}  // namespace

Result<std::string> read_token_file(const std::string& path) {
  const UniqueFd file = open_regular(path, O_RDONLY);
  struct stat status {};
  std::string text(kTokenSizeMax + 3, '\0');  // a longer line is seen to be one, whatever ends it
  const ssize_t size = file && ::fstat(file.get(), &status) == 0 ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size < 0) {
    const std::string why = errno == EINVAL ? "it is no regular file" : std::strerror(errno);
    return fault("the file of the token, " + path + ", cannot be read: " + why, "");
  }
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  const mode_t open_to = status.st_mode & (status.st_uid == 0 ? kOthers & ~S_IRGRP : kOthers);
  if (open_to != 0) return fault("others than its owner may use the file of the token, " + path, "chmod 600 " + shell_word(path));
  text.resize(static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (!is_token(text)) return no_token("the text of " + path, shell_word(path));
  return text;
}

Result<std::string> token_for_client(const std::string& path) {
  if (!path.empty()) return read_token_file(path);
  const char* value = std::getenv(kTokenVariable);
  const std::string text = value == nullptr ? "" : value;
  if (!text.empty() && !is_token(text)) return no_token(std::string("the value of ") + kTokenVariable, "FILE");
  return text;
}

}  // namespace tuneband::os
