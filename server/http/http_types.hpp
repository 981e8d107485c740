// HTTP as the handlers see it: plain requests, replies, and a stream for bodies that come piece by piece. No Beast here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tuneband::server {

struct HttpRequest {
  std::string method;                                        // "GET", also for HEAD
  std::string path;                                          // percent-decoded, but for `/` and `%` in a segment
  std::vector<std::pair<std::string, std::string>> query;    // percent-decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  std::string_view header(std::string_view name) const;  // "" when there is none
  std::optional<std::string> query_value(std::string_view name) const;
};

inline constexpr int kStatusNotModified = 304;

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string gzip;  // of the body, where it is had already
};

// A body under way. The client may go at any time; what is written then is dropped. Dropped without end() it breaks off.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual void write(std::string piece) = 0;
  virtual void end() = 0;
  virtual bool open() const = 0;
  virtual std::size_t queued_bytes() const = 0;                // written, behind the piece that is being sent
  virtual void on_drained(std::function<void()> drained) = 0;  // called each time the queue runs empty
  virtual void on_closed(std::function<void()> closed) = 0;    // the client went, or end() was delivered
};

// Answers one request, once, now or later, on the loop thread. Dropped without an answer it closes the connection.
class HttpResponder {
 public:
  virtual ~HttpResponder() = default;
  virtual void reply(HttpReply reply) = 0;
  // For an answer that may come much later: called once when the client goes before it was answered. One that has only ended
  // what it sends is answered; that it has gone turns out within seconds.
  virtual void on_closed(std::function<void()> closed) = 0;
  // The same, but called as soon as the client may have gone. One that sends no more still takes an answer.
  virtual void on_no_more_sent(std::function<void()> told) = 0;
  // Sends the head; the body of `head` is the first piece. `length`: of the whole body where it is known, otherwise chunked.
  virtual std::shared_ptr<HttpStream> stream(HttpReply head, std::optional<std::uint64_t> length = std::nullopt) = 0;
};
using Respond = std::shared_ptr<HttpResponder>;

using HttpHandler = std::function<void(const HttpRequest&, const Respond&)>;

int http_status(ErrorCode code);

// The one shape of every error: {"error": {"code", "message", "path", "hint", "details"}}.
HttpReply error_reply(const Error& error);
HttpReply error_reply(int status, std::string_view code, const std::string& message, const std::string& hint = {});
// All faults of a document; the first one is the headline.
HttpReply error_reply(const Diagnostics& diagnostics);

}  // namespace tuneband::server
