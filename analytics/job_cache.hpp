// The parsed documents that were asked for last, as many as fit into so many bytes of memory, and the heads of many more. One for
// all threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "jobs/parsed_job.hpp"

namespace tuneband {

inline constexpr std::size_t kParsedJobsBytesMax = std::size_t{32} << 20;
inline constexpr std::size_t kJobHeadsBytesMax = std::size_t{16} << 20;  // some forty thousand

// What a list of jobs shows of a document: so little that all jobs of a server have room, where their documents have none.
struct JobHead {
  Objective objective;
  std::vector<Objective> more_objectives;
  std::vector<Constraint> constraints;
  SchedulerType scheduler = SchedulerType::none;
  std::int64_t max_resource = 0;
  bool rungs_compare = false;
  bool early_folds = false;  // below max_resource values are of fewer folds than at it
  std::string resource_name;
  std::optional<int> planned_trials;
  std::optional<std::int64_t> planned_resource;  // where it is known in advance

  static JobHead of(const ParsedJob& job);
};

// By job, as many as fit into so many bytes. Null: of a document that is not readable.
template <class Value>
class LastAskedFor {
 public:
  using Kept = std::shared_ptr<const Value>;

  explicit LastAskedFor(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Nothing when it is not kept.
  std::optional<Kept> find(JobId id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // Those that were not asked for for longest make room; what is larger than all of it is not kept, nor what is kept already.
  void keep(JobId id, Kept value, std::size_t bytes) {
    if (bytes > bytes_max_ || by_id_.contains(id)) return;
    for (; bytes_ + bytes > bytes_max_; entries_.pop_back()) {
      bytes_ -= entries_.back().bytes;
      by_id_.erase(entries_.back().id);
    }
    bytes_ += bytes;
    entries_.push_front({id, std::move(value), bytes});
    by_id_[id] = entries_.begin();
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    JobId id;
    Kept value;
    std::size_t bytes = 0;
  };

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // what was asked for last comes first
  std::unordered_map<JobId, typename std::list<Entry>::iterator> by_id_;
};

class JobCache {
 public:
  using Job = LastAskedFor<ParsedJob>::Kept;
  using Head = LastAskedFor<JobHead>::Kept;

  explicit JobCache(std::size_t bytes_max = kParsedJobsBytesMax, std::size_t heads_bytes_max = kJobHeadsBytesMax)
      : jobs_(bytes_max), heads_(heads_bytes_max) {}

  std::optional<Job> find(JobId id);
  void keep(JobId id, Job job);
  std::size_t bytes() const;  // of documents

  std::optional<Head> find_head(JobId id);
  Head keep_head(JobId id, const Job& of);

 private:
  mutable std::mutex mutex_;
  LastAskedFor<ParsedJob> jobs_;
  LastAskedFor<JobHead> heads_;
};

}  // namespace tuneband
