#include "server/api/api.hpp"

#include <chrono>
#include <cmath>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "server/log.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

// Passes an answer on and tells of it once both are known: which route it is of, and how it was answered.
class ObservedResponder final : public HttpResponder {
 public:
  using Observer = std::function<void(const Route* route, int status, double seconds)>;
  ObservedResponder(Respond inner, Observer observer) : inner_(std::move(inner)), observer_(std::move(observer)) {}

  void reply(HttpReply reply) override {
    answered(reply.status);
    inner_->reply(std::move(reply));
  }
  void on_closed(std::function<void()> closed) override { inner_->on_closed(std::move(closed)); }
  void on_no_more_sent(std::function<void()> told) override { inner_->on_no_more_sent(std::move(told)); }
  std::shared_ptr<HttpStream> stream(HttpReply head, std::optional<std::uint64_t> length) override {
    answered(head.status);
    return inner_->stream(std::move(head), length);
  }
  void routed(const Route* route) {
    route_ = route;
    routed_ = true;
    tell();
  }

 private:
  void answered(int status) {
    if (status_) return;
    status_ = status;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    tell();
  }
  void tell() {
    if (routed_ && status_) observer_(route_, *status_, seconds_);
  }

  Respond inner_;
  Observer observer_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool routed_ = false;
  const Route* route_ = nullptr;
  std::optional<int> status_;
  double seconds_ = 0;
};

}  // namespace

Api::Api(boost::asio::io_context& loop, ApiParts parts)
    : loop_(loop),
      parts_(parts),
      source_(parts.data_dir.database_file()),
      reads_(loop, source_),
      exports_(loop, source_, {}),
      summaries_(loop, source_, {.threads = 1}),
      forecasts_(loop, source_, {.threads = 1}),
      views_(loop, source_, {.threads = 2, .body = ExportThreads::Body::whole}),
      ensembles_(loop, source_, {.threads = 1}),
      refits_(loop, source_, {.threads = 1}),
      files_(loop, source_, {.threads = 4, .body = ExportThreads::Body::whole}),
      events_(loop, reads_),
      followers_(loop, reads_),
      logs_(loop),
      webhooks_(loop, reads_, parts.engine, parts.webhooks),
      remote_checks_(loop, {}) {
  add_job_routes();
  add_trial_routes();
  add_tensor_routes();
  add_check_routes();
  add_view_routes();
  add_timeline_routes();
  add_event_routes();
  add_ensemble_routes();
  add_note_routes();
  add_system_routes();
  add_dashboard_routes();
  parts_.engine.add_listener([this](std::span<const Write> writes) {
    metrics_.on_committed(writes);
    versions_.on_committed(writes);
    events_.on_committed(writes, read_wall_clock());
    followers_.on_committed(writes);
    logs_.on_committed(writes);
    webhooks_.on_committed(writes);
  });
}

void Api::restore(const Snapshot& snapshot) {
  metrics_.restore(snapshot);
  events_.restore(snapshot);
}

void Api::call_webhooks() { webhooks_.restore(); }

HttpHandler Api::handler() {
  return [this](const HttpRequest& request, const Respond& respond) { handle(request, respond); };
}

void Api::handle(const HttpRequest& request, const Respond& respond) {
  const auto observed = std::make_shared<ObservedResponder>(respond, [this](const Route* route, int status, double seconds) {
    metrics_.request_answered(route != nullptr ? route->method : "other", route != nullptr ? route->pattern : "", status,
                              seconds);
  });
  try {
    observed->routed(router_.handle(request, observed));
  } catch (const std::exception& failure) {
    log_error("request failed", {{"path", request.path}, {"why", failure.what()}});
    observed->reply(error_reply(500, "internal", "the server failed to answer", "its log says more"));
    observed->routed(nullptr);
  }
}

void Api::close_streams() {
  webhooks_.close();
  remote_checks_.stop();
  events_.close();
  followers_.close();
  logs_.close();
  exports_.close();
  summaries_.close();
  forecasts_.close();
  views_.close();
  ensembles_.close();
  refits_.close();
  files_.close();
}

RouteHandler Api::plain(void (Api::*method)(const HttpRequest&, const Respond&)) {
  return [this, method](const HttpRequest& request, const PathParameters&, const Respond& respond) {
    (this->*method)(request, respond);
  };
}

RouteHandler Api::with_job(std::function<void(const HttpRequest&, JobId, const Respond&)> then) {
  return [this, then = std::move(then)](const HttpRequest& request, const PathParameters& path, const Respond& respond) {
    const auto find = [name = path.at("job")](Reader& reader) { return reader.find_job(name); };
    reads_.run(find, [then, request, respond](const Result<JobId>& job) {
      if (!job) return respond->reply(error_reply(job.error()));
      then(request, *job, respond);
    });
  };
}

