#include "db/store.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/random.hpp"
#include "core/text.hpp"
#include "db/database_file.hpp"
#include "db/migrate.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::int64_t kCheckedAtOpenBytesMax = 64 << 20;
constexpr int kRowsRemovedAtOnce = 2'000;

// Damage is found here, before anything is written, as long as that takes no longer than a second or so.
void refuse_damaged(Connection& connection, const std::string& path) {
  const std::int64_t bytes = connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size");
  if (bytes > kCheckedAtOpenBytesMax) return;
  Statement check = connection.prepare("PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) == "ok") return;
  throw SqliteError(SQLITE_CORRUPT, path + " is damaged and is left as it is: " + std::string(check.text(0)) +
                                        " (tuneband-server --check says more; restore a backup)");
}

// It gets its name with the schema in it: a file of that name without one is damaged, never one that was cut off at its making.
void make_database(const std::string& path) {
  const std::string nameless = path + ".new";
  remove_database(nameless);
  {
    Connection connection = Connection::open_to_write(nameless);
    migrate(connection, migrations());
    connection.checkpoint();
  }
  rename_database(nameless, path);
}

void make_database_where_there_is_none(const std::string& path) {
  const DatabaseFile file = look_at_database(path);
  if (file.kind == DatabaseFile::Kind::with_tables) return;
  if (file.logs.empty()) return make_database(path);
  throw SqliteError(SQLITE_CORRUPT, joined({path, " ", what_is_wrong_with(file.kind), ", but ", file.logs.front(),
                                            " is there: the database is damaged and is left as it is (restore a backup)"}));
}

// Of a database that an earlier version made. Without room for a second one the next start tries again.
void add_checksums(Connection& connection) {
  try {
    connection.add_checksums();
  } catch (const SqliteError& error) {
    if (!error.is_want_of_room()) throw;
  }
}

// By id, without those that are deleted; the row is without its spec_json, which is `document`, for the time of the call.
void for_each_job(Connection& connection, const std::function<void(JobRow job, std::string_view document)>& act) {
  Statement jobs = connection.prepare(select_sql<JobRow>(joined({"WHERE ", kNotDeleted, " ORDER BY id"})));
  Statement documents = connection.prepare("SELECT spec_json FROM jobs WHERE id = ?");
  while (jobs.step()) {
    JobRow job = row_from<JobRow>(jobs);
    const std::string_view document = documents.query(job.id.value).step() ? documents.text(0) : "";
    act(std::move(job), document);
  }
}

void check_running_jobs(Connection& connection, const Store::JobCheck& check) {
  for_each_job(connection, [&check](JobRow job, std::string_view document) {
    if (ended(job.state)) return;
    job.spec_json = document;
    check(job);
  });
}

Connection open_current(const std::string& path, const Store::JobCheck& check) {
  make_database_where_there_is_none(path);
  Connection connection = Connection::open_to_write(path);
  refuse_damaged(connection, path);
  migrate(connection, migrations(), [&check](Connection& migrated) { check_running_jobs(migrated, check); });
  add_checksums(connection);
  connection.checkpoint();  // the schema is in the file itself, also where an older program left it in the log
  return connection;
}

}  // namespace

std::int64_t last_job_id(Connection& connection) {
  return connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'");
}

std::int64_t count_jobs(Connection& connection) {
  // Until version 7 the name said it.
  const bool flagged = connection.integer("SELECT count(*) FROM pragma_table_info('jobs') WHERE name = 'deleted'") > 0;
  return connection.integer(joined({"SELECT count(*) FROM jobs WHERE ", flagged ? kNotDeleted : "name NOT GLOB '/*'"}));
}

