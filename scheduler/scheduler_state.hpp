// What the scheduler knows, and what it does with each event: scheduler_jobs.cpp has those of jobs, scheduler_workers.cpp those
// of workers, scheduler_placement.cpp who gets a free worker; scheduler.cpp has the door and the answers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/fleet.hpp"
#include "scheduler/job.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband {

struct Scheduler::State {
  // Every job that was not deleted, ended ones too: for names that are taken and the idempotent create.
  struct KnownJob {
    std::string name;
    std::uint64_t fingerprint = 0;  // of the document
  };

  SchedulerOptions options;
  std::map<JobId, Job> jobs;  // not ended
  std::map<JobId, KnownJob> known;
  std::unordered_map<std::string, JobId> by_name;
  Fleet fleet;
  std::int64_t last_job_id = 0;
  std::int64_t last_event_id = 0;
  Timestamp last_event_at;
  std::vector<JobRow> ended_rows;                 // for rows(); without their documents, which nothing asks for again
  std::map<TrialId, Timestamp> metric_rank_done;  // of groups whose other ranks are still at it, and have some time left
  std::optional<JobId> gathering;                 // the next free workers are this job's, until they are enough for a group

  // Of the step under way.
  Timestamp now;
  std::set<WorkerId> to_answer;
  std::optional<TrialId> just_left;  // its workers have it in memory
  std::optional<JobReply> job_reply;
  std::vector<Write> deletions;
  std::vector<EventRow> events;      // what happened that no job tells of
  std::int64_t mean_segment_ms = 1;  // of all jobs

  Job* find_job(JobId id);
  EventRow& record(EventKind kind, std::optional<JobId> job, std::string message);
  EventRow& record(EventKind kind, const WorkerId& worker, std::string message = {});
  void remember(const JobRow& row, std::uint64_t fingerprint);
  void restore_assignments(Job& job);

  void on(const JobSubmitted& event);
  void on(const JobChangeRequested& event);
  void on(const JobStopRequested& event);
  void on(const TrialStopRequested& event);
  void on(const JobDeleteRequested& event);
  void on(const WorkerSynced& event);
  void on(const WorkerLost& event);
  void on(const SuggestionMade& event);
  void on(const TimePassed&);
  void on(const TimeLeapt&);

  void report(Worker& worker, const AssignmentReport& report);
  void reclaim(Worker& worker, const AssignmentReport& report);
  bool was_cut_off(const Worker& worker) const;
  bool metric_rank_is_done(const Worker& worker) const;
  std::optional<ExitClass> exit_of_group(const TrialRow& trial);
  bool is_unfit_for(const TrialRow& trial);
  std::optional<Timestamp> group_ends_at() const;
  void end_overdue_ranks();
  void end_early(TrialId id);
  void end_at_target(TrialId id);
  void end_segment(TrialId id, ExitClass exit, const std::string& message, const std::string& crash = {});
  std::vector<WorkerId> release(const TrialRow& trial, bool unasked = false);
  void lose(const WorkerId& id, EventKind as, const Job::SegmentEnd& end);
  void give_back(Worker& worker);
  void end_sessions(const std::vector<WorkerId>& ranks);
  Assignment assignment_of(const Job& job, const TrialRow& trial) const;
  void assign(const Job& job, const TrialRow& trial, std::int64_t session);

  void note_mean_segment();
  std::int64_t typical_ms(const Job& job) const;
  std::optional<std::int64_t> left_ms(const Assignment& assignment);
  std::int64_t next_share_time(const Job& job) const;
  std::int64_t where_others_are(const Job& job) const;
  Job* neediest_job(const Worker* asking);
  bool all_are_kept() const;
  const WorkerId& best_idle_worker(const Job& job) const;
  bool is_free_for(const WorkerId& id, JobId job) const;
  std::size_t free_for(JobId job) const;
  std::size_t idle_and_fit_for(JobId job) const;
  std::vector<WorkerId> choose_group(const TrialRow& trial, std::size_t replicas);
  struct Turn {
    Job* job = nullptr;
    int replicas = 0;
    bool again = false;
  };
  Turn next_turn(const Worker* asking);
  bool place_next(const Worker* asking);
  void answer_workers_of(const Job& job);
  bool may_execute(const Worker& worker) const;  // call only with an assignment
  WorkerReply reply_to(const Worker& worker) const;
  void flush_jobs(Outcome& outcome, std::vector<EventRow>& happened);
  void answer_workers(Outcome& outcome);
  Outcome finish_step();
};

}  // namespace tuneband
