// How a reply goes onto a connection: whole, or a head and then a body piece by piece. With a deadline for the client to take it.
//
// One reply at a time. Loop thread only. The owner must live until `sent` was called, which tells whether the client has taken
// all of it.
#pragma once

#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_types.hpp"

namespace tuneband::server {

inline constexpr unsigned kHttp11 = 11;  // as Beast counts

// What a request says of its reply. As long as it is not understood: of none.
struct ReplyForm {
  unsigned version = kHttp11;
  bool bodiless = false;  // of a HEAD
  bool keep_alive = false;
};

class ReplyWriter {
 public:
  using Sent = std::function<void(bool)>;

  ReplyWriter(boost::beast::tcp_stream& stream, std::int64_t write_ms) : stream_(stream), write_ms_(write_ms) {}
  ReplyWriter(const ReplyWriter&) = delete;
  ReplyWriter& operator=(const ReplyWriter&) = delete;

  // Of the next reply. What has no other end than the connection's does not keep it.
  ReplyForm& form() { return form_; }

  void send(HttpReply reply, Sent sent);
  // Without its body. `length`: of the body that follows, where it is known.
  void send_head(const HttpReply& head, std::optional<std::uint64_t> length, Sent sent);
  void send_piece(std::string piece, Sent sent);
  void send_last(Sent sent);
  // What a chunked body takes between two pieces and does not change with: a zero before the next one's size (RFC 9112, 7.1).
  // Empty where something is being written, and in every other reply.
  std::string_view filler() const { return chunked_ && !writing_ && !form_.bodiless ? "0" : ""; }
  // Lets go of the reply that was sent whole.
  void clear();

 private:
  void send_more(Sent sent);
  std::function<void(const boost::beast::error_code&, std::size_t)> once_written(Sent sent);
  void expire_after_write() { stream_.expires_after(std::chrono::milliseconds(write_ms_)); }

  boost::beast::tcp_stream& stream_;
  const std::int64_t write_ms_;
  ReplyForm form_;
  std::optional<boost::beast::http::response<boost::beast::http::string_body>> reply_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::string_body>> reply_serializer_;
  std::chrono::steady_clock::time_point reply_due_;
  std::optional<boost::beast::http::response<boost::beast::http::empty_body>> head_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>> head_serializer_;
  bool chunked_ = false;
  bool writing_ = false;  // of a body that comes piece by piece
  std::string piece_;
};

}  // namespace tuneband::server
