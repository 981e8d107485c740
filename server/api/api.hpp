// The REST API: what each route does with the engine, the reader, the preflight and the live updates. docs/api.md has the
// contract. Handlers run on the loop thread; reads go to the read thread and come back.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "jobs/parsed_job.hpp"
#include "server/api/capacity.hpp"
#include "server/api/event_followers.hpp"
#include "server/api/event_hub.hpp"
#include "server/api/export_threads.hpp"
#include "server/api/job_versions.hpp"
#include "server/api/log_stream.hpp"
#include "server/api/read_thread.hpp"
#include "server/api/server_metrics.hpp"
#include "server/api/webhooks.hpp"
#include "server/data/data_dir.hpp"
#include "server/engine.hpp"
#include "server/http/access.hpp"
#include "server/http/router.hpp"
#include "server/local/preflight.hpp"
#include "server/remote_checks.hpp"

namespace tuneband::server {

struct TensorQuery;

// Where a browser begins a session.
inline constexpr const char* kSessionPath = "/v1/session";

struct ApiParts {
  Engine& engine;
  Preflight& preflight;
  const DataDir& data_dir;
  std::string worker_program;  // path of tuneband-worker
  int local_workers = 0;       // that the server keeps running
  WebhookOptions webhooks = {};
  std::shared_ptr<Access> access = nullptr;  // null: whoever reaches the server may ask
};

class Api {
 public:
  // Joins the engine's listeners. Throws SqliteError when the database cannot be opened for reading.
  Api(boost::asio::io_context& loop, ApiParts parts);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Once, with what the database held: for /metrics and the streams of events.
  void restore(const Snapshot& snapshot);
  // Once, where the data may be changed: also what an earlier server left untold.
  void call_webhooks();
  HttpHandler handler();
  std::span<const Route> routes() const { return router_.routes(); }

  // For /metrics: open connections.
  void set_connections(std::function<ConnectionLoad()> connections) { connections_ = std::move(connections); }
  // For /metrics: local workers that wait for their next start.
  void set_local_workers_down(std::function<std::size_t()> down) { local_workers_down_ = std::move(down); }
  // Ends the streams that would go on, events and followed logs, and calls of web hooks.
  void close_streams();

 private:
  // routes_dashboard.cpp
  void add_dashboard_routes();

  // routes_jobs.cpp
  void add_job_routes();
  void create_job(const HttpRequest& request, const Respond& respond);
  struct ReadDocument {
    std::shared_ptr<ParsedJob> job;
    Diagnostics found;
    bool is_there = false;  // the job is, with this document
  };
  // `then` gets the body as a job document, or why it is none.
  void read_document(const HttpRequest& request, std::function<void(const ReadDocument&)> then, const Respond& respond);
  void warn_of_replicas(const JobSpec& spec, Diagnostics& found) const;
  void submit_checked(const ReadDocument& read, const Respond& respond);
  // `found_so_far`: warnings, for the reply.
  void submit_job(const ReadDocument& read, const Diagnostics& found_so_far, const Respond& respond);
  struct AtSubmission {
    Diagnostics found;
    WorkersNow workers;
  };
  void reply_created(JobId job, bool created, const ReadDocument& read, const AtSubmission& moment, const Respond& respond);
  void list_jobs(const HttpRequest& request, const Respond& respond);
  void list_cards(const HttpRequest& request, const JobsQuery& query, const Respond& respond);
  void get_job(JobId job, const Respond& respond);
  void get_document(JobId job, const Respond& respond);
  void get_summary(JobId job, const Respond& respond);
  void change_job(const HttpRequest& request, JobId job, const Respond& respond);
  void stop_job(JobId job, const Respond& respond);
  void delete_job(JobId job, const Respond& respond);
  void make_plan_of(const HttpRequest& request, const Respond& respond);
  void forecast_of(std::shared_ptr<const ParsedJob> job, int workers, double seconds_per_unit, const Respond& respond);
  void watch_job(const HttpRequest& request, JobId job, const Respond& respond);
  void analytics(const HttpRequest& request, JobId job, const Respond& respond);

  // routes_check.cpp
  void add_check_routes();
  WorkersNow workers_now() const;
  void check_document(const HttpRequest& request, const Respond& respond);
  // By this machine and by those of the workers; `then` gets one word of all.
  void check_on_machines(const ParsedJob& job, std::function<void(const Diagnostics&)> then);
  void reply_check(const JobSpec& spec, const Diagnostics& found, std::optional<double> seconds_per_unit, const Respond& respond);

  // routes_trials.cpp
  void add_trial_routes();
  void list_trials(const HttpRequest& request, JobId job, const Respond& respond);
  void get_observations(const HttpRequest& request, TrialId trial, const Respond& respond);
  void get_log(const HttpRequest& request, TrialId trial, const Respond& respond);
  void get_model(const HttpRequest& request, TrialId trial, const Respond& respond);
  void stop_trial(TrialId trial, const Respond& respond);
  void list_files(TrialId trial, const Respond& respond);
  void get_file(const HttpRequest& request, TrialId trial, const Respond& respond);
  void get_best(JobId job, const Respond& respond);

