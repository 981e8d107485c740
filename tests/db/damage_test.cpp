// Bytes that change at random places of a database and of its log: what is refused, what does no harm, and what goes unseen.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>

#include "db/log_index.hpp"
#include "db_fixture.hpp"

namespace tuneband::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kDamages = 150;
constexpr int kLogDamages = 50;
constexpr int kBatches = 40;
constexpr int kTrialsStored = 400;
constexpr int kManyObservations = 90'000;

class DamageTest : public DbTest {
 protected:
  // A job in a first commit, then a trial, its observations and a decision a commit, all in the log.
  static Store store_with_commits(const std::string& path, int commits) {
    Store store = Store::open(path);
    commit(store, {running_job(1, "damaged")});
    for (int number = 0; number < commits; ++number) {
      const double value = 0.5 + number * 0.001;
      std::vector<Write> batch{ended_trial(1, number, TrialState::stopped, value, 3)};
      for (int resource = 1; resource <= 3; ++resource) batch.emplace_back(observation(1, number, resource, value / resource));
      batch.emplace_back(decision(1, number, 0, value, Verdict::stopped, number + 1));
      commit(store, batch);
    }
    return store;
  }

  // As a server that is killed leaves it.
  static void copy_all(const std::string& from, const std::string& to) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::copy_file(from + suffix, to + suffix, fs::copy_options::overwrite_existing);
    }
  }

  static void remove_all(const std::string& path) {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
  }

  // From one byte to a sector.
  void damage(const std::string& path) {
    std::string bytes = read_text(path);
    const std::size_t size = std::min<std::size_t>(bytes.size(), std::size_t{1} << (random_() % 10));
    const std::size_t at = random_() % (bytes.size() - size + 1);
    for (std::size_t i = at; i < at + size; ++i) bytes[i] = static_cast<char>(bytes[i] ^ (1 + random_() % 255));
    std::ofstream(path, std::ios::binary) << bytes;
  }

  // Every value of every row, as a text.
  static std::string all_rows(const std::string& path) {
    Connection connection = Connection::open_to_read(path);
    std::string text;
    for (const char* table : {"jobs", "trials", "observations", "decisions"}) {
      Statement columns = connection.prepare("SELECT name FROM pragma_table_info('" + std::string(table) + "')");
      std::string quoted;
      while (columns.step()) quoted += (quoted.empty() ? "quote(" : " || ',' || quote(") + std::string(columns.text(0)) + ")";
      Statement rows = connection.prepare("SELECT " + quoted + " FROM " + table + " ORDER BY 1");
      while (rows.step()) text.append(rows.text(0)).append("\n");
    }
    return text;
  }

  enum class Seen { refused, harmless, unseen };

  // What becomes of it when a server starts on it and each of its rows is read.
  static Seen start_on(const std::string& path, const std::string& expected) {
    if (what_the_log_lost(path)) return Seen::refused;
    try {
      Store::open(path).load();
      return all_rows(path) == expected ? Seen::harmless : Seen::unseen;
    } catch (const std::exception&) {
      return Seen::refused;
    }
  }

  std::mt19937_64 random_{11};
};

TEST_F(DamageTest, ADamagedLogIsNeverTakenForOneWithFewerCommits) {
  const Store store = store_with_commits(path(), kBatches);
  const std::string expected = all_rows(path());
  const std::string copy = path() + ".copy";
  copy_all(path(), copy);
  EXPECT_EQ(start_on(copy, expected), Seen::harmless);
  std::map<bool, std::map<Seen, int>> counts;
  for (int i = 0; i < kLogDamages; ++i) {
    for (const bool with_index : {true, false}) {
      remove_all(copy);
      copy_all(path(), copy);
      damage(copy + "-wal");
      if (!with_index) fs::remove(copy + "-shm");
      ++counts[with_index][start_on(copy, expected)];
    }
  }
  EXPECT_EQ(counts[true][Seen::unseen], 0);
  EXPECT_EQ(counts[true][Seen::refused], kLogDamages);
  EXPECT_GT(counts[false][Seen::unseen], 0) << "what the index is needed for";
}

TEST_F(DamageTest, ALogThatIsCutOrGoneIsRefused) {
  const Store store = store_with_commits(path(), kBatches);
  const std::string copy = path() + ".copy";
  for (const double share : {0.0, 0.3, 0.99}) {
    copy_all(path(), copy);
    fs::resize_file(copy + "-wal", static_cast<std::uintmax_t>(share * static_cast<double>(fs::file_size(copy + "-wal"))));
    EXPECT_TRUE(what_the_log_lost(copy)) << share;
  }
  fs::remove(copy + "-wal");
  EXPECT_EQ(what_the_log_lost(copy), "is gone");
}

