// One connection: reads a request, hands it over, waits for its answer to be written, reads the next.
//
// A deadline for each part of it. Loop thread only, but for the zipping of large replies.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/http/connection_table.hpp"
#include "server/http/http_options.hpp"
#include "server/http/http_types.hpp"
#include "server/http/memory_budget.hpp"
#include "server/http/reply_writer.hpp"

namespace tuneband::server {

// What all connections of a server share.
struct HttpService {
  HttpService(boost::asio::io_context& loop, HttpServerOptions options, HttpHandler handler);

  boost::asio::io_context& loop;
  const HttpServerOptions options;
  const HttpHandler handler;
  std::vector<std::string> hosts;  // names it answers under, besides loopback's and its addresses
  const std::shared_ptr<MemoryBudget> memory;
  const std::shared_ptr<ConnectionTable> connections;
  bool ending = false;  // connections end after the reply under way
  boost::asio::thread_pool zipper{1};
};

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(std::shared_ptr<HttpService> service, boost::asio::ip::tcp::socket socket);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void read_next();
  void close();

  // The answer to the request that was handed over: a reply, or what writer() sends and finish() ends.
  void send(HttpReply reply);
  ReplyWriter& writer() { return writer_; }
  void finish(bool written);
  // What the stream has taken and the client has not.
  void queued(std::size_t bytes);
  // Until it is answered, or the stream has ended: calls back once when the connection is closed, by either side. A client that
  // has ended what it sends may be gone, or wait for its answer alone: `sending` calls back then; a client that waits for its
  // `answer`, or for more of a `stream`, is asked.
  enum class Watch { answer, sending, stream };
  void watch(Watch what, std::function<void()> gone);

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using BeastError = boost::beast::error_code;

  void read_header();
  void send_continue();
  void read_body();
  void on_read(const BeastError& error);
  std::optional<HttpReply> refusal_of_head();
  void refuse(HttpReply reply);
  void dispatch();
  void hold_memory();
  void let_go();
  void wait_for_client();
  void look_at_client();
  void sends_no_more();
  void ask_whether_it_waits();
  // A handler that does nothing once what is watched now has ended.
  std::function<void(const BeastError&)> while_watched(void (HttpSession::*then)());
  void linger(std::size_t bytes_left);
  void expire_after(std::int64_t ms);
  void send_zipped_elsewhere(HttpReply reply);
  void send_as_is(HttpReply reply);

  std::shared_ptr<HttpService> service_;
  boost::beast::tcp_stream stream_;
  // Bounded: a body moves on to its own place, but the parser wants a header, a chunk's extension and the trailers each whole.
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  ReplyWriter writer_;
  ConnectionTable::Place place_;
  MemoryBudget::Share memory_;
  std::optional<MemoryBudget::Aside> asked_;  // the body, from when it is handed over until its answer is written
  std::size_t reply_bytes_ = 0;               // of the reply under way, or queued by the stream
  bool reading_body_ = false;
  bool let_go_ = false;
  std::uint64_t requests_ = 0;
  std::function<void()> gone_;  // of what is watched; empty: nothing is
  Watch watched_ = Watch::answer;
  std::uint64_t watches_ = 0;
  boost::asio::steady_timer ask_;
  // Of the request under way.
  HttpRequest request_;
  bool accepts_gzip_ = false;
};

}  // namespace tuneband::server
