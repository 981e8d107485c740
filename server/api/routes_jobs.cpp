#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/decimal.hpp"
#include "core/json_writer.hpp"
#include "core/masked_document.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "debugger/files/tensor_room.hpp"
#include "jobs/parsed_job.hpp"
#include "jobs/trainer_defaults.hpp"
#include "scheduler/forecast.hpp"
#include "server/api/api.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kChangesValuesMax = 64;  // so that what is no change is refused before the loop has parsed it

// "3,7".
std::vector<JobId> job_ids_of(const HttpRequest& request, Diagnostics& diagnostics) {
  std::vector<JobId> ids;
  const auto list = request.query_value("ids");
  if (!list) return ids;
  for (const std::string_view part : split(*list, ',')) {
    const auto number = whole_number(part);
    if (!number || *number < 1 || ids.size() == kJobsByIdMax) {
      diagnostics.error("ids", "expected at most " + std::to_string(kJobsByIdMax) +
                                   " ids of jobs with commas between them, got " + excerpt(*list));
      return {};
    }
    if (std::ranges::find(ids, JobId{*number}) == ids.end()) ids.push_back(JobId{*number});
  }
  return ids;
}

// Null: there is none, or it cannot be read.
std::shared_ptr<const ParsedJob> parsed_job_named(Reader& reader, const std::string& name) {
  const auto job = reader.find_job(name);
  const auto parsed = job ? reader.parsed_job(*job) : Result<std::shared_ptr<const ParsedJob>>(job.error());
  return parsed ? *parsed : nullptr;
}

// A job of this name that was submitted with the same warm start has what its earlier jobs saw, which may be gone since. With it
// the same document is the same job; another document cannot have the name anyway.
bool had_earlier_jobs(Reader& reader, JobSpec& spec) {
  const auto parsed = parsed_job_named(reader, spec.name);
  if (!parsed || parsed->spec.warm_start != spec.warm_start) return false;
  spec.priors = parsed->spec.priors;
  return true;
}

// Adds what the job saw that is `spec.warm_start[index]`.
void read_earlier_job(Reader& reader, JobId job, std::size_t index, JobSpec& spec, Diagnostics& found) {
  const std::string path = join_path("warm_start", index);
  const auto row = reader.job_row(job);
  if (!row) {
    found.error(path, "there is no job `" + spec.warm_start[index] + "`");
    return;
  }
  if (!ended(row->state)) {
    found.error(path, "job `" + row->name + "` has not ended: its results may still change",
                "wait until it has ended, or stop it");
    return;
  }
  const auto parsed = reader.parsed_job(job);
  const auto history = reader.history(job);
  if (!parsed || !history) {
    found.error(path, "job `" + row->name + "` cannot be read: " + (parsed ? history.error() : parsed.error()).message);
    return;
  }
  const Objective& theirs = (*parsed)->spec.objective;
  if (theirs.metric != spec.objective.metric || theirs.goal != spec.objective.goal) {
    found.warning(path, "job `" + row->name + "` had another objective, `" + theirs.metric + "`",
                  "its results help only where both rank configurations alike");
  }
  const auto priors = priors_of(*history);
  if (priors_within(spec.search_space, priors) == 0) {
    found.warning(path, "job `" + row->name + "` has no result within this search space: nothing is learned from it",
                  "a configuration counts when it has a parameter in common with `search_space` and no value outside of it");
  }
  spec.priors.insert(spec.priors.end(), priors.begin(), priors.end());
}

// Of a job that goes on from another one, `like`: what that one began with, which may be gone, or have left its name to another.
// So many of the jobs that it names.
std::size_t take_what_it_began_with(Reader& reader, const std::optional<std::string>& like, JobSpec& spec) {
  const auto parsed = like ? parsed_job_named(reader, *like) : nullptr;
  if (!parsed) return 0;
  const std::vector<std::string>& names = parsed->spec.warm_start;
  if (names.size() > spec.warm_start.size() || !std::equal(names.begin(), names.end(), spec.warm_start.begin())) return 0;
  spec.priors = parsed->spec.priors;
  return names.size();
}

