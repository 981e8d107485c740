#include <gmock/gmock.h>
#include <sqlite3.h>

#include <set>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

std::set<std::string>& seen_statements() {
  static std::set<std::string> statements;
  return statements;
}

int note_statement(unsigned, void*, void* statement, void*) {
  seen_statements().insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
  return 0;
}

int trace_new_connection(sqlite3* database, const char**, const struct sqlite3_api_routines*) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, note_statement, nullptr);
}

// From here on every new connection tells which statements it runs.
class StatementTrace {
 public:
  StatementTrace() {
    seen_statements().clear();
    sqlite3_auto_extension(entry());
  }
  ~StatementTrace() { sqlite3_cancel_auto_extension(entry()); }
  StatementTrace(const StatementTrace&) = delete;
  StatementTrace& operator=(const StatementTrace&) = delete;

 private:
  using Entry = void (*)();
  static Entry entry() { return reinterpret_cast<Entry>(trace_new_connection); }  // NOLINT: SQLite's own convention
};

bool scans(const std::string& step) { return step.starts_with("SCAN") && !step.starts_with("SCAN CONSTANT ROW"); }

class QueryPlanTest : public DbTest {
 protected:
  void SetUp() override {
    Store store = Store::open(path());
    std::vector<Write> writes = {running_job(1, "a")};
    JobRow& job = std::get<JobRow>(writes[0]);
    job.trials_created = 3;
    job.best = job.best_anywhere = BestRow{0, 9, 0.5};
    writes.insert(writes.end(), {ended_trial(1, 0, TrialState::completed, 0.5, 9), running_trial(1, 1), pending_trial(1, 2),
                                 observation(1, 0, 1, 0.5), decision(1, 0, 0, 0.5, Verdict::promoted, 0)});
    store.commit(writes);
  }

  // Steps of the plans of all statements that were run and that read a whole table.
  std::vector<std::string> full_scans() {
    std::vector<std::string> found;
    Connection connection = Connection::open_to_read(path());
    for (const std::string& sql : seen_statements()) {
      if (!sql.starts_with("SELECT") && !sql.starts_with("UPDATE") && !sql.starts_with("DELETE")) continue;
      if (sql.find("sqlite_") != std::string::npos) continue;
      Statement plan = connection.prepare("EXPLAIN QUERY PLAN " + sql);
      while (plan.step()) {
        if (scans(std::string(plan.text(3)))) found.push_back(std::string(plan.text(3)) + " in " + sql);
      }
    }
    return found;
  }
};

void read_everything(Reader& reader) {
  const JobId job{1};
  const TrialId trial{job, 0};
  const Sink ignore = [](std::string_view) {};
  reader.find_job("1").value();
  reader.find_job("a").value();
  reader.jobs({}).value();
  reader.jobs({JobState::running, 50, ""}).value();
  reader.job_detail(job, {}).value();
  reader.plan(job).value();
  const auto no_model = [](TrialId) { return std::optional<std::string>(); };
  reader.summary(job, {}, no_model, kStart).value();
  reader.trial_row(trial).value();
  reader.best(job, no_model, kStart).value();
  reader.observations(trial, std::nullopt).value();
  reader.decisions(trial).value();
  reader.rules_of_trial(trial).value();
  reader.rules_of_job(trial.job).value();
  reader.columns(job).value();
  reader.curves(job, {}).value();
  reader.decision_columns(job).value();
  reader.timeline(job).value();
  reader.timeline(job, {}, 0).value();
  reader.workers_timeline({}, kStart.plus_ms(1000)).value();
  reader.analytics_json(job, kStart, ignore).value();
  reader.analytics_csv(job, kStart, ignore).value();
  for (const auto sort : {TrialsQuery::Sort::number, TrialsQuery::Sort::objective}) {
    for (const std::vector<TrialState>& states :
         {std::vector<TrialState>{}, {TrialState::running}, {TrialState::running, TrialState::stopped}}) {
      for (const std::optional<int> bracket : {std::optional<int>(), std::optional<int>(0)}) {
        TrialsQuery query;
        query.sort = sort;
        query.states = states;
        query.bracket = bracket;
        reader.trials(job, query, kStart).value();
      }
    }
  }
}

TEST_F(QueryPlanTest, NoReadOfTheApiScansATable) {
  StatementTrace trace;
  Reader reader = Reader::open(path());
  read_everything(reader);
  EXPECT_GT(seen_statements().size(), 20U);
  EXPECT_THAT(full_scans(), ::testing::IsEmpty());
}

TEST_F(QueryPlanTest, NoWriteScansATable) {
  StatementTrace trace;
  Store store = Store::open(path());
  store.commit(std::vector<Write>{running_job(1, "a"), running_trial(1, 1), observation(1, 1, 1, 0.5),
                                  decision(1, 1, 0, 0.5, Verdict::waiting, 1), DeleteJob{JobId{1}}});
  EXPECT_GT(seen_statements().size(), 5U);
  EXPECT_THAT(full_scans(), ::testing::IsEmpty());
}

// One state, in order of the number: straight from the index. And best first without looking at every trial. Only trials at work,
// of which there are few, are sorted, and classes of failures.
TEST_F(QueryPlanTest, PagesComeInTheOrderOfAnIndex) {
  StatementTrace trace;
  Reader reader = Reader::open(path());
  read_everything(reader);
  Connection connection = Connection::open_to_read(path());
  for (const std::string& sql : seen_statements()) {
    if (sql.find("FROM trials") == std::string::npos || sql.find("ORDER BY") == std::string::npos) continue;
    if (sql.find("trials_by_state WHERE job = ?1 AND state IN ('running')") != std::string::npos) continue;
    if (sql.find("GROUP BY exit_class") != std::string::npos) continue;
    Statement plan = connection.prepare("EXPLAIN QUERY PLAN " + sql);
    while (plan.step()) EXPECT_NE(plan.text(3), "USE TEMP B-TREE FOR ORDER BY") << sql;
  }
}

// Which trials a page shows is read from an index alone: to pass over those that it does not show costs little.
TEST_F(QueryPlanTest, PagesPassOverTrialsWithoutReadingThem) {
  StatementTrace trace;
  Reader reader = Reader::open(path());
  read_everything(reader);
  Connection connection = Connection::open_to_read(path());
  int numbers = 0;
  for (const std::string& sql : seen_statements()) {
    if (!sql.starts_with("SELECT number FROM trials INDEXED BY") || sql.find("state IN ('running') ") != std::string::npos)
      continue;
    Statement plan = connection.prepare("EXPLAIN QUERY PLAN " + sql);
    while (plan.step()) {
      const std::string step(plan.text(3));
      if (!step.starts_with("SEARCH")) continue;
      EXPECT_THAT(step, ::testing::HasSubstr("COVERING INDEX")) << sql;
      ++numbers;
    }
  }
  EXPECT_GT(numbers, 10);
}

}  // namespace
}  // namespace tuneband::testing
