#include "debugger/webhook.hpp"

#include <algorithm>

#include "core/ascii.hpp"
#include "core/decimal.hpp"
#include "core/json.hpp"
#include "core/port_number.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::string_view kScheme = "http://";

bool is_of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'; }
bool is_of_ipv6(char c) { return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9') || c == ':' || c == '.'; }

bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    const std::string_view inner = host.substr(1, host.size() - 2);
    return host.ends_with(']') && inner.size() >= 2 && std::all_of(inner.begin(), inner.end(), is_of_ipv6);
  }
  return !host.empty() && std::all_of(host.begin(), host.end(), is_of_name);
}

Error no_webhook(std::string_view url, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message) + ", got " + excerpt(url), "",
          "the address of a web hook looks like http://host:8080/path"};
}

}  // namespace

Result<Webhook> parse_webhook(std::string_view url) {
  const auto plain = [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '<' && c != '>' && c != '\\' && c != '#'; };
  const std::string scheme = lower_case(url.substr(0, kScheme.size()));
  if (scheme.starts_with("https:"))
    return Error{ErrorCode::invalid_argument, "https is not spoken to web hooks", "",
                 "call a relay on this machine or its network by http, which speaks TLS to the receiver"};
  if (scheme != kScheme) return no_webhook(url, "expected an http:// address");
  if (url.size() > kWebhookSizeMax || !std::all_of(url.begin(), url.end(), plain))
    return no_webhook(url, "expected up to " + std::to_string(kWebhookSizeMax) + " bytes that need no encoding, without a `#`");
  const std::string_view rest = url.substr(kScheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string authority = lower_case(rest.substr(0, end));
  Webhook hook;
  hook.target = std::string(rest.substr(end));
  if (!hook.target.starts_with('/')) hook.target.insert(0, "/");
  const std::size_t colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
  hook.host = authority.substr(0, colon);
  if (!is_host(hook.host)) return no_webhook(url, "expected a host name or address");
  if (colon == std::string::npos) return hook;
  const auto port = port_number(std::string_view(authority).substr(colon + 1));
  if (!port) return no_webhook(url, "expected a port from 1 to 65535");
  hook.port = *port;
  return hook;
}

}  // namespace tuneband::debugger
