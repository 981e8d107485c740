#include "server/data/trial_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "server/log.hpp"
#include "tests/no_file_handle.hpp"
#include "tests/temporary_directory.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

class TrialFilesTest : public testing::Test {
 protected:
  TrialFilesTest() { set_log_level(LogLevel::error); }

  void make_trial(JobId job, int number) {
    const fs::path dir = data_dir_.trial_dir({job, number});
    fs::create_directories(dir / "checkpoint");
    for (const char* name : {"log.txt", "model.ubj", "checkpoint/3.ubj"}) std::ofstream(dir / name) << "x";
  }

  bool has(JobId job, int number, const std::string& file) { return fs::exists(data_dir_.trial_dir({job, number}) + "/" + file); }

  static TrialRow trial(int number, TrialState state) {
    TrialRow row;
    row.id = {kJob, number};
    row.state = state;
    return row;
  }

  static JobRow job_with_best(int trial_number) {
    JobRow row;
    row.id = kJob;
    row.best_anywhere = BestRow{trial_number, 3, 0.5};
    return row;
  }

  // Commits one batch after the other and waits until the files are gone.
  void commit(const std::vector<std::vector<Write>>& batches, const Snapshot& snapshot = {}) {
    TrialFiles files(data_dir_);
    Snapshot known = snapshot;
    JobRow job;
    job.id = kJob;
    if (known.jobs.empty()) known.jobs.push_back(job);
    files.restore(known);
    for (const std::vector<Write>& batch : batches) files.on_committed(batch);
  }

  static constexpr JobId kJob{3};
  test::TemporaryDirectory directory_;
  DataDir data_dir_ = *DataDir::open(directory_.path());
};

TEST_F(TrialFilesTest, ATrialThatIsCutKeepsItsLogAlone) {
  for (int number = 0; number < 3; ++number) make_trial(kJob, number);
  commit({{trial(0, TrialState::stopped), trial(1, TrialState::failed), trial(2, TrialState::cancelled)}});
  for (int number = 0; number < 3; ++number) {
    EXPECT_TRUE(has(kJob, number, "log.txt"));
    EXPECT_FALSE(has(kJob, number, "model.ubj"));
    EXPECT_FALSE(has(kJob, number, "checkpoint"));
    EXPECT_TRUE(has(kJob, number, protocol::kReleasedFile)) << "for a worker that makes them anew";
  }
}

