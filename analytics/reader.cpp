#include "analytics/reader.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <set>

#include "analytics/cursor.hpp"
#include "analytics/curves.hpp"
#include "analytics/explanation.hpp"
#include "analytics/refit.hpp"
#include "core/decimal.hpp"
#include "core/json.hpp"
#include "core/masked_document.hpp"
#include "core/text.hpp"
#include "core/time.hpp"
#include "db/migrate.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

// Of a trainer, what the time of a unit follows from: its data, or the command with all that it runs in. Null: it names neither.
Json what_takes_time(const Json& trainer) {
  if (trainer.contains("data")) return trainer["data"];
  Json parts;
  for (const char* part : {"argv", "environment", "working_dir"}) {
    if (trainer.contains(part)) parts[part] = trainer[part];
  }
  return parts;
}

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

constexpr std::string_view kOneTrial = "WHERE job = ? AND number = ?";

views::Trial trial_from(const Statement& row, Timestamp now) {
  return {row_from<TrialRow>(row), {std::string(row.text(kTrialConfigurationColumn))}, now, std::nullopt, ""};
}

// Reads up to `limit` trials and says where the page ends. Which trials: the numbers of a statement that reads nothing but an
// index, however many it passes over; only what is shown is read whole.
class TrialsPage {
 public:
  TrialsPage(Connection& connection, JobId job, int limit, Timestamp now)
      : rows_(connection.prepare(select_sql<TrialRow>(kOneTrial))),
        notes_(connection.prepare(kSelectNote)),
        job_(job),
        left_(limit),
        now_(now) {}

  bool more() const { return more_; }
  int left() const { return left_; }
  std::vector<views::Trial> take() { return std::move(trials_); }

  // `numbers` gives one more than fits, where there is one.
  void add(Statement& numbers) {
    while (numbers.step()) {
      more_ = left_ == 0;
      if (more_) return;
      rows_.query(job_.value, numbers.integer(0)).step();
      views::Trial& trial = trials_.emplace_back(trial_from(rows_, now_));
      notes_.query(job_.value, trial.row.id.number).step();
      trial.note = notes_.text(0);
      --left_;
    }
  }

 private:
  Statement rows_;
  Statement notes_;
  JobId job_;
  int left_;
  Timestamp now_;
  bool more_ = false;
  std::vector<views::Trial> trials_;
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
                      const ValueCursor* after) {
  const bool up = goal == Goal::minimize;
  const std::string_view value = kValueOfTrial;
  const std::string bounds = up ? joined({" AND ", value, " >= ?2 AND ", value, " <= ?3 AND (", value, " > ?2 OR number > ?4)"})
                                : joined({" AND ", value, " <= ?2 AND ", value, " >= ?3 AND (", value, " < ?2 OR number > ?4)"});
  Statement numbers = connection.prepare(
      joined({"SELECT number FROM trials INDEXED BY ", few(query.states) ? "trials_by_state" : "trials_by_objective",
              " WHERE job = ?1", of_states(query), of_bracket(query), " AND violation = 0 AND ", kObjectiveIsFinite, bounds,
              " ORDER BY ", value, up ? "" : " DESC", ", number LIMIT ?5"}));
  const double best = up ? -DBL_MAX : DBL_MAX;
  page.add(numbers.query(job.value, after ? after->value : best, -best, after ? after->number : -1, page.left() + 1));
}

void add_violating(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, const ViolationCursor* after) {
  Statement numbers = connection.prepare(
      joined({"SELECT number FROM trials INDEXED BY trials_by_violation WHERE job = ?1", of_states(query), of_bracket(query),
              " AND violation > 0 AND ", kObjectiveIsFinite,
              " AND violation >= ?2 AND (violation > ?2 OR number > ?3) ORDER BY violation, number LIMIT ?4"}));
  page.add(numbers.query(job.value, after ? after->violation : 0.0, after ? after->number : -1, page.left() + 1));
}