// What the jobs that it names for its warm start have seen becomes a part of the document. A document that has it already, being
// an earlier job's, is taken as it is. `like`: the job that it is to be like.
void read_earlier_jobs(Reader& reader, const std::optional<std::string>& like, ParsedJob& parsed, Diagnostics& found) {
  JobSpec& spec = parsed.spec;
  if (spec.warm_start.empty() || !spec.priors.empty()) return;
  if (!had_earlier_jobs(reader, spec)) {
    const std::size_t known = take_what_it_began_with(reader, like, spec);
    const auto known_end = spec.warm_start.begin() + static_cast<std::ptrdiff_t>(known);
    std::set<JobId> jobs;
    for (std::size_t i = known; i < spec.warm_start.size(); ++i) {
      const std::string& name = spec.warm_start[i];
      const auto job = reader.find_job(name);
      const bool again = std::find(spec.warm_start.begin(), known_end, name) != known_end || (job && !jobs.insert(*job).second);
      if (again) {
        found.error(join_path("warm_start", i), "job `" + name + "` is named twice: its results would count twice");
      } else if (!job) {
        found.error(join_path("warm_start", i), "there is no job `" + name + "`");
      } else {
        read_earlier_job(reader, *job, i, spec, found);
      }
    }
  }
  if (found.ok()) parsed.canonical = with_priors(*parse_json(parsed.canonical), spec).dump();
}

// What it needed when it was submitted, its files above all, may be gone by now, and the server may allow less.
bool is_there_already(Reader& reader, const ParsedJob& parsed) {
  const auto job = reader.find_job(parsed.spec.name);
  const auto document = job ? reader.document(*job) : Result<std::string>(job.error());
  return document && *document == parsed.canonical;
}

// What a job like it is changed from.
Result<Json> submitted_document(Reader& reader, JobId job) {
  const auto stored = reader.document(job);
  if (!stored) return stored.error();
  auto document = parse_json(*stored);
  if (!document) return document.error();
  return Result<Json>(boost::system::in_place_value, without_trainer_defaults(std::move(*document)));
}

// The document of the job `like` with `patch` merged into it as RFC 7396 says: what is null there is left out.
Result<Json> patched_document(Reader& reader, const std::string& like, std::string_view patch) {
  const auto job = reader.find_job(like);
  if (!job) return Error{ErrorCode::invalid_argument, "there is no job `" + valid_utf8(like) + "`", "like", ""};
  auto document = submitted_document(reader, *job);
  if (!document) return document.error();
  const auto changes = parse_json(patch, {.values_max = kSubmittedValuesMax});
  if (!changes) return changes.error();
  if (!changes->is_object()) return Error{ErrorCode::invalid_argument, "expected an object, got " + excerpt(*changes), "", ""};
  document->merge_patch(*changes);
  return document;
}

}  // namespace

void Api::add_job_routes() {
  const auto of_job = [this](auto method) {
    return with_job([this, method](const HttpRequest&, JobId job, const Respond& respond) { (this->*method)(job, respond); });
  };
  router_.add({"POST", "/v1/jobs", {"base_dir", "like", "preflight"}, plain(&Api::create_job)});
  router_.add({"GET", "/v1/jobs", {"state", "limit", "after", "ids", "view"}, plain(&Api::list_jobs)});
  router_.add({"POST", "/v1/plans", {"base_dir", "like", "workers", "seconds_per_unit"}, plain(&Api::make_plan_of)});
  router_.add({"GET", "/v1/jobs/{job}", {}, of_job(&Api::get_job)});
  router_.add({"PATCH", "/v1/jobs/{job}", {}, with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
                 change_job(request, job, respond);
               })});
  router_.add({"DELETE", "/v1/jobs/{job}", {}, of_job(&Api::delete_job)});
  router_.add({"GET", "/v1/jobs/{job}/document", {}, of_job(&Api::get_document)});
  router_.add({"POST", "/v1/jobs/{job}/stop", {}, of_job(&Api::stop_job)});
  router_.add(
      {"GET", "/v1/jobs/{job}/events", {"after"}, with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
         watch_job(request, job, respond);
       })});
  router_.add({"GET", "/v1/jobs/{job}/best", {}, of_job(&Api::get_best)});
  router_.add({"GET", "/v1/jobs/{job}/plan", {}, with_job([this](const HttpRequest&, JobId job, const Respond& respond) {
                 read_json([job](Reader& reader) { return reader.plan(job); }, respond);
               })});
  router_.add({"GET", "/v1/jobs/{job}/summary", {}, of_job(&Api::get_summary)});
  router_.add(
      {"GET",
       "/v1/jobs/{job}/analytics",
       {"format"},
       with_job([this](const HttpRequest& request, JobId job, const Respond& respond) { analytics(request, job, respond); })});
}

