#include "analytics/reader.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <set>

#include "analytics/cursor.hpp"
#include "analytics/curves.hpp"
#include "core/decimal.hpp"
#include "core/json.hpp"
#include "core/masked_document.hpp"
#include "core/text.hpp"
#include "db/migrate.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

Error no_such_job(std::string_view job) {
  return {ErrorCode::not_found, "there is no job " + excerpt(valid_utf8(job)), "", "`tuneband list` shows the jobs"};
}

Error no_such_trial(TrialId trial) {
  return {ErrorCode::not_found, "job " + std::to_string(trial.job.value) + " has no trial " + std::to_string(trial.number), "",
          ""};
}

Error out_of_range(std::string path, std::int64_t min, std::int64_t max, std::int64_t got) {
  return {ErrorCode::invalid_argument,
          "expected a number between " + std::to_string(min) + " and " + std::to_string(max) + ", got " + std::to_string(got),
          std::move(path), ""};
}

Error bad_cursor() {
  return {ErrorCode::invalid_argument, "the cursor is not one of this list", "after",
          "pass the `next` of the page before, with the same sort, or start without `after`"};
}

Connection open_for_reading(const std::string& path) {
  Connection connection = Connection::open_to_read(path);
  require_current(connection, migrations());
  return connection;
}

// ---- a page of trials ---------------------------------------------------------------------------------------------------------

// States that few trials are in, however many a job has.
bool few(const std::vector<TrialState>& states) {
  const auto at_work = [](TrialState one) { return one == TrialState::running || one == TrialState::pending; };
  return !states.empty() && std::all_of(states.begin(), states.end(), at_work);
}

// The words in these come from enums, the number from an int: nothing of the user's text.
std::string quoted(TrialState state) { return joined({"'", to_string(state), "'"}); }

std::string of_states(const TrialsQuery& query) {
  std::string sql;
  for (const TrialState state : query.states) sql += (sql.empty() ? " AND state IN (" : ", ") + quoted(state);
  return sql.empty() ? sql : sql + ")";
}

std::string of_bracket(const TrialsQuery& query) {
  return query.bracket ? " AND bracket = " + std::to_string(*query.bracket) : "";
}

constexpr const char* kSelectNote = "SELECT note FROM trials WHERE job = ? AND number = ?";

std::string select_trials(std::string_view rest) {
  return "SELECT " + columns_of<TrialRow>() + " FROM trials " + std::string(rest);
}

// Writes up to `limit` trials and says where the page ends. Which trials: the numbers of a statement that reads nothing but an
// index, however many it passes over; only what is shown is read whole.
class TrialsPage {
 public:
  TrialsPage(Connection& connection, JsonWriter& json, JobId job, int limit, Timestamp now)
      : rows_(connection.prepare(select_trials("WHERE job = ? AND number = ?"))),
        notes_(connection.prepare(kSelectNote)),
        json_(json),
        job_(job),
        left_(limit),
        now_(now) {}

  bool more() const { return more_; }
  const std::optional<TrialRow>& last() const { return last_; }

  // `numbers` gives one more than fits, where there is one.
  void add(Statement& numbers) {
    while (numbers.step()) {
      if (left_ == 0) {
        more_ = true;
        return;
      }
      rows_.query(job_.value, numbers.integer(0)).step();
      TrialRow row = row_from<TrialRow>(rows_);
      notes_.query(job_.value, row.id.number).step();
      write_trial(json_, row, rows_.text(kTrialConfigurationColumn), now_, std::string(notes_.text(0)));
      last_ = std::move(row);
      --left_;
    }
  }
  int left() const { return left_; }

 private:
  Statement rows_;
  Statement notes_;
  JsonWriter& json_;
  JobId job_;
  int left_;
  Timestamp now_;
  bool more_ = false;
  std::optional<TrialRow> last_;
};