void add_valueless(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, const ValuelessCursor* after) {
  Statement numbers = connection.prepare(
      joined({"SELECT number FROM trials INDEXED BY trials_without_value WHERE job = ?1", of_states(query), of_bracket(query),
              // As the index says it, word by word.
              " AND (objective IS NULL OR objective > 1.7976931348623157e308 OR objective < -1.7976931348623157e308)",
              " AND number > ?2 ORDER BY number LIMIT ?3"}));
  page.add(numbers.query(job.value, after ? after->number : -1, page.left() + 1));
}

// As the rungs rank them: by value those that meet the constraints, by violation those that do not, then what has no finite
// value.
void add_best_first(Connection& connection, TrialsPage& page, JobId job, const TrialsQuery& query, Goal goal,
                    const std::optional<Cursor>& cursor) {
  const auto* value = cursor ? std::get_if<ValueCursor>(&*cursor) : nullptr;
  const auto* outside = cursor ? std::get_if<ViolationCursor>(&*cursor) : nullptr;
  const auto* valueless = cursor ? std::get_if<ValuelessCursor>(&*cursor) : nullptr;
  if (!outside && !valueless) add_by_objective(connection, page, job, query, goal, value);
  if (!valueless && !page.more()) add_violating(connection, page, job, query, outside);
  if (!page.more()) add_valueless(connection, page, job, query, valueless);
}

Cursor cursor_after(const TrialRow& row, TrialsQuery::Sort sort) {
  if (sort == TrialsQuery::Sort::number) return NumberCursor{row.id.number};
  if (!row.objective || !std::isfinite(*row.objective)) return ValuelessCursor{row.id.number};
  if (row.violation > 0) return ViolationCursor{row.violation, row.id.number};
  return ValueCursor{row.kept_value.value_or(*row.objective), row.id.number};
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
  Statement rows = connection_.prepare(select_sql<JobRow>(joined({"WHERE id = ? AND ", kNotDeleted})));
  if (!rows.query(job.value).step()) return no_such_job(std::to_string(job.value));
  return row_from<JobRow>(rows);
}

