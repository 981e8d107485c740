// A database that is gone or emptied is not made anew over what is left of it, and one that was cut off at its making is.
#include "db/database_file.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "core/database_words.hpp"
#include "db/migrate.hpp"
#include "db_fixture.hpp"
#include "tests/file_size_limit.hpp"
#include "tests/not_root.hpp"

namespace tuneband::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Kind = DatabaseFile::Kind;

class DatabaseFileTest : public DbTest {
 protected:
  std::string wal() const { return path() + "-wal"; }

  void write(const std::string& file, const std::string& bytes) const { std::ofstream(file, std::ios::binary) << bytes; }

  // As a program that was killed leaves it when the schema and all rows are in the log alone.
  void make_with_all_in_the_log() const {
    const std::string original = path() + ".original";
    Connection connection = Connection::open_to_write(original);
    migrate(connection, migrations());
    connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('jobs', 7)");
    fs::copy_file(original, path());
    fs::copy_file(original + "-wal", wal());
  }

  // Store::open() refuses, and the file and its log are what they were.
  void expect_left_as_it_is(const std::string& words) const {
    const bool is_there = fs::exists(path());
    const std::string file = read_text(path());
    const std::string log = read_text(wal());
    try {
      Store::open(path());
      ADD_FAILURE() << "it was opened";
    } catch (const SqliteError& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.what(), HasSubstr("tuneband.db-wal"));
    }
    EXPECT_EQ(fs::exists(path()), is_there);
    EXPECT_EQ(read_text(path()), file);
    EXPECT_EQ(read_text(wal()), log);
  }
};

TEST_F(DatabaseFileTest, ANewOneHasItsSchemaInTheFileItself) {
  const Store store = Store::open(path());
  const std::string alone = path() + ".alone";
  fs::copy_file(path(), alone);
  EXPECT_EQ(look_at_database(alone).kind, Kind::with_tables);
  EXPECT_EQ(Store::open(alone).load().jobs.size(), 0U);
}

TEST_F(DatabaseFileTest, OneWithoutItsFileIsRefusedAndItsLogKept) {
  make_with_all_in_the_log();
  fs::remove(path());
  expect_left_as_it_is("is gone");
}

TEST_F(DatabaseFileTest, AnEmptiedOneIsRefusedAndItsLogKept) {
  make_with_all_in_the_log();
  write(path(), "");
  expect_left_as_it_is("is empty");
}

TEST_F(DatabaseFileTest, OneWhoseLogIsDamagedAndHadTheSchemaIsRefused) {
  for (const std::function<void(std::string&)>& damage : std::vector<std::function<void(std::string&)>>{
           [](std::string& log) { log.resize(5000); },
           [](std::string& log) { log.assign(log.size(), 'x'); },
           [](std::string& log) {
             for (std::size_t at = 40; at < log.size(); at += 97) log[at] = static_cast<char>(log[at] ^ 0x55);
           },
       }) {
    make_with_all_in_the_log();
    std::string log = read_text(wal());
    damage(log);
    write(wal(), log);
    expect_left_as_it_is("has no tables");
    for (const char* left : {"", "-wal", "-shm", ".original"}) fs::remove(path() + left);
  }
}

TEST_F(DatabaseFileTest, OneWithAllInASoundLogOpensAndThenHasTheSchemaInTheFile) {
  make_with_all_in_the_log();
  const Store store = [&] {
    Store opened = Store::open(path());
    EXPECT_EQ(opened.load().last_job_id, 7);
    return opened;
  }();
  fs::copy_file(path(), path() + ".alone");
  EXPECT_EQ(look_at_database(path() + ".alone").kind, Kind::with_tables);
}

TEST_F(DatabaseFileTest, OneThatWasCutOffAtItsMakingIsBegunAnew) {
  write(path() + ".new", "half of a page");
  write(path() + ".new-wal", "and a log");
  EXPECT_EQ(Store::open(path()).load().jobs.size(), 0U);
  EXPECT_FALSE(fs::exists(path() + ".new"));
  EXPECT_FALSE(fs::exists(path() + ".new-wal"));
}

TEST_F(DatabaseFileTest, OneBesideWhichThereIsNoRoomForTheIndexOfItsLogSaysSo) {
  { Store::open(path()); }
  ASSERT_FALSE(fs::exists(path() + "-shm"));
  const test::FileSizeLimit limit(1024);
  try {
    look_at_database(path());
    ADD_FAILURE() << "it was read";
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_want_of_room());
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr(std::string(kCannotBeReadThere)), HasSubstr("no room on the disk")));
  }
}

TEST_F(DatabaseFileTest, OneOfAnotherUserIsToldByTheSystemsWord) {
  std::ofstream(path()) << "x";
  fs::permissions(fs::path(path()).parent_path(), fs::perms::all);
  fs::permissions(path(), fs::perms::owner_write);
  const test::NotRoot not_root;
  ASSERT_TRUE(not_root);
  try {
    Store::open(path());
    ADD_FAILURE() << "it was opened";
  } catch (const SqliteError& error) {
    EXPECT_EQ(error.what(), "cannot open the database " + path() + ": Permission denied");
  }
}

TEST_F(DatabaseFileTest, IsToldFromWhatIsNoFile) {
  EXPECT_EQ(look_at_database(path()).kind, Kind::missing);
  fs::create_directory(path());
  EXPECT_THROW(look_at_database(path()), SqliteError);
}

}  // namespace
}  // namespace tuneband::testing
