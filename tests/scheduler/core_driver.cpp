#include "tests/scheduler/core_driver.hpp"

#include <gtest/gtest.h>

namespace tuneband::test {

JobReply CoreDriver::submit(const Json& overlay, const std::string& data_key) {
  Json document = Json::parse(R"({"name": "job", "objective": {"metric": "value", "goal": "maximize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "sampler": {"type": "random", "seed": 1},
      "trainer": {"type": "command"}, "scheduler": {"type": "none", "max_resource": 4}, "limits": {"max_trials": 20}})");
  document["name"] = "job-" + std::to_string(specs_.size() + 1);
  if (overlay.contains("objectives")) document.erase("objective");
  document.merge_patch(overlay);
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(document, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
  spec.data_key = data_key;
  step(JobSubmitted{spec, document.dump()});
  if (job_reply_->created) specs_.emplace(*job_reply_->job, std::move(spec));
  return *job_reply_;
}

void CoreDriver::step(const Event& event) {
  const Outcome outcome = scheduler_.step(event, now_);
  store_.commit(outcome.writes);
  for (const Notice& notice : outcome.notices) {
    if (const auto* reply = std::get_if<JobReply>(&notice)) job_reply_ = *reply;
    const auto* reply = std::get_if<WorkerReply>(&notice);
    if (reply == nullptr) continue;
    given_.erase(reply->worker.value);
    if (reply->assignment) given_.emplace(reply->worker.value, *reply->assignment);
  }
  for (const Notice& notice : outcome.notices) {
    if (const auto* wanted = std::get_if<SuggestionWanted>(&notice))
      step(SuggestionMade{wanted->job, wanted->trial, suggest_(*wanted)});
  }
}

void CoreDriver::restart() {
  const Snapshot rows = store_.load();
  std::vector<std::pair<JobId, JobSpec>> specs(specs_.begin(), specs_.end());
  scheduler_ = Scheduler(options_);
  scheduler_.restore(rows, specs, now_);
}

WorkerSynced& CoreDriver::says(const std::string& worker) {
  WorkerSynced& message = workers_[worker];
  message.worker = WorkerId{worker};
  message.name = worker;
  return message;
}

AssignmentReport CoreDriver::report_of(const std::string& worker) const {
  AssignmentReport report;
  report.epoch = given_.at(worker).epoch;
  return report;
}

void CoreDriver::report(const std::string& worker, const AssignmentReport& report) {
  WorkerSynced message = says(worker);
  message.report = report;
  step(message);
}

void CoreDriver::reach_target(const std::string& worker, double value) {
  AssignmentReport report = report_of(worker);
  report.checkpoint_resource = given_.at(worker).until_resource;
  report.observations = {{report.checkpoint_resource, {{"value", value}}}};
  report.exit = ExitClass::completed;
  this->report(worker, report);
}

void CoreDriver::fail(const std::string& worker, ExitClass exit) {
  AssignmentReport report = report_of(worker);
  report.exit = exit;
  report.message = "it failed";
  this->report(worker, report);
}

const Assignment* CoreDriver::given(const std::string& worker) const {
  const auto found = given_.find(worker);
  return found == given_.end() ? nullptr : &found->second;
}

std::string CoreDriver::given_to(const std::vector<std::string>& workers) const {
  std::string text;
  for (const std::string& worker : workers) {
    const Assignment* its = given(worker);
    text += worker + ":" +
            (its == nullptr ? "-" : std::to_string(its->trial.job.value) + "/" + std::to_string(its->trial.number)) + " ";
  }
  return text;
}

}  // namespace tuneband::test