Result<void> Reader::require_trial(TrialId trial) {
  Statement exists = connection_.prepare("SELECT 1 FROM trials WHERE job = ? AND number = ?");
  if (!exists.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  return {};
}

std::shared_ptr<const ParsedJob> Reader::cached_job(JobId job) {
  if (const auto found = jobs_->find(job)) return *found;
  std::shared_ptr<const ParsedJob> parsed = stored_job(job);
  jobs_->keep(job, parsed);
  return parsed;
}

// A job's document never changes and its id is never used again, so what is kept of it stays right.
std::shared_ptr<const ParsedJob> Reader::stored_job(JobId job) {
  Statement spec = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ?");
  if (!spec.query(job.value).step()) return nullptr;
  Result<ParsedJob> stored = parse_stored_job(spec.text(0));
  return stored ? job_for_readers(std::move(*stored)) : nullptr;
}

// The documents of a list's jobs are not kept: they would make those go that somebody works with.
std::shared_ptr<const JobHead> Reader::head_of(JobId job) {
  if (const auto found = jobs_->find_head(job)) return *found;
  const auto kept = jobs_->find(job);
  return jobs_->keep_head(job, kept ? *kept : stored_job(job));
}

Result<Reader::Known> Reader::known_job(JobId job) {
  Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  std::shared_ptr<const ParsedJob> parsed = cached_job(job);
  if (!parsed) {
    return Error{ErrorCode::internal, "the document of job " + std::to_string(job.value) + " is not one that this version reads",
                 "", ""};
  }
  return Known{std::move(*row), std::move(parsed)};
}

Result<std::shared_ptr<const ParsedJob>> Reader::parsed_job(JobId job) {
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  return known->parsed;
}

views::TrialCounts Reader::trial_counts(const JobRow& row, const JobHead* head) {
  views::TrialCounts counts;
  counts.created = row.trials_created;
  counts.completed = row.trials_completed;
  counts.stopped = row.trials_stopped;
  counts.failed = row.trials_failed;
  counts.cancelled = row.trials_cancelled;
  if (head) counts.planned = head->planned_trials;
  const int over = row.trials_completed + row.trials_stopped + row.trials_failed + row.trials_cancelled;
  if (row.trials_created <= over) return counts;
  Statement rows = connection_.prepare(
      "SELECT state, count(*) FROM trials INDEXED BY trials_by_state "
      "WHERE job = ? AND state IN ('pending', 'running') GROUP BY state");
  for (rows.query(row.id.value); rows.step();)
    (rows.text(0) == "pending" ? counts.pending : counts.running) = rows.small_integer(1);
  // Those may be most of them, and are what is left.
  counts.paused = row.trials_created - over - counts.pending - counts.running;
  return counts;
}

std::optional<views::BestValue> Reader::view_of(JobId job, const std::optional<BestRow>& best) {
  if (!best) return std::nullopt;
  views::BestValue shown{best->trial, best->value, best->resource, {"{}"}, std::nullopt};
  Statement rows = connection_.prepare(
      "SELECT configuration, test_value, kept_value, objective_resource FROM trials WHERE job = ? AND number = ?");
  if (!rows.query(job.value, best->trial).step()) return shown;
  shown.configuration.text = rows.text(0);
  // What was measured is the trial's model: not one that it had before.
  const bool its_model = rows.is_null(2) ? rows.integer(3) == best->resource : rows.number(2) == best->value;
  if (!rows.is_null(1) && its_model) shown.test_value = rows.number(1);
  return shown;
}

views::Job Reader::view_of(const JobRow& row) {
  const auto head = head_of(row.id);
  views::Job job;
  job.id = row.id;
  job.name = row.name;
  job.state = row.state;
  job.reason = row.reason;
  job.created_at = row.created_at;
  job.ended_at = row.ended_at;
  job.resource_name = "units";
  if (head) {
    job.objective = head->objective;
    job.more_objectives = head->more_objectives;
    job.constraints = head->constraints;
    job.scheduler = to_string(head->scheduler);
    job.max_resource = head->max_resource;
    job.rungs_compare = head->rungs_compare;
    job.resource_name = head->resource_name;
  }
  job.trials = trial_counts(row, head.get());
  job.best = view_of(row.id, row.best);
  const bool no_other_compares = head && head->early_folds && row.best;
  job.best_anywhere = no_other_compares ? job.best : view_of(row.id, row.best_anywhere);
  job.resource_spent = row.resource_spent;
  job.training_seconds = seconds_of(row.training_ms);
  job.expected_improvement = row.expected_improvement;
  Statement note = connection_.prepare("SELECT note FROM jobs WHERE id = ?");
  if (note.query(row.id.value).step()) job.note = note.text(0);
  job.held = row.held;
  job.weight = row.weight;
  job.max_parallel_trials = row.max_parallel_trials;
  if (row.max_runtime_ms) job.max_runtime_seconds = seconds_of(*row.max_runtime_ms);
  return job;
}

views::StandingJob Reader::view_of(const JobRow& row, JobStanding standing) {
  return {view_of(row), std::move(standing.waiting), standing.queue_position};
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
  Statement rows = connection_.prepare(select_sql<JobRow>(
      joined({"WHERE id < ? AND ", kNotDeleted, query.state ? " AND state = ?" : "", " ORDER BY id DESC LIMIT ?"})));
  const int limit = query.limit + 1;
  if (query.state) {
    rows.query(before, to_string(*query.state), limit);
  } else {
    rows.query(before, limit);
  }
  page.rows = rows_from<JobRow>(rows);
  if (page.rows.size() == static_cast<std::size_t>(limit)) {
    page.rows.pop_back();
    page.next = to_text(NumberCursor{page.rows.back().id.value});
  }
  return page;
}

Result<views::Jobs> Reader::jobs(const JobsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobsPage> page = jobs_page(query);
  if (!page) return page.error();
  views::Jobs jobs{{}, page->next};
  for (const JobRow& row : page->rows) jobs.jobs.push_back(view_of(row));
  return jobs;
}

// Of all workers together the job's row says it; of a group one rank counts.
double Reader::seconds_of_training(JobId job, const JobSpec& spec, double ms_of_all) {
  if (spec.replicas.size() == 1) return ms_of_all / 1000 / spec.replicas.front();
  Statement sum = connection_.prepare("SELECT sum(training_ms) FROM trials WHERE job = ?");
  return sum.query(job.value).step() ? seconds_of(sum.integer(0)) : 0;
}

std::optional<Reader::UnitTime> Reader::measured_unit_time(const JobSpec& spec) {
  const Json part = what_takes_time(spec.trainer);
  Statement rows = connection_.prepare("SELECT id, name, training_ms, resource_spent FROM jobs WHERE " +
                                       std::string(kNotDeleted) + " ORDER BY id DESC LIMIT ?");
  rows.query(kSimilarJobsMax);
  // Of a few units most of the time is what a training takes to begin.
  constexpr double kMuchMore = 10;
  std::optional<UnitTime> found;
  double its_units = 0;
  while (rows.step()) {
    const auto ms = static_cast<double>(rows.integer(2));
    const auto units = static_cast<double>(rows.integer(3));
    if (ms <= 0 || units <= 0 || (found && units <= kMuchMore * its_units)) continue;
    const JobId job{rows.integer(0)};
    const auto parsed = cached_job(job);
    if (!parsed || part.is_null() || what_takes_time(parsed->spec.trainer) != part) continue;
    const double seconds = seconds_of_training(job, parsed->spec, ms);
    if (seconds <= 0) continue;
    found = UnitTime{seconds / units / work_of_a_unit(parsed->plan, parsed->spec), std::string(rows.text(1))};
    its_units = units;
  }
  return found;
}

Result<JobRow> Reader::job_row(JobId job) { return find_row(job); }

Result<std::string> Reader::document(JobId job) {
  Statement spec = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ? AND " + std::string(kNotDeleted));
  if (!spec.query(job.value).step()) return no_such_job(std::to_string(job.value));
  return std::string(spec.text(0));
}

Result<views::Job> Reader::job(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  return view_of(*row);
}

Result<views::JobDetail> Reader::job_detail(JobId job, JobStanding standing) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  const Result<std::string> spec = document(job);
  if (!spec) return spec.error();
  return views::JobDetail{view_of(*row), {masked_document(*spec)}, std::move(standing.waiting), standing.queue_position};
}

