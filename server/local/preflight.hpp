// Checks a job against its files before it is stored: runs `tuneband-worker --check-job` (the server itself never opens data or
// links XGBoost) in a process of its own, with bounded time and memory, off the loop thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "os/wake_event.hpp"

namespace tuneband::server {

struct PreflightOptions {
  std::string worker_program;  // path of tuneband-worker
  int local_workers = 1;       // that will share this machine
  std::int64_t timeout_ms = 60'000;
  std::int64_t memory_bytes_max = 8LL * 1024 * 1024 * 1024;
  std::size_t at_once = 4;            // checks, so that one that hangs does not hold up another job's
  std::int64_t wait_ms_max = 20'000;  // those that waited for longer are passed with a warning
};

class Preflight {
 public:
  using Checked = std::function<void(const Diagnostics&)>;

  Preflight(boost::asio::io_context& loop, PreflightOptions options);
  ~Preflight();  // cuts the checks under way short
  Preflight(const Preflight&) = delete;
  Preflight& operator=(const Preflight&) = delete;

  // `document`: the job's JSON, its paths absolute. `checked` is called on the loop thread. That the program cannot run, runs
  // out of time or breaks is a warning: the trials will say what is wrong.
  void check(std::string document, Checked checked);
  // Checks under way and waiting.
  std::size_t waiting() const { return waiting_; }

 private:
  struct Turn;

  boost::asio::io_context& loop_;
  PreflightOptions options_;
  std::size_t waiting_ = 0;
  os::WakeEvent ending_;  // set once this ends
  boost::asio::thread_pool runner_;
};

}  // namespace tuneband::server