// Several states: a walk through each one's part of the index, merged.
void add_by_number(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, std::int64_t after) {
  const std::string index = query.bracket ? "INDEXED BY trials_by_bracket " : "";
  const std::string rest = of_bracket(query) + " AND number > ?2";
  std::string sql;
  for (const TrialState state : std::set(query.states.begin(), query.states.end())) {
    sql += sql.empty() ? "" : " UNION ALL ";
    sql += "SELECT number FROM trials INDEXED BY trials_by_state WHERE job = ?1 AND state = " + quoted(state) + rest;
  }
  if (sql.empty()) sql = "SELECT number FROM trials " + index + "WHERE job = ?1" + rest;
  Statement numbers = connection.prepare(sql + " ORDER BY number LIMIT ?3");
  page.add(numbers.query(job.value, after, page.left() + 1));
}

// Few trials are found by their state and sorted.
void add_by_objective(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, Goal goal,
                      const std::optional<ValueCursor>& after) {
  // Infinite values are at the ends of the index and left out by the bounds.
  const bool up = goal == Goal::minimize;
  const std::string bounds = up ? " AND objective >= ?2 AND objective <= ?3 AND (objective > ?2 OR number > ?4)"
                                : " AND objective <= ?2 AND objective >= ?3 AND (objective < ?2 OR number > ?4)";
  Statement numbers = connection.prepare(joined(
      {"SELECT number FROM trials INDEXED BY ", few(query.states) ? "trials_by_state" : "trials_by_objective", " WHERE job = ?1",
       of_states(query), of_bracket(query), bounds, " ORDER BY objective", up ? "" : " DESC", ", number LIMIT ?5"}));
  const double best = up ? -DBL_MAX : DBL_MAX;
  page.add(numbers.query(job.value, after ? after->value : best, -best, after ? after->number : -1, page.left() + 1));
}

void add_valueless(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, std::int64_t after) {
  Statement numbers = connection.prepare(
      joined({"SELECT number FROM trials INDEXED BY trials_without_value WHERE job = ?1", of_states(query), of_bracket(query),
              // As the index says it, word by word.
              " AND (objective IS NULL OR objective > 1.7976931348623157e308 OR objective < -1.7976931348623157e308)",
              " AND number > ?2 ORDER BY number LIMIT ?3"}));
  page.add(numbers.query(job.value, after, page.left() + 1));
}

Cursor cursor_after(const TrialRow& row, TrialsQuery::Sort sort) {
  if (sort == TrialsQuery::Sort::number) return NumberCursor{row.id.number};
  if (row.objective && std::isfinite(*row.objective)) return ValueCursor{*row.objective, row.id.number};
  return ValuelessCursor{row.id.number};
}

// ---- observations -------------------------------------------------------------------------------------------------------------

void write_point(JsonWriter& json, const CurvePoint& point, const std::string& metric) {
  json.begin_object();
  write_point_fields(json, point, metric);
  json.end_object();
}

}  // namespace

Reader::Reader(const Source& source) : connection_(open_for_reading(source.database_file)), jobs_(source.jobs) {}

// ---- jobs ---------------------------------------------------------------------------------------------------------------------

Result<JobId> Reader::find_job(std::string_view id_or_name) {
  if (const std::optional<std::int64_t> id = whole_number(id_or_name)) {
    Statement by_id = connection_.prepare("SELECT id FROM jobs WHERE id = ? AND " + std::string(kNotDeleted));
    if (by_id.query(*id).step()) return JobId{*id};
  }
  Statement by_name = connection_.prepare("SELECT id FROM jobs WHERE name = ? AND " + std::string(kNotDeleted));
  if (by_name.query(id_or_name).step()) return JobId{by_name.integer(0)};
  return no_such_job(id_or_name);
}

Result<JobRow> Reader::find_row(JobId job) {
  Statement rows =
      connection_.prepare("SELECT " + columns_of<JobRow>() + " FROM jobs WHERE id = ? AND " + std::string(kNotDeleted));
  if (!rows.query(job.value).step()) return no_such_job(std::to_string(job.value));
  return row_from<JobRow>(rows);
}

