// Trials of the trainer `xgboost` on several workers: this worker's part as one rank of an AllReduce group.
//
// A group is formed once for a session (protocol::GroupPlace::session) and serves on, with its data in memory, for all the
// session's orders. Whatever breaks it ends the session here; the server gives the next orders another one.
#pragma once

#include <memory>

#include "workers/trial_runner.hpp"
#include "workers/xgboost/xgboost_training.hpp"

namespace tuneband::workers {

class XgboostGroup {
 public:
  explicit XgboostGroup(const RunnerOptions& options);
  ~XgboostGroup();
  XgboostGroup(const XgboostGroup&) = delete;
  XgboostGroup& operator=(const XgboostGroup&) = delete;

  // One segment of an order with a group. May wait for the other ranks for as long as they do not end.
  SegmentResult run(const SegmentContext& segment);
  // Lets go of the last trial; the group and its data stay.
  void release();
  // Leaves the group.
  void end();

 private:
  class Session;
  const RunnerOptions options_;
  std::unique_ptr<Session> session_;
};

}  // namespace tuneband::workers
