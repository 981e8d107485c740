// What users want of jobs.
#include "core/random.hpp"
#include "scheduler/scheduler_state.hpp"

namespace tuneband {

namespace {

Error job_error(ErrorCode code, std::string message, std::string path = {}, std::string hint = {}) {
  return {code, std::move(message), std::move(path), std::move(hint)};
}

Error no_such_job(JobId job) { return job_error(ErrorCode::not_found, "there is no job " + std::to_string(job.value)); }

}  // namespace

void Scheduler::State::on(const JobSubmitted& event) {
  const auto taken = by_name.find(event.spec.name);
  if (taken != by_name.end()) {
    const bool same = known.at(taken->second).fingerprint == stable_hash(event.spec_json);
    job_reply = JobReply{same ? Result<JobId>(taken->second)
                              : Result<JobId>(job_error(ErrorCode::conflict, "another job has the name `" + event.spec.name + "`",
                                                        "name", "choose another name, or delete that job first")),
                         false};
    return;
  }
  if (jobs.size() >= options.jobs_running_max) {
    job_reply = JobReply{
        job_error(ErrorCode::unavailable, std::to_string(jobs.size()) + " jobs are running already", "", "try again later"),
        false};
    return;
  }
  JobRow row;
  row.id = JobId{++last_job_id};
  row.name = event.spec.name;
  row.spec_json = event.spec_json;
  row.weight = event.spec.weight;
  row.max_parallel_trials = event.spec.limits.max_parallel_trials;
  row.max_runtime_ms = event.spec.limits.max_runtime_ms;
  row.created_at = now;
  remember(row, stable_hash(row.spec_json));
  const JobId id = row.id;
  Job job(std::move(row), std::make_shared<const JobSpec>(event.spec));
  job.join_others_at(where_others_are(job), 0);
  record(EventKind::job_submitted, id, job.row().name);
  jobs.emplace(id, std::move(job));
  job_reply = JobReply{id, true};
}

void Scheduler::State::on(const JobChangeRequested& event) {
  Job* job = find_job(event.job);
  job_reply = JobReply{event.job, false};
  if (job == nullptr && !known.contains(event.job)) {
    job_reply->job = no_such_job(event.job);
    return;
  }
  if (job == nullptr || job->row().state != JobState::running) {
    job_reply->job = job_error(ErrorCode::conflict, job == nullptr ? "the job has ended" : "the job is being stopped");
    return;
  }
  const bool was_held = job->row().held;
  job->change(event.changes, now);
  const bool held = job->row().held;
  if (held && !was_held) answer_workers_of(*job);
  if (was_held && !held) job->join_others_at(where_others_are(*job), job->share_time(now, typical_ms(*job), 0));
}

void Scheduler::State::on(const JobStopRequested& event) {
  if (Job* job = find_job(event.job)) {
    job->begin_stopping(JobState::stopped, kStoppedByTheUser);
  } else if (!known.contains(event.job)) {
    job_reply = JobReply{no_such_job(event.job), false};
    return;
  }
  job_reply = JobReply{event.job, false};
}

void Scheduler::State::on(const TrialStopRequested& event) {
  const auto& [job_id, number] = event.trial;
  Job* job = find_job(job_id);
  const bool known_trial = job != nullptr && number >= 0 && number < static_cast<int>(job->trials().size());
  const TrialRow* trial = known_trial ? &job->trial(number) : nullptr;
  job_reply = JobReply{job_id, false};
  if (trial == nullptr) {
    job_reply->job = job_error(ErrorCode::not_found, "no job that goes on has this trial");
  } else if (ended(trial->state)) {
    job_reply->job = job_error(ErrorCode::conflict, "the trial has ended");
  } else if (job->row().state == JobState::running) {  // else its job's end is under way, and its own with it
    if (trial->state == TrialState::running) end_sessions(release(*trial, true));
    job->stop_trial(number, now);
  }
}

void Scheduler::State::on(const JobDeleteRequested& event) {
  const auto found = known.find(event.job);
  if (found == known.end()) {
    job_reply = JobReply{no_such_job(event.job), false};
    return;
  }
  if (find_job(event.job) != nullptr) {
    job_reply = JobReply{
        job_error(ErrorCode::conflict, "the job has not ended", "", "stop it first, and wait until it has ended"), false};
    return;
  }
  record(EventKind::job_deleted, event.job, found->second.name);
  by_name.erase(found->second.name);
  known.erase(found);
  std::erase_if(ended_rows, [&](const JobRow& row) { return row.id == event.job; });
  deletions.emplace_back(DeleteJob{event.job});
  job_reply = JobReply{event.job, false};
}

}  // namespace tuneband
