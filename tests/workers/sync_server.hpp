// The server's side of the worker protocol, for tests.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/loopback_server.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {

// What it desires, which of its replies get lost, and all that it was told.
class SyncServer {
 public:
  ~SyncServer() { stop(); }

  void start() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = false;
    }
    http_ = std::make_unique<LoopbackServer>([this](const auto& request) { return answer(request); }, port_);
    port_ = http_->port();
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    http_.reset();
  }
  std::string url() const { return http_->url(); }

  void desire(std::optional<protocol::AssignmentOrder> order) {
    const std::lock_guard lock(mutex_);
    desired_ = std::move(order);
    changed_.notify_all();
  }
  // With the next reply.
  void ask_to_check(protocol::CheckOrder order) {
    const std::lock_guard lock(mutex_);
    check_ = std::move(order);
    changed_.notify_all();
  }
  void desire_drain() {
    const std::lock_guard lock(mutex_);
    drain_ = true;
    changed_.notify_all();
  }
  void lose_replies(int count) {
    const std::lock_guard lock(mutex_);
    lose_ = count;
  }
  // Counts from the first report of an exit on.
  void lose_replies_to_exit(int count) {
    const std::lock_guard lock(mutex_);
    lose_to_exit_ = count;
  }
  // What the server does on an exit before it answers, for "the next order comes with the reply".
  void on_exit(std::function<std::optional<protocol::AssignmentOrder>(const protocol::AssignmentStatus&)> next) {
    const std::lock_guard lock(mutex_);
    on_exit_ = std::move(next);
  }

  // Waits until some request fulfils `wanted`; all of them are kept.
  protocol::SyncRequest wait_for(const std::function<bool(const protocol::SyncRequest&)>& wanted) {
    std::unique_lock lock(mutex_);
    protocol::SyncRequest found;
    changed_.wait(lock, [&] {
      for (const protocol::SyncRequest& request : requests_) {
        if (!wanted(request)) continue;
        found = request;
        return true;
      }
      return false;
    });
    return found;
  }
  protocol::SyncRequest wait_for_exit(std::int64_t epoch) {
    return wait_for([epoch](const protocol::SyncRequest& r) {
      return r.assignment && r.assignment->epoch == epoch && !r.assignment->exit.empty();
    });
  }
  // `Authorization` of the last request.
  std::string shown() const {
    const std::lock_guard lock(mutex_);
    return shown_;
  }
  std::vector<protocol::SyncRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::optional<LoopbackAnswer> answer(const LoopbackServer::Request& http) {
    Diagnostics diagnostics;
    const protocol::SyncRequest request = protocol::sync_request_from_json(*parse_json(http.body()), diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    EXPECT_TRUE(http.target().starts_with("/v1/workers/w-"));

    std::unique_lock lock(mutex_);
    requests_.push_back(request);
    shown_ = http[http::field::authorization];
    if (request.assignment && !request.assignment->exit.empty() && desired_ && desired_->epoch == request.assignment->epoch) {
      desired_ = on_exit_ ? on_exit_(*request.assignment) : std::nullopt;
      lose_ += std::exchange(lose_to_exit_, 0);
    }
    changed_.notify_all();
    const bool idle = !request.assignment && !request.draining;
    if (idle) changed_.wait(lock, [this] { return desired_ || drain_ || stopping_ || check_; });
    if (stopping_) return std::nullopt;
    if (lose_ > 0) {
      --lose_;
      return std::nullopt;
    }
    protocol::SyncReply reply{.desired = drain_                          ? "drain"
                                         : desired_ && !request.draining ? "execute"
                                                                         : "idle",
                              .order = {},
                              .sync_within_ms = 5};
    if (reply.desired == "execute") reply.order = desired_;
    reply.check = std::exchange(check_, std::nullopt);
    return LoopbackAnswer{.body = to_json(reply).dump()};
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<protocol::SyncRequest> requests_;
  std::string shown_;
  std::optional<protocol::AssignmentOrder> desired_;
  std::function<std::optional<protocol::AssignmentOrder>(const protocol::AssignmentStatus&)> on_exit_;
  std::optional<protocol::CheckOrder> check_;
  bool drain_ = false;
  bool stopping_ = false;
  int lose_ = 0;
  int lose_to_exit_ = 0;
  unsigned short port_ = 0;
  std::unique_ptr<LoopbackServer> http_;
};

}  // namespace tuneband::test
