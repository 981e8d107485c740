// Databases that older versions wrote, kept as SQL in fixtures/version_<n>.dump, migrate with nothing lost, and their jobs go on.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>

#include "db/migrate.hpp"
#include "db_fixture.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::testing {
namespace {

constexpr int kSyncsMax = 2'000;

class UpgradeTest : public DbTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    const std::string sql = read_text(fixture(GetParam()));
    ASSERT_FALSE(sql.empty()) << fixture(GetParam());
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  static std::string fixture(int version) {
    return std::string(TUNEBAND_SOURCE_DIR) + "/tests/db/fixtures/version_" + std::to_string(version) + ".dump";
  }

  // What each table's query gives, cell by cell, doubles with all their digits.
  static std::string contents(Connection& connection, const std::map<std::string, std::string>& queries) {
    std::string text;
    for (const auto& [table, query] : queries) {
      text += table + "\n";
      Statement rows = connection.prepare(query);
      while (rows.step()) text += "  " + std::string(rows.text(0)) + "\n";
    }
    return text;
  }

  // One text a row, of the columns that the tables have now.
  static std::map<std::string, std::string> queries_of(Connection& connection) {
    std::map<std::string, std::string> queries;
    for (const std::string table : {"jobs", "trials", "segments", "observations", "decisions", "sqlite_sequence"}) {
      std::string row;
      std::string order;
      Statement columns = connection.prepare("SELECT name, pk FROM pragma_table_info('" + table + "') ORDER BY cid");
      while (columns.step()) {
        const std::string name(columns.text(0));
        row += (row.empty() ? "" : " || ' ' || ") + ("'" + name + "=' || quote(" + name + ")");
        if (columns.integer(1) > 0) order += (order.empty() ? " ORDER BY " : ", ") + name;
      }
      if (!row.empty()) queries[table] = "SELECT " + row + " FROM " + table + order;
    }
    return queries;
  }

  // Also of a job that has ended.
  Json document_of(JobId job) const {
    Connection connection = Connection::open_to_read(path());
    Statement rows = connection.prepare("SELECT spec_json FROM jobs WHERE id = ?");
    return rows.query(job.value).step() ? Json::parse(rows.text(0)) : Json();
  }

  std::vector<std::pair<JobId, JobSpec>> specs_of(const Snapshot& snapshot) const {
    std::vector<std::pair<JobId, JobSpec>> specs;
    for (const JobRow& job : snapshot.jobs) {
      Diagnostics diagnostics;
      JobSpec spec = JobSpec::parse(document_of(job.id), diagnostics);
      EXPECT_TRUE(diagnostics.ok()) << job.name
                                    << " has a document that is not taken any more: " << describe(diagnostics.errors().front());
      if (!ended(job.state)) specs.emplace_back(job.id, std::move(spec));
    }
    return specs;
  }
};

TEST_P(UpgradeTest, KeepsEveryValueOfEveryRow) {
  std::map<std::string, std::string> queries;
  std::string before;
  std::int64_t jobs = 0;
  {
    Connection connection = Connection::open_to_read(path());
    ASSERT_EQ(connection.integer("PRAGMA user_version"), GetParam());
    queries = queries_of(connection);
    before = contents(connection, queries);
    jobs = count_jobs(connection);
  }
  Store::open(path());
  Connection connection = Connection::open_to_read(path());
  EXPECT_THAT(connection.faults(), ::testing::IsEmpty());
  EXPECT_EQ(connection.integer("PRAGMA user_version"), static_cast<std::int64_t>(migrations().size()));
  EXPECT_EQ(contents(connection, queries), before);
  EXPECT_TRUE(connection.has_checksums());
  EXPECT_EQ(count_jobs(connection), jobs);
  EXPECT_EQ(jobs, static_cast<std::int64_t>(Store::open(path()).load().jobs.size()));
}

TEST_P(UpgradeTest, AJobThatCannotGoOnLeavesTheDatabaseToItsVersion) {
  const auto everything = [this] {
    Connection connection = Connection::open_to_read(path());
    return std::to_string(connection.integer("PRAGMA user_version")) + contents(connection, queries_of(connection));
  };
  const std::string before = everything();
  std::vector<std::string> seen;
  const Store::JobCheck refuse_second = [&seen](const JobRow& job) {
    EXPECT_FALSE(ended(job.state));
    EXPECT_EQ(Json::parse(job.spec_json).at("name"), job.name);
    seen.push_back(job.name);
    if (seen.size() == 2) throw std::runtime_error("no");
  };
  EXPECT_THROW(Store::open(path(), refuse_second), std::runtime_error);
  EXPECT_EQ(seen.size(), 2);
  EXPECT_EQ(everything(), before);

  seen.clear();
  const auto note = [&seen](const JobRow& job) { seen.push_back(job.name); };
  std::vector<std::string> running;
  for (const JobRow& job : Store::open(path(), note).load().jobs) {
    if (!ended(job.state)) running.push_back(job.name);
  }
  EXPECT_EQ(seen, running);
  Store::open(path(), [](const JobRow&) { FAIL() << "a database of this version is not migrated"; });
}

