#include "server/http/http_server.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "core/ascii.hpp"
#include "net/address.hpp"
#include "server/http/gzip.hpp"
#include "server/http/memory_budget.hpp"
#include "server/http/request_rules.hpp"
#include "server/log.hpp"

namespace tuneband::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using BeastError = beast::error_code;
using SessionClock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t kLingerMs = 2'000;  // for a client that still sends while its last reply is on the way
constexpr std::size_t kLingerBytesMax = 64 * 1024 * 1024;
constexpr std::size_t kReadAheadBytes = 64 * 1024;
constexpr std::int64_t kReplyBytesPerMsMin = 32;        // a client that takes a long reply more slowly is let go,
constexpr std::int64_t kReplyMsMax = 600'000;           // and one that has not all of it by then
constexpr std::size_t kZipOnLoopBytesMax = 256 * 1024;  // larger replies would keep the loop busy for milliseconds
constexpr unsigned kHttp11 = 11;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// "gzip" without "q=0" among the codings that the client takes (RFC 9110, section 12.5.3).
bool takes_gzip(std::string_view accept_encoding) {
  const std::string codings = lower_case(accept_encoding);
  for (const auto& coding : http::ext_list(codings)) {
    if (coding.first != "gzip" && coding.first != "*") continue;
    for (const auto& [name, value] : coding.second) {
      if (name == "q" && value.find_first_not_of("0.") == std::string_view::npos) return false;
    }
    return true;
  }
  return false;
}

// Head and body apart: the target is not in it yet, nor the body.
HttpRequest plain_head(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = message.method() == http::verb::head ? "GET" : std::string(message.method_string());
  for (const auto& field : message) request.headers.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  return request;
}

// The same for every reply. Nothing is to be taken for a page because it looks like one: logs are what a trial printed.
void set_fields(http::fields& fields, const HttpReply& reply) {
  fields.set(http::field::content_type, reply.content_type);
  fields.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : reply.headers) fields.set(name, value);
}

}  // namespace

class HttpSession;

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop_, const tcp::endpoint& listen, HttpServerOptions options_, HttpHandler handler_)
      : loop(loop_),
        acceptor(loop_, listen),
        retry(loop_),
        options(std::move(options_)),
        handler(std::move(handler_)),
        memory(std::make_shared<MemoryBudget>(loop_, options.memory_bytes_max)) {
    for (const std::string& allowed : options.hosts_allowed) {
      if (std::optional<std::string> name = host_name(allowed)) hosts.push_back(std::move(*name));
    }
  }

  void accept();
  bool end_longest_waiting();

  asio::io_context& loop;
  tcp::acceptor acceptor;
  asio::steady_timer retry;
  HttpServerOptions options;
  HttpHandler handler;
  std::shared_ptr<MemoryBudget> memory;
  std::vector<std::string> hosts;  // names it answers under, besides loopback's and its addresses
  bool accepting = true;
  std::set<HttpSession*> sessions;
  // Without a whole request, in the order in which they last did anything: came, were answered, began to ask.
  std::map<std::uint64_t, HttpSession*> waiting;
  std::uint64_t begun = 0;
  asio::thread_pool zipper{1};
};

// ---- one connection
// -------------------------------------------------------------------------------------------------------------

