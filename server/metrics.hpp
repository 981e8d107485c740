// Counters since the start and gauges of now, in the Prometheus text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
//
// Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "scheduler/rows.hpp"
#include "server/engine.hpp"

namespace tuneband::server {

class Metrics {
 public:
  void restore(const Snapshot& snapshot);

  // A listener of the engine.
  void on_committed(std::span<const Write> writes);

  // `pattern`: of the route, "" when there was none, so that labels are bounded.
  void count_request(const std::string& pattern, const std::string& method, int status, double seconds);

  // What others know.
  struct Gauges {
    std::size_t connections = 0;
    std::size_t event_watchers = 0;
    std::size_t logs_followed = 0;
    std::size_t reads_waiting = 0;
  };
  std::string text(const Engine& engine, const Gauges& gauges) const;

 private:
  static constexpr std::array kBuckets{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0};  // seconds
  struct Histogram {
    std::array<std::uint64_t, kBuckets.size() + 1> counts{};
    double sum = 0;
    std::uint64_t count = 0;
  };

  void see(const JobRow& row);
  void see(const TrialRow& row);
  void see(const ObservationRow& row);
  void see(const DecisionRow& row);
  void see(const DeleteJob& deleted);

  std::map<std::tuple<std::string, std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;      // by pattern
  std::map<JobId, JobState> jobs_;
  std::map<TrialId, TrialState> live_trials_;     // that have not ended
  std::map<std::pair<std::string, std::string>, std::uint64_t> transitions_;  // from, to
  std::map<std::string, std::uint64_t> failures_;  // by exit class
  std::map<std::string, std::uint64_t> verdicts_;
  std::uint64_t observations_ = 0;
};

}  // namespace tuneband::server