// ---- trials -------------------------------------------------------------------------------------------------------------------

Result<views::Trials> Reader::trials(JobId job, const TrialsQuery& query, Timestamp now) {
  if (query.limit < 1 || query.limit > kPageMax) return out_of_range("limit", 1, kPageMax, query.limit);
  const bool by_number = query.sort == TrialsQuery::Sort::number;
  std::optional<Cursor> cursor;
  if (!query.after.empty()) {
    cursor = cursor_from(query.after);
    if (!cursor || std::holds_alternative<NumberCursor>(*cursor) != by_number) return bad_cursor();
  }
  Transaction moment(connection_, Transaction::Kind::read);
  if (const Result<JobRow> row = find_row(job); !row) return row.error();

  TrialsPage page(connection_, job, query.limit, now);
  if (by_number) {
    add_by_number(connection_, page, job, query, cursor ? std::get<NumberCursor>(*cursor).number : -1);
  } else {
    const std::shared_ptr<const ParsedJob> parsed = cached_job(job);
    add_best_first(connection_, page, job, query, parsed ? parsed->spec.objective.goal : Goal::maximize, cursor);
  }
  views::Trials shown{page.take(), std::nullopt};
  if (page.more()) shown.next = to_text(cursor_after(shown.trials.back().row, query.sort));
  return shown;
}

