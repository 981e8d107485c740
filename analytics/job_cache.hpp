// The parsed documents that were asked for last, as many as fit into so many bytes of memory. One for all threads.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/ids.hpp"
#include "jobs/parsed_job.hpp"

namespace tuneband {

class JobCache {
 public:
  using Job = std::shared_ptr<const ParsedJob>;  // null: of a document that is not readable

  explicit JobCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Nothing when it is not kept.
  std::optional<Job> find(JobId id);
  // Those that were not asked for for longest make room; what is larger than all of it is not kept, nor what is kept already.
  void keep(JobId id, Job job);
  std::size_t bytes() const;

 private:
  using Entries = std::list<std::pair<JobId, Job>>;

  mutable std::mutex mutex_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Entries entries_;  // what was asked for last comes first
  std::unordered_map<JobId, Entries::iterator> by_id_;
};

}  // namespace tuneband