std::shared_ptr<const ParsedJob> Reader::cached_job(JobId job) {
  if (const auto found = jobs_->find(job)) return *found;
  Statement spec = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ?");
  if (!spec.query(job.value).step()) return nullptr;
  // A job's document never changes and its id is never used again, so what is kept stays right.
  Result<ParsedJob> stored = parse_stored_job(spec.text(0));
  std::shared_ptr<const ParsedJob> parsed = stored ? job_for_readers(std::move(*stored)) : nullptr;
  jobs_->keep(job, parsed);
  return parsed;
}

Result<std::shared_ptr<const ParsedJob>> Reader::parsed_job(JobId job) {
  if (const Result<JobRow> row = find_row(job); !row) return row.error();
  std::shared_ptr<const ParsedJob> parsed = cached_job(job);
  if (!parsed) {
    return Error{ErrorCode::internal, "the document of job " + std::to_string(job.value) + " is not one that this version reads",
                 "", ""};
  }
  return parsed;
}

std::string Reader::configuration_of(JobId job, int trial) {
  Statement rows = connection_.prepare("SELECT configuration FROM trials WHERE job = ? AND number = ?");
  return rows.query(job.value, trial).step() ? std::string(rows.text(0)) : "{}";
}

JobSurroundings Reader::surroundings(const JobRow& row) {
  JobSurroundings around;
  around.parsed = cached_job(row.id);
  const int over = row.trials_completed + row.trials_stopped + row.trials_failed + row.trials_cancelled;
  if (row.trials_created > over) {
    Statement counts = connection_.prepare(
        "SELECT state, count(*) FROM trials INDEXED BY trials_by_state "
        "WHERE job = ? AND state IN ('pending', 'running') GROUP BY state");
    for (counts.query(row.id.value); counts.step();) {
      (counts.text(0) == "pending" ? around.pending : around.running) = counts.small_integer(1);
    }
    // Those may be most of them, and are what is left.
    around.paused = row.trials_created - over - around.pending - around.running;
  }
  if (row.best) around.best_configuration = configuration_of(row.id, row.best->trial);
  if (row.best_anywhere) around.best_anywhere_configuration = configuration_of(row.id, row.best_anywhere->trial);
  Statement note = connection_.prepare("SELECT note FROM jobs WHERE id = ?");
  if (note.query(row.id.value).step()) around.note = note.text(0);
  return around;
}

Result<Reader::JobsPage> Reader::jobs_page(const JobsQuery& query) {
  if (query.limit < 1 || query.limit > kPageMax) return out_of_range("limit", 1, kPageMax, query.limit);
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  if (!query.after.empty()) {
    const std::optional<Cursor> cursor = cursor_from(query.after);
    if (!cursor || !std::holds_alternative<NumberCursor>(*cursor)) return bad_cursor();
    before = std::get<NumberCursor>(*cursor).number;
  }
  JobsPage page;
  for (const JobId id : query.ids) {
    if (Result<JobRow> row = find_row(id); row) page.rows.push_back(std::move(*row));
  }
  if (!query.ids.empty()) return page;
  Statement rows =
      connection_.prepare("SELECT " + columns_of<JobRow>() + " FROM jobs WHERE id < ? AND " + std::string(kNotDeleted) +
                          (query.state ? " AND state = ?" : "") + " ORDER BY id DESC LIMIT ?");
  const int limit = query.limit + 1;
  query.state ? rows.query(before, to_string(*query.state), limit) : rows.query(before, limit);
  while (rows.step()) page.rows.push_back(row_from<JobRow>(rows));
  if (page.rows.size() == static_cast<std::size_t>(limit)) {
    page.rows.pop_back();
    page.next = to_text(NumberCursor{page.rows.back().id.value});
  }
  return page;
}

// {"jobs": [what write_job() gives of each], "next": ...
Result<void> Reader::write_jobs(JsonWriter& json, const JobsQuery& query,
                                const std::function<void(const JobRow&, const JobSurroundings&)>& write_job) {
  const Result<JobsPage> page = jobs_page(query);
  if (!page) return page.error();
  json.begin_object().key("jobs").begin_array();
  for (const JobRow& row : page->rows) {
    const JobSurroundings around = surroundings(row);
    json.begin_object();
    write_job_fields(json, row, around);
    write_job(row, around);
    json.end_object();
  }
  json.end_array().field("next", page->next);
  return {};
}

