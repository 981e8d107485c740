#include "server/http/request_rules.hpp"

#include <algorithm>
#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>
#include <cstdint>

#include "core/ascii.hpp"
#include "core/decimal.hpp"
#include "core/json.hpp"
#include "core/port_number.hpp"

namespace tuneband::server {

namespace urls = boost::urls;

namespace {

std::ptrdiff_t count_of(const HttpRequest& request, std::string_view name) {
  return std::count_if(request.headers.begin(), request.headers.end(), [&](const auto& field) { return field.first == name; });
}

bool is_below_v1(std::string_view path) { return path == "/v1" || path.starts_with("/v1/"); }

bool has_body(const HttpRequest& request) {
  const std::string_view length = request.header("content-length");
  return count_of(request, "transfer-encoding") > 0 || length.find_first_not_of('0') != std::string_view::npos;
}

// "application/json", whatever parameters follow.
bool is_json(std::string_view content_type) {
  const std::string type = lower_case(content_type.substr(0, content_type.find(';')));
  return type.substr(0, type.find_last_not_of(" \t") + 1) == "application/json";
}

bool is_loopback_name(std::string_view name) { return name == "localhost" || name == "127.0.0.1" || name == "[::1]"; }

// Pages of other servers, also of another port here, may not change anything: they need not see the answer to do harm. What they
// read they are not shown, but it could be held open.
bool from_foreign_page(const HttpRequest& request) {
  const bool changes = request.method != "GET";
  const std::string site = lower_case(request.header("sec-fetch-site"));
  if (site == "cross-site" && (changes || is_below_v1(request.path))) return true;
  if (!changes) return false;
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  if (count_of(request, "origin") == 0) return false;
  const std::string page = lower_case(request.header("origin"));
  const std::size_t scheme_end = page.find("://");
  return scheme_end == std::string::npos || page.substr(scheme_end + 3) != lower_case(request.header("host"));
}

}  // namespace

std::optional<std::string> host_name(std::string_view authority) {
  const auto parsed = urls::parse_authority(authority);
  if (!parsed || parsed->has_userinfo()) return std::nullopt;
  if (parsed->has_port() && !port_number(std::string_view(parsed->port()))) return std::nullopt;
  if (parsed->host_type() == urls::host_type::ipv6) return "[" + std::string(parsed->host_ipv6_address().to_string()) + "]";
  std::string name = lower_case(parsed->encoded_host());
  if (name.ends_with('.')) name.pop_back();
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), plain)) return std::nullopt;
  return name;
}

namespace {

// A slash within a segment stays encoded, as it is no border between two, and so does `%`, which begins nothing else then.
std::string decoded_path(const urls::url_view& target) {
  std::string path;
  std::string_view left = target.encoded_path();
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('/', 1), left.size());
    const std::string segment = urls::pct_string_view(left.substr(0, end)).decode();
    path += segment.front();
    for (const char c : std::string_view(segment).substr(1))
      path += c == '/' ? std::string("%2F") : c == '%' ? std::string("%25") : std::string(1, c);
    left.remove_prefix(end);
  }
  return path;
}

}  // namespace

std::optional<std::string> take_target(std::string_view target, HttpRequest& request) {
  const bool origin_form = target.starts_with('/');
  const auto parsed = origin_form ? urls::parse_origin_form(target) : urls::parse_absolute_uri(target);
  if (!parsed) return "the request's target cannot be understood";
  if (!origin_form) {
    const std::string scheme = lower_case(parsed->scheme());
    if ((scheme != "http" && scheme != "https") || !parsed->has_authority()) return "the request's target is not one of HTTP";
    const std::string host = lower_case(parsed->encoded_authority());
    if (count_of(request, "host") == 0) request.headers.emplace_back("host", host);
    if (lower_case(request.header("host")) != host) return "the request's target and its Host name two hosts";
  }
  request.path = decoded_path(*parsed);
  if (request.path.empty()) request.path = "/";
  for (const auto& parameter : parsed->params()) {
    const bool is_nothing = parameter.key.empty() && !parameter.has_value;  // of `?`, or between two `&`
    if (!is_nothing) request.query.emplace_back(parameter.key, parameter.value);
  }
  return std::nullopt;
}

std::optional<std::string> ambiguity(const HttpRequest& request) {
  for (const char* name : {"Host", "Origin", "Sec-Fetch-Site", "Content-Type", "Authorization"}) {
    if (count_of(request, lower_case(name)) > 1) return "there is more than one " + std::string(name);
  }
  if (count_of(request, "transfer-encoding") == 0) return std::nullopt;
  const bool chunked = lower_case(request.header("transfer-encoding")) == "chunked";
  if (chunked && count_of(request, "transfer-encoding") == 1) return std::nullopt;
  return "the only Transfer-Encoding that is understood is `chunked`";
}

std::optional<HttpReply> refusal(const HttpRequest& request, std::span<const std::string> hosts) {
  const std::string_view host = request.header("host");
  if (host.empty()) return error_reply(400, "invalid_argument", "there is no Host", "name the one that the address has");
  const std::optional<std::string> name = host_name(host);
  if (!name || !(is_loopback_name(*name) || std::find(hosts.begin(), hosts.end(), *name) != hosts.end())) {
    return error_reply(403, "forbidden", "the server does not answer under the host name " + excerpt(host),
                       "use its address, or start it with --allow-host");
  }
  if (from_foreign_page(request)) {
    return error_reply(403, "forbidden", "a page of another server may not ask for this",
                       "where it is this server's own, behind a proxy, that has to pass on its Host");
  }
  if (has_body(request) && !is_json(request.header("content-type"))) {
    return error_reply(415, "unsupported_media_type", "a body must be JSON and say so",
                       "with curl: -H 'Content-Type: application/json'");
  }
  return std::nullopt;
}

}  // namespace tuneband::server
