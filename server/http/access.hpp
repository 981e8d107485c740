// Who may ask a server that has a token: whoever sends it with the request, as `Authorization: Bearer TOKEN`, and a browser that
// has begun a session with it, as neither links nor event streams of a page can send a header. A session is a cookie that means
// nothing elsewhere or later: cookies are sent to every port of a host.
//
// Loop thread only.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "server/http/http_types.hpp"

namespace tuneband::server {

class Access {
 public:
  explicit Access(std::string token) : token_(std::move(token)) {}

  // By the head: the answer to a request that may not ask; nothing: it may. What holds no data is for everybody: whether the
  // server is well, the description of the API, the files of the dashboard.
  std::optional<HttpReply> refusal(const HttpRequest& request) const;

  // Gives the value of `Set-Cookie`. `session`: of hexadecimal digits that nobody can guess. It ends with this object, or when
  // kSessionsMax newer ones have begun. Without a path the cookie is for what is beside the request's own (RFC 6265, 5.1.4),
  // wherever a proxy has the server.
  std::string begin_session(const HttpRequest& request, std::string session);

  static constexpr std::size_t kSessionsMax = 1'000;

 private:
  bool has_session(const HttpRequest& request) const;

  const std::string token_;
  std::deque<std::string> sessions_;  // the oldest first
};

}  // namespace tuneband::server
