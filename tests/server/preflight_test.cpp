#include "server/local/preflight.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "os/child_process.hpp"
#include "tests/server/loop_until.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::server {
namespace {

class PreflightTest : public testing::Test {
 protected:
  PreflightTest() { std::signal(SIGPIPE, SIG_IGN); }

  // Checks `document` with a program of this text.
  Diagnostics check(const std::string& program, const std::string& document = "{}") {
    write_program(program);
    return check_with_options(document);
  }

  void write_program(const std::string& program) { options_.worker_program = directory_.write_script("check.sh", program); }

  Diagnostics check_with_options(const std::string& document = "{}") {
    boost::asio::io_context loop;
    Preflight preflight(loop, options_);
    std::optional<Diagnostics> found;
    preflight.check(document, [&](const Diagnostics& diagnostics) { found = diagnostics; });
    EXPECT_TRUE(test::loop_until(loop, [&] { return found.has_value(); }));
    return *found;
  }

  static void expect_one_warning(const Diagnostics& found, const std::string& part) {
    EXPECT_TRUE(found.ok());
    ASSERT_EQ(found.warnings().size(), 1U);
    EXPECT_NE(found.warnings()[0].message.find(part), std::string::npos) << found.warnings()[0].message;
  }

  static bool says(const Diagnostics& found, const std::string& part) {
    return found.warnings().size() == 1 && found.warnings()[0].message.find(part) != std::string::npos;
  }

  // Of a program that is ended by its time, which is doubled until it has been enough for what the program does first: of the
  // shortest a busy machine may need all to start it.
  void expect_one_warning_in_time(const std::string& program, const std::string& part) {
    constexpr std::int64_t kMostMs = 60'000;
    options_.timeout_ms = 50;
    Diagnostics found = check(program);
    for (; !says(found, part) && options_.timeout_ms < kMostMs; found = check(program)) options_.timeout_ms *= 2;
    expect_one_warning(found, part);
  }

  test::TemporaryDirectory directory_;
  PreflightOptions options_;
};

TEST_F(PreflightTest, FaultsOfTheJobComeBackWithTheirPaths) {
  const Diagnostics found = check(R"(cat > /dev/null
echo '{"errors": [{"path": "trainer.data.train", "message": "no such file", "hint": "look"}],'
echo '"warnings": [{"path": "", "message": "slow", "hint": ""}]}'
)");
  ASSERT_EQ(found.errors().size(), 1U);
  EXPECT_EQ(found.errors()[0].path, "trainer.data.train");
  EXPECT_EQ(found.errors()[0].message, "no such file");
  EXPECT_EQ(found.errors()[0].hint, "look");
  ASSERT_EQ(found.warnings().size(), 1U);
  EXPECT_EQ(found.warnings()[0].message, "slow");
}

// A job may ask for more memory than its check may take.
TEST_F(PreflightTest, TheLimitOfTheProgramsMemoryIsNotThatOfWhatItStarts) {
  options_.memory_bytes_max = std::int64_t{1} << 32;
  const Diagnostics found = check(R"(cat > /dev/null
echo '{"errors": [], "warnings": [{"path": "", "message": "'$(ulimit -v) $(ulimit -Hv)'", "hint": ""}]}'
)");
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &own), 0);
  const std::string hard = own.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(own.rlim_max / 1024);
  expect_one_warning(found, os::kAddressesCanBeLimited ? "4194304 " + hard : "unlimited");
}

TEST_F(PreflightTest, TheProgramReadsTheWholeDocument) {
  const std::string document(300'000, 'x');
  const Diagnostics found = check(R"(n=$(wc -c)
echo '{"errors": [], "warnings": [{"path": "", "message": "'$n'", "hint": ""}]}'
)",
                                  document);
  expect_one_warning(found, "300000");
}

