#include "workers/xgboost/task_thread.hpp"

#include <utility>

namespace tuneband::workers {

TaskThread::~TaskThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TaskThread::run(const std::function<void()>& work) {
  std::future<void> done;
  {
    const std::lock_guard lock(mutex_);
    work_.emplace(work);
    done = work_->get_future();
  }
  changed_.notify_all();
  done.get();
}

void TaskThread::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ || ending_; });
    if (!work_) return;
    std::packaged_task<void()> work = std::move(*work_);
    work_.reset();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace tuneband::workers
