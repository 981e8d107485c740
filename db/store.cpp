#include "db/store.hpp"

#include <sqlite3.h>

#include <map>
#include <utility>

#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "db/database_file.hpp"
#include "db/migrate.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::int64_t kCheckedAtOpenBytesMax = 64 << 20;
constexpr int kRowsRemovedAtOnce = 2'000;

constexpr std::string_view kUpdateJob =
    "UPDATE jobs SET name = ?, state = ?, reason = ?, created_at = ?, ended_at = ?, trials_created = ?, trials_completed = ?, "
    "trials_stopped = ?, trials_failed = ?, trials_cancelled = ?, best_trial = ?, best_resource = ?, best_value = ?, "
    "best_anywhere_trial = ?, best_anywhere_resource = ?, best_anywhere_value = ?, resource_spent = ?, training_ms = ?, "
    "trials_since_improvement = ?, failures_in_a_row = ?, failing_with = ?, ending_as = ?, last_epoch = ?, "
    "expected_improvement = ?, suggestions_below = ? WHERE id = ?";

constexpr std::string_view kInsertJob =
    "INSERT INTO jobs (name, state, reason, created_at, ended_at, trials_created, trials_completed, trials_stopped, "
    "trials_failed, "
    "trials_cancelled, best_trial, best_resource, best_value, best_anywhere_trial, best_anywhere_resource, best_anywhere_value, "
    "resource_spent, training_ms, trials_since_improvement, failures_in_a_row, failing_with, ending_as, last_epoch, "
    "expected_improvement, suggestions_below, id, "
    "spec_json) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr std::string_view kPutTrialValues =
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (job, number) DO UPDATE SET state = excluded.state, configuration = excluded.configuration, "
    "origin = excluded.origin, bracket = excluded.bracket, rung = excluded.rung, resource = excluded.resource, "
    "checkpoint_resource = excluded.checkpoint_resource, until_resource = excluded.until_resource, objective = "
    "excluded.objective, "
    "objective_is_nan = excluded.objective_is_nan, objective_resource = excluded.objective_resource, attempts = "
    "excluded.attempts, "
    "attempts_in_all = excluded.attempts_in_all, epoch = excluded.epoch, worker = excluded.worker, peers = excluded.peers, "
    "exit_class = excluded.exit_class, message = excluded.message, created_at = excluded.created_at, "
    "started_at = excluded.started_at, ended_at = excluded.ended_at, assigned_at = excluded.assigned_at, "
    "training_ms = excluded.training_ms, segment_training_ms = excluded.segment_training_ms, "
    "assigned_ms = excluded.assigned_ms, violation = excluded.violation, more_objectives = excluded.more_objectives";

// Not INSERT OR IGNORE, which would also pass over broken constraints.
constexpr std::string_view kPutObservation =
    "INSERT INTO observations (job, trial, resource, objective, objective_is_nan, metrics, at) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (job, trial, resource) DO NOTHING";

constexpr std::string_view kPutDecisionValues =
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (job, trial, rung) DO UPDATE SET bracket = excluded.bracket, resource = excluded.resource, "
    "sequence = excluded.sequence, value = excluded.value, value_is_nan = excluded.value_is_nan, verdict = excluded.verdict, "
    "rank = excluded.rank, filled = excluded.filled, slots = excluded.slots, keep = excluded.keep, cutoff = excluded.cutoff, "
    "cutoff_is_nan = excluded.cutoff_is_nan, ahead = excluded.ahead, rule = excluded.rule, at = excluded.at, "
    "violation = excluded.violation, more_values = excluded.more_values";

// The objective stands in its own column; its metric's name is in the job's document.
std::optional<std::string> metrics_text(const ObservationRow& row) {
  const std::size_t of_the_objective = row.objective ? 1 : 0;
  if (row.metrics.size() <= of_the_objective) return std::nullopt;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (const auto& [name, value] : row.metrics) json.field(name, value);
  json.end_object();
  return text;
}

std::optional<int> trial_of(const std::optional<BestRow>& best) { return best ? std::optional(best->trial) : std::nullopt; }
std::optional<std::int64_t> resource_of(const std::optional<BestRow>& best) {
  return best ? std::optional(best->resource) : std::nullopt;
}
std::optional<double> value_of_best(const std::optional<BestRow>& best) {
  return best ? std::optional(best->value) : std::nullopt;
}

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

Connection open_current(const std::string& path) {
  make_database_where_there_is_none(path);
  Connection connection = Connection::open_to_write(path);
  refuse_damaged(connection, path);
  migrate(connection, migrations());
  connection.checkpoint();  // the schema is in the file itself, also where an older program left it in the log
  return connection;
}

}  // namespace

std::int64_t last_job_id(Connection& connection) {
  return connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'");
}

// What is left of a batch when each row is written once. Points into the batch.
struct Store::Batch {
  struct JobWrite {
    const JobRow* first;  // has the spec_json when the job is new; later rows come without
    const JobRow* last;
  };
  std::map<JobId, JobWrite> jobs;
  std::map<TrialId, const TrialRow*> trials;
  std::map<std::pair<TrialId, int>, const DecisionRow*> decisions;  // by trial, rung
  std::vector<const ObservationRow*> observations;                  // the table keeps the first

  void add(const JobRow& row) { jobs.try_emplace(row.id, JobWrite{&row, &row}).first->second.last = &row; }
  void add(const TrialRow& row) { trials[row.id] = &row; }
  void add(const DecisionRow& row) { decisions[{row.trial, row.rung}] = &row; }
  void add(const ObservationRow& row) { observations.push_back(&row); }
};

