#include "server/http/http_session.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "core/ascii.hpp"
#include "net/address.hpp"
#include "server/http/gzip.hpp"
#include "server/http/reply_coding.hpp"
#include "server/http/request_rules.hpp"
#include "server/http/session_responder.hpp"
#include "server/log.hpp"

namespace tuneband::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

constexpr std::int64_t kLingerMs = 2'000;  // for a client that still sends while its last reply is on the way
constexpr std::size_t kLingerBytesMax = 64 * 1024 * 1024;
constexpr std::size_t kReadAheadBytes = 64 * 1024;
constexpr std::size_t kZipOnLoopBytesMax = 256 * 1024;  // larger replies would keep the loop busy for milliseconds
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Head and body apart: the target is not in it yet, nor the body.
HttpRequest plain_head(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = message.method() == http::verb::head ? "GET" : std::string(message.method_string());
  for (const auto& field : message) request.headers.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  return request;
}

// What is told to a client whose request could not be read; nothing: it has gone, or was too slow.
std::optional<HttpReply> reply_to_unread(const beast::error_code& error, const HttpServerOptions& options) {
  const auto larger = [](const std::string& part, std::uint64_t bytes_max) {
    return "the " + part + " is larger than " + std::to_string(bytes_max) + " bytes";
  };
  if (error == http::error::body_limit) return error_reply(413, "too_large", larger("body", options.body_bytes_max));
  if (error == http::error::header_limit) return error_reply(431, "too_large", larger("header", options.header_bytes_max));
  if (error == http::error::buffer_overflow)
    return error_reply(400, "invalid_argument", "a chunk's extension or the trailers of the body are too long");
  const bool malformed = error.category() == make_error_code(http::error::bad_method).category() &&
                         error != http::error::end_of_stream && error != http::error::partial_message;
  if (malformed) return error_reply(400, "invalid_argument", "not an HTTP request: " + error.message());
  return std::nullopt;
}

