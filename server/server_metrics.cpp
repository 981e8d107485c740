#include "server/server_metrics.hpp"

#include "core/text.hpp"
#include "server/worker_messages.hpp"

namespace tuneband::server {

// One family of the text format: its head, then a line a sample.
class MetricsPage {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP tuneband_" + name_ + " " + std::string(help) + "\n# TYPE tuneband_" + name_ + " " + std::string(type) + "\n";
  }
  void sample(double value, const std::string& labels = {}, std::string_view suffix = {}) {
    text_ += "tuneband_" + name_ + std::string(suffix) + (labels.empty() ? "" : "{" + labels + "}") + " " + format_number(value) +
             "\n";
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

namespace {

// Values come from fixed words and route patterns: nothing in them needs escaping.
std::string label(std::string_view name, std::string_view value) { return std::string(name) + "=\"" + std::string(value) + "\""; }

template <class Number>
double real(Number number) {
  return static_cast<double>(number);
}

}  // namespace

void ServerMetrics::request_answered(const std::string& method, const std::string& route, int status, double seconds) {
  Answered& answered = requests_[{method, route}];
  ++answered.count;
  ++answered.by_status[status];
  answered.seconds += seconds;
  for (std::size_t i = 0; i < kBucketsSeconds.size(); ++i) {
    if (seconds <= kBucketsSeconds[i]) ++answered.within[i];
  }
}

void ServerMetrics::restore(const Snapshot& snapshot) {
  for (JobRow row : snapshot.jobs) {
    row.spec_json.clear();
    jobs_[row.id] = std::move(row);
  }
}

void ServerMetrics::on_committed(std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (const auto* job = std::get_if<JobRow>(&write)) {
      jobs_[job->id] = *job;
      jobs_[job->id].spec_json.clear();
    } else if (const auto* deleted = std::get_if<DeleteJob>(&write)) {
      jobs_.erase(deleted->job);
    } else if (std::holds_alternative<ObservationRow>(write)) {
      ++observations_;
    } else if (const auto* decision = std::get_if<DecisionRow>(&write)) {
      if (decision->verdict != Verdict::waiting) ++decisions_;
    }
  }
}

std::string ServerMetrics::page(const Engine& engine, const ServerLoad& load) const {
  MetricsPage page;
  page.family("build_info", "gauge", "Always 1; the version is the label.");
  page.sample(1, label("version", TUNEBAND_VERSION));

  std::map<JobState, int> jobs;
  for (const JobState state : {JobState::running, JobState::stopping, JobState::completed, JobState::stopped, JobState::failed})
    jobs[state] = 0;
  std::int64_t completed = 0, stopped = 0, failed = 0, cancelled = 0, open = 0, resource = 0, training_ms = 0;
  std::map<std::string, int> waiting;
  for (const auto& [id, job] : jobs_) {
    ++jobs[job.state];
    completed += job.trials_completed;
    stopped += job.trials_stopped;
    failed += job.trials_failed;
    cancelled += job.trials_cancelled;
    open += job.trials_created - job.trials_completed - job.trials_stopped - job.trials_failed - job.trials_cancelled;
    resource += job.resource_spent;
    training_ms += job.training_ms;
    if (ended(job.state)) continue;
    for (const auto& [reason, count] : engine.scheduler().waiting_by_reason(id)) waiting[reason] += count;
  }
  page.family("jobs", "gauge", "Jobs by state.");
  for (const auto& [state, count] : jobs) page.sample(count, label("state", to_string(state)));
  page.family("trials", "gauge", "Trials of all jobs by state; open: pending, running or paused.");
  page.sample(real(open), label("state", "open"));
  page.sample(real(completed), label("state", "completed"));
  page.sample(real(stopped), label("state", "stopped"));
  page.sample(real(failed), label("state", "failed"));
  page.sample(real(cancelled), label("state", "cancelled"));
  page.family("trials_waiting", "gauge", "Trials that could go on, by what they wait for.");
  for (const auto& [reason, count] : waiting) page.sample(count, label("reason", reason));
  page.family("resource_spent", "gauge", "Units of resource that trials of all jobs have trained.");
  page.sample(real(resource));
  page.family("training_seconds", "gauge", "Seconds that workers trained for all jobs.");
  page.sample(real(training_ms) / 1000);

  add_workers(page, engine.scheduler(), load);

  const EngineStats stats = engine.stats();
  page.family("events_total", "counter", "Events that the scheduler stepped through.");
  page.sample(real(stats.events));
  page.family("events_refused_total", "counter", "Events turned away because the queue was full.");
  page.sample(real(stats.refused));
  page.family("event_queue_length", "gauge", "Events that wait for their step.");
  page.sample(real(stats.queue_length));
  page.family("step_seconds_total", "counter", "Seconds spent deciding.");
  page.sample(stats.step_seconds);
  page.family("commits_total", "counter", "Transactions committed; events share them.");
  page.sample(real(stats.commits));
  page.family("commit_seconds", "histogram", "Seconds that a commit took.");
  for (std::size_t i = 0; i < kCommitBucketsSeconds.size(); ++i) {
    page.sample(real(stats.commits_within[i]), label("le", format_number(kCommitBucketsSeconds[i])), "_bucket");
  }
  page.sample(real(stats.commits), label("le", "+Inf"), "_bucket");
  page.sample(stats.commit_seconds, {}, "_sum");
  page.sample(real(stats.commits), {}, "_count");
  page.family("rows_written_total", "counter", "Rows written.");
  page.sample(real(stats.writes));
  page.family("observations_total", "counter", "Observations reported since the start.");
  page.sample(real(observations_));
  page.family("decisions_total", "counter", "Verdicts at rungs since the start.");
  page.sample(real(decisions_));
  page.family("held_calls", "gauge", "Idle workers whose call is held.");
  page.sample(real(stats.held_calls));

  page.family("connections", "gauge", "Open HTTP connections.");
  page.sample(real(load.connections));
  page.family("reads_waiting", "gauge", "Reads of the API under way or waiting for the thread that reads.");
  page.sample(real(load.reads_waiting));
  page.family("exports", "gauge", "Analytics and other long reads under way or waiting for a thread.");
  page.sample(real(load.exports));
  page.family("preflights", "gauge", "Checks of submitted jobs under way or waiting.");
  page.sample(real(load.preflights));
  add_requests(page);
  return std::move(page).text();
}

void ServerMetrics::add_workers(MetricsPage& page, const Scheduler& scheduler, const ServerLoad& load) {
  std::map<std::string_view, int> states{{"idle", 0}, {"executing", 0}, {"ending", 0}, {"draining", 0}};
  for (const WorkerView& worker : scheduler.workers()) ++states[state_word(worker)];
  page.family("workers", "gauge", "Workers by state; ending: still busy with what is no longer theirs.");
  for (const auto& [state, count] : states) page.sample(count, label("state", state));
  page.family("workers_gathered", "gauge", "Idle workers kept for a group that needs more than are free.");
  page.sample(real(scheduler.workers_gathered()));
  page.family("local_workers_down", "gauge",
              "Local workers that wait for their next start: one that keeps ending waits ever longer.");
  page.sample(real(load.local_workers_down));
}

void ServerMetrics::add_requests(MetricsPage& page) const {
  const auto labels_of = [](const auto& key) { return label("method", key.first) + "," + label("route", key.second); };
  page.family("requests_total", "counter", "Requests answered, by route and status.");
  for (const auto& [key, answered] : requests_) {
    for (const auto& [status, count] : answered.by_status) {
      page.sample(real(count), labels_of(key) + "," + label("status", std::to_string(status)));
    }
  }
  page.family("request_seconds", "histogram", "Seconds until a request was answered, by route; calls of idle workers are held.");
  for (const auto& [key, answered] : requests_) {
    const std::string labels = labels_of(key);
    for (std::size_t i = 0; i < kBucketsSeconds.size(); ++i) {
      page.sample(real(answered.within[i]), labels + "," + label("le", format_number(kBucketsSeconds[i])), "_bucket");
    }
    page.sample(real(answered.count), labels + "," + label("le", "+Inf"), "_bucket");
    page.sample(answered.seconds, labels, "_sum");
    page.sample(real(answered.count), labels, "_count");
  }
}

}  // namespace tuneband::server
