// What the thread that reads says when its work fails.
#include "server/api/read_thread.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "server/log.hpp"
#include "tests/server/loop_until.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

class ReadThreadTest : public testing::Test {
 protected:
  ReadThreadTest() { server::set_log_level(server::LogLevel::off); }

  template <class Exception>
  Error error_when_work_throws(const Exception& exception) {
    const std::string database = directory_ / "tuneband.db";
    Store::open(database);
    server::ReadThread reads(loop_, database);
    std::optional<Error> error;
    reads.run([exception](Reader&) -> Result<std::string> { throw exception; },
              [&](const Result<std::string>& answer) { error = answer.error(); });
    EXPECT_EQ(reads.waiting(), 1U);
    EXPECT_TRUE(loop_until(loop_, [&] { return error.has_value(); }));
    EXPECT_EQ(reads.waiting(), 0U);
    return *error;
  }

  TemporaryDirectory directory_;
  boost::asio::io_context loop_;
};

TEST_F(ReadThreadTest, BlamesTheDatabaseForItsOwnFailuresAlone) {
  const Error database = error_when_work_throws(SqliteError(10, "disk I/O error"));
  EXPECT_EQ(database.code, ErrorCode::internal);
  EXPECT_EQ(database.message, "the database could not be read");
  const Error other = error_when_work_throws(std::logic_error("secret"));
  EXPECT_EQ(other.code, ErrorCode::internal);
  EXPECT_EQ(other.message, "the server failed to answer");
}

}  // namespace
}  // namespace tuneband::test
