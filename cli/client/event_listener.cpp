#include "cli/client/event_listener.hpp"

#include <chrono>

namespace tuneband::cli {

namespace {

constexpr std::chrono::milliseconds kReconnectAfter{1000};

}  // namespace

EventListener::EventListener(ApiClient client, std::int64_t job)
    : client_(std::move(client)), target_(job_path(std::to_string(job)) + "/events") {
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
}

void EventListener::listen() {
  while (true) {
    static_cast<void>(client_.stream(target_, [this](std::string_view) {
      happened_.set();
      const std::lock_guard lock(mutex_);
      return !stopping_;
    }));
    happened_.set();  // the job is over, or the server ended, or let a slow reader go: whoever watches asks which
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kReconnectAfter, [this] { return stopping_; })) return;
  }
}

}  // namespace tuneband::cli
