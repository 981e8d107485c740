// The one thread that reads the database for the API, and does other work that would keep the loop busy (parsing and planning jobs).
//
// Work and what it captures must not touch anything of the loop's; its result is handed over on the loop thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "db/reader.hpp"

namespace tuneband::server {

class ReadThread {
 public:
  static constexpr std::size_t kWaitingMax = 1'000;

  ReadThread(boost::asio::io_context& loop, std::string database_file);
  ~ReadThread();  // waits for the work under way
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;

  // Loop thread. `done` gets what `work` gave, `unavailable` when too much is waiting, `internal` when `work` threw. It is never
  // called from within run(), and always destroyed on the loop thread.
  template <class T>
  void run(std::function<Result<T>(Reader&)> work, std::function<void(const Result<T>&)> done);

  std::size_t waiting() const { return waiting_; }

 private:
  using Completion = std::function<void()>;                   // for the loop thread
  using Job = std::function<Completion(Reader*, const Error*)>;  // a reader, or why there is none

  void post(Job job);
  Reader* reader(Error& failure);

  boost::asio::io_context& loop_;
  std::string database_file_;
  std::size_t waiting_ = 0;       // loop thread only
  std::optional<Reader> reader_;  // read thread only
  boost::asio::thread_pool thread_{1};
};

// What an exception said, in the log; an `internal` error for the client.
Error failed_read(const std::exception& failure);

template <class T>
void ReadThread::run(std::function<Result<T>(Reader&)> work, std::function<void(const Result<T>&)> done) {
  post([work = std::move(work), done = std::move(done)](Reader* reader, const Error* failure) mutable -> Completion {
    const auto attempt = [&]() -> Result<T> {
      if (reader == nullptr) return *failure;
      try {
        return work(*reader);
      } catch (const std::exception& thrown) {
        return failed_read(thrown);
      }
    };
    return [done = std::exchange(done, nullptr), result = std::make_shared<Result<T>>(attempt())] { done(*result); };
  });
}

}  // namespace tuneband::server
