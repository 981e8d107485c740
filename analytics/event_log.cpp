// The log of events: pages of it, and what a client that was away has missed of a job.
#include "analytics/event_log.hpp"

#include <algorithm>
#include <set>

#include "analytics/curves.hpp"
#include "analytics/reader.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kMissedTrialsMax = 1'000;
constexpr std::size_t kMissedMax = 20'000;  // more is loaded anew in less time

std::int64_t first_event_id(Connection& connection) { return connection.integer("SELECT coalesce(min(id), 0) FROM events"); }
std::int64_t last_event_id(Connection& connection) { return connection.integer("SELECT coalesce(max(id), 0) FROM events"); }

// Some of what came after this event is not kept, or it is of another database.
bool has_gap(Connection& connection, std::int64_t after) {
  return after < first_event_id(connection) - 1 || after > last_event_id(connection);
}

}  // namespace

EventsAfter Reader::events_after(const EventsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  return events_of_now(query);
}

EventsAfter Reader::events_of_now(const EventsQuery& query) {
  EventsAfter found;
  found.newest = last_event_id(connection_);
  found.gap = has_gap(connection_, query.after);
  Statement rows = connection_.prepare(joined({kSelectEvent, "LEFT JOIN jobs j ON j.id = e.job AND j.deleted = 0 WHERE e.id > ?1",
                                               query.job ? " AND job = ?3" : "", " ORDER BY e.id LIMIT ?2"}));
  query.job ? rows.query(query.after, query.limit, query.job->value) : rows.query(query.after, query.limit);
  while (rows.step()) found.events.push_back(struct_from<views::Event>(rows));
  return found;
}

Result<views::Events> Reader::events(const EventsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  EventsQuery one_more = query;
  ++one_more.limit;
  EventsAfter found = events_of_now(one_more);
  views::Events page{std::move(found.events), std::nullopt, first_event_id(connection_), found.newest, found.gap};
  if (page.events.size() > static_cast<std::size_t>(query.limit)) {
    page.events.pop_back();
    page.next = page.events.back().id;
  }
  return page;
}

// What happened to a trial since says which trials to look at, besides those that run: nothing else has changed. Verdicts on
// failed ones come later, without an event of their own.
Result<Missed> Reader::missed(JobId job, std::int64_t after, Timestamp since, Timestamp now) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  Missed missed;
  if (has_gap(connection_, after)) return missed;
  std::set<int> touched;
  Statement told =
      connection_.prepare("SELECT DISTINCT trial FROM events WHERE job = ? AND id > ? AND trial IS NOT NULL LIMIT ?");
  for (told.query(job.value, after, kMissedTrialsMax + 1); told.step();) touched.insert(told.small_integer(0));
  Statement of_state =
      connection_.prepare("SELECT number FROM trials INDEXED BY trials_by_state WHERE job = ? AND state = ? LIMIT ?");
  const auto add = [&](TrialState state, std::set<int>& to) {
    for (of_state.query(job.value, to_string(state), kMissedMax); of_state.step();) to.insert(of_state.small_integer(0));
  };
  add(TrialState::running, touched);
  if (touched.size() > kMissedTrialsMax) return missed;
  std::set<int> judged = touched;
  add(TrialState::failed, judged);
  for (const int number : touched) {
    Result<views::Trial> one = trial_without_advice({job, number}, now);
    if (!one) return one.error();
    missed.messages.emplace_back(std::move(*one));
  }
  for (const int number : touched) add_missed_observations({job, number}, since, missed);
  for (const int number : judged) add_missed_decisions({job, number}, since, missed);
  Statement findings = connection_.prepare(select_sql<FindingRow>("WHERE job = ? AND at >= ? ORDER BY sequence"));
  for (findings.query(job.value, since.ms); findings.step();) missed.messages.emplace_back(row_from<FindingRow>(findings));
  Statement notes = connection_.prepare(
      "SELECT number, note FROM trials INDEXED BY trials_with_note WHERE job = ? AND note <> '' AND note_at >= ? LIMIT ?");
  for (notes.query(job.value, since.ms, kMissedMax + 1); notes.step();)
    missed.messages.emplace_back(struct_from<views::TrialNote>(notes));
  missed.known = missed.messages.size() <= kMissedMax;
  return missed;
}

void Reader::add_missed_observations(TrialId trial, Timestamp since, Missed& missed) {
  if (missed.messages.size() > kMissedMax) return;
  const auto parsed = cached_job(trial.job);
  Statement rows = connection_.prepare(joined(
      {"SELECT ", kPointColumns, " FROM observations WHERE job = ? AND trial = ? AND at >= ? ", "ORDER BY resource LIMIT ?"}));
  for (rows.query(trial.job.value, trial.number, since.ms, kMissedMax); rows.step();)
    missed.messages.emplace_back(views::TrialObservation{trial.number, observation_view(point_from(rows), parsed.get())});
}

void Reader::add_missed_decisions(TrialId trial, Timestamp since, Missed& missed) {
  Statement rows = connection_.prepare(select_sql<DecisionRow>("WHERE job = ? AND trial = ? AND at >= ? ORDER BY rung"));
  for (rows.query(trial.job.value, trial.number, since.ms); rows.step();)
    missed.messages.emplace_back(row_from<DecisionRow>(rows));
}

}  // namespace tuneband
