#include "server/api/export_threads.hpp"

#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "os/wake_event.hpp"
#include "server/api/read_thread.hpp"

namespace tuneband::server {

namespace {

class ClientGone : public std::runtime_error {
 public:
  ClientGone() : std::runtime_error("the client is gone") {}
};

}  // namespace

// The loop's side has the stream; the thread's side knows only how much is on its way.
class ExportThreads::Export : public std::enable_shared_from_this<Export> {
 public:
  Export(HttpReply head, Respond respond, std::int64_t patience_ms)
      : head_(std::move(head)), respond_(std::move(respond)), patience_(patience_ms) {}

  // ---- its thread

  // Gives what is readable once the client is gone.
  int begin() {
    const std::lock_guard lock(mutex_);
    if (gone_) throw ClientGone();
    return told_.emplace().fd();
  }

  // Blocks while the client has too much to take yet.
  void give(boost::asio::io_context& loop, std::string_view piece) {
    {
      std::unique_lock lock(mutex_);
      const auto before = std::chrono::steady_clock::now();
      const bool room = room_.wait_for(lock, patience_, [this] { return gone_ || queued_ < kQueuedBytesMax; });
      patience_ -= std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - before);
      if (!room || gone_) throw ClientGone();
      queued_ += piece.size();
    }
    boost::asio::post(loop, [self = shared_from_this(), text = std::string(piece)]() mutable { self->write(std::move(text)); });
  }

  // ---- the loop

  // Before its text, which may come much later.
  void watch_client() { respond_->on_closed(when_client_goes()); }

  void write(std::string text) {
    if (!respond_) return;
    if (!stream_) open();
    written_ += text.size();
    stream_->write(std::move(text));
  }

  void reply_whole(std::string text) {
    if (!respond_) return;
    head_.body = std::move(text);
    respond_->reply(std::move(head_));
    respond_.reset();
  }

  void end(const std::optional<Error>& failure) {
    if (respond_ && !stream_ && failure) {
      respond_->reply(error_reply(*failure));
    } else if (respond_ && !failure) {
      if (!stream_) open();
      stream_->end();
    }
    // A body that breaks off is without its end: the client can tell.
    stream_.reset();
    respond_.reset();
  }

  void client_gone() {
    respond_.reset();  // the connection is not held until its turn comes
    const std::lock_guard lock(mutex_);
    gone_ = true;
    if (told_) told_->set();
    room_.notify_one();
  }

 private:
  void open() {
    stream_ = respond_->stream(std::move(head_));
    stream_->on_drained([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->drained();
    });
    stream_->on_closed(when_client_goes());
  }

  std::function<void()> when_client_goes() {
    return [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->client_gone();
    };
  }

  void drained() {
    const std::lock_guard lock(mutex_);
    queued_ -= std::exchange(written_, 0);
    room_.notify_one();
  }

  HttpReply head_;
  Respond respond_;
  std::shared_ptr<HttpStream> stream_;
  std::size_t written_ = 0;             // since the stream was last drained
  std::chrono::milliseconds patience_;  // what is left of it

  std::mutex mutex_;  // of what follows
  std::condition_variable room_;
  std::size_t queued_ = 0;  // given, and not yet with the client
  bool gone_ = false;
  std::optional<os::WakeEvent> told_;  // of gone_; from begin() on
};

ExportThreads::ExportThreads(boost::asio::io_context& loop, Reader::Source source, Options options)
    : loop_(loop), source_(std::move(source)), options_(options) {}

ExportThreads::~ExportThreads() {
  close();
  threads_.stop();
  threads_.join();
}

void ExportThreads::close() {
  for (const auto& weak : exports_) {
    if (const auto its = weak.lock()) its->client_gone();
  }
}

void ExportThreads::run(HttpReply head, Produce produce, const Respond& respond) {
  const auto to_the_end = [produce = std::move(produce)](Reader& reader, const Sink& sink, int) { return produce(reader, sink); };
  run(std::move(head), ProduceWhileWanted(to_the_end), respond);
}

void ExportThreads::run(HttpReply head, ProduceWhileWanted produce, const Respond& respond) {
  std::erase_if(exports_, [](const auto& weak) { return weak.expired(); });
  if (exports_.size() >= kWaitingMax) {
    return respond->reply(
        error_reply(Error{ErrorCode::unavailable, "too many exports are under way", "", "try again in a moment"}));
  }
  auto its = std::make_shared<Export>(std::move(head), respond, options_.patience_ms);
  its->watch_client();
  exports_.push_back(its);
  boost::asio::post(threads_, [this, its = std::move(its), produce = std::move(produce)]() mutable {
    std::optional<Error> failure;
    const bool whole = options_.body == Body::whole;
    std::string gathered;
    try {
      const int gone_fd = its->begin();
      Reader reader = Reader::open(source_);
      const auto take = [&](std::string_view piece) {
        if (whole) {
          gathered += piece;
        } else {
          its->give(loop_, piece);
        }
      };
      const auto done = produce(reader, take, gone_fd);
      if (!done) failure = done.error();
    } catch (const ClientGone& gone) {
      failure = Error{ErrorCode::unavailable, gone.what(), "", ""};
    } catch (const std::exception& broken) {
      failure = failed_read(broken);
    }
    // What belongs to the loop ends there.
    boost::asio::post(loop_, [its = std::move(its), failure, whole, gathered = std::move(gathered)]() mutable {
      if (whole && !failure) return its->reply_whole(std::move(gathered));
      its->end(failure);
    });
  });
}

}  // namespace tuneband::server