TEST_F(DamageTest, ALogWhosePagesAreInTheDatabaseOrWasBegunAnewIsNotMissed) {
  Store store = store_with_commits(path(), 3);
  const std::string copy = path() + ".copy";
  copy_all(path(), copy);
  store.keep_log();
  const std::string kept = path() + ".kept";
  copy_all(path(), kept);
  fs::remove(kept + "-wal");
  EXPECT_FALSE(what_the_log_lost(kept));
  commit(store, {running_job(2, "begins the log anew")});
  EXPECT_FALSE(what_the_log_lost(path()));
  fs::copy_file(copy + "-shm", kept + "-shm", fs::copy_options::overwrite_existing);  // an index that is older than its log
  fs::copy_file(path() + "-wal", kept + "-wal");
  EXPECT_FALSE(what_the_log_lost(kept));
}

// Figures in docs/reliability.md.
TEST_F(DamageTest, NoDamageOfADatabaseIsServedAsIfNothingWas) {
  { store_with_commits(path(), kTrialsStored); }
  const std::string expected = all_rows(path());
  const std::string copy = path() + ".copy";
  std::map<Seen, int> counts;
  for (int i = 0; i < kDamages; ++i) {
    remove_all(copy);
    fs::copy_file(path(), copy);
    damage(copy);
    ++counts[start_on(copy, expected)];
  }
  std::printf("refused %d, harmless %d, unseen %d\n", counts[Seen::refused], counts[Seen::harmless], counts[Seen::unseen]);
  EXPECT_GT(counts[Seen::refused], kDamages * 9 / 10);
  EXPECT_EQ(counts[Seen::unseen], 0);
}

TEST_F(DamageTest, ADigitThatChangedIsFoundWhereItIsRead) {
  { store_with_commits(path(), kTrialsStored); }
  std::string bytes = read_text(path());
  const std::size_t at = bytes.rfind("damaged");  // the job's name, in a row
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'D';
  std::ofstream(path(), std::ios::binary) << bytes;
  EXPECT_THAT(message_of([&] { all_rows(path()); }), HasSubstr("malformed"));
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr("damaged and is left as it is"));
  EXPECT_EQ(read_text(path()), bytes);
}

TEST_F(DamageTest, APageAtAnothersPlaceIsFound) {
  { store_with_commits(path(), kTrialsStored); }
  std::string bytes = read_text(path());
  constexpr std::size_t kPage = 4096;
  const std::string third = bytes.substr(2 * kPage, kPage);
  bytes.replace(3 * kPage, kPage, third);
  std::ofstream(path(), std::ios::binary) << bytes;
  EXPECT_THAT(message_of([&] { Store::open(path()); }), HasSubstr("damaged"));
}

TEST_F(DamageTest, ALookForFaultsNamesAPageThatCannotBeReadAndEnds) {
  { store_with_commits(path(), kTrialsStored); }
  std::string bytes = read_text(path());
  bytes[4 * 4096 + 100] = static_cast<char>(bytes[4 * 4096 + 100] ^ 1);
  std::ofstream(path(), std::ios::binary) << bytes;
  EXPECT_THAT(Connection::open_to_read(path()).faults(), ::testing::Not(::testing::IsEmpty()));
}

// More pages than SQLite holds in memory, so that some are written before the last is copied.
TEST_F(DamageTest, ABackupHasChecksumsAlsoOfPagesThatWereInTheLog) {
  Store store = store_with_commits(path(), kBatches);
  std::vector<Write> batch{running_trial(1, kBatches)};
  for (int resource = 1; resource <= kManyObservations; ++resource)
    batch.emplace_back(observation(1, kBatches, resource, 1.0 / resource));
  Connection reader = Connection::open_to_read(path());
  const Transaction keeps_the_log(reader, Transaction::Kind::read);
  ASSERT_GT(reader.integer("SELECT count(*) FROM trials"), 0);
  commit(store, batch);
  const std::string backup = path() + ".backup";
  Connection::open_to_read(path()).copy_to(backup);
  ASSERT_GT(fs::file_size(backup), 2'500'000);
  EXPECT_EQ(all_rows(backup), all_rows(path()));
  Connection copied = Connection::open_to_read(backup);
  EXPECT_TRUE(copied.has_checksums());
  EXPECT_EQ(copied.faults(), std::vector<std::string>{});
}

TEST_F(DamageTest, OtherProgramsReadADatabaseWithChecksums) {
  { store_with_commits(path(), 3); }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path().c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "PRAGMA integrity_check; SELECT sum(objective) FROM observations", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
}

}  // namespace
}  // namespace tuneband::testing
