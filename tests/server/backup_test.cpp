// What a backup does with trials whose checkpoints went while it was taken. tests/e2e has the rest: beside a server that runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "db/store.hpp"
#include "server/app.hpp"
#include "server/data_dir.hpp"
#include "tests/server/temporary_directory.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

class BackupTest : public testing::Test {
 protected:
  static TrialRow paused_trial(int number) {
    TrialRow row;
    row.id = {kJob, number};
    row.state = TrialState::paused;
    row.configuration = {{"rate", 0.5}};
    row.origin = "sampler";
    row.resource = row.checkpoint_resource = row.until_resource = 3;
    return row;
  }

  void add(const TrialRow& trial) {
    JobRow job;
    job.id = kJob;
    job.name = "kept";
    job.spec_json = "{}";
    const std::vector<Write> writes{job, trial};
    store_.commit(writes);
  }

  void make_checkpoint(int number) {
    const fs::path dir = data_dir_.trial_dir({kJob, number}) + "/checkpoint";
    fs::create_directories(dir);
    std::ofstream(dir / "3.ubj") << "a model";
  }

  int back_up(const std::string& to) const {
    ServerConfig config;
    config.data_dir = directory_.path();
    config.backup_to = to;
    return back_up_data_dir(config);
  }

  static constexpr JobId kJob{1};
  test::TemporaryDirectory directory_;
  DataDir data_dir_ = *DataDir::open(directory_.path());
  Store store_ = Store::open(data_dir_.database_file());
  const std::string copy_ = directory_ / "copy";
};

TEST_F(BackupTest, ATrialWhoseCheckpointIsGoneBeginsAnewInTheCopyAndTheOthersGoOn) {
  for (int number = 0; number < 2; ++number) add(paused_trial(number));
  make_checkpoint(1);
  ASSERT_EQ(back_up(copy_), 0);
  const Snapshot copied = Store::open(copy_ + "/tuneband.db").load();
  ASSERT_EQ(copied.trials.size(), 2U);
  EXPECT_EQ(copied.trials[0].checkpoint_resource, 0);
  EXPECT_EQ(copied.trials[1], paused_trial(1));
  EXPECT_TRUE(fs::exists(copy_ + "/jobs/1/trials/1/checkpoint/3.ubj"));
  EXPECT_EQ(store_.load().trials[0].checkpoint_resource, 3) << "the original is left as it is";
}

TEST_F(BackupTest, ACopyInsideOfWhatIsCopiedIsRefused) {
  EXPECT_NE(back_up(data_dir_.jobs_dir() + "/copy"), 0);
  EXPECT_FALSE(fs::exists(data_dir_.jobs_dir() + "/copy"));
}

TEST_F(BackupTest, JobsThatCannotBeReadAreNoBackup) {
  fs::remove_all(data_dir_.jobs_dir());
  EXPECT_NE(back_up(copy_), 0);
}

}  // namespace
}  // namespace tuneband::server
