#include "cli/client/event_listener.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

#include "core/check.hpp"

namespace tuneband::cli {

namespace {

constexpr std::chrono::milliseconds kReconnectAfter{1000};

}  // namespace

EventListener::EventListener(ApiClient client, std::int64_t job)
    : client_(std::move(client)), target_(job_path(std::to_string(job)) + "/events") {
  TUNEBAND_CHECK(pipe2(fds_, O_CLOEXEC | O_NONBLOCK) == 0, "a pipe can be made");
  thread_ = std::thread([this] { listen(); });
}

EventListener::~EventListener() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  client_.cancel();
  thread_.join();
  close(fds_[0]);
  close(fds_[1]);
}

void EventListener::clear() {
  char buffer[64];
  while (read(fds_[0], buffer, sizeof buffer) > 0) {
  }
}

void EventListener::wake() {
  const ssize_t written = write(fds_[1], "!", 1);
  static_cast<void>(written);  // a full pipe is as good: it is readable
}

void EventListener::listen() {
  while (true) {
    static_cast<void>(client_.stream(target_, [this](std::string_view) {
      wake();
      const std::lock_guard lock(mutex_);
      return !stopping_;
    }));
    wake();  // the job is over, or the server ended, or let a slow reader go: whoever watches asks which
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kReconnectAfter, [this] { return stopping_; })) return;
  }
}

}  // namespace tuneband::cli