// Reads a request, hands it over, waits for its answer to be written, reads the next.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(std::shared_ptr<HttpServer::State> state, tcp::socket socket)
      : state_(std::move(state)),
        stream_(std::move(socket)),
        buffer_(state_->options.header_bytes_max + kReadAheadBytes),
        memory_(state_->memory, [this] { let_go(); }) {
    state_->sessions.insert(this);
  }
  ~HttpSession() {
    state_->sessions.erase(this);
    end_wait();
  }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void read_next();
  void close();
  void send(HttpReply reply);
  void send_head(HttpReply head, std::optional<std::uint64_t> length, std::function<void(bool)> sent);
  void send_piece(std::string piece, std::function<void(bool)> sent);
  void send_last(std::function<void(bool)> sent);
  void finish(bool keep);
  bool bodiless() const { return head_request_; }
  // What the stream has taken and not yet sent.
  void queued(std::size_t bytes);
  // Until it is answered, or the stream has ended: calls back once when the connection is closed, by either side.
  void watch(std::function<void()> gone);

 private:
  using Parser = http::request_parser<http::string_body>;

  void read_header();
  void read_body();
  void hold_memory();
  void let_go();
  void send_continue();
  void on_read(const BeastError& error);
  void refuse(HttpReply reply);
  void dispatch();
  void linger(std::size_t bytes_left);
  void begin_wait();
  void end_wait() { state_->waiting.erase(wait_); }
  void wait_for_client();
  bool client_closed();
  std::optional<HttpReply> refusal_of_head();
  void expire_after(std::int64_t ms) { stream_.expires_after(std::chrono::milliseconds(ms)); }
  void send_zipped_elsewhere(HttpReply reply);
  void send_as_is(HttpReply reply);
  void send_more();
  bool may_gzip(const HttpReply& reply) const;

  std::shared_ptr<HttpServer::State> state_;
  beast::tcp_stream stream_;
  // Bounded: a body moves on to its own place, but the parser wants a header, a chunk's extension and the trailers each whole.
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> response_serializer_;
  SessionClock::time_point response_due_;
  std::optional<http::response<http::empty_body>> head_;
  std::optional<http::response_serializer<http::empty_body>> head_serializer_;
  std::string piece_;
  MemoryBudget::Share memory_;
  std::size_t reply_bytes_ = 0;  // of the reply under way, or queued by the stream
  bool reading_body_ = false;
  bool let_go_ = false;
  std::uint64_t wait_ = 0;  // its place among those that wait
  std::uint64_t requests_ = 0;
  std::function<void()> gone_;
  // Of the request under way; as long as it is not understood, of none.
  HttpRequest request_;
  bool head_request_ = false;
  bool keep_alive_ = false;
  bool accepts_gzip_ = false;
  bool chunked_ = false;
  unsigned version_ = kHttp11;
};

// The answer's side of a session. A responder that is dropped without an answer closes the connection.
class SessionStream final : public HttpStream, public std::enable_shared_from_this<SessionStream> {
 public:
  explicit SessionStream(std::shared_ptr<HttpSession> session) : session_(std::move(session)) {}
  // Dropped before its end: the connection breaks off, so that the client does not take a part for the whole.
  ~SessionStream() override {
    if (session_) session_->close();
  }
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  void begin(HttpReply head, std::optional<std::uint64_t> length) {
    writing_ = true;
    std::string first = std::move(head.body);
    head.body.clear();
    if (!first.empty()) enqueue(std::move(first));
    ending_ = session_->bodiless();
    session_->send_head(std::move(head), length, [self = shared_from_this()](bool ok) { self->written(ok); });
    session_->watch([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->gone();
    });
  }

  void write(std::string piece) override {
    if (!session_ || ending_ || piece.empty()) return;
    enqueue(std::move(piece));
    write_next();
  }

  void end() override {
    if (!session_ || ending_) return;
    ending_ = true;
    write_next();
  }

  bool open() const override { return session_ != nullptr && !ending_; }
  std::size_t queued_bytes() const override { return queued_; }
  void on_drained(std::function<void()> drained) override { drained_ = std::move(drained); }
  void on_closed(std::function<void()> closed) override { closed_ = std::move(closed); }

 private:
  void enqueue(std::string piece) {
    if (session_->bodiless()) return;
    count(queued_ + piece.size());
    pieces_.push_back(std::move(piece));
  }

  void count(std::size_t bytes) {
    queued_ = bytes;
    session_->queued(bytes);
  }

  void write_next() {
    if (writing_ || !session_) return;
    if (pieces_.empty()) {
      if (!ending_) return;
      writing_ = true;
      session_->send_last([self = shared_from_this()](bool ok) { self->over(ok); });
      return;
    }
    writing_ = true;
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    count(queued_ - piece.size());
    session_->send_piece(std::move(piece), [self = shared_from_this()](bool ok) { self->written(ok); });
  }

  void written(bool ok) {
    writing_ = false;
    if (!ok || gone_) return over(false);
    write_next();
    if (!writing_ && session_ && drained_) {
      const auto drained = drained_;  // it may replace itself
      drained();
    }
  }

  void gone() {
    gone_ = true;
    if (!writing_) over(false);
  }

  void over(bool ok) {
    const auto session = std::exchange(session_, nullptr);
    pieces_.clear();
    queued_ = 0;
    drained_ = nullptr;
    if (session) session->finish(ok);
    if (const auto closed = std::move(closed_)) closed();
  }

  std::shared_ptr<HttpSession> session_;
  std::deque<std::string> pieces_;
  std::size_t queued_ = 0;
  bool writing_ = false;
  bool ending_ = false;
  bool gone_ = false;
  std::function<void()> drained_;
  std::function<void()> closed_;
};

