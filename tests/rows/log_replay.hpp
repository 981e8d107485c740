// The log of events, replayed: what it says of jobs and trials has to be what their rows say.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "scheduler/rows.hpp"

namespace tuneband::test {

class LogReplay {
 public:
  // The writes of one step, or of one commit. "" or what does not agree: the log with itself, with the rows that were written
  // beside it, or the rows with the log.
  std::string take(std::span<const Write> writes);

 private:
  struct Trial {
    TrialState state = TrialState::pending;
    std::int64_t resource = 0;
    WorkerId worker;
    bool promoted = false;
  };

  std::string take(const EventRow& event);
  std::string take_of_job(const EventRow& event);
  std::string take_of_trial(const EventRow& event, Trial& trial);
  std::string compare(const TrialRow& row) const;
  std::string compare(const JobRow& row) const;

  std::int64_t last_id_ = 0;
  Timestamp last_at_;
  std::map<JobId, JobState> jobs_;
  std::map<TrialId, Trial> trials_;
};

}  // namespace tuneband::test
