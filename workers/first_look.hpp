// What a worker on another machine than the server's finds of a job on its own, before its first trial of it there.
//
// The training thread alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workers/assignment.hpp"
#include "workers/trial_runner.hpp"
#include "workers/worker_options.hpp"

namespace tuneband::workers {

class FirstLook {
 public:
  // `options` outlives it.
  explicit FirstLook(const WorkerOptions& options) : options_(options) {}

  // Once for each job, where the order asks for it. What is found is in the log, and explain() has it. A look during which the
  // segment is told to stop is none.
  void look(Assignment& assignment);
  // Adds it to the message of a trial of the order's job that failed, unless that says so itself.
  void explain(const protocol::AssignmentOrder& order, SegmentResult& result) const;

 private:
  struct Found {
    std::string errors;         // in words; "": none
    std::string first_message;  // of the first error alone
  };

  const WorkerOptions& options_;
  std::map<std::int64_t, Found> looked_at_;  // by job
};

}  // namespace tuneband::workers