class SessionResponder final : public HttpResponder {
 public:
  explicit SessionResponder(std::shared_ptr<HttpSession> session) : session_(std::move(session)) {}
  ~SessionResponder() override {
    if (session_) session_->close();
  }
  SessionResponder(const SessionResponder&) = delete;
  SessionResponder& operator=(const SessionResponder&) = delete;

  void reply(HttpReply reply) override {
    if (const auto session = std::exchange(session_, nullptr)) session->send(std::move(reply));
  }

  void on_closed(std::function<void()> closed) override {
    if (session_) session_->watch(std::move(closed));
  }

  std::shared_ptr<HttpStream> stream(HttpReply head, std::optional<std::uint64_t> length) override {
    const auto session = std::exchange(session_, nullptr);
    auto stream = std::make_shared<SessionStream>(session);
    if (session) stream->begin(std::move(head), length);
    return stream;
  }

 private:
  std::shared_ptr<HttpSession> session_;
};

void HttpSession::begin_wait() {
  end_wait();
  wait_ = ++state_->begun;
  state_->waiting[wait_] = this;
}

void HttpSession::read_next() {
  begin_wait();
  head_request_ = keep_alive_ = accepts_gzip_ = false;
  version_ = kHttp11;
  parser_.emplace();
  parser_->header_limit(state_->options.header_bytes_max);
  parser_->body_limit(state_->options.body_bytes_max);
  if (buffer_.size() > 0) return read_header();
  // Until the first byte the connection is idle; from then on the deadline is the request's. Who connects has something to ask.
  constexpr std::size_t kFirstReadSize = 4'096;
  const HttpServerOptions& options = state_->options;
  expire_after(requests_ > 0 ? options.idle_ms : std::min(options.idle_ms, options.read_ms));
  stream_.async_read_some(buffer_.prepare(kFirstReadSize),
                          [self = shared_from_this()](const BeastError& error, std::size_t size) {
                            if (error) return self->close();
                            self->buffer_.commit(size);
                            self->begin_wait();
                            self->read_header();
                          });
}

// One deadline from the first byte to the last: it is not set anew for the body.
void HttpSession::read_header() {
  expire_after(state_->options.read_ms);
  http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](const BeastError& error, std::size_t) {
    if (!error) {
      if (auto refusal = self->refusal_of_head()) return self->refuse(std::move(*refusal));
    }
    if (error || self->parser_->is_done()) return self->on_read(error);
    const std::string expect = lower_case(self->parser_->get()[http::field::expect]);
    expect == "100-continue" ? self->send_continue() : self->read_body();
  });
}

// What the head says is judged before a byte of the body is read.
std::optional<HttpReply> HttpSession::refusal_of_head() {
  const auto& message = parser_->get();
  head_request_ = message.method() == http::verb::head;
  version_ = message.version();
  request_ = plain_head(message);
  std::optional<std::string> fault = ambiguity(request_);
  if (!fault) fault = take_target(message.target(), request_);
  if (fault) return error_reply(400, "invalid_argument", *fault);
  std::vector<std::string> hosts = state_->hosts;
  BeastError gone;
  const tcp::endpoint reached = stream_.socket().local_endpoint(gone);  // a page can give itself a name, not an address
  if (!gone) hosts.push_back(net::host_in_url(net::without_mapping(reached.address())));
  return refusal(request_, hosts);
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
  memory_.hold(buffer_.capacity() + body + reply_bytes_, wait_);
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
  end_wait();
  reading_body_ = false;
  if (let_go_) {
    parser_.reset();
    return refuse(error_reply(503, "unavailable", "more is being sent to this server at once than it has memory for",
                              "send it again later, or raise --memory-max"));
  }
  if (!error) return dispatch();
  keep_alive_ = false;
  if (error == http::error::body_limit) {
    return send(
        error_reply(413, "too_large", "the body is larger than " + std::to_string(state_->options.body_bytes_max) + " bytes"));
  }
  if (error == http::error::header_limit) {
    return send(error_reply(431, "too_large",
                            "the header is larger than " + std::to_string(state_->options.header_bytes_max) + " bytes"));
  }
  if (error == http::error::buffer_overflow) {
    return refuse(error_reply(400, "invalid_argument", "a chunk's extension or the trailers of the body are too long"));
  }
  const bool malformed = error.category() == make_error_code(http::error::bad_method).category() &&
                         error != http::error::end_of_stream && error != http::error::partial_message;
  if (malformed) return refuse(error_reply(400, "invalid_argument", "not an HTTP request: " + error.message()));
  close();
}