Store::Store(const std::string& path)
    : path_(path),
      connection_(open_current(path)),
      update_job_(connection_.prepare(kUpdateJob)),
      insert_job_(connection_.prepare(kInsertJob)),
      put_trial_(connection_.prepare(joined({"INSERT INTO trials (", kTrialColumns, kPutTrialValues}))),
      put_observation_(connection_.prepare(kPutObservation)),
      put_decision_(connection_.prepare(joined({"INSERT INTO decisions (", kDecisionColumns, kPutDecisionValues}))),
      delete_job_(connection_.prepare("DELETE FROM jobs WHERE id = ?")) {}

Store Store::open(const std::string& path) { return Store(path); }

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
    connection_.prepare("UPDATE jobs SET name = '/' || id WHERE id = ?").run(job.value);
  } else {
    delete_job_.run(job.value);
  }
}

bool Store::tidy() {
  Statement deleted = connection_.prepare("SELECT id FROM jobs WHERE name GLOB '/*' LIMIT 1");
  if (!deleted.step()) return false;
  const JobId job{deleted.integer(0)};
  deleted.reset();
  Transaction transaction(connection_, Transaction::Kind::write);
  const bool some_left = remove_some(job, "observations", "trial, resource") || remove_some(job, "decisions", "trial, rung") ||
                         remove_some(job, "trials", "number");
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
  for (const auto& [id, row] : batch.trials) write(*row);
  for (const ObservationRow* row : batch.observations) write(*row);
  for (const auto& [key, row] : batch.decisions) write(*row);
}

void Store::write(const JobRow& row, const std::string& spec_json) {
  const auto put = [&row](Statement& statement, const auto&... more) {
    statement.run(row.name, to_string(row.state), row.reason, row.created_at.ms, optional_ms(row.ended_at), row.trials_created,
                  row.trials_completed, row.trials_stopped, row.trials_failed, row.trials_cancelled, trial_of(row.best),
                  resource_of(row.best), value_of_best(row.best), trial_of(row.best_anywhere), resource_of(row.best_anywhere),
                  value_of_best(row.best_anywhere), row.resource_spent, row.training_ms, row.trials_since_improvement,
                  row.failures_in_a_row, word_of(row.failing_with), word_of(row.ending_as), row.last_epoch,
                  row.expected_improvement, row.suggestions_below, row.id.value, more...);
  };
  put(update_job_);
  if (connection_.changes() == 0) put(insert_job_, spec_json);
}

void Store::write(const TrialRow& row) {
  put_trial_.run(row.id.job.value, row.id.number, to_string(row.state), configuration_text(row.configuration), row.origin,
                 row.bracket, row.rung, row.resource, row.checkpoint_resource, row.until_resource, storable(row.objective),
                 is_nan(row.objective), row.objective_resource, row.attempts, row.attempts_in_all, row.epoch.value,
                 row.worker.value, workers_text(row.peers), word_of(row.exit_class), row.message, row.created_at.ms,
                 optional_ms(row.started_at), optional_ms(row.ended_at), optional_ms(row.assigned_at), row.training_ms,
                 row.segment_training_ms, row.assigned_ms, row.violation, values_text(row.more_objectives));
}

void Store::write(const ObservationRow& row) {
  put_observation_.run(row.trial.job.value, row.trial.number, row.resource, storable(row.objective), is_nan(row.objective),
                       metrics_text(row), row.at.ms);
}

void Store::write(const DecisionRow& row) {
  put_decision_.run(row.trial.job.value, row.trial.number, row.bracket, row.rung, row.resource, row.sequence, storable(row.value),
                    is_nan(row.value), to_string(row.verdict), row.rank, row.filled, row.slots, row.keep, storable(row.cutoff),
                    is_nan(row.cutoff), numbers_text(row.ahead), row.rule, row.at.ms, row.violation,
                    values_text(row.more_values));
}

Snapshot Store::load() {
  Transaction moment(connection_, Transaction::Kind::read);
  Snapshot snapshot;
  snapshot.last_job_id = last_job_id(connection_);

  Statement jobs =
      connection_.prepare(joined({"SELECT ", kJobColumns, ", spec_json FROM jobs WHERE ", kNotDeleted, " ORDER BY id"}));
  Statement trials = connection_.prepare(joined({"SELECT ", kTrialColumns, " FROM trials WHERE job = ? ORDER BY number"}));
  Statement decisions =
      connection_.prepare(joined({"SELECT ", kDecisionColumns, " FROM decisions WHERE job = ? ORDER BY sequence"}));
  while (jobs.step()) {
    JobRow job = job_from(jobs);
    job.spec_json = jobs.text(kJobColumnCount);
    snapshot.jobs.push_back(std::move(job));
    const JobRow& loaded = snapshot.jobs.back();
    if (ended(loaded.state)) continue;
    for (trials.query(loaded.id.value); trials.step();) {
      snapshot.trials.push_back(trial_from(trials));
      snapshot.trials.back().configuration = configuration_from_text(trials.text(kTrialConfigurationColumn));
    }
    for (decisions.query(loaded.id.value); decisions.step();) snapshot.decisions.push_back(decision_from(decisions));
  }
  return snapshot;
}

void Store::backup(const std::string& path) const { Connection::open_to_read(path_).copy_to(path); }

std::vector<std::string> Store::check() const { return Connection::open_to_read(path_).faults(); }

}  // namespace tuneband
