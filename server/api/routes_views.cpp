// What a page draws of a whole job, in columns; told as unchanged to who has it already.
#include <fmt/format.h>

#include <algorithm>

#include "core/decimal.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "core/time_text.hpp"
#include "server/api/api.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

constexpr int kDoubleDigits = 17;

CurvesQuery curves_query_of(const HttpRequest& request, Diagnostics& diagnostics) {
  CurvesQuery query;
  query.points = static_cast<int>(
      query_integer(request, "points", kObservationPointsMin, kCurvePointsMax, diagnostics).value_or(query.points));
  query.trials_max =
      static_cast<int>(query_integer(request, "trials_max", 1, kCurvesMax, diagnostics).value_or(query.trials_max));
  const auto list = request.query_value("trials");
  if (!list) return query;
  for (const std::string_view part : split(*list, ',')) {
    const auto number = whole_number(part);
    if (!number || *number < 0 || *number > kTrialsMax) {
      diagnostics.error("trials", "expected numbers of trials with commas between them, got " + excerpt(*list));
      return query;
    }
    query.trials.push_back(static_cast<int>(*number));
  }
  if (query.trials.size() > static_cast<std::size_t>(kCurvesMax))
    diagnostics.error("trials",
                      "expected at most " + std::to_string(kCurvesMax) + " trials, got " + std::to_string(query.trials.size()));
  return query;
}

ColumnsQuery columns_query_of(const HttpRequest& request, Diagnostics& diagnostics) {
  const auto small = [&](const char* name, std::int64_t max) -> std::optional<int> {
    const auto number = query_integer(request, name, 1, max, diagnostics);
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
  };
  return {small("trials_max", kTrialsMax), small("digits", kDoubleDigits)};
}

std::optional<Timestamp> query_time(const HttpRequest& request, const std::string& name, Diagnostics& diagnostics) {
  const auto text = request.query_value(name);
  const auto time = text ? parse_time(*text) : std::nullopt;
  if (text && !time) diagnostics.error(name, "expected a time as 2026-03-01T12:00:00Z, got " + excerpt(*text));
  return time;
}

// `now`: of what ends now unless it is told.
TimelineQuery timeline_query_of(const HttpRequest& request, Diagnostics& diagnostics, std::optional<Timestamp> now = {}) {
  TimelineQuery query;
  query.from = query_time(request, "from", diagnostics);
  query.until = query_time(request, "until", diagnostics);
  const std::optional<Timestamp> end = query.until ? query.until : now;
  if (query.from && end && *query.from >= *end)
    diagnostics.error(query.until ? "until" : "from",
                      query.until ? "expected a time after `from`" : "expected a time that is over");
  query.segments_max = static_cast<int>(
      query_integer(request, "segments_max", kSegmentsAskedMin, kSegmentsAskedMax, diagnostics).value_or(query.segments_max));
  return query;
}

}  // namespace

void Api::add_view_routes() {
  const auto of_job = [this](auto view, ExportThreads& threads) {
    return with_job([this, view, &threads](const HttpRequest& request, JobId job, const Respond& respond) {
      reply_view(request, job, json_of([job, view](Reader& reader) { return (reader.*view)(job); }), respond, threads);
    });
  };
  router_.add({"GET",
               "/v1/jobs/{job}/columns",
               {"trials_max", "digits"},
               with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
                 Diagnostics diagnostics;
                 const ColumnsQuery query = columns_query_of(request, diagnostics);
                 if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
                 reply_view(request, job, json_of([job, query](Reader& reader) { return reader.columns(job, query); }), respond,
                            views_);
               })});
  // A forest takes a while to grow.
  router_.add({"GET", "/v1/jobs/{job}/importance", {}, of_job(&Reader::importance, exports_)});
  router_.add(
      {"GET",
       "/v1/jobs/{job}/surface",
       {"x", "y"},
       with_job([this](const HttpRequest& request, JobId job, const Respond& respond) { surface(request, job, respond); })});
  router_.add({"GET", "/v1/jobs/{job}/decisions", {}, of_job(&Reader::decision_columns, views_)});
  router_.add({"GET",
               "/v1/jobs/{job}/curves",
               {"points", "trials", "trials_max"},
               with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
                 Diagnostics diagnostics;
                 const CurvesQuery query = curves_query_of(request, diagnostics);
                 if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
                 reply_view(request, job, json_of([job, query](Reader& reader) { return reader.curves(job, query); }), respond,
                            views_);
               })});
}

void Api::add_timeline_routes() {
  const std::vector<std::string> window = {"from", "until", "segments_max"};
  router_.add(
      {"GET", "/v1/jobs/{job}/timeline", window, with_job([this](const HttpRequest& request, JobId job, const Respond& respond) {
         Diagnostics diagnostics;
         const TimelineQuery query = timeline_query_of(request, diagnostics);
         if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
         reply_view(request, job, json_of([job, query](Reader& reader) { return reader.timeline(job, query); }), respond, views_);
       })});
  router_.add({"GET",
               "/v1/jobs/{job}/trials/{trial}/segments",
               {},
               with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
                 reply_view(request, trial.job,
                            json_of([trial](Reader& reader) { return reader.timeline(trial.job, {}, trial.number); }), respond,
                            views_);
               })});
  router_.add(
      {"GET", "/v1/workers/timeline", window, [this](const HttpRequest& request, const PathParameters&, const Respond& respond) {
         Diagnostics diagnostics;
         const TimelineQuery query = timeline_query_of(request, diagnostics, read_wall_clock());
         if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
         const auto read = json_of([query](Reader& reader) { return reader.workers_timeline(query, read_wall_clock()); });
         reply_unless_seen(request, query.from && query.until ? versions_.etag_of_all() : "", read, respond, views_);
       }});
}

void Api::surface(const HttpRequest& request, JobId job, const Respond& respond) {
  const std::string x = request.query_value("x").value_or("");
  const std::string y = request.query_value("y").value_or("");
  reply_view(request, job, json_of([job, x, y](Reader& reader) { return reader.surface(job, x, y); }), respond, exports_);
}

void Api::reply_view(const HttpRequest& request, JobId job, ReadText read, const Respond& respond, ExportThreads& threads) {
  reply_unless_seen(request, versions_.etag(job), std::move(read), respond, threads);
}

namespace {

// A tag that only an answer to the same question had, which was then no error: nor is it now, the version being the same.
std::string tag_of(const HttpRequest& request, std::string version) {
  std::string asked = request.path;
  for (const auto& [name, value] : request.query) asked += "\n" + name + "=" + value;
  return version.insert(version.size() - 1, fmt::format("-{:x}", stable_hash(asked)));  // within its quotes
}

}  // namespace

void Api::reply_unless_seen(const HttpRequest& request, const std::string& version, ReadText read, const Respond& respond,
                            ExportThreads& threads) {
  HttpReply head;
  std::string etag = version.empty() ? "" : tag_of(request, version);
  const std::string_view seen = request.header("if-none-match");
  const bool unchanged = !etag.empty() && seen != "*" && has_already(seen, etag);  // whether there is anything is not known yet
  if (!etag.empty()) head.headers.emplace_back("ETag", std::move(etag));
  head.headers.emplace_back("Cache-Control", "no-cache");
  if (unchanged) {
    head.status = kStatusNotModified;
    return respond->reply(std::move(head));
  }
  run_text(std::move(read), std::move(head), respond, threads);
}

}  // namespace tuneband::server
