#include "server/worker_messages.hpp"

#include "core/check.hpp"

namespace tuneband::server {
namespace {

std::string desired_word(WorkerReply::Desired desired) {
  switch (desired) {
    case WorkerReply::Desired::idle:
      return "idle";
    case WorkerReply::Desired::execute:
      return "execute";
    case WorkerReply::Desired::drain:
      return "drain";
  }
  return "idle";
}

protocol::GroupPlace to_place(const Assignment& assignment, const TrackerAddress& tracker) {
  protocol::GroupPlace place;
  place.rank = assignment.rank;
  place.world_size = assignment.world_size;
  place.session = assignment.session;
  place.master_address = assignment.master_address;
  place.master_port = assignment.master_port;
  place.tracker_host = tracker.host;
  place.tracker_port = tracker.port;
  return place;
}

protocol::AssignmentOrder to_order(const Assignment& assignment, const std::string& trial_dir, const TrackerAddress& tracker) {
  protocol::AssignmentOrder order;
  order.epoch = assignment.epoch.value;
  order.job = assignment.trial.job.value;
  order.job_name = assignment.job->name;
  order.trial = assignment.trial.number;
  order.configuration = to_json(assignment.configuration);
  order.trainer = assignment.job->trainer;
  order.debug = assignment.job->debug;
  order.objective_metric = assignment.job->objective.metric;
  order.maximize = assignment.job->objective.goal == Goal::maximize;
  order.further_metrics = assignment.job->further_metrics();
  order.kept_value = assignment.kept_value;
  order.best_value = assignment.best_value;
  order.from_resource = assignment.from_resource;
  order.until_resource = assignment.until_resource;
  order.max_resource = assignment.max_resource;
  order.files_epoch = assignment.files_epoch.value;
  order.attempt = assignment.attempt;
  order.seed = seed_of_trial(*assignment.job, assignment.trial.number);
  order.trial_dir = trial_dir;
  if (assignment.world_size > 1) order.group = to_place(assignment, tracker);
  return order;
}

}  // namespace

bool of_other_version(const std::string& version) { return !version.empty() && version != TUNEBAND_VERSION; }

WorkerLost to_event(const WorkerId& worker, const protocol::WorkerEnd& end) {
  const ExitClass exit = end.out_of_memory ? ExitClass::out_of_memory : ExitClass::worker_lost;
  return {worker, end.message, true, end.crash, exit};
}

Result<WorkerSynced> to_event(const WorkerId& worker, const protocol::SyncRequest& request) {
  WorkerSynced event;
  event.worker = worker;
  event.name = request.name;
  event.data_keys = request.data_keys;
  event.draining = request.draining || of_other_version(request.version);
  event.address = request.address;
  event.free_port = request.free_port;
  for (const protocol::Lack& lack : request.lacks) {
    const auto job = lack.job == 0 ? std::nullopt : std::optional(JobId{lack.job});
    event.lacks.push_back({job, lack.what, lack.message});
  }
  if (!request.assignment) return event;

  const protocol::AssignmentStatus& status = *request.assignment;
  AssignmentReport report;
  report.epoch = Epoch{status.epoch};
  report.began_resource = status.began_resource;
  report.checkpoint_resource = status.checkpoint_resource;
  report.training_ms = status.training_ms;
  report.message = status.message;
  report.crash = status.crash;
  report.files_epoch = Epoch{status.files_epoch};
  for (const protocol::Observation& seen : status.observations) report.observations.push_back({seen.resource, seen.metrics});
  report.findings = status.findings;
  report.rules = status.rules;
  if (status.kept) report.kept = {status.kept->resource, status.kept->metrics};
  report.test_value = status.test_value;
  if (!status.exit.empty()) {
    report.exit = exit_class_from(status.exit);
    if (!report.exit) {
      return Error{ErrorCode::invalid_argument, "unknown exit class \"" + status.exit + "\"", "assignment.exit", ""};
    }
  }
  event.report = std::move(report);
  return event;
}

std::string_view state_word(const WorkerView& worker) {
  if (worker.draining) return "draining";
  if (worker.trial) return "executing";
  return worker.occupied ? "ending" : "idle";
}

protocol::SyncReply to_sync_reply(const WorkerReply& reply, const std::string& trial_dir, const TrackerAddress& tracker,
                                  std::int64_t sync_within_ms) {
  protocol::SyncReply answer;
  answer.desired = desired_word(reply.desired);
  answer.sync_within_ms = sync_within_ms;
  if (reply.desired == WorkerReply::Desired::execute) {
    TUNEBAND_CHECK(reply.assignment && reply.assignment->job, "a worker told to execute is told what");
    answer.order = to_order(*reply.assignment, trial_dir, tracker);
  }
  return answer;
}

}  // namespace tuneband::server
