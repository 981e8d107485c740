// What /metrics shows of the requests; the rest it asks the engine for when it is read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "scheduler/rows.hpp"
#include "server/engine.hpp"
#include "server/http/http_server.hpp"

namespace tuneband::server {

class MetricsPage;

// What the server's other parts have before them, now.
struct ServerLoad {
  ConnectionLoad connections;
  std::size_t reads_waiting = 0;
  std::size_t exports = 0;     // under way or waiting
  std::size_t preflights = 0;  // under way or waiting
  std::size_t local_workers_down = 0;
};

class ServerMetrics {
 public:
  // `route`: its pattern, or "" where none fits. `seconds`: until the answer, or a stream's first byte, was given.
  void request_answered(const std::string& method, const std::string& route, int status, double seconds);
  void on_committed(std::span<const Write> writes);
  void restore(const Snapshot& snapshot);

  // Prometheus text format 0.0.4.
  std::string page(const Engine& engine, const ServerLoad& load) const;

 private:
  static constexpr std::array<double, 5> kBucketsSeconds{0.0005, 0.005, 0.05, 0.5, 5};
  struct Answered {
    std::array<std::uint64_t, kBucketsSeconds.size()> within{};
    std::uint64_t count = 0;
    double seconds = 0;
    std::map<int, std::uint64_t> by_status;
  };

  void add_jobs(MetricsPage& page, const Scheduler& scheduler) const;
  void add_engine(MetricsPage& page, const EngineStats& stats) const;
  static void add_workers(MetricsPage& page, const Scheduler& scheduler, const ServerLoad& load);
  void add_requests(MetricsPage& page) const;

  std::map<std::pair<std::string, std::string>, Answered> requests_;  // by method and route
  std::map<JobId, JobRow> jobs_;                                      // all of them, without their documents
  std::uint64_t observations_ = 0;
  std::uint64_t decisions_ = 0;
};

}  // namespace tuneband::server