TEST_P(UpgradeTest, CanBeReadByEveryRoute) {
  Store::open(path());
  Reader reader = Reader::open(path());
  Connection connection = Connection::open_to_read(path());
  Statement jobs = connection.prepare("SELECT id FROM jobs WHERE deleted = 0");
  while (jobs.step()) {
    const JobId job{jobs.integer(0)};
    std::string text;
    EXPECT_TRUE(reader.analytics_json(job, kStart, [&](std::string_view piece) { text += piece; }));
    EXPECT_TRUE(reader.analytics_csv(job, kStart, [&](std::string_view piece) { text += piece; }));
    EXPECT_TRUE(reader.plan(job));
    EXPECT_TRUE(reader.job_detail(job, {}));
    TrialsQuery by_objective;
    by_objective.sort = TrialsQuery::Sort::objective;
    EXPECT_TRUE(reader.trials(job, by_objective, kStart));
    EXPECT_TRUE(reader.observations({job, 0}, std::nullopt));
    EXPECT_TRUE(reader.decisions({job, 0}));
    EXPECT_TRUE(reader.rules_of_job(job));
  }
}

// One worker that reaches every target at once. The trials that were running are lost with their workers.
TEST_P(UpgradeTest, ItsJobsGoOnToTheirEnd) {
  Store store = Store::open(path());
  const Snapshot snapshot = store.load();
  Timestamp now = kStart;
  for (const TrialRow& trial : snapshot.trials) now = std::max(now, trial.created_at);
  Scheduler scheduler;
  scheduler.restore(snapshot, specs_of(snapshot), now);
  EXPECT_EQ(scheduler.rows().trials, snapshot.trials);
  EXPECT_EQ(scheduler.rows().segments, snapshot.segments);
  EXPECT_EQ(scheduler.rows().decisions, snapshot.decisions);

  now = now.plus_ms(SchedulerOptions().lease_ms);
  store.commit(step_with_suggestions(scheduler, TimePassed{}, now).writes);
  WorkerSynced idle;
  idle.worker = WorkerId{"after-the-upgrade"};
  WorkerSynced event = idle;
  const auto all_ended = [&] {
    for (const JobRow& job : scheduler.rows().jobs) {
      if (!ended(job.state)) return false;
    }
    return true;
  };
  for (int sync = 0; sync < kSyncsMax && !all_ended(); ++sync) {
    now = now.plus_ms(10);
    const Outcome outcome = step_with_suggestions(scheduler, event, now);
    store.commit(outcome.writes);
    event = idle;
    for (const Notice& notice : outcome.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr || !reply->assignment) continue;
      const Assignment& given = *reply->assignment;
      event.report.emplace();
      event.report->epoch = given.epoch;
      event.report->observations = {{given.until_resource, {{given.job->objective.metric, 0.5}}}};
      event.report->checkpoint_resource = given.until_resource;
      event.report->training_ms = 10;
      event.report->exit = ExitClass::completed;
    }
  }
  EXPECT_TRUE(all_ended());
  EXPECT_THAT(Connection::open_to_read(path()).faults(), ::testing::IsEmpty());
}

// Counted by hand, as the plan of every job shows it.
TEST_P(UpgradeTest, CountsWhatStandsAtEachRung) {
  Store store = Store::open(path());
  Connection connection = Connection::open_to_read(path());
  const std::map<std::string, std::string> counted = {
      {"",
       "SELECT job || ' ' || bracket || ' ' || rung || ' ' || resource || ' ' || verdict || ' ' || trials FROM rung_counts "
       "WHERE trials > 0"}};
  const std::map<std::string, std::string> by_hand = {
      {"",
       "SELECT job || ' ' || bracket || ' ' || rung || ' ' || resource || ' ' || verdict || ' ' || count(*) FROM decisions "
       "WHERE value IS NOT NULL OR value_is_nan = 1 GROUP BY job, bracket, rung, verdict ORDER BY job, bracket, rung, verdict"}};
  EXPECT_EQ(contents(connection, counted), contents(connection, by_hand));
  EXPECT_GT(connection.integer("SELECT count(*) FROM rung_counts"), 3);
}

// Version 7 said both by other things: a name that began with "/", and a reason of a job that ran.
// The fixture of version 7 has such jobs.
class UpgradeOfFlags : public UpgradeTest {};

