#include "workers/command/path_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "jobs/path_text.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/command/process.hpp"

namespace tuneband::workers {
namespace {

using testing::HasSubstr;

std::string sentence_of(const std::optional<PathFault>& fault) { return fault ? fault->message : ""; }

TEST(PathCheck, EachKindOfFileThatIsNoDataHasASentence) {
  const test::TemporaryDirectory dir;
  ::mkfifo((dir / "fifo").c_str(), 0600);
  std::ofstream(dir / "table.csv") << "a,y\n";
  EXPECT_EQ(sentence_of(fault_of_data_file(dir / "table.csv")), "");
  EXPECT_EQ(sentence_of(fault_of_data_file(dir / "absent")), "") << "its reader says so";
  EXPECT_THAT(sentence_of(fault_of_data_file(dir / "fifo")),
              HasSubstr("is a FIFO (named pipe), and data is read more than once"));
  EXPECT_THAT(sentence_of(fault_of_data_file("/dev/zero")), HasSubstr("/dev/zero is a character device"));
  EXPECT_THAT(sentence_of(fault_of_data_file(dir.path())), HasSubstr("is a directory"));
}

TEST(PathCheck, AWorkingDirectoryIsADirectory) {
  const test::TemporaryDirectory dir;
  ::mkfifo((dir / "fifo").c_str(), 0600);
  EXPECT_EQ(sentence_of(fault_of_directory(dir.path())), "");
  EXPECT_THAT(sentence_of(fault_of_directory(dir / "absent")), HasSubstr("is not there"));
  EXPECT_THAT(sentence_of(fault_of_directory(dir / "fifo")), HasSubstr("is a FIFO (named pipe), not a directory"));
  EXPECT_THAT(sentence_of(fault_of_directory("/dev/null")), HasSubstr("is a character device, not a directory"));
}

TEST(PathCheck, AStepThatLeadsNowhereIsNotShown) {
  EXPECT_EQ(path_from("/srv", "./run"), "/srv/run");
  EXPECT_EQ(path_from("/srv/", ".//bin/./run"), "/srv/bin/run");
  EXPECT_EQ(path_from("/srv", "link/../run"), "/srv/link/../run") << "behind a link it leads elsewhere";
  EXPECT_EQ(path_from("/srv", "/bin/run"), "/bin/run");
}

TEST(PathCheck, AProgramIsAFile) {
  const test::TemporaryDirectory dir;
  ::mkfifo((dir / "fifo").c_str(), 0700);
  EXPECT_THAT(find_executable(dir / "fifo", "", "").error().message, HasSubstr("fifo is a FIFO (named pipe)"));
  EXPECT_THAT(find_executable("/dev/null", "", "").error().message, HasSubstr("/dev/null is a character device"));
}

// As a user who may not pass `closed`: the one who runs the tests may be root, whom nothing stops.
int found_from_outside(const std::string& closed) {
  if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;
  const std::string named = "the directory " + closed + " may not be entered";
  const bool data = sentence_of(fault_of_data_file(closed + "/table.csv")).find(named) != std::string::npos;
  const bool directory = sentence_of(fault_of_directory(closed + "/inside")).find(named) != std::string::npos;
  const bool itself = sentence_of(fault_of_directory(closed)).find(named) != std::string::npos;
  const bool program = find_executable(closed + "/run", "", "").error().message.find(named) != std::string::npos;
  return data && directory && itself && program ? 0 : 1;
}

TEST(PathCheck, AParentThatMayNotBeEnteredIsNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const test::TemporaryDirectory dir;
  ::chmod(dir.path().c_str(), 0755);
  const std::string closed = dir / "closed";
  ::mkdir(closed.c_str(), 0700);
  std::ofstream(closed + "/table.csv") << "a,y\n";
  ::chmod(closed.c_str(), 0);
  EXPECT_EXIT(std::_Exit(found_from_outside(closed)), testing::ExitedWithCode(0), "");
  ::chmod(closed.c_str(), 0700);
}

TEST(PathText, UrlsAndHomeDirectoriesAreNoPaths) {
  const auto fault = [](const char* path) {
    const auto found = unsupported_path(path);
    return found ? describe(*found) : "";
  };
  EXPECT_THAT(fault("s3://bucket/a.csv"), HasSubstr("not a URL, got \"s3://bucket/a.csv\" (download it first"));
  EXPECT_THAT(fault("https://host/a.csv"), HasSubstr("not a URL"));
  EXPECT_THAT(fault("file:///a.csv"), HasSubstr("leave out file://"));
  EXPECT_THAT(fault("~/a.csv"), HasSubstr("which only a shell understands"));
  EXPECT_THAT(fault("~"), HasSubstr("which only a shell understands"));
  for (const char* path : {"", "a.csv", "/a/b", "./~/a", "~a", "a~/b", "a//b", "://a", "3s://a", "s3:/a"})
    EXPECT_EQ(fault(path), "") << path;
}

}  // namespace
}  // namespace tuneband::workers