RouteHandler Api::with_trial(std::function<void(const HttpRequest&, TrialId, const Respond&)> then) {
  return [this, then = std::move(then)](const HttpRequest& request, const PathParameters& path, const Respond& respond) {
    const auto find = [name = path.at("job"), text = path.at("trial")](Reader& reader) -> Result<TrialId> {
      const auto job = reader.find_job(name);
      if (!job) return job.error();
      const auto number = whole_number(text);
      if (!number || *number < 0 || *number > kTrialsMax) {
        return Error{ErrorCode::not_found, "there is no trial `" + valid_utf8(text) + "`", "", "trials are numbered from 0"};
      }
      return TrialId{*job, static_cast<int>(*number)};
    };
    reads_.run(find, [then, request, respond](const Result<TrialId>& trial) {
      if (!trial) return respond->reply(error_reply(trial.error()));
      then(request, *trial, respond);
    });
  };
}

void Api::ask(Event event, const Respond& respond, std::function<void(const JobReply&)> then) {
  const auto committed = [then = std::move(then)](std::span<const Notice> notices) {
    for (const Notice& notice : notices) {
      if (const auto* reply = std::get_if<JobReply>(&notice)) return then(*reply);
    }
  };
  if (const auto taken = parts_.engine.submit(std::move(event), committed); !taken) respond->reply(error_reply(taken.error()));
}

void Api::read_text(ReadText read, const Respond& respond, int status) {
  reads_.run(std::move(read), [respond, status](Result<std::string>&& json) {
    if (!json) return respond->reply(error_reply(json.error()));
    HttpReply reply;
    reply.status = status;
    reply.body = std::move(*json);
    respond->reply(std::move(reply));
  });
}

void Api::run_text(ReadText read, HttpReply head, const Respond& respond, ExportThreads& threads) {
  const auto produce = [read = std::move(read)](Reader& reader, const Sink& sink) -> Result<void> {
    const auto text = read(reader);
    if (!text) return text.error();
    sink(*text);
    return {};
  };
  threads.run(std::move(head), produce, respond);
}

JobStanding Api::standing_of(JobId job) const {
  const Scheduler& scheduler = parts_.engine.scheduler();
  return {scheduler.waiting_by_reason(job), scheduler.queue_position(job)};
}

std::map<JobId, JobStanding> Api::standing_of(const std::vector<JobId>& jobs) const {
  const Scheduler& scheduler = parts_.engine.scheduler();
  std::map<JobId, JobStanding> standing;
  for (const JobId job : jobs) standing[job].waiting = scheduler.waiting_by_reason(job);
  for (const auto& [job, position] : scheduler.queue_positions()) {
    if (const auto asked = standing.find(job); asked != standing.end()) asked->second.queue_position = position;
  }
  return standing;
}

void pass_on_at_once(HttpReply& head) { head.headers.emplace_back("X-Accel-Buffering", "no"); }

HttpReply event_stream_head() {
  HttpReply head;
  head.content_type = "text/event-stream";
  head.headers.emplace_back("Cache-Control", "no-store");
  pass_on_at_once(head);
  return head;
}

std::optional<std::int64_t> query_integer(const HttpRequest& request, const std::string& name, std::int64_t min, std::int64_t max,
                                          Diagnostics& diagnostics) {
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  const auto number = whole_number(*text);
  if (!number || *number < min || *number > max) {
    diagnostics.error(
        name, "expected an integer between " + std::to_string(min) + " and " + std::to_string(max) + ", got " + excerpt(*text));
    return std::nullopt;
  }
  return number;
}

bool query_flag(const HttpRequest& request, const std::string& name, Diagnostics& diagnostics) {
  const std::string word = request.query_value(name).value_or("false");
  if (word != "true" && word != "false") diagnostics.error(name, "expected true or false, got " + excerpt(word));
  return word == "true";
}

std::optional<double> query_seconds_per_unit(const HttpRequest& request, Diagnostics& diagnostics) {
  const char* name = "seconds_per_unit";
  const auto text = request.query_value(name);
  if (!text) return std::nullopt;
  const auto number = parse_number(*text);
  if (!number || !(*number > 0 && *number <= kSecondsPerUnitMax)) {
    diagnostics.error(name,
                      "expected a number above 0, at most " + format_number(kSecondsPerUnitMax) + ", got " + excerpt(*text));
    return std::nullopt;
  }
  return number;
}

}  // namespace tuneband::server