TEST_P(UpgradeOfFlags, WhatIsDeletedAndWhatStartsNoMoreIsKnownByItsColumn) {
  Store store = Store::open(path());
  Reader reader = Reader::open(path());
  EXPECT_FALSE(reader.find_job("5"));
  EXPECT_FALSE(reader.find_job("/5"));
  const Snapshot snapshot = store.load();
  std::map<std::string, bool> starts_no_more;
  for (const JobRow& job : snapshot.jobs) starts_no_more[job.name] = job.starts_no_more;
  EXPECT_THAT(starts_no_more,
              ::testing::UnorderedElementsAre(::testing::Pair("done", false), ::testing::Pair("cut", false),
                                              ::testing::Pair("cut-hyperband", false), ::testing::Pair("goes-on", false),
                                              ::testing::Pair("winds-down", true)));
  while (store.tidy()) {
  }
  Connection connection = Connection::open_to_read(path());
  EXPECT_EQ(connection.integer("SELECT count(*) FROM jobs WHERE id = 5"), 0);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM trials WHERE job = 5"), 0);
  EXPECT_GT(connection.integer("SELECT count(*) FROM trials WHERE job = 6"), 0);
}

TEST_P(UpgradeTest, IdsOfDeletedJobsAreNotUsedAgain) {
  Store store = Store::open(path());
  const Snapshot snapshot = store.load();
  EXPECT_GT(snapshot.last_job_id, snapshot.jobs.back().id.value) << "the fixture ends with a deleted job";
  Scheduler scheduler;
  scheduler.restore(snapshot, specs_of(snapshot), kStart);
  Diagnostics diagnostics;
  const std::string text = spec_text("new");
  const Outcome outcome =
      step_with_suggestions(scheduler, JobSubmitted{JobSpec::parse(Json::parse(text), diagnostics), text}, kStart);
  store.commit(outcome.writes);
  EXPECT_EQ(store.load().jobs.back().id.value, snapshot.last_job_id + 1);
}

// Version 23 called it finer_steps.
class UpgradeOfEtaAdaptation : public UpgradeTest {};

TEST_P(UpgradeOfEtaAdaptation, AJobThatHadItHasItUnderItsName) {
  {
    Connection connection = Connection::open_to_write(path());
    connection.execute("UPDATE jobs SET spec_json = json_set(spec_json, '$.trainer.finer_steps', json('true')) WHERE id = 1");
    connection.execute("UPDATE jobs SET spec_json = json_set(spec_json, '$.trainer.finer_steps', json('false')) WHERE id = 2");
  }
  const Snapshot snapshot = Store::open(path()).load();
  std::map<std::int64_t, Json> adapts;
  for (const JobRow& job : snapshot.jobs) {
    const Json trainer = document_of(job.id)["trainer"];
    EXPECT_FALSE(trainer.contains("finer_steps"));
    if (trainer.contains("adapt_eta")) adapts[job.id.value] = trainer["adapt_eta"];
  }
  EXPECT_THAT(adapts, ::testing::UnorderedElementsAre(::testing::Pair(1, true), ::testing::Pair(2, false)));
}

// Version 25 had them in the document alone.
class UpgradeOfLimits : public UpgradeTest {};

TEST_P(UpgradeOfLimits, WhatMayBeChangedIsWhatTheDocumentSays) {
  const Snapshot snapshot = Store::open(path()).load();
  for (const JobRow& job : snapshot.jobs) {
    const bool limited = job.name == "goes-on";
    EXPECT_EQ(job.weight, limited ? 2.5 : 1) << job.name;
    EXPECT_EQ(job.max_parallel_trials, limited ? 3 : 1000) << job.name;
    EXPECT_EQ(job.max_runtime_ms, limited ? std::optional<std::int64_t>(86'400'001) : std::nullopt) << job.name;
    EXPECT_FALSE(job.held) << job.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Version, UpgradeOfLimits, ::testing::Values(25));
INSTANTIATE_TEST_SUITE_P(Version, UpgradeOfEtaAdaptation, ::testing::Values(23));
INSTANTIATE_TEST_SUITE_P(Version, UpgradeOfFlags, ::testing::Values(7));
INSTANTIATE_TEST_SUITE_P(Versions, UpgradeTest, ::testing::Range(1, static_cast<int>(migrations().size())));

TEST(UpgradeFixtures, ThereIsOneForEveryOlderVersion) {
  for (std::size_t version = 1; version < migrations().size(); ++version) {
    const std::string file = std::string(TUNEBAND_SOURCE_DIR) + "/tests/db/fixtures/version_" + std::to_string(version) + ".dump";
    EXPECT_TRUE(std::filesystem::exists(file)) << file << ": keep a database of each version that was released";
  }
}

}  // namespace
}  // namespace tuneband::testing
