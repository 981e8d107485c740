// Who trained what, from when until when: segments by columns, of a job or of all workers. Where there are more than are asked
// for, neighbours on the same worker are put together: how much a page gets depends on what it asked for alone.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "analytics/columns.hpp"
#include "analytics/event_log.hpp"
#include "analytics/reader.hpp"
#include "analytics/straight_on.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kTimelineWorkersMax = 500;
constexpr std::size_t kTimelineJobsMax = 200;
constexpr std::size_t kTimelineEventsMax = 1'000;

constexpr Timestamp kLongAgo{std::numeric_limits<std::int64_t>::min()};
constexpr Timestamp kNever{std::numeric_limits<std::int64_t>::max()};

// A segment on one of its workers, which stands in it.
struct Cell : SegmentRow {
  int rank = 0;
};

// A cell for each rank.
using Visit = std::function<void(const Cell&)>;
void visit_cells(const Statement& row, const Visit& visit) {
  Cell cell{row_from<SegmentRow>(row)};
  visit(cell);
  for (WorkerId& peer : std::exchange(cell.peers, {})) {
    cell.worker = std::move(peer);
    ++cell.rank;
    visit(cell);
  }
}

bool is_loss(const std::optional<std::string>& outcome) {
  constexpr std::array<std::string_view, 5> kFine = {"reached_rung", "completed", "stopped", "cancelled", "given_back"};
  return outcome && std::find(kFine.begin(), kFine.end(), *outcome) == kFine.end();
}

// Several cells of one worker that began one soon after the other; the trial is that of the longest.
struct Merged {
  Cell longest;
  Timestamp began;
  std::optional<Timestamp> ended;
  std::int64_t segments = 0;
  std::int64_t losses = 0;
  std::optional<std::string> loss;  // the first one's outcome

  void add(const Cell& cell) {
    const auto lasted = [](const Cell& one) { return one.ended_at.value_or(one.began_at) - one.began_at; };
    if (segments == 0 || lasted(cell) > lasted(longest)) longest = cell;
    began = segments == 0 ? cell.began_at : std::min(began, cell.began_at);
    ended = segments == 0 ? cell.ended_at : std::max(ended, cell.ended_at);
    if (is_loss(cell.outcome) && losses++ == 0) loss = cell.outcome;
    ++segments;
  }
};

// What there is to show, looked at before it is shown.
struct Survey {
  std::int64_t cells = 0;
  Timestamp first = kNever;
  Timestamp last = kLongAgo;
  std::map<std::string, Timestamp> workers;  // until when each is known to have been there

  void add(const Cell& cell) {
    ++cells;
    first = std::min(first, cell.began_at);
    const Timestamp end = cell.ended_at.value_or(cell.began_at);
    last = std::max(last, end);
    Timestamp& seen = workers.try_emplace(cell.worker.value, end).first->second;
    seen = std::max(seen, end);
  }
  // Of too many workers those that were there last stay.
  std::size_t leave_out_workers(std::size_t workers_max) {
    if (workers.size() <= workers_max) return 0;
    std::vector<Timestamp> times;
    for (const auto& [worker, seen] : workers) times.push_back(seen);
    std::sort(times.begin(), times.end(), std::greater<>());
    const Timestamp least = times[workers_max - 1];
    const std::size_t all = workers.size();
    std::erase_if(workers, [&](const auto& one) { return one.second < least; });
    while (workers.size() > workers_max) {  // equals
      workers.erase(std::find_if(workers.begin(), workers.end(), [&](const auto& one) { return one.second == least; }));
    }
    return all - workers.size();
  }
};

// Whether a cell's segment went straight on from the one before it, which need not be shown.
class StraightOn {
 public:
  StraightOn(Connection& connection, Reader& reader)
      : reader_(reader),
        rows_(connection.prepare(
            select_sql<SegmentRow>("WHERE job = ? AND trial = ? AND epoch <= ? ORDER BY epoch DESC LIMIT 2"))) {}

  bool operator()(const Cell& cell) {
    if (cell.from_resource == 0) return false;
    std::vector<SegmentRow> two;
    for (rows_.query(cell.trial.job.value, cell.trial.number, cell.epoch.value); rows_.step();)
      two.push_back(row_from<SegmentRow>(rows_));
    if (two.size() < 2) return false;
    const auto job = reader_.parsed_job(cell.trial.job);
    return job && went_straight_on(two[1], two[0], trains_xgboost((*job)->spec.trainer));
  }

 private:
  Reader& reader_;
  Statement rows_;
};

