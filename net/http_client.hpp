// A small blocking HTTP/1.1 client with keep-alive and deadlines, for the worker's sync loop and the CLI.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/json.hpp"

namespace tuneband::net {

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpResponse {
  int status = 0;
  std::string body;
  std::string content_type;
};

class HttpClient {
 public:
  // `url` like "http://127.0.0.1:7070". `token`: that each request shows the server; "": none. Errors: not an http URL.
  static Result<HttpClient> create(std::string_view url, std::string token = "");
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // One request; connects when needed, and once more when a kept connection turns out closed. `unavailable` when the server
  // cannot be reached or does not answer within `timeout_ms`. Any HTTP status is a success here, and a
  // redirection is not followed. `headers` take the place of its own.
  Result<HttpResponse> request(std::string_view method, std::string_view target, std::string_view body, std::int64_t timeout_ms,
                               std::span<const HttpHeader> headers = {});

  // As request(), but hands over each piece of the body as it comes (server-sent events, a log that is followed). `on_data`
  // returns false to end. No deadline for the whole; `idle_timeout_ms` for each piece. The body of a status other than 2xx is in
  // the response instead.
  Result<HttpResponse> stream(std::string_view target, std::int64_t idle_timeout_ms,
                              const std::function<bool(std::string_view)>& on_data);

  const std::string& host() const;  // of the URL
  // The address that this machine has on its way to the server; connects when needed. Errors: as request().
  Result<std::string> local_address(std::int64_t timeout_ms);

  // From another thread: the request under way, or else the next one, ends with `unavailable`.
  void cancel();

 private:
  struct Connection;
  explicit HttpClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

// 2xx: the parsed body. Otherwise the server's error (code, message, path, hint), as sent.
Result<Json> json_or_error(const Result<HttpResponse>& response);

}  // namespace tuneband::net
