// The log of events: pages of it, and following it.
#include "core/decimal.hpp"
#include "core/text.hpp"
#include "server/api/api.hpp"

namespace tuneband::server {

namespace {

constexpr std::int64_t kEventIdMax = std::int64_t{1} << 53;  // that every JSON reader takes as it is

}  // namespace

void Api::add_event_routes() {
  router_.add({"GET", "/v1/events", {"after", "job", "limit"}, plain(&Api::list_events)});
  router_.add({"GET", "/v1/events/stream", {"after", "job"}, plain(&Api::follow_events)});
}

// A job that is deleted has a number and no name any more.
void Api::with_events_query(const HttpRequest& request, const Respond& respond, std::function<void(const EventsQuery&)> then) {
  Diagnostics diagnostics;
  EventsQuery query;
  query.after = query_integer(request, "after", 0, kEventIdMax, diagnostics).value_or(0);
  query.limit = static_cast<int>(query_integer(request, "limit", 1, kPageMax, diagnostics).value_or(query.limit));
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  const auto job = request.query_value("job");
  if (!job) return then(query);
  const auto find = [name = *job](Reader& reader) -> Result<JobId> {
    const auto found = reader.find_job(name);
    const auto number = whole_number(name);
    return !found && number && *number >= 1 ? Result<JobId>(JobId{*number}) : found;
  };
  reads_.run(find, [query, respond, then = std::move(then)](const Result<JobId>& found) {
    if (!found) return respond->reply(error_reply(found.error()));
    EventsQuery of_job = query;
    of_job.job = *found;
    then(of_job);
  });
}

void Api::list_events(const HttpRequest& request, const Respond& respond) {
  with_events_query(request, respond, [this, respond](const EventsQuery& query) {
    read_json([query](Reader& reader) { return reader.events(query); }, respond);
  });
}

// Last-Event-ID is what a browser sends by itself when it comes back, and newer than the address.
void Api::follow_events(const HttpRequest& request, const Respond& respond) {
  const std::string last(request.header("last-event-id"));
  const auto seen = whole_number(last);
  if (!last.empty() && (!seen || *seen < 0)) {
    return respond->reply(error_reply(
        Error{ErrorCode::invalid_argument, "expected the id of an event, got " + excerpt(last), "Last-Event-ID", ""}));
  }
  const bool from_now = !seen && !request.query_value("after");
  with_events_query(request, respond, [this, respond, seen, from_now](const EventsQuery& query) {
    const std::int64_t after = seen.value_or(query.after);
    followers_.follow(query.job, from_now ? std::nullopt : std::optional(after), respond->stream(event_stream_head()));
  });
}

}  // namespace tuneband::server