class SegmentColumns {
 public:
  enum class Of { one_job, all_jobs };
  SegmentColumns(Timestamp created_at, Of which, StraightOn straight_on)
      : created_at_(created_at), of_all_jobs_(which == Of::all_jobs), is_straight_on_(std::move(straight_on)) {}

  // Runs `statement` twice: once to see how much there is. `start` binds it.
  void read(Statement& statement, const std::function<void(Statement&)>& start, const TimelineQuery& query) {
    const auto each = [&](const Visit& visit) {
      for (start(statement); statement.step();) visit_cells(statement, visit);
    };
    Survey survey;
    each([&](const Cell& cell) { survey.add(cell); });
    workers_left_out_ = survey.leave_out_workers(std::min(kTimelineWorkersMax, static_cast<std::size_t>(query.segments_max) / 3));
    const auto each_shown = [&](const Visit& visit) {
      each([&](const Cell& cell) {
        if (workers_left_out_ == 0 || survey.workers.contains(cell.worker.value)) visit(cell);
      });
    };
    if (survey.cells <= query.segments_max) return each_shown([&](const Cell& cell) { add(cell); });
    merge(each_shown, bins_of(survey, query));
  }

  // As fields of the object that `json` is in.
  void write(JsonWriter& json) {
    json.field("created_at", created_at_).key("workers");
    workers_.write(json);
    json.key("outcomes");
    outcomes_.write(json);
    columns_.write(json);
    if (of_all_jobs_) job_.write(json);
    if (merged_ > 0) {
      segments_.write(json);
      losses_.write(json);
    }
    json.field("merged", merged_).field("workers_left_out", workers_left_out_);
  }

 private:
  // Equal times: those that began on one worker in one of them stand together. Of each worker there may be one more that began
  // before, and one that is under way.
  struct Bins {
    Timestamp begin;
    std::int64_t width_ms = 1;
  };
  static Bins bins_of(const Survey& survey, const TimelineQuery& query) {
    const auto workers = static_cast<std::int64_t>(survey.workers.size());
    const std::int64_t bins = std::max<std::int64_t>(1, query.segments_max / workers - 2);
    const Timestamp begin = std::max(survey.first, query.from.value_or(survey.first));
    const Timestamp end = std::min(survey.last, query.until.value_or(survey.last));
    return {begin, std::max<std::int64_t>(1, (end - begin) / bins + 1)};
  }
  void merge(const std::function<void(const Visit&)>& each, Bins bins) {
    std::map<std::pair<std::string, std::int64_t>, Merged> merged;
    each([&](const Cell& cell) {
      if (!cell.ended_at) return add(cell);
      const std::int64_t bin = cell.began_at < bins.begin ? -1 : (cell.began_at - bins.begin) / bins.width_ms;
      merged[{cell.worker.value, bin}].add(cell);
    });
    for (auto& [place, several] : merged) add(several);
  }
  void add(const Cell& cell, std::int64_t segments = 1) {
    job_.add(cell.trial.job);
    trial_.add(cell.trial.number);
    epoch_.add(cell.epoch);
    attempt_.add(cell.attempt);
    worker_.add(workers_.index_of(cell.worker.value));
    rank_.add(cell.rank);
    from_resource_.add(cell.from_resource);
    until_resource_.add(cell.until_resource);
    resource_.add(cell.resource);
    began_.add_time(cell.began_at, created_at_);
    ended_.add_time(cell.ended_at, created_at_);
    outcome_.add(outcomes_.index_of(cell.outcome.value_or("")));
    straight_on_.add(segments == 1 && is_straight_on_(cell) ? 1 : 0);
    segments_.add(segments);
    if (segments == 1) losses_.add(is_loss(cell.outcome) ? 1 : 0);
  }
  void add(Merged& several) {
    Cell cell = std::move(several.longest);
    cell.began_at = several.began;
    cell.ended_at = several.ended;
    if (several.losses > 0) cell.outcome = several.loss;
    add(cell, several.segments);
    if (several.segments == 1) return;
    losses_.add(several.losses);
    merged_ += several.segments;
  }

  Timestamp created_at_;
  bool of_all_jobs_;
  StraightOn is_straight_on_;
  std::int64_t merged_ = 0;  // segments that stand with others in a cell
  std::size_t workers_left_out_ = 0;
  Words workers_;
  Words outcomes_;
  Columns columns_;
  Column job_{"job"};
  Column segments_{"segments"};
  Column losses_{"losses"};
  Column& trial_ = columns_.add("trial");
  Column& epoch_ = columns_.add("epoch");
  Column& attempt_ = columns_.add("attempt");
  Column& worker_ = columns_.add("worker");
  Column& rank_ = columns_.add("rank");
  Column& from_resource_ = columns_.add("from_resource");
  Column& until_resource_ = columns_.add("until_resource");
  Column& resource_ = columns_.add("resource");
  Column& began_ = columns_.add("began");
  Column& ended_ = columns_.add("ended");
  Column& outcome_ = columns_.add("outcome");
  Column& straight_on_ = columns_.add("straight_on");
};

}  // namespace