TEST_F(TrialFilesTest, WhatAWorkerRemovesAtTheSameMomentIsGoneWithoutAWord) {
  set_log_level(LogLevel::warning);
  testing::internal::CaptureStderr();
  for (int number = 0; number < 100; ++number) {
    make_trial(kJob, number);
    const fs::path epochs = fs::path(data_dir_.trial_dir({kJob, number})) / protocol::kEpochsDir;
    for (int epoch = 0; epoch < 30; ++epoch) fs::create_directories(epochs / std::to_string(epoch) / "tensors");
    std::thread worker([epochs] {
      std::error_code ignored;
      fs::remove_all(epochs, ignored);
    });
    commit({{trial(number, TrialState::stopped)}});
    worker.join();
    EXPECT_FALSE(has(kJob, number, protocol::kEpochsDir));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(TrialFilesTest, NoLinkThatATrialLeftIsFollowed) {
  const fs::path elsewhere = fs::path(directory_.path()) / "elsewhere";
  fs::create_directories(elsewhere / "checkpoint");
  for (const char* name : {"model.ubj", "checkpoint/3.ubj", "notes"}) std::ofstream(elsewhere / name) << "keep";
  for (int number = 0; number < 2; ++number) make_trial(kJob, number);
  // The whole directory of one trial, names in that of another.
  fs::remove_all(data_dir_.trial_dir({kJob, 0}));
  fs::create_directory_symlink(elsewhere, data_dir_.trial_dir({kJob, 0}));
  const fs::path inside = data_dir_.trial_dir({kJob, 1});
  fs::remove_all(inside / "checkpoint");
  fs::create_directory_symlink(elsewhere / "checkpoint", inside / "checkpoint");
  fs::create_symlink(elsewhere / "notes", inside / protocol::kReleasedFile);
  commit({{trial(0, TrialState::stopped), trial(1, TrialState::stopped)}});
  for (const char* name : {"model.ubj", "checkpoint/3.ubj", "notes"}) EXPECT_EQ(fs::file_size(elsewhere / name), 4u) << name;
  EXPECT_FALSE(fs::exists(elsewhere / protocol::kReleasedFile));
  EXPECT_FALSE(fs::is_symlink(inside / "checkpoint")) << "the link itself goes";
}

TEST_F(TrialFilesTest, CompletedAndPausedTrialsKeepEverything) {
  make_trial(kJob, 0);
  make_trial(kJob, 1);
  commit({{trial(0, TrialState::completed), trial(1, TrialState::paused)}});
  EXPECT_TRUE(has(kJob, 0, "model.ubj"));
  EXPECT_TRUE(has(kJob, 0, "checkpoint/3.ubj"));
  EXPECT_TRUE(has(kJob, 1, "checkpoint/3.ubj"));
  EXPECT_FALSE(has(kJob, 1, protocol::kReleasedFile));
}

TEST_F(TrialFilesTest, TheBestSoFarKeepsItsFilesUntilAnotherIsBetter) {
  make_trial(kJob, 0);
  commit({{trial(0, TrialState::stopped), job_with_best(0)}});
  EXPECT_TRUE(has(kJob, 0, "model.ubj"));
  EXPECT_TRUE(has(kJob, 0, "checkpoint/3.ubj"));

  Snapshot snapshot;
  snapshot.jobs.push_back(job_with_best(0));
  snapshot.trials.push_back(trial(0, TrialState::stopped));
  commit({{job_with_best(4)}}, snapshot);
  EXPECT_FALSE(has(kJob, 0, "model.ubj"));
  EXPECT_FALSE(has(kJob, 0, "checkpoint"));
}

// As where early rungs train fewer folds: trial 1 has the better value there, and trial 0 is what users are told of.
TEST_F(TrialFilesTest, TheBestAtMaxResourceKeepsItsFilesBesideTheBestAtAnyRung) {
  for (int number = 0; number < 3; ++number) make_trial(kJob, number);
  JobRow job = job_with_best(1);
  job.best = BestRow{0, 9, 0.4};
  commit({{trial(0, TrialState::cancelled), trial(1, TrialState::stopped), trial(2, TrialState::cancelled), job}});
  EXPECT_TRUE(has(kJob, 0, "model.ubj"));
  EXPECT_TRUE(has(kJob, 1, "model.ubj"));
  EXPECT_FALSE(has(kJob, 2, "model.ubj"));

  Snapshot snapshot;
  snapshot.jobs.push_back(job);
  snapshot.trials = {trial(0, TrialState::cancelled), trial(1, TrialState::stopped)};
  job.best = BestRow{5, 9, 0.45};
  commit({{job}}, snapshot);
  EXPECT_FALSE(has(kJob, 0, "model.ubj")) << "another became the best";
  EXPECT_TRUE(has(kJob, 1, "model.ubj"));
}

// So that they can be joined.
TEST_F(TrialFilesTest, TheBestModelsOfTrialsThatWereCutAreKept) {
  constexpr int kModels = static_cast<int>(kModelsKept);
  for (const bool maximize : {true, false}) {
    JobRow job;
    job.id = kJob;
    job.spec_json = maximize ? R"({"objective": {"goal": "maximize"}})" : R"({"objective": {"goal": "minimize"}})";
    std::vector<std::vector<Write>> batches;
    for (int number = 0; number < kModels + 3; ++number) {
      make_trial(kJob, number);
      TrialRow row = trial(number, TrialState::stopped);
      row.kept_value = number;
      batches.push_back({row});
    }
    TrialRow without = trial(kModels + 3, TrialState::stopped);
    make_trial(kJob, kModels + 3);
    without.kept_value = std::nan("");
    batches.push_back({without});
    const std::size_t half = batches.size() / 2;
    Snapshot at_first;
    at_first.jobs = {job};
    commit({batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(half)}, at_first);
    Snapshot later = at_first;  // of a server that was started anew
    for (std::size_t i = 0; i < half; ++i) later.trials.push_back(std::get<TrialRow>(batches[i].front()));
    commit({batches.begin() + static_cast<std::ptrdiff_t>(half), batches.end()}, later);
    for (int number = 0; number < kModels + 3; ++number)
      EXPECT_EQ(has(kJob, number, "model.ubj"), maximize ? number >= 3 : number < kModels) << number;
    EXPECT_FALSE(has(kJob, kModels + 3, "model.ubj")) << "its value is no number";
    for (int number = 0; number < kModels + 3; ++number) fs::remove_all(data_dir_.trial_dir({kJob, number}));
  }
}

TEST_F(TrialFilesTest, ShowsTheFilesOfTheEpochThatTheRowNamesWhoeverWritesElsewhere) {
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  make_trial(kJob, 0);  // as an older version left it
  for (const char* epoch : {"11", "12"}) {
    fs::create_directories(dir / "epochs" / epoch / "checkpoint");
    std::ofstream(dir / "epochs" / epoch / "checkpoint/9.ubj") << epoch;
  }
  const auto text_of = [&](const char* file) {
    std::string text;
    std::ifstream(dir / file) >> text;
    return text;
  };
  TrialRow row = trial(0, TrialState::running);
  row.checkpoint_resource = 9;
  TrialRow moved_on = row;
  moved_on.files_epoch = Epoch{11};
  commit({{row}, {moved_on}});
  EXPECT_EQ(text_of("model.ubj"), "11");
  EXPECT_EQ(text_of("checkpoint/9.ubj"), "11");
  row.state = TrialState::completed;
  row.files_epoch = Epoch{12};
  commit({{row}});
  EXPECT_EQ(text_of("model.ubj"), "12");
  EXPECT_EQ(text_of("checkpoint/9.ubj"), "12");
  EXPECT_FALSE(fs::exists(dir / "epochs/11"));
  Snapshot snapshot;
  snapshot.jobs.push_back(job_with_best(0));
  snapshot.trials.push_back(row);
  fs::remove(dir / "model.ubj");
  commit({}, snapshot);
  EXPECT_EQ(text_of("model.ubj"), "12") << "shown again after a kill between the commit and the link";
}

TEST_F(TrialFilesTest, WhatThereWasNoFileHandleForIsShownWithTheNextCommit) {
  if (test::kSanitizerWantsHandles) GTEST_SKIP();
  set_log_level(LogLevel::off);
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  fs::create_directories(dir / "epochs/11/checkpoint");
  std::ofstream(dir / "epochs/11/checkpoint/9.ubj") << "11";
  TrialRow row = trial(0, TrialState::completed);
  row.checkpoint_resource = 9;
  row.files_epoch = Epoch{11};
  TrialFiles files(data_dir_);
  {
    const test::NoFileHandle none;
    files.on_committed(std::vector<Write>{row});
  }
  EXPECT_FALSE(has(kJob, 0, "model.ubj"));
  files.on_committed({});
  EXPECT_TRUE(has(kJob, 0, "model.ubj"));
  EXPECT_TRUE(has(kJob, 0, "checkpoint/9.ubj"));
}

TEST_F(TrialFilesTest, ShowsTheModelThatTheRowKeepsAlsoWhenALaterSegmentHasNoBetterOne) {
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  for (const char* file :
       {"11/checkpoint/9.ubj", "11/checkpoint/best-7.ubj", "12/checkpoint/27.ubj", "12/checkpoint/best-20.ubj"}) {
    fs::create_directories((dir / "epochs" / file).parent_path());
    std::ofstream(dir / "epochs" / file) << file;
  }
  TrialRow row = trial(0, TrialState::paused);
  row.checkpoint_resource = 9;
  row.kept_resource = 7;
  row.files_epoch = Epoch{11};
  TrialRow later = trial(0, TrialState::completed);
  later.checkpoint_resource = 27;
  later.kept_resource = 7;
  later.files_epoch = Epoch{12};
  commit({{row}, {later}});
  std::string shown;
  std::ifstream(dir / "model.ubj") >> shown;
  EXPECT_EQ(shown, "11/checkpoint/best-7.ubj");
  EXPECT_FALSE(fs::exists(dir / "epochs/11"));
}

TEST_F(TrialFilesTest, WhatACommandKeepsUnderTheNamesThatShowItsFilesStays) {
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  fs::create_directories(dir / "epochs/11/checkpoint");
  make_trial(kJob, 0);
  TrialRow row = trial(0, TrialState::completed);
  row.checkpoint_resource = 9;
  row.files_epoch = Epoch{11};
  commit({{row}});
  EXPECT_FALSE(fs::is_symlink(dir / "checkpoint"));
  EXPECT_TRUE(has(kJob, 0, "checkpoint"));
  EXPECT_TRUE(has(kJob, 0, "model.ubj"));
}

TEST_F(TrialFilesTest, NothingIsShownOrRemovedThroughALinkThatATrialLeft) {
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  const fs::path elsewhere = data_dir_.root() + "/elsewhere";
  for (const char* epoch : {"10", "11"}) fs::create_directories(elsewhere / epoch / "checkpoint");
  fs::create_directories(dir);
  fs::create_directory_symlink(elsewhere, dir / "epochs");
  TrialRow row = trial(0, TrialState::running);
  row.checkpoint_resource = 9;
  row.files_epoch = Epoch{11};
  commit({{row}});
  EXPECT_FALSE(fs::is_symlink(dir / "checkpoint"));
  EXPECT_TRUE(fs::exists(elsewhere / "10"));
}

TEST_F(TrialFilesTest, ADeletedJobsDirectoryGoes) {
  make_trial(kJob, 0);
  commit({{DeleteJob{kJob}}});
  EXPECT_FALSE(fs::exists(data_dir_.job_dir(kJob)));
}

TEST_F(TrialFilesTest, AServerThatEndsLeavesWhatItHasNotRemovedOfDeletedJobsToTheNext) {
  make_trial(kJob, 0);
  {
    TrialFiles files(data_dir_);
    files.end_soon();
    files.on_committed(std::vector<Write>{DeleteJob{kJob}});
  }
  EXPECT_TRUE(has(kJob, 0, "log.txt"));
  Snapshot without;
  without.last_job_id = kJob.value;
  { TrialFiles(data_dir_).restore(without); }
  EXPECT_FALSE(fs::exists(data_dir_.job_dir(kJob)));
}

TEST_F(TrialFilesTest, WhatAKilledServerLeftOfTrialsThatWereCutGoesAtTheStart) {
  for (int number = 0; number < 2; ++number) make_trial(kJob, number);
  Snapshot snapshot;
  snapshot.jobs.push_back(job_with_best(1));
  snapshot.trials = {trial(0, TrialState::stopped), trial(1, TrialState::stopped)};
  commit({}, snapshot);
  EXPECT_FALSE(has(kJob, 0, "model.ubj"));
  EXPECT_FALSE(has(kJob, 0, "checkpoint"));
  EXPECT_TRUE(has(kJob, 0, protocol::kReleasedFile));
  EXPECT_TRUE(has(kJob, 1, "model.ubj")) << "the best one's";
}

TEST_F(TrialFilesTest, HalfAReleasedTrialIsNotShownAndGoesToo) {
  const fs::path dir = data_dir_.trial_dir({kJob, 0});
  fs::create_directories(dir / protocol::kEpochsDir / "1" / "checkpoint");
  std::ofstream(dir / protocol::kReleasedFile) << "";
  TrialRow row = trial(0, TrialState::stopped);
  row.files_epoch = Epoch{1};
  row.checkpoint_resource = 3;
  {
    TrialFiles files(data_dir_);
    files.on_committed(std::vector<Write>{row});
    EXPECT_FALSE(fs::is_symlink(dir / protocol::kCheckpointDir));
  }
  EXPECT_FALSE(has(kJob, 0, protocol::kEpochsDir));
}

TEST_F(TrialFilesTest, DirectoriesOfDeletedJobsGoAtTheStart) {
  make_trial(kJob, 0);
  make_trial(JobId{2}, 0);
  std::ofstream(data_dir_.jobs_dir() + "/notes.txt") << "mine";
  Snapshot snapshot;
  snapshot.jobs.push_back(job_with_best(0));
  snapshot.last_job_id = kJob.value;
  commit({}, snapshot);
  EXPECT_TRUE(has(kJob, 0, "log.txt"));
  EXPECT_FALSE(fs::exists(data_dir_.job_dir(JobId{2})));
  EXPECT_TRUE(fs::exists(data_dir_.jobs_dir() + "/notes.txt"));
}

TEST_F(TrialFilesTest, DirectoriesOfJobsThatTheDatabaseNeverHadAreMovedAside) {
  make_trial(JobId{99}, 0);
  commit({});
  EXPECT_FALSE(fs::exists(data_dir_.job_dir(JobId{99})));
  EXPECT_TRUE(fs::exists(data_dir_.job_dir(JobId{99}) + ".orphan/trials/0/model.ubj"));
}

TEST_F(TrialFilesTest, WhatWasMovedAsideBeforeIsKept) {
  const std::string first = data_dir_.job_dir(JobId{99}) + ".orphan";
  fs::create_directories(first);
  std::ofstream(first + "/model.ubj") << "of another database";
  for (int incident = 0; incident < 2; ++incident) {
    make_trial(JobId{99}, incident);
    commit({});
  }
  EXPECT_TRUE(fs::exists(first + "/model.ubj"));
  EXPECT_TRUE(fs::exists(first + ".2/trials/0/model.ubj"));
  EXPECT_TRUE(fs::exists(first + ".3/trials/1/model.ubj"));
}

}  // namespace
}  // namespace tuneband::server
