#include "server/data/data_dir.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/not_root.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::server {
namespace {

TEST(DataDir, IsMadeForItsOwnerAlone) {
  const test::TemporaryDirectory directory;
  const Result<DataDir> made = DataDir::open(directory / "a/b/");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->root(), directory / "a/b");
  struct stat info {};
  ASSERT_EQ(::stat(made->root().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_EQ(made->trial_dir({JobId{7}, 11}), directory / "a/b/jobs/7/trials/11");
}

TEST(DataDir, ASecondServerIsToldThatTheFirstOneRuns) {
  const test::TemporaryDirectory directory;
  {
    const Result<DataDir> first = DataDir::open(directory.path());
    ASSERT_TRUE(first);
    const Result<DataDir> second = DataDir::open(directory.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_NE(second.error().message.find("another tuneband-server"), std::string::npos);
  }
  EXPECT_TRUE(DataDir::open(directory.path()));
}

TEST(DataDir, AFileInItsPlaceIsAnErrorInWords) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  const Result<DataDir> opened = DataDir::open(directory / "file");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("not a directory"), std::string::npos);
}

TEST(DataDir, APartThatItsUserMayNotWriteInIsNamedBeforeAnythingRuns) {
  const test::TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const test::NotRoot not_root;
  ASSERT_TRUE(not_root);
  ASSERT_TRUE(DataDir::open(directory.path()));
  for (const std::string part : {"jobs", "workers"}) {
    std::filesystem::permissions(directory / part, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const Result<DataDir> opened = DataDir::open(directory.path());
    ASSERT_FALSE(opened) << part;
    EXPECT_EQ(opened.error().message, "cannot write in " + directory / part + ": Permission denied");
    EXPECT_NE(opened.error().hint.find("chown"), std::string::npos) << opened.error().hint;
    std::filesystem::permissions(directory / part, std::filesystem::perms::owner_all);
  }
  EXPECT_TRUE(DataDir::open(directory.path()));
}

TEST(DataDir, LookingNeitherMakesNorLocks) {
  const test::TemporaryDirectory directory;
  EXPECT_FALSE(DataDir::look_at(directory / "nowhere"));
  const Result<DataDir> open = DataDir::open(directory / "here");
  EXPECT_TRUE(DataDir::look_at(directory / "here"));
}

TEST(DataDir, RemembersTheServersAddress) {
  const test::TemporaryDirectory directory;
  const Result<DataDir> dir = DataDir::open(directory.path());
  EXPECT_FALSE(dir->read_server_address());
  ASSERT_TRUE(dir->write_server_address({"http://127.0.0.1:7071", 42, 7071}));
  const std::optional<ServerAddress> read = dir->read_server_address();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->url, "http://127.0.0.1:7071");
  EXPECT_EQ(read->pid, 42);
  EXPECT_EQ(read->port, 7071);
  std::ofstream(dir->server_file()) << "{broken";
  EXPECT_FALSE(dir->read_server_address());
}

}  // namespace
}  // namespace tuneband::server