void Api::create_job(const HttpRequest& request, const Respond& respond) {
  Diagnostics found;
  const std::string preflight = request.query_value("preflight").value_or("on");
  if (preflight != "on" && preflight != "off") found.error("preflight", "expected on or off, got " + excerpt(preflight));
  if (!found.ok()) return respond->reply(error_reply(found));
  read_document(
      request,
      [this, preflight, respond](const ReadDocument& read) {
        if (!read.found.ok()) return respond->reply(error_reply(read.found));
        if (preflight == "off" || read.is_there) return submit_job(read, read.found, respond);
        submit_checked(read, respond);
      },
      respond);
}

// Once the machines have had a look at what it needs.
void Api::submit_checked(const ReadDocument& read, const Respond& respond) {
  check_on_machines(*read.job, [this, read, respond](const Diagnostics& by_worker) {
    Diagnostics all = read.found;
    all.add(by_worker);
    if (!all.ok()) return respond->reply(error_reply(all));
    submit_job(read, all, respond);
  });
}

// A document may be as large as a body: it is parsed off the loop thread.
void Api::read_document(const HttpRequest& request, std::function<void(const ReadDocument&)> then, const Respond& respond) {
  const auto parse = [body = request.body, like = request.query_value("like"),
                      base_dir = request.query_value("base_dir").value_or(""),
                      &webhooks = webhooks_.options()](Reader& reader) -> Result<ReadDocument> {
    ReadDocument read{std::make_shared<ParsedJob>(), {}, false};
    if (like) {
      auto document = patched_document(reader, *like, body);
      if (!document) return document.error();
      *read.job = parse_job_document(std::move(*document), base_dir, read.found);
    } else {
      *read.job = parse_job(body, base_dir, read.found);
    }
    if (!read.found.ok()) return read;
    read_earlier_jobs(reader, like, *read.job, read.found);
    read.is_there = is_there_already(reader, *read.job);
    if (!read.is_there && read.job->spec.debugger) check_webhooks(webhooks, *read.job->spec.debugger, read.found);
    return read;
  };
  reads_.run(parse, [then = std::move(then), respond](const Result<ReadDocument>& read) {
    if (!read) return respond->reply(error_reply(read.error()));
    then(*read);
  });
}

void Api::warn_of_replicas(const JobSpec& spec, Diagnostics& found) const {
  check_replicas(spec, std::max(parts_.local_workers, static_cast<int>(parts_.engine.scheduler().workers().size())), found);
}

void Api::submit_job(const ReadDocument& read, const Diagnostics& found_so_far, const Respond& respond) {
  Diagnostics found = found_so_far;
  warn_of_replicas(read.job->spec, found);
  JobSubmitted event{read.job->spec, read.job->canonical};
  // The workers as they are before it has some.
  ask(std::move(event), respond, [this, read, found, workers = workers_now(), respond](const JobReply& reply) {
    if (!reply.job) return respond->reply(error_reply(reply.job.error()));
    reply_created(*reply.job, reply.created, read, {found, workers}, respond);
  });
}

