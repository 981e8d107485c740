// What a backup does with trials whose checkpoints went while it was taken. tests/e2e has the rest: beside a server that runs.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "server/app.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/database_there.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

class BackupTest : public testing::Test {
 protected:
  // It has a checkpoint of 3, which is what it was to reach.
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

  // It has a checkpoint of 3 and goes on to 9.
  static TrialRow running_trial(int number) {
    TrialRow row = paused_trial(number);
    row.state = TrialState::running;
    row.until_resource = 9;
    row.epoch = Epoch{1};
    row.worker = WorkerId{"w"};
    row.started_at = row.assigned_at = Timestamp{1};
    return row;
  }

  fs::path checkpoint(int number) const { return data_dir_.trial_dir({kJob, number}) + "/checkpoint"; }

  // Times tell changes apart, and this one is not of now.
  void make_checkpoint(int number, const std::string& name = "3.ubj") {
    fs::create_directories((checkpoint(number) / name).parent_path());
    std::ofstream(checkpoint(number) / name) << "a model";
    fs::last_write_time(checkpoint(number) / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }

  int back_up(const std::string& to) const {
    return back_up_while(to, [](const fs::path&) {});
  }

  int back_up_while(const std::string& to, const std::function<void(const fs::path& next)>& meanwhile) const {
    ServerConfig config;
    config.data_dir = directory_.path();
    config.backup_to = to;
    return back_up_data_dir(config, meanwhile);
  }

  // Of a trial with a checkpoint of 3, in a backup during which, once the database is copied, `meanwhile` happens.
  TrialRow copied_while(const TrialRow& trial, const std::function<void()>& meanwhile) {
    add(trial);
    make_checkpoint(trial.id.number);
    EXPECT_EQ(back_up_while(copy_,
                            [&](const fs::path& next) {
                              if (next == fs::path(data_dir_.jobs_dir()) / "") meanwhile();
                            }),
              0);
    return Store::open(copy_ + "/tuneband.db").load().trials.at(0);
  }

  bool has_checkpoint_in_copy(int number) const {
    return fs::exists(fs::path(copy_) / checkpoint(number).lexically_relative(directory_.path()));
  }

  static constexpr JobId kJob{1};
  test::TemporaryDirectory elsewhere_;
  test::TemporaryDirectory directory_;
  DataDir data_dir_ = *DataDir::open(directory_.path());
  Store store_ = Store::open(data_dir_.database_file());
  const std::string copy_ = elsewhere_ / "copy";
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

TEST_F(BackupTest, IsNoPartOfWhatItCopies) {
  const std::string root = directory_.path();
  fs::create_directory(directory_ / "empty");
  fs::create_directory_symlink(directory_ / "empty", elsewhere_ / "around");
  for (const auto& [to, why] : std::map<std::string, std::string>{
           {root, root + " is what is to be copied"},
           {root + "/.", root + "/. is what is to be copied"},
           {directory_ / "empty", directory_ / "empty is inside " + root + ", which is to be copied"},
           {directory_ / "backups/today", directory_ / "backups/today is inside " + root + ", which is to be copied"},
           {elsewhere_ / "around", elsewhere_ / "around is inside " + root + ", which is to be copied"}}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(back_up(to), 2);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tuneband-server: " + why + " (name a directory elsewhere)\n");
  }
  EXPECT_TRUE(fs::is_empty(directory_ / "empty"));
  EXPECT_FALSE(fs::exists(directory_ / "backups"));
  EXPECT_EQ(back_up(root + "-copy"), 0) << "a name that begins as its own";
  fs::remove_all(root + "-copy");
}

TEST_F(BackupTest, OfASegmentsDirectoriesThatOfTheRowIsInIt) {
  TrialRow row = paused_trial(0);
  row.files_epoch = Epoch{4};
  row.epoch = Epoch{5};
  add(row);
  const fs::path trial = data_dir_.trial_dir({kJob, 0});
  for (const char* epoch : {"4", "6"}) {
    fs::create_directories(trial / "epochs" / epoch / "checkpoint");
    std::ofstream(trial / "epochs" / epoch / "checkpoint/3.ubj") << epoch;
  }
  fs::create_directory_symlink("epochs/4/checkpoint", trial / "checkpoint");
  ASSERT_EQ(back_up(copy_), 0);
  EXPECT_EQ(Store::open(copy_ + "/tuneband.db").load().trials.at(0), row);
  EXPECT_TRUE(fs::exists(copy_ + "/jobs/1/trials/0/checkpoint/3.ubj"));
  EXPECT_FALSE(fs::exists(copy_ + "/jobs/1/trials/0/epochs/6")) << "a segment of the copy may have that epoch";
}

TEST_F(BackupTest, ATrialThatRunsAndStoredNothingMeanwhileGoesOnFromItsCheckpoint) {
  TrialRow later = running_trial(0);
  later.resource = 4;  // what is reported is not yet stored
  EXPECT_EQ(copied_while(running_trial(0), [&] { add(later); }), running_trial(0));
  EXPECT_TRUE(has_checkpoint_in_copy(0));
}

TEST_F(BackupTest, ATrialThatStoredALaterCheckpointMeanwhileBeginsAnewAlsoShortOfItsTarget) {
  TrialRow later = running_trial(0);
  later.resource = later.checkpoint_resource = 5;
  const TrialRow copied = copied_while(running_trial(0), [&] {
    make_checkpoint(0, "5.ubj");
    fs::remove(checkpoint(0) / "3.ubj");
    add(later);
  });
  EXPECT_EQ(copied.checkpoint_resource, 0);
  EXPECT_FALSE(has_checkpoint_in_copy(0));
}

TEST_F(BackupTest, ATrialThatWasCutMeanwhileBeginsAnew) {
  TrialRow cut = paused_trial(0);
  cut.state = TrialState::stopped;
  cut.ended_at = Timestamp{5};
  EXPECT_EQ(copied_while(paused_trial(0), [&] { add(cut); }).checkpoint_resource, 0);
  EXPECT_FALSE(has_checkpoint_in_copy(0)) << "its removal may have begun";
}

TEST_F(BackupTest, ATrialThatCompletedMeanwhileWithTheCheckpointOfItsRowKeepsIt) {
  TrialRow completed = paused_trial(0);
  completed.state = TrialState::completed;
  completed.ended_at = Timestamp{5};
  EXPECT_EQ(copied_while(paused_trial(0), [&] { add(completed); }), paused_trial(0));
  EXPECT_TRUE(has_checkpoint_in_copy(0));
}

TEST_F(BackupTest, ATrialWhoseJobWasDeletedMeanwhileBeginsAnew) {
  const TrialRow copied = copied_while(paused_trial(0), [&] {
    const std::vector<Write> writes{DeleteJob{kJob}};
    store_.commit(writes);
    while (store_.tidy()) {
    }
  });
  EXPECT_EQ(copied.checkpoint_resource, 0);
}

TEST_F(BackupTest, ACheckpointThatIsWrittenToOnceWhileItIsCopiedIsCopiedAgain) {
  add(running_trial(0));
  make_checkpoint(0, "a");
  make_checkpoint(0, "b/c");
  bool first = true;
  const auto overwrite = [&](const fs::path& next) {
    if (next == checkpoint(0) / "b" && std::exchange(first, false)) std::ofstream(checkpoint(0) / "a") << "another";
  };
  ASSERT_EQ(back_up_while(copy_, overwrite), 0);
  EXPECT_EQ(Store::open(copy_ + "/tuneband.db").load().trials.at(0), running_trial(0));
  std::string text;
  std::ifstream(copy_ + "/jobs/1/trials/0/checkpoint/a") >> text;
  EXPECT_EQ(text, "another");
}

TEST_F(BackupTest, ATrialWhoseCheckpointIsWrittenToAllTheTimeBeginsAnew) {
  add(running_trial(0));
  make_checkpoint(0, "a");
  make_checkpoint(0, "b/c");
  std::string text;
  const auto overwrite = [&](const fs::path& next) {
    if (next == checkpoint(0) / "b") std::ofstream(checkpoint(0) / "a") << (text += "x");
  };
  ASSERT_EQ(back_up_while(copy_, overwrite), 0);
  EXPECT_EQ(Store::open(copy_ + "/tuneband.db").load().trials.at(0).checkpoint_resource, 0);
  EXPECT_FALSE(has_checkpoint_in_copy(0));
}

TEST_F(BackupTest, WhatIsBeingSavedForTheFirstTimeIsNoCheckpointYet) {
  TrialRow begun = running_trial(0);
  begun.resource = begun.checkpoint_resource = 0;
  TrialRow later = begun;
  later.resource = later.checkpoint_resource = 1;
  EXPECT_EQ(copied_while(begun, [&] { add(later); }), begun);
  EXPECT_FALSE(has_checkpoint_in_copy(0));
}

TEST_F(BackupTest, AJobThatIsSubmittedMeanwhileIsNotInIt) {
  add(paused_trial(0));
  make_checkpoint(0);
  ASSERT_EQ(back_up_while(copy_, [&](const fs::path&) { fs::create_directories(data_dir_.trial_dir({JobId{2}, 0})); }), 0);
  EXPECT_FALSE(fs::exists(copy_ + "/jobs/2"));
  EXPECT_TRUE(has_checkpoint_in_copy(0));
  EXPECT_TRUE(*database_there(*DataDir::look_at(copy_)));
}

TEST_F(BackupTest, HasNoDatabaseUntilAllElseIsThere) {
  add(paused_trial(0));
  make_checkpoint(0);
  const DataDir target = [&] {
    fs::create_directory(copy_);
    return *DataDir::look_at(copy_);
  }();
  int looks = 0;
  ASSERT_EQ(back_up_while(copy_,
                          [&](const fs::path&) {
                            ++looks;
                            EXPECT_FALSE(fs::exists(target.database_file()));
                            const Result<bool> there = database_there(target);
                            ASSERT_FALSE(there) << "a server would start on it";
                            EXPECT_NE(there.error().message.find("a backup that was not finished"), std::string::npos);
                          }),
            0);
  EXPECT_GT(looks, 3);
  int entries = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(copy_)) {
    EXPECT_TRUE(entry.path() == target.database_file() || entry.path() == target.jobs_dir()) << entry.path();
    ++entries;
  }
  EXPECT_EQ(entries, 2);
  EXPECT_TRUE(*database_there(target));
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
