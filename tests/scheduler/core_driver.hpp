// The core, with a clock that the test sets, workers that do what the test says, and the rows as a store would have them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/scheduler.hpp"
#include "tests/rows/row_store.hpp"

namespace tuneband::test {

class CoreDriver {
 public:
  explicit CoreDriver(SchedulerOptions options = {}) : options_(options), scheduler_(options) {}

  // One that searches x at random and does not stop trials, trained until 4, unless `overlay` says otherwise. Its trainings read
  // what `data_key` names.
  JobReply submit(const Json& overlay = Json::object(), const std::string& data_key = {});
  void step(const Event& event);
  void advance_ms(std::int64_t ms) { now_ = now_.plus_ms(ms); }
  void restart();
  // Instead of what the sampler suggests.
  void suggest_by(std::function<Suggestion(const SuggestionWanted&)> suggest) { suggest_ = std::move(suggest); }

  // What a worker says each time.
  WorkerSynced& says(const std::string& worker);
  void sync(const std::string& worker) { step(says(worker)); }
  // Of its assignment.
  AssignmentReport report_of(const std::string& worker) const;
  void report(const std::string& worker, const AssignmentReport& report);
  void reach_target(const std::string& worker, double value);
  void fail(const std::string& worker, ExitClass exit = ExitClass::crashed);

  // What it was told to execute last; null: nothing.
  const Assignment* given(const std::string& worker) const;
  // "a:1/0 b:- "
  std::string given_to(const std::vector<std::string>& workers) const;

  Timestamp now() const { return now_; }
  Scheduler& scheduler() { return scheduler_; }
  const RowStore& rows() const { return store_; }
  const TrialRow& trial(int number, std::int64_t job = 1) const { return store_.trials().at({JobId{job}, number}); }
  const JobRow& job(std::int64_t job = 1) const { return store_.jobs().at(JobId{job}); }
  const JobSpec& spec(JobId job) const { return specs_.at(job); }

 private:
  SchedulerOptions options_;
  Scheduler scheduler_;
  RowStore store_;
  Timestamp now_{1'000'000};
  std::map<JobId, JobSpec> specs_;
  std::map<std::string, WorkerSynced> workers_;
  std::map<std::string, Assignment> given_;
  std::function<Suggestion(const SuggestionWanted&)> suggest_ = [](const SuggestionWanted& wanted) { return wanted.make(); };
  std::optional<JobReply> job_reply_;
};

}  // namespace tuneband::test