// So that it is noticed when the other side is gone: after a minute, where its system remembers the connection for so long.
void probe_when_quiet(tcp::socket& socket) {
  constexpr int kSeconds = 10;
  constexpr int kProbes = 6;
  const auto set = [&socket](int level, int option, int value) {
    ::setsockopt(socket.native_handle(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_KEEPIDLE, kSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

HttpReply too_much_at_once() {
  return error_reply(503, "unavailable", "more is being sent to this server at once than it has memory for",
                     "send it again later, or raise --memory-max");
}

}  // namespace

HttpService::HttpService(asio::io_context& loop_, HttpServerOptions options_, HttpHandler handler_)
    : loop(loop_),
      options(std::move(options_)),
      handler(std::move(handler_)),
      memory(std::make_shared<MemoryBudget>(loop_, options.memory_bytes_max)),
      connections(std::make_shared<ConnectionTable>(options.connections_max)) {
  for (const std::string& allowed : options.hosts_allowed) {
    if (std::optional<std::string> name = host_name(allowed)) hosts.push_back(std::move(*name));
  }
}

HttpSession::HttpSession(std::shared_ptr<HttpService> service, tcp::socket socket)
    : service_(std::move(service)),
      stream_(std::move(socket)),
      buffer_(service_->options.header_bytes_max + kReadAheadBytes),
      writer_(stream_, service_->options.write_ms),
      place_(service_->connections,
             [this] {
               const auto self = shared_from_this();  // closing may drop the last owner
               close();
             }),
      memory_(service_->memory, [this] { let_go(); }),
      ask_(service_->loop) {}

void HttpSession::expire_after(std::int64_t ms) { stream_.expires_after(std::chrono::milliseconds(ms)); }

// ---- requests ----------------------------------------------------------------------------------------------------------------

void HttpSession::read_next() {
  place_.wait();
  writer_.form() = {};
  accepts_gzip_ = false;
  parser_.emplace();
  parser_->header_limit(service_->options.header_bytes_max);
  parser_->body_limit(service_->options.body_bytes_max);
  if (buffer_.size() > 0) return read_header();
  // Until the first byte the connection is idle; from then on the deadline is the request's. Who connects has something to ask.
  constexpr std::size_t kFirstReadSize = 4'096;
  const HttpServerOptions& options = service_->options;
  expire_after(requests_ > 0 ? options.idle_ms : std::min(options.idle_ms, options.read_ms));
  stream_.async_read_some(buffer_.prepare(kFirstReadSize),
                          [self = shared_from_this()](const BeastError& error, std::size_t size) {
                            if (error) return self->close();
                            self->buffer_.commit(size);
                            self->place_.wait();
                            self->read_header();
                          });
}

// One deadline from the first byte to the last: it is not set anew for the body.
void HttpSession::read_header() {
  expire_after(service_->options.read_ms);
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](const BeastError& error, std::size_t) {
    if (!error) {
      if (auto refusal = self->refusal_of_head()) return self->refuse(std::move(*refusal));
    }
    if (error || self->parser_->is_done()) return self->on_read(error);
    const auto& message = self->parser_->get();
    const bool waits = message.version() >= kHttp11 && lower_case(message[http::field::expect]) == "100-continue";
    waits ? self->send_continue() : self->read_body();
  });
}

// What the head says is judged before a byte of the body is read.
std::optional<HttpReply> HttpSession::refusal_of_head() {
  const auto& message = parser_->get();
  writer_.form().bodiless = message.method() == http::verb::head;
  writer_.form().version = message.version();
  request_ = plain_head(message);
  std::optional<std::string> fault = ambiguity(request_);
  if (!fault) fault = take_target(message.target(), request_);
  if (fault) return error_reply(400, "invalid_argument", *fault);
  std::vector<std::string> hosts = service_->hosts;
  BeastError gone;
  const tcp::endpoint reached = stream_.socket().local_endpoint(gone);  // a page can give itself a name, not an address
  if (!gone) hosts.push_back(net::host_in_url(net::without_scope(net::without_mapping(reached.address()))));
  std::optional<HttpReply> refused = refusal(request_, hosts);
  if (!refused && service_->options.access) refused = service_->options.access->refusal(request_);
  return refused;
}

void HttpSession::send_continue() {
  asio::async_write(stream_, asio::buffer(kContinue), [self = shared_from_this()](const BeastError& error, std::size_t) {
    error ? self->close() : self->read_body();
  });
}

void HttpSession::read_body() {
  reading_body_ = true;
  parser_->eager(true);
  hold_memory();
  http::async_read_some(stream_, buffer_, *parser_, [self = shared_from_this()](const BeastError& error, std::size_t) {
    error || self->let_go_ || self->parser_->is_done() ? self->on_read(error) : self->read_body();
  });
}

void HttpSession::hold_memory() {
  const std::size_t body = parser_ ? parser_->get().body().capacity() : 0;
  memory_.hold(buffer_.capacity() + body + reply_bytes_, place_.waits_since());
}

void HttpSession::queued(std::size_t bytes) {
  reply_bytes_ = bytes;
  hold_memory();
}

void HttpSession::let_go() {
  const auto self = shared_from_this();  // closing may drop the last owner
  if (!reading_body_) return close();
  let_go_ = true;
  stream_.cancel();  // on_read() answers
}

void HttpSession::on_read(const BeastError& error) {
  place_.end_wait();
  reading_body_ = false;
  if (let_go_) {
    parser_.reset();
    return refuse(too_much_at_once());
  }
  if (!error) return dispatch();
  auto reply = reply_to_unread(error, service_->options);
  reply ? refuse(std::move(*reply)) : close();
}

// And the connection: where its next request begins is not known.
void HttpSession::refuse(HttpReply reply) {
  place_.end_wait();
  writer_.form().keep_alive = false;
  send(std::move(reply));
}

void HttpSession::watch(Watch what, std::function<void()> gone) {
  ++watches_;
  watched_ = what;
  gone_ = std::move(gone);
  wait_for_client();
}

std::function<void(const HttpSession::BeastError&)> HttpSession::while_watched(void (HttpSession::*then)()) {
  return [self = shared_from_this(), watch = watches_, then](const BeastError& error) {
    if (!error && self->gone_ && watch == self->watches_) (self.get()->*then)();
  };
}

// With no more room for what it sends ahead, it goes unwatched until a write fails.
void HttpSession::wait_for_client() {
  if (buffer_.size() == buffer_.max_size()) return;
  stream_.socket().async_wait(tcp::socket::wait_read, while_watched(&HttpSession::look_at_client));
}

// Takes in what it has sent ahead, behind which its end would not be seen.
void HttpSession::look_at_client() {
  constexpr std::size_t kTakenAtOnce = 4096;
  const auto room = buffer_.prepare(std::min(kTakenAtOnce, buffer_.max_size() - buffer_.size()));
  if (room.size() == 0) return wait_for_client();
  const ssize_t got = ::recv(stream_.socket().native_handle(), room.data(), room.size(), MSG_DONTWAIT);
  const bool is_broken = got < 0 && errno != EAGAIN && errno != EINTR;
  if (got > 0) buffer_.commit(static_cast<std::size_t>(got));
  hold_memory();
  if (is_broken) return close();
  got == 0 ? sends_no_more() : wait_for_client();
}

// The system of a client that is gone says so to the next that it gets: of what is written, of what asks, or of what our system
// sends to a connection that is quiet.
void HttpSession::sends_no_more() {
  if (watched_ == Watch::sending) return std::exchange(gone_, nullptr)();
  probe_when_quiet(stream_.socket());
  stream_.socket().async_wait(tcp::socket::wait_error, while_watched(&HttpSession::close));
  if (writer_.form().version < kHttp11) return;
  ask_.expires_after(std::chrono::milliseconds(service_->options.ask_ms));
  ask_.async_wait(while_watched(&HttpSession::ask_whether_it_waits));
}

// Before its answer by an interim response, which every client of HTTP/1.1 passes over (RFC 9110, 15.2); nothing else is being
// written then. In a stream by what changes none: where a piece is being written, that tells.
void HttpSession::ask_whether_it_waits() {
  const std::string_view question = watched_ == Watch::answer ? kContinue : writer_.filler();
  if (question.empty()) return;
  const ssize_t sent = ::send(stream_.socket().native_handle(), question.data(), question.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  const bool full = sent < 0 && errno == EAGAIN;  // of what came before, which tells as well
  if (!full && sent != static_cast<ssize_t>(question.size())) close();
}

void HttpSession::dispatch() {
  ++requests_;
  auto message = parser_->release();
  writer_.form().keep_alive = message.keep_alive() && !service_->ending;
  accepts_gzip_ = takes_gzip(message[http::field::accept_encoding]);
  request_.body = std::move(message.body());
  const HttpRequest request = std::exchange(request_, {});
  parser_.reset();
  hold_memory();
  const std::size_t bytes = request.body.size();
  if (!service_->memory->may_set_aside(bytes)) return send(too_much_at_once());
  asked_.emplace(service_->memory, bytes);
  const Respond responder = make_responder(shared_from_this());
  try {
    service_->handler(request, responder);
  } catch (const std::exception& e) {
    log_error("request failed", {{"path", request.path}, {"why", e.what()}});
    responder->reply(error_reply(500, "internal", "the server failed to answer", "its log says more"));
  }
}

// ---- replies -----------------------------------------------------------------------------------------------------------------

void HttpSession::send(HttpReply reply) {
  gone_ = nullptr;
  const bool is_zipped_for_some = !reply.gzip.empty() || is_worth_zipping(reply);
  // What was not modified says so without its body, by whose size it would be known.
  if (is_zipped_for_some || reply.status == kStatusNotModified) reply.headers.emplace_back("Vary", "Accept-Encoding");
  const bool is_zipped = accepts_gzip_ && !reply.gzip.empty();
  if (is_zipped) put_zipped(reply, std::move(reply.gzip));
  queued(reply.body.size());
  if (is_zipped || !accepts_gzip_ || !is_zipped_for_some) return send_as_is(std::move(reply));
  if (reply.body.size() > kZipOnLoopBytesMax) return send_zipped_elsewhere(std::move(reply));
  put_zipped(reply, gzip(reply.body));
  send_as_is(std::move(reply));
}

// The session is moved from thread to thread, so that it can only be destroyed on the loop's.
void HttpSession::send_zipped_elsewhere(HttpReply reply) {
  asio::post(service_->zipper, [self = shared_from_this(), reply = std::move(reply)]() mutable {
    put_zipped(reply, gzip(reply.body));
    asio::io_context& loop = self->service_->loop;
    asio::post(loop, [self = std::move(self), reply = std::move(reply)]() mutable { self->send_as_is(std::move(reply)); });
  });
}

void HttpSession::send_as_is(HttpReply reply) {
  writer_.send(std::move(reply), [self = shared_from_this()](bool written) { self->finish(written); });
}

void HttpSession::finish(bool written) {
  writer_.clear();
  gone_ = nullptr;
  asked_.reset();
  queued(0);
  if (!written) return close();
  if (writer_.form().keep_alive && !service_->ending) return read_next();
  BeastError ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  expire_after(kLingerMs);
  linger(kLingerBytesMax);
}

// Closing with input unread would reset the connection, and the client might never see the reply: what it still sends is thrown
// away.
void HttpSession::linger(std::size_t bytes_left) {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kReadAheadBytes),
                          [self = shared_from_this(), bytes_left](const BeastError& error, std::size_t size) {
                            if (error || size >= bytes_left) return self->close();
                            self->linger(bytes_left - size);
                          });
}

void HttpSession::close() {
  BeastError ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.close();
  ask_.cancel();
  if (const auto gone = std::exchange(gone_, nullptr)) gone();
}

}  // namespace tuneband::server
