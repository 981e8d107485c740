// What a worker on another machine than the server's finds of a job on its own, before its first trial of it there.
//
// The training thread alone.
#pragma once

#include <cstdint>
#include <string>

#include "workers/assignment.hpp"
#include "workers/trial_runner.hpp"
#include "workers/worker_options.hpp"

namespace tuneband::workers {

class FirstLook {
 public:
  // `options` outlives it.
  explicit FirstLook(const WorkerOptions& options) : options_(options) {}

  // Once for each job, where the order asks for it. What is found is in the log,
  void look(Assignment& assignment);
  // and in the message of a trial of the order's job that fails, unless it says so itself.
  void explain(const protocol::AssignmentOrder& order, SegmentResult& result) const;

 private:
  const WorkerOptions& options_;
  std::int64_t job_ = 0;     // that was looked at last
  std::string found_;        // the errors that its check found on this machine; "": none
  std::string found_first_;  // the first one's message alone
};

}  // namespace tuneband::workers
