// Versions of jobs, for ETag and If-None-Match (RFC 9110, section 8.8.3): a new one with each commit that writes a row of the
// job. Versions of another run of the server are other versions. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/rows.hpp"

namespace tuneband::server {

class JobVersions {
 public:
  JobVersions();

  void on_committed(std::span<const Write> writes);
  void changed(JobId job) {
    ++commits_[job];
    ++all_;
  }
  // Take it before the job is read: what is then read may be newer than the tag says, never older.
  std::string etag(JobId job) const;
  // Of what is read of all jobs, and of the log.
  std::string etag_of_all() const;

 private:
  std::string life_;
  std::map<JobId, std::uint64_t> commits_;  // of jobs that changed in this run
  std::uint64_t all_ = 0;
};

// Whether a client that sends this If-None-Match has what has this tag.
bool has_already(std::string_view if_none_match, std::string_view etag);

}  // namespace tuneband::server