void Api::reply_created(JobId job, bool created, const ReadDocument& read, const AtSubmission& moment, const Respond& respond) {
  const auto reply = [job, created, parsed = read.job, moment](Reader& reader) -> Result<std::string> {
    if (created) reader.keep_parsed(job, *parsed);
    const auto shown = reader.job(job);
    if (!shown) return shown.error();
    Diagnostics doubts;
    std::optional<UnitTime> unit;
    if (const auto measured = reader.measured_unit_time(parsed->spec)) unit = UnitTime{measured->seconds_per_unit, measured->job};
    const Json capacity = capacity_of(parsed->spec, moment.workers, unit, doubts, kForecastTrialsOfSubmission);
    Diagnostics all = moment.found;
    for (const Error& doubt : doubts.warnings()) {
      if (!doubt.path.empty()) all.warning(doubt);  // that nobody is there `starts` says, too
    }
    return fmt::format(R"({{"job":{},"plan":{},"capacity":{},"warnings":{}}})", json_text(*shown), to_json(parsed->plan).dump(),
                       capacity.dump(), faults_json(all.warnings()).dump());
  };
  read_json(reply, respond, created ? 201 : 200);
}

void Api::list_jobs(const HttpRequest& request, const Respond& respond) {
  Diagnostics diagnostics;
  JobsQuery query;
  if (const auto state = request.query_value("state")) {
    query.state = job_state_from(*state);
    if (!query.state)
      diagnostics.error("state", "expected running, stopping, completed, stopped or failed, got " + excerpt(*state));
  }
  query.limit = static_cast<int>(query_integer(request, "limit", 1, kPageMax, diagnostics).value_or(query.limit));
  query.after = request.query_value("after").value_or("");
  query.ids = job_ids_of(request, diagnostics);
  for (const char* name : {"state", "limit", "after"}) {
    if (!query.ids.empty() && request.query_value(name)) diagnostics.error(name, "expected nothing beside `ids`");
  }
  const std::string view = request.query_value("view").value_or("jobs");
  if (view != "jobs" && view != "cards") diagnostics.error("view", "expected jobs or cards, got " + excerpt(view));
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  if (view == "cards") return list_cards(request, query, respond);
  read_json([query](Reader& reader) { return reader.jobs(query); }, respond);
}

// What the scheduler says of the jobs that run is asked for on its own thread, between two reads.
void Api::list_cards(const HttpRequest& request, const JobsQuery& query, const Respond& respond) {
  const auto replied = [seen = std::string(request.header("if-none-match")), respond](const Result<std::string>& cards) {
    if (!cards) return respond->reply(error_reply(cards.error()));
    HttpReply answer;
    const std::string etag = fmt::format("W/\"{}\"", stable_hash(*cards));
    answer.headers = {{"ETag", etag}, {"Cache-Control", "no-cache"}};
    const bool unchanged = has_already(seen, etag);
    answer.status = unchanged ? kStatusNotModified : 200;
    if (!unchanged) answer.body = *cards;
    respond->reply(std::move(answer));
  };
  const auto with_standing = [this, query, replied, respond](const Result<std::vector<JobId>>& running) {
    if (!running) return respond->reply(error_reply(running.error()));
    reads_.run(json_of([query, standing = standing_of(*running)](Reader& reader) { return reader.cards(query, standing); }),
               replied);
  };
  reads_.run([query](Reader& reader) { return reader.running_jobs(query); }, with_standing);
}

void Api::get_job(JobId job, const Respond& respond) {
  read_json([job, standing = standing_of(job)](Reader& reader) { return reader.job_detail(job, standing); }, respond);
}

void Api::get_document(JobId job, const Respond& respond) {
  const auto read = [job](Reader& reader) -> Result<RawJson> {
    const auto document = submitted_document(reader, job);
    if (!document) return document.error();
    return RawJson{masked_document(document->dump())};
  };
  read_json(read, respond);
}