// What is left of a batch when each row is written once. Points into the batch.
struct Store::Batch {
  struct JobWrite {
    const JobRow* first;  // has the spec_json when the job is new; later rows come without
    const JobRow* last;
  };
  std::map<JobId, JobWrite> jobs;
  std::map<TrialId, const TrialRow*> trials;
  std::map<std::pair<TrialId, Epoch>, const SegmentRow*> segments;
  std::map<std::pair<TrialId, int>, const DecisionRow*> decisions;  // by trial, rung
  std::vector<const ObservationRow*> observations;                  // the table keeps the first, or what replaces it
  std::vector<const FindingRow*> findings;                          // each comes once
  std::vector<const EventRow*> events;                              // so does each of these

  void add(const JobRow& row) { jobs.try_emplace(row.id, JobWrite{&row, &row}).first->second.last = &row; }
  void add(const TrialRow& row) { trials[row.id] = &row; }
  void add(const SegmentRow& row) { segments[{row.trial, row.epoch}] = &row; }
  void add(const DecisionRow& row) { decisions[{row.trial, row.rung}] = &row; }
  void add(const ObservationRow& row) { observations.push_back(&row); }
  void add(const FindingRow& row) { findings.push_back(&row); }
  void add(const EventRow& row) { events.push_back(&row); }
};

Store::Store(const std::string& path, const JobCheck& check)
    : connection_(open_current(path, check)),
      update_job_(connection_.prepare(update_sql<JobRow>())),
      insert_job_(connection_.prepare(insert_sql<JobRow>("spec_json"))),
      put_trial_(connection_.prepare(insert_sql<TrialRow>() + on_conflict_update_sql<TrialRow>())),
      put_segment_(connection_.prepare(insert_sql<SegmentRow>() + on_conflict_update_sql<SegmentRow>())),
      // Not INSERT OR IGNORE, which would also pass over broken constraints.
      put_observation_(connection_.prepare(insert_sql<ObservationRow>() + " ON CONFLICT (job, trial, resource) DO NOTHING")),
      replace_observation_(connection_.prepare(insert_sql<ObservationRow>() + on_conflict_update_sql<ObservationRow>())),
      put_decision_(connection_.prepare(insert_sql<DecisionRow>() + on_conflict_update_sql<DecisionRow>())),
      put_finding_(connection_.prepare(insert_sql<FindingRow>())),
      put_event_(connection_.prepare(insert_sql<EventRow>())),
      put_best_(connection_.prepare("INSERT INTO bests (job, trial, resource, value, at) VALUES (?1, ?2, ?3, ?4, ?5) "
                                    "ON CONFLICT (job, trial, resource) DO NOTHING")),
      delete_job_(connection_.prepare("DELETE FROM jobs WHERE id = ?")) {}

Store Store::open(const std::string& path, const JobCheck& check) { return Store(path, check); }

void Store::commit(std::span<const Write> writes) {
  if (writes.empty()) return;
  Transaction transaction(connection_, Transaction::Kind::write);
  Batch batch;
  for (const Write& write_one : writes) {
    if (const DeleteJob* deletion = std::get_if<DeleteJob>(&write_one)) {
      // What came before is written first: a job of that batch uses up its id, and frees its name for one that follows.
      write(std::exchange(batch, {}));
      remove(deletion->job);
      continue;
    }
    std::visit(
        [&batch](const auto& row) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(row)>, DeleteJob>) batch.add(row);
        },
        write_one);
  }
  write(batch);
  transaction.commit();
}

// All at once where that takes no longer than a commit.
void Store::remove(JobId job) {
  Statement observations = connection_.prepare("SELECT 1 FROM observations WHERE job = ? LIMIT 1 OFFSET ?");
  Statement trials = connection_.prepare("SELECT 1 FROM trials WHERE job = ? LIMIT 1 OFFSET ?");
  const bool large =
      observations.query(job.value, kRowsRemovedAtOnce).step() || trials.query(job.value, kRowsRemovedAtOnce).step();
  observations.reset();
  trials.reset();
  if (large) {
    connection_.prepare("UPDATE jobs SET deleted = 1 WHERE id = ?").run(job.value);
  } else {
    delete_job_.run(job.value);
  }
}

bool Store::tidy(const EventRetention& retention) {
  const bool more_jobs = tidy_deleted_jobs();
  const bool more_events = tidy_events(retention);
  return more_jobs || more_events;
}

