#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "db/migrate.hpp"
#include "db/store.hpp"
#include "db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::HasSubstr;

class SchemaTest : public DbTest {
 protected:
  // A database with one job, one running trial, one observation, one decision.
  void fill() {
    Store store = Store::open(path());
    commit(store,
           {running_job(1, "a"), running_trial(1, 0), observation(1, 0, 1, 0.5), decision(1, 0, 0, 0.5, Verdict::promoted, 0)});
  }
  void execute(const std::string& sql) { Connection::open_to_write(path()).execute(sql); }
};

TEST_F(SchemaTest, IsTheGoldenOne) {
  Store::open(path());
  Connection connection = Connection::open_to_read(path());
  std::string schema;
  Statement rows = connection.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
  while (rows.step()) schema += std::string(rows.text(0)) + ";\n";
  const std::string golden = std::string(TUNEBAND_SOURCE_DIR) + "/tests/db/schema.golden";
  if (std::getenv("TUNEBAND_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << schema;
  EXPECT_EQ(schema, read_text(golden)) << "a released schema changes by a new migration; TUNEBAND_UPDATE_GOLDEN=1 rewrites "
                                       << golden;
}

struct IllegalChange {
  const char* what;
  const char* sql;
};
void PrintTo(const IllegalChange& change, std::ostream* out) { *out << change.what; }

class IllegalChangeTest : public SchemaTest, public ::testing::WithParamInterface<IllegalChange> {};

TEST_P(IllegalChangeTest, IsRefused) {
  fill();
  Connection connection = Connection::open_to_write(path());
  try {
    connection.execute(GetParam().sql);
    FAIL() << GetParam().sql;
  } catch (const SqliteError& error) {
    EXPECT_EQ(error.code() & 0xff, SQLITE_CONSTRAINT) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Constraints, IllegalChangeTest,
    ::testing::Values(IllegalChange{"an unknown job state", "UPDATE jobs SET state = 'paused'"},
                      IllegalChange{"a running job with an end", "UPDATE jobs SET ended_at = 1"},
                      IllegalChange{"an ended job without one", "UPDATE jobs SET state = 'completed'"},
                      IllegalChange{"a stopping job that does not know its end", "UPDATE jobs SET state = 'stopping'"},
                      IllegalChange{"a running job that ends as something", "UPDATE jobs SET ending_as = 'stopped'"},
                      IllegalChange{"a job that ended as something else",
                                    "UPDATE jobs SET state = 'failed', ended_at = 1, ending_as = 'stopped'"},
                      IllegalChange{"more trials ended than created", "UPDATE jobs SET trials_failed = 1"},
                      IllegalChange{"a best trial without its value", "UPDATE jobs SET best_trial = 1, best_resource = 1"},
                      IllegalChange{"a best value without its trial", "UPDATE jobs SET best_anywhere_value = 1"},
                      IllegalChange{"failures without a class", "UPDATE jobs SET failures_in_a_row = 1"},
                      IllegalChange{"a job without a name", "UPDATE jobs SET name = ''"},
                      IllegalChange{"a document that is not JSON", "UPDATE jobs SET spec_json = '{'"},
                      IllegalChange{"text in a number", "UPDATE jobs SET training_ms = 'x'"},
                      IllegalChange{"an unknown trial state", "UPDATE trials SET state = 'promoted'"},
                      IllegalChange{"a running trial without an epoch", "UPDATE trials SET epoch = 0"},
                      IllegalChange{"a running trial without a worker", "UPDATE trials SET worker = ''"},
                      IllegalChange{"a running trial without its start", "UPDATE trials SET started_at = NULL"},
                      IllegalChange{"a running trial that is not assigned", "UPDATE trials SET assigned_at = NULL"},
                      IllegalChange{"a pending trial that is assigned", "UPDATE trials SET state = 'pending'"},
                      IllegalChange{"a running trial with an end", "UPDATE trials SET ended_at = 1"},
                      IllegalChange{"a stopped trial without one", "UPDATE trials SET state = 'stopped', assigned_at = NULL"},
                      IllegalChange{"a failed trial without a class",
                                    "UPDATE trials SET state = 'failed', assigned_at = NULL, ended_at = 1"},
                      IllegalChange{"an unknown class", "UPDATE trials SET exit_class = 'bored'"},
                      IllegalChange{"an unknown origin", "UPDATE trials SET origin = 'somewhere'"},
                      IllegalChange{"a number and NaN at once", "UPDATE trials SET objective = 1, objective_is_nan = 1"},
                      IllegalChange{"more attempts than in all", "UPDATE trials SET attempts = 5"},
                      IllegalChange{"a negative resource", "UPDATE trials SET resource = -1"},
                      IllegalChange{"a configuration that is not JSON", "UPDATE trials SET configuration = 'eta=1'"},
                      IllegalChange{"a trial of no job", "UPDATE trials SET job = 2"},
                      IllegalChange{"an observation of no trial", "UPDATE observations SET trial = 5"},
                      IllegalChange{"metrics that are not JSON", "UPDATE observations SET metrics = 'x'"},
                      IllegalChange{"an unknown verdict", "UPDATE decisions SET verdict = 'pruned'"},
                      IllegalChange{"a rank while waiting", "UPDATE decisions SET verdict = 'waiting'"},
                      IllegalChange{"a decision on no trial", "UPDATE decisions SET trial = 5"}));

// ---- whose file it is ---------------------------------------------------------------------------------------------------------

TEST_F(SchemaTest, NobodyElseReadsTheDatabaseOrWhatLiesBesideIt) {
  namespace fs = std::filesystem;
  constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
  const auto open_to_others = [&] {
    fs::perms open = fs::perms::none;
    for (const char* suffix : {"", "-wal", "-shm"}) open |= fs::status(path() + suffix).permissions() & kOthers;
    return open;
  };
  const mode_t before = ::umask(0);
  {
    const Store made = Store::open(path());
    EXPECT_EQ(open_to_others(), fs::perms::none);
    for (const char* suffix : {"", "-wal", "-shm"})
      fs::permissions(path() + suffix, fs::perms::others_read, fs::perm_options::add);
    Connection found = Connection::open_to_write(path());
    EXPECT_EQ(open_to_others(), fs::perms::none) << "also one that an earlier version made";
  }
  ::umask(before);
}

TEST_F(SchemaTest, RefusesTheFileOfAnotherProgram) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE theirs (x); PRAGMA application_id = 77", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  const std::string before = read_text(path());
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr("another program"));
  EXPECT_THAT(message_of([&] { Reader::open(path()); }), HasSubstr("another program"));
  EXPECT_EQ(read_text(path()), before);
}

TEST_F(SchemaTest, RefusesAFileWithTablesAndNoOwner) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TABLE jobs (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr("another program"));
}