// On a thread of its own: it reads each of the job's trials.
void Api::get_summary(JobId job, const Respond& respond) {
  const DataDir& data_dir = parts_.data_dir;
  const auto read = [job, &data_dir, standing = standing_of(job)](Reader& reader) {
    std::optional<views::SavedTensors> tensors;
    if (const auto saved = debugger::files::tensors_of_job(data_dir.job_dir(job)))
      tensors = {saved->bytes, {saved->dropped.rows, saved->dropped.bytes}};
    return reader.summary(job, standing, model_files(data_dir), read_wall_clock(), tensors);
  };
  run_text(json_of(read), HttpReply{}, respond, summaries_);
}

void Api::change_job(const HttpRequest& request, JobId job, const Respond& respond) {
  Diagnostics found;
  const auto body = parse_json(request.body, {.values_max = kChangesValuesMax});
  if (!body) return respond->reply(error_reply(body.error()));
  const JobChanges changes = parse_job_changes(*body, found);
  if (!found.ok()) return respond->reply(error_reply(found));
  ask(JobChangeRequested{job, changes}, respond, [this, job, respond](const JobReply& reply) {
    if (!reply.job) return respond->reply(error_reply(reply.job.error()));
    read_json([job](Reader& reader) { return reader.job(job); }, respond);
  });
}

void Api::stop_job(JobId job, const Respond& respond) {
  ask(JobStopRequested{job}, respond,
      [this, job, respond](const JobReply&) { read_json([job](Reader& reader) { return reader.job(job); }, respond, 202); });
}

void Api::delete_job(JobId job, const Respond& respond) {
  ask(JobDeleteRequested{job}, respond, [respond](const JobReply& reply) {
    if (!reply.job) return respond->reply(error_reply(reply.job.error()));
    HttpReply gone;
    gone.status = 204;
    respond->reply(std::move(gone));
  });
}

void Api::make_plan_of(const HttpRequest& request, const Respond& respond) {
  Diagnostics diagnostics;
  const auto workers = query_integer(request, "workers", 1, kForecastWorkersMax, diagnostics);
  const auto seconds_per_unit = query_seconds_per_unit(request, diagnostics);
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  read_document(
      request,
      [this, workers, seconds_per_unit, respond](const ReadDocument& read) {
        if (!read.found.ok()) return respond->reply(error_reply(read.found));
        if (workers) return forecast_of(read.job, static_cast<int>(*workers), seconds_per_unit.value_or(1), respond);
        read_json([job = read.job](Reader&) -> Result<std::string> { return to_json(job->plan).dump(); }, respond);
      },
      respond);
}

// The simulation of a large job takes a while: not on the thread that serves the small reads, nor on those of analytics.
void Api::forecast_of(std::shared_ptr<const ParsedJob> job, int workers, double seconds_per_unit, const Respond& respond) {
  const auto produce = [job = std::move(job), workers, seconds_per_unit](Reader&, const Sink& sink) -> Result<void> {
    Json json = to_json(job->plan);
    json["forecast"] = to_json(forecast(job->spec, workers, seconds_per_unit));
    sink(json.dump());
    return {};
  };
  forecasts_.run(HttpReply{}, produce, respond);
}

void Api::watch_job(const HttpRequest& request, JobId job, const Respond& respond) {
  // What a browser sends by itself when it comes back is newer than the address.
  std::string last(request.header("last-event-id"));
  if (last.empty()) last = request.query_value("after").value_or("");
  events_.subscribe(job, respond->stream(event_stream_head()), last);
}

// As long as the job has trials: on a thread of its own, as fast as the client takes it.
void Api::analytics(const HttpRequest& request, JobId job, const Respond& respond) {
  const std::string format = request.query_value("format").value_or("json");
  if (format != "json" && format != "csv") {
    return respond->reply(
        error_reply(Error{ErrorCode::invalid_argument, "expected json or csv, got " + excerpt(format), "format", ""}));
  }
  const bool csv = format == "csv";
  HttpReply head;
  if (csv) head.content_type = "text/csv; charset=utf-8";
  const auto produce = [job, csv, now = read_wall_clock()](Reader& reader, const Sink& sink) {
    return csv ? reader.analytics_csv(job, now, sink) : reader.analytics_json(job, now, sink);
  };
  exports_.run(std::move(head), produce, respond);
}

}  // namespace tuneband::server
