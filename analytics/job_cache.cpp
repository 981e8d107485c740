#include "analytics/job_cache.hpp"

namespace tuneband {

namespace {

std::size_t bytes_of(const JobCache::Job& job) { return job ? job->bytes : kParsedJobBytesMin; }

}  // namespace

std::optional<JobCache::Job> JobCache::find(JobId id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void JobCache::keep(JobId id, Job job) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = bytes_of(job);
  if (bytes > bytes_max_ || by_id_.contains(id)) return;
  for (; bytes_ + bytes > bytes_max_; entries_.pop_back()) {
    bytes_ -= bytes_of(entries_.back().second);
    by_id_.erase(entries_.back().first);
  }
  bytes_ += bytes;
  entries_.emplace_front(id, std::move(job));
  by_id_[id] = entries_.begin();
}

std::size_t JobCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tuneband
