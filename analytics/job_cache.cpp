#include "analytics/job_cache.hpp"

namespace tuneband {

namespace {

// Of memory: its own, of the places that hold it, and of texts.
std::size_t bytes_of(const JobCache::Head& head) {
  constexpr std::size_t kOfAnEntry = 256;
  if (!head) return kOfAnEntry;
  std::size_t bytes = kOfAnEntry + sizeof(JobHead) + head->objective.metric.size() + head->resource_name.size();
  for (const Objective& one : head->more_objectives) bytes += sizeof(Objective) + one.metric.size();
  for (const Constraint& one : head->constraints) bytes += sizeof(Constraint) + one.metric.size();
  return bytes;
}

}  // namespace

JobHead JobHead::of(const ParsedJob& job) {
  JobHead head;
  head.objective = job.spec.objective;
  head.more_objectives = job.spec.more_objectives;
  head.constraints = job.spec.constraints;
  head.scheduler = job.spec.scheduler.type;
  head.max_resource = job.spec.scheduler.max_resource;
  head.rungs_compare = job.spec.rungs_compare();
  head.early_folds = job.spec.early_work < 1;
  head.resource_name = job.resource_name;
  head.planned_trials = job.plan.trials;
  if (job.plan.exact) head.planned_resource = job.plan.total_resource;
  return head;
}

std::optional<JobCache::Job> JobCache::find(JobId id) {
  const std::lock_guard lock(mutex_);
  return jobs_.find(id);
}

void JobCache::keep(JobId id, Job job) {
  const std::size_t bytes = job ? job->bytes : kParsedJobBytesMin;
  const std::lock_guard lock(mutex_);
  jobs_.keep(id, std::move(job), bytes);
}

std::size_t JobCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return jobs_.bytes();
}

std::optional<JobCache::Head> JobCache::find_head(JobId id) {
  const std::lock_guard lock(mutex_);
  return heads_.find(id);
}

JobCache::Head JobCache::keep_head(JobId id, const Job& of) {
  Head head = of ? std::make_shared<const JobHead>(JobHead::of(*of)) : nullptr;
  const std::lock_guard lock(mutex_);
  heads_.keep(id, head, bytes_of(head));
  return head;
}

}  // namespace tuneband
