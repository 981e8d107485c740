// The parsed documents that were asked for last, as many as fit into so many bytes of memory. One thread.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analytics/job_facts.hpp"
#include "core/ids.hpp"

namespace tuneband {

class FactsCache {
 public:
  using Facts = std::shared_ptr<const JobFacts>;  // null: of a document that is not readable

  explicit FactsCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Nothing when it is not kept.
  std::optional<Facts> find(JobId job);
  // Of a job that is not kept. Those that were not asked for for longest make room; what is larger than all of it is not kept.
  void keep(JobId job, Facts facts);
  std::size_t bytes() const { return bytes_; }

 private:
  using Entries = std::list<std::pair<JobId, Facts>>;

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  Entries entries_;  // what was asked for last comes first
  std::unordered_map<JobId, Entries::iterator> by_job_;
};

}  // namespace tuneband
