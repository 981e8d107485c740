// The address that a rule's finding is told to. docs/debugger.md.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace tuneband::debugger {

inline constexpr std::size_t kWebhookSizeMax = 2000;  // bytes of an address

struct Webhook {
  std::string host;  // in lower case, an IPv6 address in brackets
  int port = 80;
  std::string target;  // path and query as they go into the request: "/path?query"

  std::string authority() const { return host + ":" + std::to_string(port); }
};

// "http://host:port/path?query": a name, an IPv4 address or an IPv6 one in brackets; without user name and fragment, and without
// bytes that would have to be encoded. Errors: another text, and https, which is not spoken here.
Result<Webhook> parse_webhook(std::string_view url);

}  // namespace tuneband::debugger
