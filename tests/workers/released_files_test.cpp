#include "workers/released_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"
#include "workers/segment_dir.hpp"
#include "workers/trial_log.hpp"
#include "workers/xgboost/model_files.hpp"

namespace tuneband::workers {
namespace {

namespace fs = std::filesystem;

class TrialLinks : public testing::Test {
 protected:
  TrialLinks() {
    fs::create_directories(dir_ / "elsewhere/checkpoint");
    for (const char* name : {"model.ubj", "checkpoint/3.ubj", "log.txt"}) test::write_text(target(name), "keep");
    fs::create_directories(dir_ / "trial");
  }
  std::string target(const std::string& name) const { return dir_ / ("elsewhere/" + name); }

  void expect_untouched() {
    for (const char* name : {"model.ubj", "checkpoint/3.ubj", "log.txt"})
      EXPECT_EQ(test::read_text(target(name)), "keep") << name;
  }

  test::TemporaryDirectory dir_;
};

TEST_F(TrialLinks, ReleasedFilesAreRemovedOnlyFromTheTrialsOwnDirectory) {
  test::write_text(target(protocol::kReleasedFile), "");
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "linked");
  remove_released_files(dir_ / "linked");
  test::write_text(dir_ / "trial/.released", "");
  fs::create_directory_symlink(target("checkpoint"), dir_ / "trial/checkpoint");
  remove_released_files(dir_ / "trial");
  EXPECT_FALSE(fs::is_symlink(dir_ / "trial/checkpoint"));
  expect_untouched();
}

TEST_F(TrialLinks, ALogThatBecameALinkIsBegunAnew) {
  fs::create_symlink(target("log.txt"), dir_ / "trial/log.txt");
  auto log = TrialLog::open(dir_ / "trial");
  ASSERT_TRUE(log);
  log->write("a line");
  EXPECT_EQ(test::read_text(dir_ / "trial/log.txt"), "a line");
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "linked");
  EXPECT_FALSE(TrialLog::open(dir_ / "linked"));
  expect_untouched();
}

TEST_F(TrialLinks, NoModelIsStoredOrReadThroughALink) {
  constexpr std::int64_t kEpoch = 12;
  std::vector<std::string> notes;
  for (const std::string link : {"epochs/12/checkpoint", "epochs/12", "epochs"}) {
    fs::create_directories((dir_ / ("trial/" + link)));
    fs::remove_all(dir_ / ("trial/" + link));
    fs::create_directory_symlink(target("checkpoint"), dir_ / ("trial/" + link));
    EXPECT_FALSE(store_model({dir_ / "trial", kEpoch, 9, 0}, "model", Flush::no)) << link;
    EXPECT_FALSE(newest_model(dir_ / "trial", kEpoch, 9, notes)) << link;
  }
  expect_untouched();
}

TEST_F(TrialLinks, NoCheckpointDirectoryIsMadeOrRemovedThroughALink) {
  fs::create_directories(target("checkpoint/12"));
  fs::create_directory_symlink(target("checkpoint"), dir_ / "trial/epochs");
  fs::create_directory_symlink("epochs/13/checkpoint", dir_ / "trial/checkpoint");
  protocol::AssignmentOrder order;
  order.trial_dir = dir_ / "trial";
  order.epoch = 11;
  EXPECT_FALSE(make_checkpoint_dir(order));
  remove_superseded_dir(order.trial_dir, 12);
  EXPECT_FALSE(fs::exists(target("checkpoint/11")));
  EXPECT_TRUE(fs::exists(target("checkpoint/12")));
  expect_untouched();
}

TEST_F(TrialLinks, AFileIsMadeInPlaceOfALinkAndNeverBehindIt) {
  fs::create_symlink(target("model.ubj"), dir_ / "trial/parameters.json");
  const auto directory = protocol::TrialDirectory::open(dir_ / "trial");
  ASSERT_TRUE(directory);
  EXPECT_FALSE(directory->open_file("parameters.json", 0));
  const os::UniqueFd made = directory->make_file("parameters.json", 0600);
  ASSERT_TRUE(made);
  EXPECT_FALSE(fs::is_symlink(dir_ / "trial/parameters.json"));
  expect_untouched();
}

}  // namespace
}  // namespace tuneband::workers