TEST_F(PreflightTest, AProgramThatReadsNothingCanStillAnswer) {
  const Diagnostics found = check("exec <&-\necho '{\"errors\": [], \"warnings\": []}'\n", std::string(300'000, 'x'));
  EXPECT_TRUE(found.ok());
  EXPECT_TRUE(found.warnings().empty());
}

TEST_F(PreflightTest, AMissingProgramIsAWarning) {
  options_.worker_program = directory_ / "nowhere";
  expect_one_warning(check_with_options(), "cannot run");
}

TEST_F(PreflightTest, AProgramThatHangsInACallRefusesTheJob) {
  options_.timeout_ms = 1000;
  const Diagnostics found = check("exec sleep 1000\n");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.errors().front().path, "trainer");
  EXPECT_THAT(found.errors().front().message, testing::HasSubstr("did not answer"));
}

TEST_F(PreflightTest, AProgramThatTakesTooLongIsKilledAndIsAWarning) {
  expect_one_warning_in_time("sleep 1000\n", "took too long");
}

TEST_F(PreflightTest, AProgramThatIsKilledIsAWarning) { expect_one_warning(check("kill -9 $$\n"), "signal 9 (SIGKILL)"); }

TEST_F(PreflightTest, AnAnswerThatIsNotJsonIsAWarning) {
  expect_one_warning(check("echo hello\n"), "no answer that can be read");
}

TEST_F(PreflightTest, AProgramThatStaysAfterItsAnswerIsKilled) {
  expect_one_warning_in_time("echo '{\"errors\": [], \"warnings\": []}'\nexec >&-\nsleep 1000\n", "signal 9");
}

TEST_F(PreflightTest, ACheckUnderWayDoesNotDelayTheEndOfTheServer) {
  write_program("sleep 1000\n");
  boost::asio::io_context loop;
  const auto begin = std::chrono::steady_clock::now();
  {
    Preflight preflight(loop, options_);
    preflight.check("{}", [](const Diagnostics&) {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

// Hangs when the document says so.
constexpr const char* kHangsOrAnswers = R"(read -r document
[ "$document" != hang ] || exec sleep 1000
echo '{"errors": [], "warnings": [{"path": "", "message": "checked", "hint": ""}]}'
)";

TEST_F(PreflightTest, OneThatHangsDoesNotHoldUpAnother) {
  options_.timeout_ms = 600'000;
  write_program(kHangsOrAnswers);
  boost::asio::io_context loop;
  Preflight preflight(loop, options_);
  for (std::size_t i = 1; i < options_.at_once; ++i) preflight.check("hang\n", [](const Diagnostics&) {});
  std::optional<Diagnostics> found;
  preflight.check("{}\n", [&](const Diagnostics& diagnostics) { found = diagnostics; });
  ASSERT_TRUE(test::loop_until(loop, [&] { return found.has_value(); }));
  expect_one_warning(*found, "checked");
}

TEST_F(PreflightTest, WhatHasWaitedForLongIsLetPass) {
  options_.timeout_ms = 600'000;
  options_.wait_ms_max = 50;
  options_.at_once = 1;
  write_program(kHangsOrAnswers);
  boost::asio::io_context loop;
  Preflight preflight(loop, options_);
  preflight.check("hang\n", [](const Diagnostics&) {});
  std::optional<Diagnostics> found;
  preflight.check("{}\n", [&](const Diagnostics& diagnostics) { found = diagnostics; });
  ASSERT_TRUE(test::loop_until(loop, [&] { return found.has_value(); }));
  expect_one_warning(*found, "too many jobs are being checked");
}

TEST_F(PreflightTest, TheProgramIsToldToEndWithTheServer) {
  expect_one_warning(check(R"(echo '{"errors": [], "warnings": [{"path": "", "message": "'$*'", "hint": ""}]}'
)"),
                     "--check-job --check-workers 1 --end-with-parent");
}

TEST_F(PreflightTest, AProgramThatSaysTooMuchIsAWarning) { expect_one_warning(check("exec yes\n"), "said too much"); }

}  // namespace
}  // namespace tuneband::server
