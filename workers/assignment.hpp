// The assignment a worker has: what the training thread says of it, kept until the server has it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "os/wake_event.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// Unacknowledged observations in memory, and the metrics of all of them. A command that reports more while the server is away
// loses the ones in between, not the last.
inline constexpr std::size_t kObservationsKeptMax = 1'000'000;
inline constexpr std::size_t kMetricValuesKeptMax = 2'000'000;
// In one sync, over all its observations: keeps a request below protocol::kSyncBodyBytesMax, whatever the names.
inline constexpr std::size_t kMetricValuesPerSyncMax = 8'000;

class Assignment final : public TrialReporter {
 public:
  explicit Assignment(protocol::AssignmentOrder order);

  const protocol::AssignmentOrder& order() const { return order_; }

  // The training thread's side. An observation at no more than the resource of the one before is dropped, as the server would.
  // Of more metrics than a sync takes the first ones are told, and the objective.
  void began(std::int64_t resource) override;
  void observe(std::int64_t resource, Metrics metrics) override;
  void found(debugger::Finding finding) override;
  void stand(std::vector<debugger::RuleStanding> rules) override;
  void checkpointed(std::int64_t resource) override;
  std::int64_t checkpoint_written() const override;
  std::int64_t checkpoint_taken() const override;
  void writes_into(std::int64_t files_epoch) override;
  void waits_for_others(bool waits) override { waits_for_others_ = waits; }
  bool should_stop() const override { return stop_; }
  int stop_fd() const override { return stop_event_.fd(); }
  // It waits for its machine, and for what of it (machine_fault.hpp), which is told until its next progress. Until tries_again()
  // it does not train.
  void waits_for(const std::string& what);
  void tries_again();
  // The first result counts: a segment that was given up may come to another end yet.
  void finish(SegmentResult result);

  // The sync loop's side. A status holds as many observations as fit, the oldest first; `exit` only together with the last of
  // them.
  void request_stop();
  std::optional<std::chrono::steady_clock::time_point> stop_requested_at() const;
  bool finished() const;
  protocol::AssignmentStatus status() const;
  // The server has what `sent`, the last status(), holds. `its_own`: it still has the trial, and so took the checkpoint too.
  void acknowledge(const protocol::AssignmentStatus& sent, bool its_own);
  bool may_be_still() const { return waits_for_others_; }
  // Whether another sync is due at once: the segment is over, or more has piled up than one sync holds.
  bool sync_due() const;

 private:
  using Clock = std::chrono::steady_clock;

  const protocol::AssignmentOrder order_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<bool> stop_ = false;
  std::atomic<bool> waits_for_others_ = false;
  os::WakeEvent stop_event_;

  mutable std::mutex mutex_;
  std::deque<protocol::Observation> observations_;  // not acknowledged
  std::size_t values_kept_ = 0;                     // their metrics
  std::deque<debugger::Finding> findings_;          // not acknowledged
  std::vector<debugger::RuleStanding> rules_;       // as they are
  std::vector<debugger::RuleStanding> rules_told_;  // as the server has them
  std::int64_t observed_resource_ = 0;              // the highest
  std::int64_t began_resource_ = 0;
  std::int64_t checkpoint_resource_ = 0;
  std::string waits_for_;
  std::optional<Clock::time_point> waiting_since_;
  Clock::duration waited_{};
  std::int64_t checkpoint_taken_ = 0;
  std::int64_t files_epoch_ = 0;
  std::optional<Clock::time_point> stop_requested_at_;
  std::optional<SegmentResult> result_;
  Clock::time_point end_;
};

}  // namespace tuneband::workers
