// Listens to a job's server-sent events on a thread of its own, and tells by a file descriptor that something happened. What
// happened is asked for afterwards: events are a reason to look, not the state.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/client/api_client.hpp"
#include "os/wake_event.hpp"

namespace tuneband::cli {

class EventListener {
 public:
  EventListener(ApiClient client, std::int64_t job);
  ~EventListener();
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;

  int fd() const { return happened_.fd(); }  // readable when something happened since clear()
  void clear() { happened_.clear(); }

 private:
  void listen();

  ApiClient client_;
  std::string target_;
  os::WakeEvent happened_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace tuneband::cli
