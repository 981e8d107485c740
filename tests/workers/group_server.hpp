// The server's side of the worker protocol for the workers of one group, as far as a test needs it: gives all ranks an order of
// one epoch, takes it back when one of them fails, and knows who is free again.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/net/loopback_server.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {

class GroupServer {
 public:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::chrono::seconds kPatienceWithWorkers{60};

  GroupServer() : http_(std::make_unique<LoopbackServer>([this](const auto& request) { return answer(request); })) {}
  ~GroupServer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    http_.reset();
  }

  std::string url() const { return http_->url(); }

  // The names of workers, in the order of their ranks.
  bool wait_until_idle(const std::vector<std::string>& names) {
    return wait([&] {
      for (const std::string& name : names) {
        if (!is_idle(workers_[name])) return false;
      }
      return true;
    });
  }

  // Every rank gets the order, with its own place in the group.
  void give(const std::vector<std::string>& names, protocol::AssignmentOrder order, protocol::GroupPlace place) {
    const std::lock_guard lock(mutex_);
    place.world_size = static_cast<int>(names.size());
    for (place.rank = 0; place.rank < place.world_size; ++place.rank) {
      order.group = place;
      WorkerState& worker = workers_[names[static_cast<std::size_t>(place.rank)]];
      worker.desired = order;
      worker.exit.reset();
    }
    changed_.notify_all();
  }
  // As when a worker is lost: nobody is to go on.
  void take_back() {
    const std::lock_guard lock(mutex_);
    take_all_back();
  }
  // Its process has ended, and another comes.
  void expect_anew(const std::string& name) {
    const std::lock_guard lock(mutex_);
    WorkerState& worker = workers_[name];
    worker.idle = worker.executing = false;
    ++worker.requests;
  }
  void drain(const std::string& name) {
    const std::lock_guard lock(mutex_);
    workers_[name].drain = true;
    changed_.notify_all();
  }

  // For `milliseconds`, or until all workers are idle.
  void let_them_work(int milliseconds) {
    Lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] {
      for (const auto& [name, worker] : workers_) {
        if (!is_idle(worker)) return false;
      }
      return true;
    });
  }

  bool wait_for_exit(const std::string& name) {
    return wait([&] { return workers_[name].exit.has_value(); });
  }
  bool wait_for_observation(const std::string& name, std::int64_t resource) {
    return wait([&] { return workers_[name].observed >= resource; });
  }
  bool wait_until_executing(const std::string& name) {
    return wait([&] { return workers_[name].executing; });
  }
  std::string exit_of(const std::string& name) { return with(name).exit ? with(name).exit->exit : ""; }
  std::string message_of(const std::string& name) { return with(name).exit ? with(name).exit->message : ""; }
  protocol::SyncRequest last_request(const std::string& name) { return with(name).last; }
  // The ids under which it has come, as long as they changed.
  std::vector<std::string> ids_of(const std::string& name) { return with(name).ids; }

 private:
  struct WorkerState {
    std::optional<protocol::AssignmentOrder> desired;
    std::optional<protocol::AssignmentStatus> exit;
    protocol::SyncRequest last;
    std::vector<std::string> ids;
    std::int64_t observed = 0;
    int requests = 0;
    bool idle = false;  // asked for work, and has been given none
    bool executing = false;
    bool drain = false;
  };

  static bool is_idle(const WorkerState& worker) { return worker.idle && !worker.desired; }

  WorkerState with(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return workers_[name];
  }

  template <class Holds>
  bool wait(const Holds& holds) {
    Lock lock(mutex_);
    return changed_.wait_for(lock, kPatienceWithWorkers, holds);
  }

  void take_all_back() {
    for (auto& [name, worker] : workers_) worker.desired.reset();
    changed_.notify_all();
  }

  void take_exit(WorkerState& worker, const protocol::AssignmentStatus& status) {
    worker.exit = status;
    bool all = true;
    bool failed = false;
    for (const auto& [name, other] : workers_) {
      if (!other.desired) continue;
      all = all && other.exit;
      failed = failed || (other.exit && other.exit->exit != "completed" && other.exit->exit != "stopped");
    }
    if (all || failed) take_all_back();
  }

  std::optional<LoopbackAnswer> answer(const LoopbackServer::Request& http) {
    Diagnostics diagnostics;
    const protocol::SyncRequest request = protocol::sync_request_from_json(*parse_json(http.body()), diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    Lock lock(mutex_);
    WorkerState& worker = workers_[request.name];
    worker.last = request;
    const int number = ++worker.requests;
    worker.idle = !request.assignment;
    worker.executing = request.assignment && request.assignment->exit.empty();
    const std::string id(http.target());
    if (worker.ids.empty() || worker.ids.back() != id) worker.ids.push_back(id);
    if (request.assignment) {
      for (const auto& observation : request.assignment->observations)
        worker.observed = std::max(worker.observed, observation.resource);
      const bool its_own = worker.desired && worker.desired->epoch == request.assignment->epoch;
      if (its_own && !request.assignment->exit.empty() && !worker.exit) take_exit(worker, *request.assignment);
    }
    changed_.notify_all();
    const bool idle = worker.idle && !request.draining;
    const bool done = request.assignment && !request.assignment->exit.empty() && !request.draining;
    changed_.wait(lock, [&] {
      if (stopping_ || worker.drain || worker.requests != number) return true;
      if (idle) return worker.desired.has_value();
      return !(done && worker.desired && worker.desired->epoch == request.assignment->epoch);
    });
    if (stopping_ || worker.requests != number) return std::nullopt;  // from a process that is gone
    const bool execute = worker.desired && !request.draining && !worker.drain;
    protocol::SyncReply reply;
    reply.desired = worker.drain ? "drain" : execute ? "execute" : "idle";
    if (execute) reply.order = worker.desired;
    worker.idle = worker.idle && !execute;
    reply.sync_within_ms = 5;
    return LoopbackAnswer{.body = to_json(reply).dump()};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, WorkerState> workers_;
  bool stopping_ = false;
  std::unique_ptr<LoopbackServer> http_;
};

}  // namespace tuneband::test