Result<std::string> Reader::jobs(const JobsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  std::string text;
  JsonWriter json(text);
  const Result<void> written = write_jobs(json, query, [](const JobRow&, const JobSurroundings&) {});
  if (!written) return written.error();
  json.end_object();
  return text;
}

std::optional<Reader::UnitTime> Reader::measured_unit_time(const JobSpec& spec) {
  // Paths are absolute in both.
  const auto part_of = [](const JobSpec& job) {
    return job.trainer.value(job.trainer.contains("data") ? "data" : "argv", Json());
  };
  const Json part = part_of(spec);
  Statement rows = connection_.prepare("SELECT id, name, training_ms, resource_spent FROM jobs WHERE " +
                                       std::string(kNotDeleted) + " ORDER BY id DESC LIMIT ?");
  rows.query(kSimilarJobsMax);
  while (rows.step()) {
    if (rows.integer(2) <= 0 || rows.integer(3) <= 0) continue;
    const auto parsed = cached_job(JobId{rows.integer(0)});
    if (!parsed || part.is_null() || part_of(parsed->spec) != part) continue;
    return UnitTime{static_cast<double>(rows.integer(2)) / 1000 / static_cast<double>(rows.integer(3)),
                    std::string(rows.text(1))};
  }
  return std::nullopt;
}

Result<JobRow> Reader::job_row(JobId job) { return find_row(job); }

Result<std::string> Reader::document(JobId job) {
  Statement spec = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ? AND " + std::string(kNotDeleted));
  if (!spec.query(job.value).step()) return no_such_job(std::to_string(job.value));
  return std::string(spec.text(0));
}

Result<std::string> Reader::job(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_job_fields(json, *row, surroundings(*row));
  json.end_object();
  return text;
}

Result<std::string> Reader::job_detail(JobId job, std::span<const std::pair<std::string, int>> waiting,
                                       std::optional<int> queue_position) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_job_fields(json, *row, surroundings(*row));
  Statement spec = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ?");
  if (spec.query(job.value).step()) json.key("spec").raw(masked_document(spec.text(0)));
  json.key("waiting").begin_object();
  for (const auto& [reason, trials] : waiting) json.field(reason, trials);
  json.end_object().field("queue_position", queue_position).end_object();
  return text;
}

// ---- trials -------------------------------------------------------------------------------------------------------------------

Result<std::string> Reader::trials(JobId job, const TrialsQuery& query, Timestamp now) {
  if (query.limit < 1 || query.limit > kPageMax) return out_of_range("limit", 1, kPageMax, query.limit);
  const bool by_number = query.sort == TrialsQuery::Sort::number;
  std::optional<Cursor> cursor;
  if (!query.after.empty()) {
    cursor = cursor_from(query.after);
    if (!cursor || std::holds_alternative<NumberCursor>(*cursor) != by_number) return bad_cursor();
  }
  Transaction moment(connection_, Transaction::Kind::read);
  if (const Result<JobRow> row = find_row(job); !row) return row.error();

  std::string text;
  JsonWriter json(text);
  json.begin_object().key("trials").begin_array();
  TrialsPage page(connection_, json, job, query.limit, now);
  if (by_number) {
    add_by_number(connection_, page, job, query, cursor ? std::get<NumberCursor>(*cursor).number : -1);
  } else {
    const auto* valueless = cursor ? std::get_if<ValuelessCursor>(&*cursor) : nullptr;
    if (!valueless) {
      const std::shared_ptr<const ParsedJob> parsed = cached_job(job);
      const auto* value = cursor ? std::get_if<ValueCursor>(&*cursor) : nullptr;
      add_by_objective(connection_, page, job, query, parsed ? parsed->spec.objective.goal : Goal::maximize,
                       value ? std::optional(*value) : std::nullopt);
    }
    if (!page.more()) add_valueless(connection_, page, job, query, valueless ? valueless->number : -1);
  }
  json.end_array().key("next");
  page.more() && page.last() ? json.value(to_text(cursor_after(*page.last(), query.sort))) : json.null();
  json.end_object();
  return text;
}