Result<TrialRow> Reader::trial_row(TrialId trial) {
  Statement rows = connection_.prepare(select_sql<TrialRow>(kOneTrial));
  if (!rows.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  TrialRow row = row_from<TrialRow>(rows);
  row.configuration = configuration_from_text(rows.text(kTrialConfigurationColumn));
  return row;
}

Result<views::Trial> Reader::trial(TrialId trial, Timestamp now) {
  Result<views::Trial> shown = trial_without_advice(trial, now);
  if (!shown) return shown;
  shown->would_fit = would_fit(shown->row);
  return shown;
}

std::string Reader::would_fit(const TrialRow& trial) {
  const bool out_of_memory = trial.state == TrialState::failed && trial.exit_class == ExitClass::out_of_memory;
  return out_of_memory ? what_fits(trial.id) : "";
}

Result<views::Trial> Reader::trial_without_advice(TrialId trial, Timestamp now) {
  Statement rows = connection_.prepare(select_sql<TrialRow>(kOneTrial));
  if (!rows.query(trial.job.value, trial.number).step()) return no_such_trial(trial);
  views::Trial shown = trial_from(rows, now);
  Statement note = connection_.prepare(kSelectNote);
  note.query(trial.job.value, trial.number).step();
  shown.note = note.text(0);
  if (const auto parsed = cached_job(trial.job)) shown.refit = refit_of(*parsed, shown.row, shown.configuration);
  return shown;
}

std::optional<views::Best> Reader::best_of(const JobRow& row, const ModelPath& model_path, Timestamp now) {
  const std::optional<BestRow>& best = row.best ? row.best : row.best_anywhere;
  if (!best) return std::nullopt;
  const TrialId id{row.id, best->trial};
  Result<views::Trial> shown = trial(id, now);
  if (!shown) return std::nullopt;
  const auto test_value = shown->row.test_value;
  return views::Best{std::move(*shown), model_path(id), test_value};
}

Result<views::Best> Reader::best(JobId job, const ModelPath& model_path, Timestamp now) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<JobRow> row = find_row(job);
  if (!row) return row.error();
  std::optional<views::Best> best = best_of(*row, model_path, now);
  if (!best) return Error{ErrorCode::not_found, "no trial of job " + std::to_string(job.value) + " has a value yet", "", ""};
  return *std::move(best);
}

Result<views::Observations> Reader::observations(TrialId trial, std::optional<int> points) {
  if (points && (*points < kObservationPointsMin || *points > kObservationsMax))
    return out_of_range("points", kObservationPointsMin, kObservationsMax, *points);
  Transaction moment(connection_, Transaction::Kind::read);
  if (const auto there = require_trial(trial); !there) return there.error();
  const std::shared_ptr<const ParsedJob> parsed = cached_job(trial.job);
  CurveReader curves(connection_, CurveReader::Points::all, parsed && parsed->spec.scheduler.restarts);
  views::Observations shown;
  for (CurvePoint& point : curves.decimated(trial, points.value_or(kObservationsMax)))
    shown.observations.push_back(observation_view(std::move(point), parsed.get()));
  return shown;
}

Result<views::Decisions> Reader::decisions(TrialId trial) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<TrialRow> row = trial_row(trial);
  if (!row) return row.error();
  Statement rows = connection_.prepare(select_sql<DecisionRow>("WHERE job = ? AND trial = ? ORDER BY rung"));
  views::Decisions shown{rows_from<DecisionRow>(rows.query(trial.job.value, trial.number)), {}};
  const std::shared_ptr<const ParsedJob> job = cached_job(trial.job);
  if (!job) return shown;
  for (const DecisionRow& decision : shown.decisions)
    shown.explanation.push_back(explain_decision(decision, *job, ended(row->state)));
  std::ranges::move(explain_state(*row, *job, advice_on(*row, would_fit(*row))), std::back_inserter(shown.explanation));
  return shown;
}

}  // namespace tuneband
