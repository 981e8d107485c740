// When the process of a worker is given up for a thread that does not come home from the others of its group.
#include "workers/process_end.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tuneband::workers {
namespace {

class RunnerThatMayHang final : public TrialRunner {
 public:
  explicit RunnerThatMayHang(bool may_hang) : may_hang_(may_hang) {}
  SegmentResult run(const protocol::AssignmentOrder&, TrialReporter&, TrialLog&) override { return {}; }
  bool may_hang(const protocol::AssignmentOrder&) const override { return may_hang_; }

 private:
  bool may_hang_;
};

class ProcessEndTest : public testing::Test {
 protected:
  ProcessEndTest() {
    options_.group_grace_ms = 0;
    options_.replace_process = [this](bool for_good) { replaced_.push_back(for_good ? "ended" : "replaced"); };
  }
  using Words = std::vector<std::string>;

  WorkerOptions options_;
  Words replaced_;
  const std::shared_ptr<Assignment> segment_ = std::make_shared<Assignment>(protocol::AssignmentOrder{});
};

TEST_F(ProcessEndTest, ASegmentThatHangsIsGivenUpOnceAndOnlyAfterItWasToldToStop) {
  const RunnerThatMayHang runner(true);
  ProcessEnd end(options_, runner);
  end.replace_when_due({segment_, true, false});
  EXPECT_EQ(replaced_, Words{});
  EXPECT_FALSE(end.replacement_due({segment_, true, false}));
  segment_->request_stop();
  EXPECT_EQ(end.replacement_due({segment_, true, false}), segment_->stop_requested_at());
  end.replace_when_due({segment_, true, false});
  end.replace_when_due({segment_, true, false});
  EXPECT_EQ(replaced_, Words{"replaced"});
}

TEST_F(ProcessEndTest, AWorkerThatDrainsIsNotReplacedButEnded) {
  const RunnerThatMayHang runner(true);
  segment_->request_stop();
  ProcessEnd(options_, runner).replace_when_due({segment_, true, true});
  EXPECT_EQ(replaced_, Words{"ended"});
}

TEST_F(ProcessEndTest, WhatIsOverOrCannotHangIsWaitedFor) {
  segment_->request_stop();
  const RunnerThatMayHang alone(false);
  ProcessEnd(options_, alone).replace_when_due({segment_, true, false});
  const RunnerThatMayHang in_group(true);
  ProcessEnd(options_, in_group).replace_when_due({nullptr, false, false});
  segment_->finish({kExitStopped, ""});
  ProcessEnd(options_, in_group).replace_when_due({segment_, true, false});
  EXPECT_EQ(replaced_, Words{});
}

TEST_F(ProcessEndTest, ASegmentThatWaitsForAnotherProcessMayBeStillForEverAndAnotherMayNot) {
  options_.stall_ms = 1;
  const RunnerThatMayHang runner(false);
  ProcessEnd end(options_, runner);
  std::promise<void> begun;
  std::promise<void> over;
  std::thread still([&] {
    end.watch_this_thread();
    begun.set_value();
    over.get_future().wait();
  });
  begun.get_future().wait();
  segment_->waits_for_others(true);
  const ProcessEnd::Work work{segment_, true, false};
  const auto is_given_up_after_a_while = [&] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * options_.stall_ms);
    while (std::chrono::steady_clock::now() < until) continue;
    return end.give_up_when_stalled(work);
  };
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(is_given_up_after_a_while());
  segment_->waits_for_others(false);
  while (!is_given_up_after_a_while()) continue;
  EXPECT_EQ(segment_->status().exit, kExitStalled);
  over.set_value();
  still.join();
}

}  // namespace
}  // namespace tuneband::workers
