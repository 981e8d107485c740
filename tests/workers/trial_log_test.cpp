#include "workers/trial_log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "os/host_name.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/machine_fault.hpp"

namespace tuneband::workers {
namespace {

using test::read_text;
using test::TemporaryDirectory;
using test::write_text;

TEST(TrialLog, MakesTheDirectoryAndAppendsOverSegments) {
  const TemporaryDirectory dir;
  TrialLog::open(dir / "a/b")->write("one\n");
  TrialLog::open(dir / "a/b")->note("two");
  EXPECT_EQ(read_text(dir / "a/b/log.txt"), "one\n[tuneband] two\n");
}

TEST(TrialLog, IsCutAtItsLimitAndSaysSoOnce) {
  const TemporaryDirectory dir;
  auto log = TrialLog::open(dir.path(), 0, 10);
  for (int i = 0; i < 5; ++i) log->write("1234567");
  const std::string text = read_text(dir / "log.txt");
  EXPECT_EQ(text.substr(0, 10), "1234567123");
  EXPECT_NE(text.find("limit of 10 bytes"), std::string::npos);
  EXPECT_LT(text.size(), 200U);
}

TEST(TrialLog, IsRefusedWhereNoDirectoryCanBeMade) {
  const TemporaryDirectory dir;
  write_text(dir / "file", "");
  const auto log = TrialLog::open(dir / "file/trial");
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("file/trial"), std::string::npos);
}

TEST(TrialLog, WaitsForTheServersDataDirectoryWhereThatIsNot) {
  const TemporaryDirectory dir;
  const auto log = TrialLog::open(dir / "data/jobs/3/trials/0");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message, "the server's data directory is not at " + dir / "data" + " on this machine (" +
                                     os::host_name() + "): mount it there (docs/distributed.md, \"Several hosts\")");
  EXPECT_EQ(machine_fault(log.error()), waiting::kDataDirectory);
  EXPECT_FALSE(std::filesystem::exists(dir / "data"));
  std::filesystem::create_directories(dir / "data/jobs");
  EXPECT_TRUE(TrialLog::open(dir / "data/jobs/3/trials/0")) << "what is below it is the worker's to make";
}

// As a user who may not write there: the one who runs the tests may be root, whom nothing stops.
int waits_for_data_directory(const std::string& trial_dir) {
  if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;
  const auto log = TrialLog::open(trial_dir);
  const bool says_so = !log && log.error().message.find("the worker's user may not write") != std::string::npos;
  return says_so && machine_fault(log.error()) == waiting::kDataDirectory ? 0 : 1;
}

TEST(TrialLog, WaitsForTheServersDataDirectoryWhereTheWorkersUserMayNotWriteToIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const TemporaryDirectory dir;
  ::chmod(dir.path().c_str(), 0755);
  const std::string jobs = dir / "jobs";
  for (const unsigned mode : {0500U, 0U}) {
    ::mkdir(jobs.c_str(), 0700);
    ::chmod(jobs.c_str(), mode);
    EXPECT_EXIT(std::_Exit(waits_for_data_directory(jobs + "/3/trials/0")), testing::ExitedWithCode(0), "") << mode;
  }
  ::chmod(jobs.c_str(), 0700);
}

}  // namespace
}  // namespace tuneband::workers
