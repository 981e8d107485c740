#include "server/api/job_versions.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <variant>

#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

JobId job_of(const JobRow& row) { return row.id; }
JobId job_of(const TrialRow& row) { return row.id.job; }
JobId job_of(const DeleteJob& deletion) { return deletion.job; }
JobId job_of(const EventRow&) { return {}; }  // what it tells of is in other rows of the same commit
template <class Row>
JobId job_of(const Row& row) {
  return row.trial.job;
}

}  // namespace

JobVersions::JobVersions() : life_(std::to_string(read_wall_clock().ms)) {}

void JobVersions::on_committed(std::span<const Write> writes) {
  ++all_;
  for (const Write& write : writes) {
    const JobId job = std::visit([](const auto& row) { return job_of(row); }, write);
    if (job == JobId{}) continue;
    if (std::holds_alternative<DeleteJob>(write)) {
      commits_.erase(job);  // its id is not used again
    } else {
      ++commits_[job];
    }
  }
}

std::string JobVersions::etag(JobId job) const {
  const auto found = commits_.find(job);
  const std::uint64_t commits = found == commits_.end() ? 0 : found->second;
  // Weak: the same rows, with gzip or without.
  return fmt::format("W/\"{}-{}-{}\"", life_, job.value, commits);
}

std::string JobVersions::etag_of_all() const { return fmt::format("W/\"{}-all-{}\"", life_, all_); }

bool has_already(std::string_view if_none_match, std::string_view etag) {
  const std::string_view opaque = etag.starts_with("W/") ? etag.substr(2) : etag;
  return if_none_match == "*" || if_none_match.find(opaque) != std::string_view::npos;
}

}  // namespace tuneband::server
