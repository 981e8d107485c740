#include "analytics/facts_cache.hpp"

namespace tuneband {

namespace {

std::size_t bytes_of(const FactsCache::Facts& facts) { return facts ? facts->bytes : kFactsBytesMin; }

}  // namespace

std::optional<FactsCache::Facts> FactsCache::find(JobId job) {
  const auto found = by_job_.find(job);
  if (found == by_job_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void FactsCache::keep(JobId job, Facts facts) {
  const std::size_t bytes = bytes_of(facts);
  if (bytes > bytes_max_) return;
  for (; bytes_ + bytes > bytes_max_; entries_.pop_back()) {
    bytes_ -= bytes_of(entries_.back().second);
    by_job_.erase(entries_.back().first);
  }
  bytes_ += bytes;
  entries_.emplace_front(job, std::move(facts));
  by_job_[job] = entries_.begin();
}

}  // namespace tuneband
