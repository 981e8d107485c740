// What an XGBoost trial leaves on the disk, and when it waits for it: the program's calls of fsync() are seen, and may be made to
// fail.
#include "workers/xgboost/model_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::workers {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> flushed_paths;
bool disk_fails = false;

class ModelFilesTest : public testing::Test {
 protected:
  ModelFilesTest() {
    flushed_paths.clear();
    disk_fails = false;
  }
  ~ModelFilesTest() override { disk_fails = false; }

  std::vector<std::string> names_in(const std::string& directory) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  test::TemporaryDirectory dir_;
  const std::string trial_ = dir_ / "trial";
  static constexpr std::int64_t kEpoch = 12;
  const std::string checkpoints_ = trial_ + "/epochs/12/checkpoint";
};

TEST_F(ModelFilesTest, CheckpointsStayFromTheOneOnThatTheServerHasTaken) {
  ASSERT_TRUE(store_model({trial_, kEpoch, 1, 0}, "one", Flush::no));
  ASSERT_TRUE(store_model({trial_, kEpoch, 3, 0}, "three", Flush::no));
  EXPECT_THAT(names_in(checkpoints_), ElementsAre("1.sum", "1.ubj", "3.sum", "3.ubj"))
      << "the server may know of the first alone";
  ASSERT_TRUE(store_model({trial_, kEpoch, 9, 3}, "nine", Flush::no));
  EXPECT_THAT(names_in(checkpoints_), ElementsAre("3.sum", "3.ubj", "9.sum", "9.ubj"));
  EXPECT_THAT(flushed_paths, IsEmpty());
  std::vector<std::string> notes;
  const auto newest = newest_model(trial_, kEpoch, 8, notes);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->resource, 3);
  EXPECT_EQ(newest->bytes, "three");
}

TEST_F(ModelFilesTest, FilesAreOnTheDiskBeforeTheyHaveTheirNamesAndTheNamesBeforeItReturns) {
  ASSERT_TRUE(store_model({trial_, kEpoch, 3, 0}, "three", Flush::yes));
  const std::string process = ".tmp" + std::to_string(::getpid()) + "-";
  const auto aside = [&](const char* name) { return testing::StartsWith(checkpoints_ + name + process); };
  EXPECT_THAT(flushed_paths,
              ElementsAre(aside("/3.sum"), aside("/3.ubj"), checkpoints_, trial_ + "/epochs/12", trial_ + "/epochs", trial_));
}

TEST_F(ModelFilesTest, WhatIsNotOnTheDiskReplacesNothing) {
  ASSERT_TRUE(store_model({trial_, kEpoch, 3, 0}, "three", Flush::yes));
  disk_fails = true;
  const auto stored = store_model({trial_, kEpoch, 9, 3}, "nine", Flush::yes);
  ASSERT_FALSE(stored);
  EXPECT_THAT(stored.error().message, HasSubstr("Input/output error"));
  EXPECT_THAT(names_in(checkpoints_), ElementsAre("3.sum", "3.ubj")) << "nor does anything of it stay";
}

TEST_F(ModelFilesTest, NothingStaysOfAFileThatCannotGetItsName) {
  fs::create_directories(checkpoints_ + "/3.ubj/in the way");
  EXPECT_FALSE(store_model({trial_, kEpoch, 3, 0}, "three", Flush::no));
  EXPECT_THAT(names_in(checkpoints_), ElementsAre("3.sum", "3.ubj"));
}

}  // namespace

// In place of the C library's, for all of the program.
extern "C" int fsync(int fd) {
  std::error_code error;
  flushed_paths.push_back(fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error));
  if (!disk_fails) return static_cast<int>(::syscall(SYS_fsync, fd));
  errno = EIO;
  return -1;
}

}  // namespace tuneband::workers