// The oldest ones. Times rise with the ids, so that what is too old comes first, too.
bool Store::tidy_events(const EventRetention& retention) {
  Statement oldest = connection_.prepare("SELECT id, at FROM events ORDER BY id LIMIT 1");
  Statement newest = connection_.prepare("SELECT id, at FROM events ORDER BY id DESC LIMIT 1");
  if (!oldest.step() || !newest.step()) return false;
  const std::int64_t first = oldest.integer(0);
  const std::int64_t last = newest.integer(0);
  const std::int64_t too_many = last - retention.events_max;
  const std::int64_t too_old = newest.integer(1) - retention.age_ms_max;
  if (first == last || (first > too_many && oldest.integer(1) >= too_old)) return false;
  oldest.reset();
  newest.reset();
  Transaction transaction(connection_, Transaction::Kind::write);
  connection_.prepare("DELETE FROM events WHERE id < ?1 AND (id <= ?2 OR at < ?3)")
      .run(std::min(first + kRowsRemovedAtOnce, last), too_many, too_old);
  const bool all_went = connection_.changes() == kRowsRemovedAtOnce;
  transaction.commit();
  return all_went;
}

bool Store::tidy_deleted_jobs() {
  Statement deleted = connection_.prepare("SELECT id FROM jobs WHERE deleted = 1 LIMIT 1");
  if (!deleted.step()) return false;
  const JobId job{deleted.integer(0)};
  deleted.reset();
  Transaction transaction(connection_, Transaction::Kind::write);
  const bool some_left = remove_some(job, "observations", "trial, resource") || remove_some(job, "decisions", "trial, rung") ||
                         remove_some(job, "findings", "trial, rule") || remove_some(job, "trials", "number");
  if (!some_left) delete_job_.run(job.value);
  transaction.commit();
  return true;
}

// The first rows of the job in the table's order. False: there were none.
bool Store::remove_some(JobId job, std::string_view table, std::string_view key) {
  const std::string next = joined({"(SELECT ", key, " FROM ", table, " WHERE job = ?1 ORDER BY ", key, " LIMIT 1 OFFSET ?2)"});
  const std::string these = joined({"DELETE FROM ", table, " WHERE job = ?1 AND "});
  connection_.prepare(joined({these, "(", key, ") <= ", next})).run(job.value, kRowsRemovedAtOnce);
  if (connection_.changes() > 0) return true;
  connection_.prepare(joined({"DELETE FROM ", table, " WHERE job = ?"})).run(job.value);
  return connection_.changes() > 0;
}

// Parents before children.
void Store::write(const Batch& batch) {
  for (const auto& [id, job] : batch.jobs) write(*job.last, job.first->spec_json);
  for (const auto& [id, row] : batch.trials) put(put_trial_, *row);
  for (const auto& [key, row] : batch.segments) put(put_segment_, *row);
  for (const ObservationRow* row : batch.observations) put(row->replaces ? replace_observation_ : put_observation_, *row);
  for (const auto& [key, row] : batch.decisions) put(put_decision_, *row);
  for (const FindingRow* row : batch.findings) put(put_finding_, *row);
  for (const EventRow* row : batch.events) write(*row);
}

void Store::write(const EventRow& event) {
  put(put_event_, event);
  if (event.kind != EventKind::job_improved) return;
  put_best_.run(event.job->value, *event.trial, *event.resource, *event.value, event.at.ms);
}

bool Store::put_note(JobId job, std::optional<int> trial, const std::string& note, Timestamp at) {
  Transaction transaction(connection_, Transaction::Kind::write);
  std::optional<std::int64_t> when;
  if (!note.empty()) when = at.ms;
  if (trial) {
    connection_
        .prepare(
            "UPDATE trials SET note = ?1, note_at = ?2 WHERE job = ?3 AND number = ?4 "
            "AND EXISTS (SELECT 1 FROM jobs WHERE id = ?3 AND deleted = 0)")
        .run(note, when, job.value, *trial);
  } else {
    connection_.prepare("UPDATE jobs SET note = ?1, note_at = ?2 WHERE id = ?3 AND deleted = 0").run(note, when, job.value);
  }
  const bool there = connection_.changes() > 0;
  transaction.commit();
  return there;
}

