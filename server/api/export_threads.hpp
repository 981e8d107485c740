// Long reads: a whole job's rows, piece by piece, or what takes a while to compute. Each on a thread and a database connection of
// its own, so that it sees one moment and delays nobody. A client that reads slowly holds up its own export alone: what it has
// not taken stays within kQueuedBytesMax, and it is let go when it was waited for patience_ms in all. While a read lasts, the
// database's log only grows. There are so many threads; further exports wait in order, and those whose client is gone by their
// turn are not begun.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analytics/reader.hpp"
#include "core/error.hpp"
#include "server/http/http_types.hpp"

namespace tuneband::server {

class ExportThreads {
 public:
  static constexpr std::size_t kWaitingMax = 64;  // exports, under way or waiting for a thread
  static constexpr std::size_t kQueuedBytesMax = 1024 * 1024;

  enum class Body { in_pieces, whole };  // whole: gathered first, and sent as a reply of known length, with gzip if wanted
  struct Options {
    std::size_t threads = 4;
    std::int64_t patience_ms = 180'000;
    Body body = Body::in_pieces;
  };

  // Gives its text to the sink, which may block, and throws when the client is gone: let that pass.
  using Produce = std::function<Result<void>(Reader&, const Sink&)>;
  // The same of what waits for another program before it has any. `gone_fd`: readable once the client is gone.
  using ProduceWhileWanted = std::function<Result<void>(Reader&, const Sink&, int gone_fd)>;

  ExportThreads(boost::asio::io_context& loop, Reader::Source source, Options options);
  ~ExportThreads();  // close()
  ExportThreads(const ExportThreads&) = delete;
  ExportThreads& operator=(const ExportThreads&) = delete;

  // Loop thread. Answers with `head` and the text, or with the error that came before any text.
  void run(HttpReply head, Produce produce, const Respond& respond);
  void run(HttpReply head, ProduceWhileWanted produce, const Respond& respond);
  // Loop thread. Cuts off what is under way.
  void close();
  // Loop thread. Of those taken, how many have not ended.
  std::size_t under_way() const {
    return static_cast<std::size_t>(
        std::count_if(exports_.begin(), exports_.end(), [](const auto& weak) { return !weak.expired(); }));
  }

 private:
  class Export;

  boost::asio::io_context& loop_;
  Reader::Source source_;
  Options options_;
  std::vector<std::weak_ptr<Export>> exports_;
  boost::asio::thread_pool threads_{options_.threads};
};

}  // namespace tuneband::server
