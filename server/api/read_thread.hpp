// The one thread that reads the database for the API, and does other work that would keep the loop busy (parsing and planning
// jobs).
//
// Work and what it captures must not touch anything of the loop's; its result is handed over on the loop thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "analytics/reader.hpp"
#include "core/error.hpp"

namespace tuneband::server {

// What the API says of work that threw; the log says more.
Error failed_read(const std::exception& failure);

using ReadText = std::function<Result<std::string>(Reader&)>;

// What `read(Reader&)` gives, as JSON; a text is JSON already.
template <class Read>
ReadText json_of(Read read) {
  return [read = std::move(read)](Reader& reader) mutable -> Result<std::string> {
    auto found = read(reader);
    if (!found) return found.error();
    if constexpr (std::is_same_v<std::decay_t<decltype(*found)>, std::string>) {
      return std::move(*found);
    } else if constexpr (std::is_same_v<std::decay_t<decltype(*found)>, RawJson>) {
      return std::move(found->text);
    } else {
      return json_text(*found);
    }
  };
}

class ReadThread {
 public:
  static constexpr std::size_t kWaitingMax = 1'000;

  // Throws SqliteError when the database cannot be opened.
  ReadThread(boost::asio::io_context& loop, const Reader::Source& source) : loop_(loop), reader_(Reader::open(source)) {}
  ~ReadThread() {
    thread_.stop();
    thread_.join();
  }
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;

  // Loop thread. `work(Reader&)` gives a Result<T> on the read thread, `done(const Result<T>&)` gets it on the loop thread, never
  // from within run(): `unavailable` when too much is waiting, `internal` when `work` threw.
  template <class Work, class Done>
  void run(Work work, Done done) {
    using Answer = std::invoke_result_t<Work&, Reader&>;
    if (waiting_ >= kWaitingMax) {
      boost::asio::post(loop_, [done = std::move(done)]() mutable {
        done(Answer(Error{ErrorCode::unavailable, "too many reads are waiting", "", "try again in a moment"}));
      });
      return;
    }
    ++waiting_;
    // `done` may hold what belongs to the loop: behind a pointer it is moved on, never copied or destroyed on the other thread.
    boost::asio::post(thread_, [this, work = std::move(work), owned = std::make_unique<Done>(std::move(done))]() mutable {
      boost::asio::post(loop_, [this, answer = attempt<Answer>(work), owned = std::move(owned)]() mutable {
        --waiting_;
        (*owned)(std::move(answer));
      });
    });
  }

  std::size_t waiting() const { return waiting_; }

 private:
  template <class Answer, class Work>
  Answer attempt(Work& work) {
    try {
      return work(reader_);
    } catch (const std::exception& failure) {
      return failed_read(failure);
    }
  }

  boost::asio::io_context& loop_;
  Reader reader_;  // read thread only, once constructed
  std::size_t waiting_ = 0;
  boost::asio::thread_pool thread_{1};
};

}  // namespace tuneband::server