// And the connection: where its next request begins is not known.
void HttpSession::refuse(HttpReply reply) {
  end_wait();
  keep_alive_ = false;
  send(std::move(reply));
}

void HttpSession::watch(std::function<void()> gone) {
  gone_ = std::move(gone);
  wait_for_client();
}

// With no more room for what it sends ahead, it goes unwatched until a write fails.
void HttpSession::wait_for_client() {
  if (buffer_.size() == buffer_.max_size()) return;
  stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), request = requests_](const BeastError& error) {
    if (error || !self->gone_ || request != self->requests_) return;
    self->client_closed() ? self->close() : self->wait_for_client();
  });
}

// Takes in what it has sent ahead, behind which its end would not be seen.
bool HttpSession::client_closed() {
  const auto room = buffer_.prepare(buffer_.max_size() - buffer_.size());
  if (room.size() == 0) return false;
  const ssize_t got = ::recv(stream_.socket().native_handle(), room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) buffer_.commit(static_cast<std::size_t>(got));
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

void HttpSession::dispatch() {
  ++requests_;
  auto message = parser_->release();
  keep_alive_ = message.keep_alive() && state_->accepting;
  accepts_gzip_ = takes_gzip(message[http::field::accept_encoding]);
  request_.body = std::move(message.body());
  const HttpRequest request = std::exchange(request_, {});
  parser_.reset();
  hold_memory();
  const auto responder = std::make_shared<SessionResponder>(shared_from_this());
  try {
    state_->handler(request, responder);
  } catch (const std::exception& e) {
    log_error("request failed", {{"path", request.path}, {"why", e.what()}});
    responder->reply(error_reply(500, "internal", "the server failed to answer", "its log says more"));
  }
}

// ---- replies
// --------------------------------------------------------------------------------------------------------------------

bool HttpSession::may_gzip(const HttpReply& reply) const {
  return accepts_gzip_ && reply.body.size() >= state_->options.gzip_bytes_min &&
         (reply.content_type.starts_with("application/json") || reply.content_type.starts_with("text/"));
}

void HttpSession::send(HttpReply reply) {
  gone_ = nullptr;
  if (accepts_gzip_ && !reply.gzip.empty()) {
    reply.body = std::move(reply.gzip);
    reply.headers.emplace_back("Content-Encoding", "gzip");
    return send_as_is(std::move(reply));
  }
  queued(reply.body.size());
  if (!may_gzip(reply)) return send_as_is(std::move(reply));
  if (reply.body.size() > kZipOnLoopBytesMax) return send_zipped_elsewhere(std::move(reply));
  reply.body = gzip(reply.body);
  reply.headers.emplace_back("Content-Encoding", "gzip");
  send_as_is(std::move(reply));
}

// The session is moved from thread to thread, so that it can only be destroyed on the loop's.
void HttpSession::send_zipped_elsewhere(HttpReply reply) {
  asio::post(state_->zipper, [self = shared_from_this(), reply = std::move(reply)]() mutable {
    reply.body = gzip(reply.body);
    reply.headers.emplace_back("Content-Encoding", "gzip");
    asio::io_context& loop = self->state_->loop;
    asio::post(loop, [self = std::move(self), reply = std::move(reply)]() mutable { self->send_as_is(std::move(reply)); });
  });
}

void HttpSession::send_as_is(HttpReply reply) {
  response_.emplace(static_cast<http::status>(reply.status), version_);
  set_fields(*response_, reply);
  response_->keep_alive(keep_alive_);
  const std::size_t size = reply.body.size();
  if (!head_request_) response_->body() = std::move(reply.body);
  const bool has_body = reply.status != 204 && reply.status != 304;
  if (has_body) response_->content_length(size);
  response_serializer_.emplace(*response_);
  const std::int64_t ms = state_->options.write_ms + static_cast<std::int64_t>(size) / kReplyBytesPerMsMin;
  response_due_ = SessionClock::now() + std::chrono::milliseconds(std::min(ms, std::max(state_->options.write_ms, kReplyMsMax)));
  send_more();
}

// A client that takes nothing is let go as soon as with a short reply, one that takes little when the whole is due.
void HttpSession::send_more() {
  stream_.expires_at(std::min(response_due_, SessionClock::now() + std::chrono::milliseconds(state_->options.write_ms)));
  http::async_write_some(stream_, *response_serializer_, [self = shared_from_this()](const BeastError& error, std::size_t) {
    if (error || self->response_serializer_->is_done()) return self->finish(!error);
    self->send_more();
  });
}

void HttpSession::send_head(HttpReply head, std::optional<std::uint64_t> length, std::function<void(bool)> sent) {
  chunked_ = !length && version_ >= kHttp11;
  head_.emplace(static_cast<http::status>(head.status), version_);
  set_fields(*head_, head);
  if (length) {
    head_->content_length(*length);
  } else if (chunked_) {
    head_->chunked(true);
  } else {
    keep_alive_ = false;  // HTTP/1.0: the end of the connection is the end of the body
  }
  head_->keep_alive(keep_alive_);
  head_serializer_.emplace(*head_);
  expire_after(state_->options.write_ms);
  http::async_write_header(
      stream_, *head_serializer_,
      [self = shared_from_this(), sent = std::move(sent)](const BeastError& error, std::size_t) { sent(!error); });
}

void HttpSession::send_piece(std::string piece, std::function<void(bool)> sent) {
  piece_ = std::move(piece);
  expire_after(state_->options.write_ms);
  const auto written = [self = shared_from_this(), sent = std::move(sent)](const BeastError& error, std::size_t) {
    sent(!error);
  };
  if (chunked_) {
    asio::async_write(stream_, http::make_chunk(asio::buffer(piece_)), written);
  } else {
    asio::async_write(stream_, asio::buffer(piece_), written);
  }
}

void HttpSession::send_last(std::function<void(bool)> sent) {
  if (!chunked_ || head_request_)
    return asio::post(stream_.get_executor(), [self = shared_from_this(), sent = std::move(sent)] { sent(true); });
  expire_after(state_->options.write_ms);
  asio::async_write(stream_, http::make_chunk_last(),
                    [self = shared_from_this(), sent = std::move(sent)](const BeastError& error, std::size_t) { sent(!error); });
}

void HttpSession::finish(bool written) {
  response_serializer_.reset();
  response_.reset();
  gone_ = nullptr;
  queued(0);
  if (!written) return close();
  if (keep_alive_ && state_->accepting) return read_next();
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
  if (const auto gone = std::exchange(gone_, nullptr)) gone();
}

// ---- the listener
// ---------------------------------------------------------------------------------------------------------------

void HttpServer::State::accept() {
  acceptor.async_accept([weak = weak_from_this()](const BeastError& error, tcp::socket socket) {
    const auto state = weak.lock();
    if (!state || !state->accepting) return;
    if (error == asio::error::operation_aborted) return;
    if (error) {  // no file descriptors left, say: again in a while
      state->end_longest_waiting();
      constexpr auto kRetryAfter = std::chrono::milliseconds(100);
      state->retry.expires_after(kRetryAfter);
      return state->retry.async_wait([weak](const BeastError& cancelled) {
        const auto alive = weak.lock();
        if (!cancelled && alive) alive->accept();
      });
    }
    if (state->sessions.size() < state->options.connections_max || state->end_longest_waiting()) {
      BeastError ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      std::make_shared<HttpSession>(state, std::move(socket))->read_next();
    }
    state->accept();
  });
}

// So that connections which ask for nothing, or for nothing more, keep nobody out. False: there is none.
bool HttpServer::State::end_longest_waiting() {
  if (waiting.empty()) return false;
  const auto session = waiting.begin()->second->shared_from_this();
  waiting.erase(waiting.begin());
  session->close();
  return true;
}

HttpServer::HttpServer(asio::io_context& loop, const tcp::endpoint& listen, HttpServerOptions options, HttpHandler handler)
    : state_(std::make_shared<State>(loop, listen, std::move(options), std::move(handler))) {
  state_->accept();
}

HttpServer::~HttpServer() { close(); }

std::uint16_t HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }
std::size_t HttpServer::connections() const { return state_->sessions.size(); }
ConnectionLoad HttpServer::load() const { return {connections(), state_->memory->bytes(), state_->memory->let_go()}; }

void HttpServer::stop_accepting() {
  state_->accepting = false;
  BeastError ignored;
  state_->acceptor.close(ignored);
}

void HttpServer::close() {
  stop_accepting();
  const std::vector<HttpSession*> sessions(state_->sessions.begin(), state_->sessions.end());
  for (HttpSession* session : sessions) {
    if (state_->sessions.contains(session)) session->shared_from_this()->close();
  }
}

}  // namespace tuneband::server
