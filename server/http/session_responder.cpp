#include "server/http/session_responder.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/http/http_session.hpp"

namespace tuneband::server {

namespace {

// A body under way.
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
    ending_ = bodiless();
    session_->writer().send_head(head, length, once_sent(&SessionStream::written));
    const auto when_gone = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->gone();
    };
    session_->watch(HttpSession::Watch::stream, when_gone);
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
    if (bodiless()) return;
    count(queued_ + piece.size(), sending_);
    pieces_.push_back(std::move(piece));
  }

  bool bodiless() const { return session_->writer().form().bodiless; }

  // Until then the session lives, and this.
  ReplyWriter::Sent once_sent(void (SessionStream::*next)(bool)) {
    return [self = shared_from_this(), session = session_, next](bool ok) { (self.get()->*next)(ok); };
  }

  void count(std::size_t queued, std::size_t sending) {
    queued_ = queued;
    sending_ = sending;
    session_->queued(queued_ + sending_);
  }

  void write_next() {
    if (writing_ || !session_) return;
    if (pieces_.empty()) {
      if (!ending_) return;
      writing_ = true;
      return session_->writer().send_last(once_sent(&SessionStream::over));
    }
    writing_ = true;
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    count(queued_ - piece.size(), piece.size());
    session_->writer().send_piece(std::move(piece), once_sent(&SessionStream::written));
  }

  void written(bool ok) {
    writing_ = false;
    if (!ok || gone_) return over(false);
    count(queued_, 0);
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
  std::size_t sending_ = 0;  // of the piece that is on its way
  bool writing_ = false;
  bool ending_ = false;
  bool gone_ = false;
  std::function<void()> drained_;
  std::function<void()> closed_;
};

// Dropped without an answer it closes the connection.
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
    if (session_) session_->watch(HttpSession::Watch::answer, std::move(closed));
  }

  void on_no_more_sent(std::function<void()> told) override {
    if (session_) session_->watch(HttpSession::Watch::sending, std::move(told));
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

}  // namespace

Respond make_responder(std::shared_ptr<HttpSession> session) { return std::make_shared<SessionResponder>(std::move(session)); }

}  // namespace tuneband::server
