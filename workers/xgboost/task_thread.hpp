// A thread that does one piece of work after the other for another thread, which waits. For libraries that keep their state by
// thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

namespace tuneband::workers {

class TaskThread {
 public:
  TaskThread() : thread_([this] { serve(); }) {}
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Returns when it is done, with its exception if it threw one.
  void run(const std::function<void()>& work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::packaged_task<void()>> work_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tuneband::workers
