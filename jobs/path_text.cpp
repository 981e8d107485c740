#include "jobs/path_text.hpp"

#include <algorithm>

#include "core/json.hpp"

namespace tuneband {

namespace {

// "s3" of "s3://bucket" (RFC 3986, section 3.1); "": it has none.
std::string_view scheme_of(std::string_view path) {
  const std::string_view scheme = path.substr(0, std::min(path.find("://"), path.size()));
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  const bool is_scheme = scheme.size() < path.size() && !scheme.empty() && letter(scheme.front()) &&
                         std::all_of(scheme.begin(), scheme.end(), follows);
  return is_scheme ? scheme : std::string_view{};
}

}  // namespace

std::optional<Error> unsupported_path(std::string_view path) {
  const auto fault = [&](const std::string& what, std::string hint) {
    return Error{ErrorCode::invalid_argument, what + ", got " + excerpt(std::string(path)), "", std::move(hint)};
  };
  if (scheme_of(path) == "file") return fault("expected a path, not a URL", "leave out file://");
  if (!scheme_of(path).empty()) {
    return fault("expected a path on the server's file system, not a URL", "download it first, or mount the store");
  }
  if (path == "~" || path.starts_with("~/")) {
    return fault("expected a path without `~`, which only a shell understands", "write the home directory out: /home/...");
  }
  return std::nullopt;
}

}  // namespace tuneband