Result<TrialRow> Reader::trial_row(TrialId trial) {
  Statement rows = connection_.prepare(select_trials("WHERE job = ? AND number = ?"));
  if (!rows.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  TrialRow row = row_from<TrialRow>(rows);
  row.configuration = configuration_from_text(rows.text(kTrialConfigurationColumn));
  return row;
}

Result<std::string> Reader::trial(TrialId trial, Timestamp now) {
  Statement rows = connection_.prepare(select_trials("WHERE job = ? AND number = ?"));
  if (!rows.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  std::string text;
  JsonWriter json(text);
  Statement note = connection_.prepare(kSelectNote);
  note.query(trial.job.value, trial.number).step();
  const auto row = row_from<TrialRow>(rows);
  const bool out_of_memory = row.state == TrialState::failed && row.exit_class == ExitClass::out_of_memory;
  const std::string fits = out_of_memory ? what_fits(trial) : "";
  write_trial(json, row, rows.text(kTrialConfigurationColumn), now, std::string(note.text(0)), fits);
  return text;
}

Result<int> Reader::best_trial(JobId job) {
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  if (row->best) return row->best->trial;
  if (row->best_anywhere) return row->best_anywhere->trial;
  return Error{ErrorCode::not_found, "no trial of job " + std::to_string(job.value) + " has a value yet", "", ""};
}

Result<std::string> Reader::best(JobId job, const std::optional<std::string>& model_path, Timestamp now) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<int> number = best_trial(job);
  if (!number) return number.error();
  const Result<std::string> best = trial({job, *number}, now);
  if (!best) return best.error();
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("trial").raw(*best).field("model", model_path).end_object();
  return text;
}

Result<std::string> Reader::observations(TrialId trial, std::optional<int> points) {
  if (points && *points < kObservationPointsMin) return out_of_range("points", kObservationPointsMin, kObservationsMax, *points);
  if (points && *points > kObservationsMax) return out_of_range("points", kObservationPointsMin, kObservationsMax, *points);
  Transaction moment(connection_, Transaction::Kind::read);
  Statement exists = connection_.prepare("SELECT 1 FROM trials WHERE job = ? AND number = ?");
  if (!exists.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  const std::shared_ptr<const ParsedJob> parsed = cached_job(trial.job);

  CurveReader curves(connection_, CurveReader::Points::all);
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("observations").begin_array();
  for (const CurvePoint& point : curves.decimated(trial, points.value_or(kObservationsMax)))
    write_point(json, point, parsed ? parsed->spec.objective.metric : "objective");
  json.end_array().end_object();
  return text;
}

Result<std::string> Reader::decisions(TrialId trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  Statement exists = connection_.prepare("SELECT 1 FROM trials WHERE job = ? AND number = ?");
  if (!exists.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  Statement rows =
      connection_.prepare("SELECT " + columns_of<DecisionRow>() + " FROM decisions WHERE job = ? AND trial = ? ORDER BY rung");
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("decisions").begin_array();
  for (rows.query(trial.job.value, trial.number); rows.step();) write_decision(json, row_from<DecisionRow>(rows));
  json.end_array().end_object();
  return text;
}

Result<std::string> Reader::findings(JobId job, std::optional<int> trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  if (auto row = find_row(job); !row) return row.error();
  if (trial) {
    Statement exists = connection_.prepare("SELECT 1 FROM trials WHERE job = ? AND number = ?");
    if (!exists.query(job.value, *trial).step()) return no_such_trial({job, *trial});
  }
  const std::string where = trial ? " WHERE job = ?1 AND trial = ?2 ORDER BY sequence" : " WHERE job = ?1 ORDER BY sequence";
  Statement rows = connection_.prepare("SELECT " + columns_of<FindingRow>() + " FROM findings" + where);
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("findings").begin_array();
  trial ? rows.query(job.value, *trial) : rows.query(job.value);
  while (rows.step()) write_finding(json, row_from<FindingRow>(rows));
  json.end_array().end_object();
  return text;
}

}  // namespace tuneband