Result<RawJson> Reader::timeline(JobId job, const TimelineQuery& query, std::optional<int> trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  if (trial) {
    if (const auto there = require_trial({job, *trial}); !there) return there.error();
  }
  SegmentColumns columns(row->created_at, SegmentColumns::Of::one_job, {connection_, *this});
  Statement segments = connection_.prepare(
      select_sql<SegmentRow>(joined({"WHERE job = ?1 AND began_at < ?2 AND (ended_at IS NULL OR ended_at > ?3)",
                                     trial ? " AND trial = ?4" : "", " ORDER BY trial, epoch"})));
  const std::int64_t until = query.until.value_or(kNever).ms;
  const std::int64_t from = query.from.value_or(kLongAgo).ms;
  columns.read(
      segments,
      [&](Statement& statement) {
        trial ? statement.query(job.value, until, from, *trial) : statement.query(job.value, until, from);
      },
      query);
  RawJson shown;
  JsonWriter json(shown.text);
  json.begin_object();
  columns.write(json);
  json.end_object();
  return shown;
}

// Those that were under way at any time of the window, the newest first.
views::TimelineJobs Reader::timeline_jobs(Timestamp from, Timestamp until) {
  constexpr std::string_view kJob =
      "SELECT id, name, created_at, ended_at, max_parallel_trials FROM jobs INDEXED BY jobs_by_end WHERE deleted = 0 AND ";
  Statement rows = connection_.prepare(joined({kJob, "ended_at > ?1 AND created_at < ?2 UNION ALL ", kJob,
                                               "ended_at IS NULL AND created_at < ?2 ORDER BY id DESC LIMIT ?3"}));
  views::TimelineJobs found;
  for (rows.query(from.ms, until.ms, kTimelineJobsMax + 1); rows.step();) {
    found.more_jobs = found.jobs.size() == kTimelineJobsMax;
    if (found.more_jobs) break;
    found.jobs.push_back(struct_from<views::TimelineJob>(rows));
  }
  return found;
}

// What the log says of workers and of the server, in the order of its numbers.
views::TimelineEvents Reader::timeline_events(Timestamp from, Timestamp until) {
  Statement rows = connection_.prepare(
      joined({kSelectEvent, "INDEXED BY events_of_workers LEFT JOIN jobs j ON j.id = e.job AND j.deleted = 0 WHERE kind IN (",
              "'server_started', 'worker_connected', 'worker_disconnected', 'worker_lost', 'worker_released', ",
              "'job_starts_no_more') AND at >= ?1 AND at < ?2 ORDER BY at LIMIT ?3"}));
  Statement before = connection_.prepare("SELECT at FROM events WHERE id = ?1");
  views::TimelineEvents found;
  for (rows.query(from.ms, until.ms, kTimelineEventsMax + 1); rows.step();) {
    found.more_events = found.events.size() == kTimelineEventsMax;
    if (found.more_events) break;
    const auto& event = found.events.emplace_back(struct_from<views::Event>(rows));
    if (event.kind == to_string(EventKind::server_started) && before.query(event.id - 1).step())
      found.server_starts.push_back({event.at, Timestamp{before.integer(0)}});
  }
  return found;
}

Result<RawJson> Reader::workers_timeline(const TimelineQuery& query, Timestamp now) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Timestamp until = query.until.value_or(now);
  const Timestamp from = query.from.value_or(until.plus_ms(-kTimelineMs));
  SegmentColumns columns(from, SegmentColumns::Of::all_jobs, {connection_, *this});
  Statement segments =
      connection_.prepare(select_sql<SegmentRow>("INDEXED BY segments_by_end WHERE ended_at > ?1 AND began_at < ?2 UNION ALL ") +
                          select_sql<SegmentRow>("INDEXED BY segments_by_end WHERE ended_at IS NULL AND began_at < ?2"));
  TimelineQuery window = query;
  window.from = from;
  columns.read(
      segments, [&](Statement& statement) { statement.query(from.ms, until.ms); }, window);
  RawJson shown;
  JsonWriter json(shown.text);
  json.begin_object().field("from", from).field("until", until);
  columns.write(json);
  write_members(json, timeline_jobs(from, until));
  write_members(json, timeline_events(from, until));
  json.end_object();
  return shown;
}

}  // namespace tuneband