  // routes_tensors.cpp
  void add_tensor_routes();
  void check_trial(const HttpRequest& request, TrialId trial, const Respond& respond);
  struct TensorPage;
  void read_tensors(const HttpRequest& request, TrialId trial, const TensorPage& page, const Respond& respond);

  // routes_views.cpp
  void add_view_routes();
  // Replies with what `read` gives, or that it is unchanged: it must follow from the job's rows alone.
  // `threads`: views_, or exports_ for what takes longer than to read it.
  void reply_view(const HttpRequest& request, JobId job, ReadText read, const Respond& respond, ExportThreads& threads);
  // The same of what is of this version; "": it follows from other things too, and is sent each time.
  void reply_unless_seen(const HttpRequest& request, const std::string& version, ReadText read, const Respond& respond,
                         ExportThreads& threads);
  void surface(const HttpRequest& request, JobId job, const Respond& respond);
  void add_timeline_routes();

  // routes_ensemble.cpp
  void add_ensemble_routes();
  void get_ensemble(const HttpRequest& request, JobId job, const Respond& respond);

  // routes_notes.cpp
  void add_note_routes();
  void put_note(const HttpRequest& request, JobId job, std::optional<int> trial, const Respond& respond);

  // routes_events.cpp
  void add_event_routes();
  void with_events_query(const HttpRequest& request, const Respond& respond, std::function<void(const EventsQuery&)> then);
  void list_events(const HttpRequest& request, const Respond& respond);
  void follow_events(const HttpRequest& request, const Respond& respond);

  // routes_system.cpp
  void add_system_routes();
  void sync_worker(const HttpRequest& request, const std::string& worker, const Respond& respond);
  void list_workers(const Respond& respond);
  ServerLoad load() const;

  // For routes without parameters in their path.
  RouteHandler plain(void (Api::*method)(const HttpRequest&, const Respond&));
  // For routes below /v1/jobs/{job}: finds the job by id or name, then goes on.
  RouteHandler with_job(std::function<void(const HttpRequest&, JobId, const Respond&)> then);
  // The same for routes below /v1/jobs/{job}/trials/{trial}; the trial may still not be there.
  RouteHandler with_trial(std::function<void(const HttpRequest&, TrialId, const Respond&)> then);
  // Gives the core what a user asks of a job or a trial; `then` gets its answer once that is on disk.
  void ask(Event event, const Respond& respond, std::function<void(const JobReply&)> then);
  // Replies with what `read(Reader&)` gives, a Result of what the JSON writer takes; it is written on the read thread.
  template <class Read>
  void read_json(Read read, const Respond& respond, int status = 200) {
    read_text(json_of(std::move(read)), respond, status);
  }
  void read_text(ReadText read, const Respond& respond, int status);
  // The same on one of `threads`.
  void run_text(ReadText read, HttpReply head, const Respond& respond, ExportThreads& threads);
  JobStanding standing_of(JobId job) const;
  std::map<JobId, JobStanding> standing_of(const std::vector<JobId>& jobs) const;

  void handle(const HttpRequest& request, const Respond& respond);

  boost::asio::io_context& loop_;
  ApiParts parts_;
  Reader::Source source_;
  ReadThread reads_;
  ExportThreads exports_;
  ExportThreads summaries_;  // that a whole job's export does not hold up
  ExportThreads forecasts_;  // one at a time: what they cost is up to who asks
  ExportThreads views_;
  ExportThreads ensembles_;  // one at a time: each has a program that reads the job's data
  ExportThreads refits_;     // the same of those that train, for which no other is to wait
  ExportThreads files_;      // what waits for the disk of the trials, and may be long
  JobVersions versions_;
  EventHub events_;
  EventFollowers followers_;
  LogFollowers logs_;
  Webhooks webhooks_;
  RemoteChecks remote_checks_;
  ServerMetrics metrics_;
  std::function<ConnectionLoad()> connections_ = [] { return ConnectionLoad{}; };
  std::function<std::size_t()> local_workers_down_ = [] { return std::size_t{0}; };
  Router router_;
};

// The path of a trial's model, where there is one.
Reader::ModelPath model_files(const DataDir& data_dir);

// Of a reply that is read while it grows: nginx in front would keep each piece back until it has 4 KB of them.
void pass_on_at_once(HttpReply& head);
// Of a stream of server-sent events.
HttpReply event_stream_head();

// Reads an integer query parameter; nothing when it is not given. Faults go to `diagnostics` under its name.
std::optional<std::int64_t> query_integer(const HttpRequest& request, const std::string& name, std::int64_t min, std::int64_t max,
                                          Diagnostics& diagnostics);
// "true" or "false"; false when it is not given.
bool query_flag(const HttpRequest& request, const std::string& name, Diagnostics& diagnostics);
// How long a unit of the resource takes: a number above 0, up to kSecondsPerUnitMax.
inline constexpr double kSecondsPerUnitMax = 1e7;
std::optional<double> query_seconds_per_unit(const HttpRequest& request, Diagnostics& diagnostics);

}  // namespace tuneband::server