TEST_F(SchemaTest, RefusesANewerVersionAndLeavesItAsItIs) {
  fill();
  execute("PRAGMA user_version = 1000");
  const std::string before = read_text(path());
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr("newer version"));
  EXPECT_THAT(message_of([&] { Reader::open(path()); }), HasSubstr("newer version"));
  EXPECT_EQ(read_text(path()), before);
}

TEST_F(SchemaTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path()) << std::string(5000, 'x');
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr(path()));
  EXPECT_EQ(read_text(path()), std::string(5000, 'x'));
}

TEST_F(SchemaTest, RefusesOrFindsADamagedFile) {
  fill();
  std::string bytes = read_text(path());
  ASSERT_GT(bytes.size(), 8192U);
  std::fill(bytes.begin() + 4096, bytes.end(), 'x');
  std::ofstream(path(), std::ios::binary) << bytes;
  EXPECT_THROW(
      {
        Store store = Store::open(path());
        const std::vector<std::string> faults = Connection::open_to_read(path()).faults();
        if (!faults.empty()) throw SqliteError(SQLITE_CORRUPT, faults.front());
      },
      SqliteError);
}

TEST_F(SchemaTest, SaysWhichFileCannotBeOpened) {
  EXPECT_THAT(message_of([&] { Store::open(path() + "/no/such/folder.db"); }), HasSubstr("/no/such/folder.db"));
}

TEST_F(SchemaTest, ReaderNeedsTheFileToBeThere) { EXPECT_THROW(Reader::open(path()), SqliteError); }

TEST_F(SchemaTest, ReaderDoesNotWrite) {
  fill();
  Connection connection = Connection::open_to_read(path());
  EXPECT_THROW(connection.execute("DELETE FROM jobs"), SqliteError);
}

// ---- migrations ---------------------------------------------------------------------------------------------------------------

TEST_F(SchemaTest, MigrationsAreNumberedFromOneWithoutGaps) {
  int number = 0;
  for (const Migration& step : migrations()) {
    EXPECT_EQ(std::stoi(std::string(step.name.substr(0, 4))), ++number) << step.name;
  }
  EXPECT_GE(number, 1);
}

TEST_F(SchemaTest, MigratesStepByStepAndOnlyOnce) {
  const std::vector<Migration> steps = {{"0001_a", "CREATE TABLE a (x)"}, {"0002_b", "CREATE TABLE b (x)"}};
  Connection connection = Connection::open_to_write(path());
  migrate(connection, std::span(steps).first(1));
  migrate(connection, steps);
  migrate(connection, steps);
  EXPECT_EQ(connection.integer("PRAGMA user_version"), 2);
  EXPECT_EQ(connection.integer("PRAGMA application_id"), kApplicationId);
}

TEST_F(SchemaTest, AFailedMigrationLeavesNothingBehindOfThoseBeforeItEither) {
  const std::vector<Migration> steps = {{"0001_a", "CREATE TABLE a (x)"},
                                        {"0002_b", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"}};
  Connection connection = Connection::open_to_write(path());
  EXPECT_THAT(message_of([&] { migrate(connection, steps); }), HasSubstr("0002_b"));
  EXPECT_EQ(connection.integer("PRAGMA user_version"), 0);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM sqlite_master WHERE name IN ('a', 'b')"), 0);
}

// ---- the connection -----------------------------------------------------------------------------------------------------------

TEST_F(SchemaTest, WritesAreDurableAndChecked) {
  Connection connection = Connection::open_to_write(path());
  Statement journal = connection.prepare("PRAGMA journal_mode");
  ASSERT_TRUE(journal.step());
  EXPECT_EQ(journal.text(0), "wal");
  EXPECT_EQ(connection.integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(connection.integer("PRAGMA foreign_keys"), 1);
}

TEST_F(SchemaTest, NanIsNotBoundInSilence) {
  Connection connection = Connection::open_to_write(path());
  Statement statement = connection.prepare("SELECT ?");
  EXPECT_THROW(statement.run(kNan), std::logic_error);
}

TEST_F(SchemaTest, AnEmptyTextIsNotNull) {
  Connection connection = Connection::open_to_write(path());
  Statement statement = connection.prepare("SELECT ?");
  ASSERT_TRUE(statement.query(std::string_view()).step());
  EXPECT_FALSE(statement.is_null(0));
}

}  // namespace
}  // namespace tuneband::testing