void Store::put_webhook(TrialId trial, const std::string& rule, const std::string& state) {
  connection_.prepare("UPDATE findings SET webhook = ?1 WHERE job = ?2 AND trial = ?3 AND rule = ?4")
      .run(state, trial.job.value, trial.number, rule);
}

template <class Row>
void Store::put(Statement& statement, const Row& row) {
  statement.reset();
  bind_row(statement, row);
  statement.finish();
}

void Store::write(const JobRow& row, const std::string& spec_json) {
  put(update_job_, row);
  if (connection_.changes() > 0) return;
  insert_job_.reset();
  insert_job_.bind(bind_row(insert_job_, row), spec_json);
  insert_job_.finish();
}

Snapshot Store::load() {
  Transaction moment(connection_, Transaction::Kind::read);
  Snapshot snapshot;
  snapshot.last_job_id = last_job_id(connection_);
  Statement newest_event = connection_.prepare("SELECT id, at FROM events ORDER BY id DESC LIMIT 1");
  if (newest_event.step()) {
    snapshot.last_event_id = newest_event.integer(0);
    snapshot.last_event_at = Timestamp{newest_event.integer(1)};
  }

  Statement trials = connection_.prepare(select_sql<TrialRow>("WHERE job = ? ORDER BY number"));
  Statement segments = connection_.prepare(select_sql<SegmentRow>(
      "WHERE job = ?1 AND (outcome IS NULL OR outcome = 'worker_lost') AND (trial, epoch) IN (SELECT number, epoch FROM trials "
      "INDEXED BY trials_by_state WHERE job = ?1 AND state IN ('pending', 'running')) ORDER BY trial"));
  Statement decisions = connection_.prepare(select_sql<DecisionRow>("WHERE job = ? ORDER BY sequence"));
  Statement findings = connection_.prepare(select_sql<FindingRow>("WHERE job = ? ORDER BY sequence"));
  for_each_job(connection_, [&](JobRow job, std::string_view document) {
    if (ended(job.state)) {
      snapshot.ended_documents[job.id] = stable_hash(document);
      snapshot.jobs.push_back(std::move(job));
      return;
    }
    job.spec_json = document;
    snapshot.jobs.push_back(std::move(job));
    const JobRow& loaded = snapshot.jobs.back();
    for (trials.query(loaded.id.value); trials.step();) {
      snapshot.trials.push_back(row_from<TrialRow>(trials));
      snapshot.trials.back().configuration = configuration_from_text(trials.text(kTrialConfigurationColumn));
    }
    for (segments.query(loaded.id.value); segments.step();) snapshot.segments.push_back(row_from<SegmentRow>(segments));
    for (decisions.query(loaded.id.value); decisions.step();) snapshot.decisions.push_back(row_from<DecisionRow>(decisions));
    for (findings.query(loaded.id.value); findings.step();) snapshot.findings.push_back(row_from<FindingRow>(findings));
  });
  return snapshot;
}

std::vector<Write> Store::with_trials(JobRow job) {
  Statement document = connection_.prepare("SELECT spec_json FROM jobs WHERE id = ?");
  if (document.query(job.id.value).step()) job.spec_json = document.text(0);
  Statement trials = connection_.prepare(select_sql<TrialRow>("WHERE job = ? ORDER BY number"));
  trials.query(job.id.value);
  std::vector<Write> rows = {std::move(job)};
  while (trials.step()) rows.emplace_back(row_from<TrialRow>(trials));
  return rows;
}

void Store::keep_log() noexcept {
  try {
    connection_.checkpoint();
  } catch (const SqliteError&) {
    // The log is as it was.
  }
}

}  // namespace tuneband
