// What a runner reports, kept for the test; can be waited for, and told to stop.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "os/wake_event.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::test {

class RecordingReporter final : public workers::TrialReporter {
 public:
  void began(std::int64_t resource) override { began_ = resource; }
  void observe(std::int64_t resource, Metrics metrics) override {
    std::string text = std::to_string(resource) + ":";
    for (const auto& [name, value] : metrics) {
      char number[40];
      std::snprintf(number, sizeof number, "%g", value);
      text += " " + name + "=" + number;
    }
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(text);
    }
    if (on_observation) on_observation(resource);
  }
  void found(debugger::Finding finding) override { found_.push_back(finding.rule + " at " + std::to_string(finding.step)); }
  void checkpointed(std::int64_t resource) override { checkpoint_ = resource; }
  void writes_into(std::int64_t files_epoch) override { written_into_ = files_epoch; }
  std::int64_t checkpoint_written() const override { return written_by_this_segment; }
  bool should_stop() const override { return stop_; }
  int stop_fd() const override { return stop_event_.fd(); }

  void stop() {
    stop_ = true;
    stop_event_.set();
  }
  // "1: loss=0.5", in order; and forgets them.
  std::vector<std::string> take_seen() {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }
  const std::vector<std::string>& found_by_rules() const { return found_; }  // "overfit at 3", in order
  std::int64_t began_at() const { return began_; }                           // of the last segment
  std::int64_t checkpoint() const { return checkpoint_; }
  std::int64_t written_into() const { return written_into_; }  // the epoch whose files the last segment writes

  std::int64_t written_by_this_segment = 0;                   // as of one that is begun again
  std::function<void(std::int64_t resource)> on_observation;  // called on the runner's thread

 private:
  std::mutex mutex_;
  std::vector<std::string> seen_;
  std::vector<std::string> found_;
  std::int64_t began_ = 0;
  std::int64_t checkpoint_ = 0;
  std::int64_t written_into_ = 0;
  bool stop_ = false;
  os::WakeEvent stop_event_;
};

}  // namespace tuneband::test
