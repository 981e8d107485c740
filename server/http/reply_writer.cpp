#include "server/http/reply_writer.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string>
#include <utility>

namespace tuneband::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using BeastError = beast::error_code;
using WriterClock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t kReplyBytesPerMsMin = 32;  // a client that takes a long reply more slowly is let go,
constexpr std::int64_t kReplyMsMax = 600'000;     // and one that has not all of it by then

// As HTTP has it: "Tue, 24 Nov 2026 12:00:00 GMT" (RFC 9110, 5.6.7).
std::string date_of(std::chrono::system_clock::time_point now) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

// The same for every reply. Whoever shows how long something goes on needs our clock: theirs may be another. Nothing is to be
// taken for a page because it looks like one: logs are what a trial printed.
void set_fields(http::fields& fields, const HttpReply& reply) {
  fields.set(http::field::content_type, reply.content_type);
  fields.set(http::field::date, date_of(std::chrono::system_clock::now()));
  fields.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : reply.headers) fields.set(name, value);
}

}  // namespace

void ReplyWriter::send(HttpReply reply, Sent sent) {
  reply_.emplace(static_cast<http::status>(reply.status), form_.version);
  set_fields(*reply_, reply);
  reply_->keep_alive(form_.keep_alive);
  const std::size_t size = reply.body.size();
  if (!form_.bodiless) reply_->body() = std::move(reply.body);
  const bool has_body = reply.status != 204 && reply.status != 304;
  if (has_body) reply_->content_length(size);
  reply_serializer_.emplace(*reply_);
  const std::int64_t ms = write_ms_ + static_cast<std::int64_t>(size) / kReplyBytesPerMsMin;
  reply_due_ = WriterClock::now() + std::chrono::milliseconds(std::min(ms, std::max(write_ms_, kReplyMsMax)));
  send_more(std::move(sent));
}

// A client that takes nothing is let go as soon as with a short reply, one that takes little when the whole is due.
void ReplyWriter::send_more(Sent sent) {
  stream_.expires_at(std::min(reply_due_, WriterClock::now() + std::chrono::milliseconds(write_ms_)));
  http::async_write_some(stream_, *reply_serializer_,
                         [this, sent = std::move(sent)](const BeastError& error, std::size_t) mutable {
                           if (error || reply_serializer_->is_done()) return sent(!error);
                           send_more(std::move(sent));
                         });
}

void ReplyWriter::clear() {
  reply_serializer_.reset();
  reply_.reset();
}

std::function<void(const BeastError&, std::size_t)> ReplyWriter::once_written(Sent sent) {
  writing_ = true;
  return [this, sent = std::move(sent)](const BeastError& error, std::size_t) {
    writing_ = false;
    std::string().swap(piece_);  // a small one in its place would keep its room
    sent(!error);
  };
}

void ReplyWriter::send_head(const HttpReply& head, std::optional<std::uint64_t> length, Sent sent) {
  chunked_ = !length && form_.version >= kHttp11;
  head_.emplace(static_cast<http::status>(head.status), form_.version);
  set_fields(*head_, head);
  if (length) {
    head_->content_length(*length);
  } else if (chunked_) {
    head_->chunked(true);
  } else {
    form_.keep_alive = false;  // HTTP/1.0: the end of the connection is the end of the body
  }
  head_->keep_alive(form_.keep_alive);
  head_serializer_.emplace(*head_);
  expire_after_write();
  http::async_write_header(stream_, *head_serializer_, once_written(std::move(sent)));
}

void ReplyWriter::send_piece(std::string piece, Sent sent) {
  piece_ = std::move(piece);
  expire_after_write();
  if (chunked_) {
    asio::async_write(stream_, http::make_chunk(asio::buffer(piece_)), once_written(std::move(sent)));
  } else {
    asio::async_write(stream_, asio::buffer(piece_), once_written(std::move(sent)));
  }
}

void ReplyWriter::send_last(Sent sent) {
  if (!chunked_ || form_.bodiless) return asio::post(stream_.get_executor(), [sent = std::move(sent)] { sent(true); });
  expire_after_write();
  asio::async_write(stream_, http::make_chunk_last(), once_written(std::move(sent)));
}

}  // namespace tuneband::server
