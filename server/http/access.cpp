#include "server/http/access.hpp"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <string_view>
#include <utility>

#include "core/ascii.hpp"

namespace tuneband::server {

namespace {

bool is_for_everybody(std::string_view path) {
  return path == "/" || path.starts_with("/assets/") || path == "/healthz" || path == "/openapi.json";
}

// It takes as long whatever of `given` is right, so that a secret cannot be guessed piece by piece.
bool is_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) difference |= static_cast<unsigned>(given[i] ^ secret[i % secret.size()]);
  return difference == 0;
}

// Of `Authorization: Bearer TOKEN`; "" where that is not there.
std::string_view bearer_token(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view sent = request.header("authorization");
  if (lower_case(sent.substr(0, kScheme.size())) != kScheme) return {};
  return sent.substr(std::min(sent.size(), sent.find_first_not_of(' ', kScheme.size())));
}

// By the port under which the browser knows the server: those of one host share their cookies.
std::string cookie_name(const HttpRequest& request) {
  const auto host = boost::urls::parse_authority(request.header("host"));
  return "tuneband" + (host && host->has_port() ? "-" + std::string(host->port()) : "");
}

// Of `Cookie: a=b; c=d`; "" where that is not there.
std::string_view cookie(const HttpRequest& request, std::string_view name) {
  std::string_view left = request.header("cookie");
  while (!left.empty()) {
    const std::string_view pair = left.substr(0, left.find(';'));
    left.remove_prefix(std::min(left.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    left.remove_prefix(std::min(left.size(), left.find_first_not_of(' ')));
  }
  return {};
}

}  // namespace

bool Access::has_session(const HttpRequest& request) const {
  const std::string_view given = cookie(request, cookie_name(request));
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const std::string& session) { return is_secret(given, session); });
}

std::optional<HttpReply> Access::refusal(const HttpRequest& request) const {
  const std::string_view given = bearer_token(request);
  if (is_for_everybody(request.path) || is_secret(given, token_) || has_session(request)) return std::nullopt;
  HttpReply reply =
      error_reply(401, "unauthorized", given.empty() ? "this server wants its token" : "this is not the server's token",
                  "tuneband and tuneband-worker: --token-file FILE, or TUNEBAND_TOKEN in the environment; others "
                  "send `Authorization: Bearer TOKEN`");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

std::string Access::begin_session(const HttpRequest& request, std::string session) {
  if (sessions_.size() == kSessionsMax) sessions_.pop_front();
  sessions_.push_back(std::move(session));
  const bool over_tls = request.header("origin").starts_with("https://");
  return cookie_name(request) + "=" + sessions_.back() + "; HttpOnly; SameSite=Strict" + (over_tls ? "; Secure" : "");
}

}  // namespace tuneband::server
