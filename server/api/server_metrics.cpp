#include "server/api/server_metrics.hpp"

#include "core/text.hpp"
#include "core/time.hpp"
#include "server/worker_messages.hpp"

namespace tuneband::server {

namespace {

// Values come from fixed words and route patterns: nothing in them needs escaping.
std::string label(std::string_view name, std::string_view value) { return std::string(name) + "=\"" + std::string(value) + "\""; }

}  // namespace

// The families of the text format: each a head, then a line a sample.
class MetricsPage {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP tuneband_" + name_ + " " + std::string(help) + "\n# TYPE tuneband_" + name_ + " " + std::string(type) + "\n";
  }
  template <class Number>
  void sample(Number value, const std::string& labels = {}, std::string_view suffix = {}) {
    text_ += "tuneband_" + name_ + std::string(suffix) + (labels.empty() ? "" : "{" + labels + "}") + " " +
             format_number(static_cast<double>(value)) + "\n";
  }
  // `within`: how many were at most as long as each of `bounds`.
  template <std::size_t N>
  void histogram(const std::array<double, N>& bounds, const std::array<std::uint64_t, N>& within, std::uint64_t count, double sum,
                 const std::string& labels = {}) {
    const std::string before = labels.empty() ? "" : labels + ",";
    for (std::size_t i = 0; i < N; ++i) sample(within[i], before + label("le", format_number(bounds[i])), "_bucket");
    sample(count, before + label("le", "+Inf"), "_bucket");
    sample(sum, labels, "_sum");
    sample(count, labels, "_count");
  }

  // Families of one sample.
  template <class Number>
  void gauge(std::string_view name, std::string_view help, Number value) {
    family(name, "gauge", help);
    sample(value);
  }
  template <class Number>
  void counter(std::string_view name, std::string_view help, Number value) {
    family(name, "counter", help);
    sample(value);
  }

  std::string text() && { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

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
    std::string().swap(row.spec_json);
    jobs_[row.id] = std::move(row);
  }
}

void ServerMetrics::on_committed(std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (const auto* job = std::get_if<JobRow>(&write)) {
      jobs_[job->id] = *job;
      std::string().swap(jobs_[job->id].spec_json);  // its memory too
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
  add_jobs(page, engine.scheduler());
  add_workers(page, engine.scheduler(), load);
  add_engine(page, engine.stats());
  page.gauge("connections", "Open HTTP connections.", load.connections.open);
  page.gauge("connection_memory_bytes", "What requests and replies on their way hold in memory.", load.connections.memory_bytes);
  page.counter("connections_let_go_total", "Connections ended because all together held more than --memory-max.",
               load.connections.let_go);
  page.gauge("reads_waiting", "Reads of the API under way or waiting for the thread that reads.", load.reads_waiting);
  page.gauge("exports", "Analytics and other long reads under way or waiting for a thread.", load.exports);
  page.gauge("preflights", "Checks of submitted jobs under way or waiting.", load.preflights);
  add_requests(page);
  return std::move(page).text();
}

void ServerMetrics::add_jobs(MetricsPage& page, const Scheduler& scheduler) const {
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
    for (const auto& [reason, count] : scheduler.waiting_by_reason(id)) waiting[reason] += count;
  }
  page.family("jobs", "gauge", "Jobs by state.");
  for (const auto& [state, count] : jobs) page.sample(count, label("state", to_string(state)));
  page.family("trials", "gauge", "Trials of all jobs by state; open: pending, running or paused.");
  page.sample(open, label("state", "open"));
  page.sample(completed, label("state", "completed"));
  page.sample(stopped, label("state", "stopped"));
  page.sample(failed, label("state", "failed"));
  page.sample(cancelled, label("state", "cancelled"));
  page.family("trials_waiting", "gauge", "At least so many trials wait, by what they wait for.");
  for (const auto& [reason, count] : waiting) page.sample(count, label("reason", reason));
  page.gauge("resource_spent", "Units of resource that trials of all jobs have trained.", resource);
  page.gauge("training_seconds", "Seconds that workers trained for all jobs.", seconds_of(training_ms));
}

void ServerMetrics::add_workers(MetricsPage& page, const Scheduler& scheduler, const ServerLoad& load) {
  std::map<std::string_view, int> states{{"idle", 0}, {"executing", 0}, {"ending", 0}, {"draining", 0}};
  for (const WorkerView& worker : scheduler.workers()) ++states[state_word(worker)];
  page.family("workers", "gauge", "Workers by state; ending: still busy with what is no longer theirs.");
  for (const auto& [state, count] : states) page.sample(count, label("state", state));
  page.gauge("workers_gathered", "Idle workers kept for a group that needs more than are free.", scheduler.workers_gathered());
  page.gauge("local_workers_down", "Local workers that wait for their next start: one that keeps ending waits ever longer.",
             load.local_workers_down);
}

void ServerMetrics::add_engine(MetricsPage& page, const EngineStats& stats) const {
  page.counter("events_total", "Events that the scheduler stepped through.", stats.events);
  page.counter("events_refused_total", "Events turned away because the queue was full.", stats.refused);
  page.gauge("event_queue_length", "Events that wait for their step.", stats.queue_length);
  page.counter("step_seconds_total", "Seconds spent deciding.", stats.step_seconds);
  page.gauge("suggestions_wanted", "Configurations that samplers compute or are still to compute.", stats.suggestions);
  page.counter("suggestion_seconds_total", "Seconds spent computing suggestions, beside everything else.",
               stats.suggestion_seconds);
  page.counter("commits_total", "Transactions committed; events share them.", stats.commits);
  page.family("commit_seconds", "histogram", "Seconds that a commit took.");
  page.histogram(kCommitBucketsSeconds, stats.commits_within, stats.commits, stats.commit_seconds);
  page.counter("rows_written_total", "Rows written.", stats.writes);
  page.counter("observations_total", "Observations reported since the start.", observations_);
  page.counter("decisions_total", "Verdicts at rungs since the start.", decisions_);
  page.gauge("held_calls", "Idle workers whose call is held.", stats.held_calls);
}

void ServerMetrics::add_requests(MetricsPage& page) const {
  const auto labels_of = [](const auto& key) { return label("method", key.first) + "," + label("route", key.second); };
  page.family("requests_total", "counter", "Requests answered, by route and status.");
  for (const auto& [key, answered] : requests_) {
    for (const auto& [status, count] : answered.by_status) {
      page.sample(count, labels_of(key) + "," + label("status", std::to_string(status)));
    }
  }
  page.family("request_seconds", "histogram", "Seconds until a request was answered, by route; calls of idle workers are held.");
  for (const auto& [key, answered] : requests_) {
    page.histogram(kBucketsSeconds, answered.within, answered.count, answered.seconds, labels_of(key));
  }
}

}  // namespace tuneband::server
