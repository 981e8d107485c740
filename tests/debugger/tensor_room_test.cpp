// The room of all trials of a job together.
#include "debugger/files/tensor_room.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "debugger/files/tensor_reader.hpp"
#include "debugger/files/tensor_writer.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kOfTrial = 1 << 20;
constexpr std::int64_t kOfJob = 200'000;

class TensorRoomTest : public ::testing::Test {
 protected:
  TensorRoomTest() {
    for (int trial = 0; trial < 4; ++trial) fs::create_directories(dir(trial));
  }

  std::string dir(int trial) const { return (job_ / "trials" / std::to_string(trial)).string(); }
  TensorWriter writer(int trial, std::int64_t of_job = kOfJob, std::int64_t epoch = 1) const {
    return std::move(*TensorWriter::open(dir(trial), epoch, 0, -1, kOfTrial, of_job));
  }
  // Arrays of 10,000 bytes, one a step; how many found room.
  static int fill(TensorWriter& out, int arrays, std::int64_t first_step = 0) {
    const std::vector<double> values(1250, 0.5);
    const ArrayView view = view_of(std::span<const double>(values), {1250});
    for (int step = 0; step < arrays; ++step) {
      out.add("weights/w", view, summarise(view), true);
      EXPECT_TRUE(out.commit(first_step + step));
    }
    return arrays - static_cast<int>(out.dropped().rows);
  }
  std::int64_t on_disk() const {
    std::int64_t size = 0;
    for (int trial = 0; trial < 4; ++trial) {
      std::error_code none;
      for (const auto& file : fs::directory_iterator(dir(trial) + "/tensors", none))
        size += static_cast<std::int64_t>(file.file_size());
    }
    return size;
  }
  JobTensors known() const { return tensors_of_job(job_.string()).value_or(JobTensors{-1, {}}); }

  tuneband::test::TemporaryDirectory temporary_;
  fs::path job_ = temporary_.path();
};

}  // namespace

TEST_F(TensorRoomTest, TrialsShareTheRoomOfTheirJob) {
  {
    TensorWriter first = writer(0);
    EXPECT_EQ(fill(first, 12), 12);
  }
  Dropped dropped;
  {
    TensorWriter second = writer(1);
    EXPECT_LT(fill(second, 12), 9) << "the job is full";
    dropped = second.dropped();
  }
  EXPECT_GT(dropped.rows, 3U);
  EXPECT_LE(on_disk(), kOfJob);
  EXPECT_GT(on_disk(), kOfJob - 12'000) << "to the last array that fits";
  EXPECT_EQ(known().bytes, on_disk()) << "what was taken and not used is given back";
  EXPECT_EQ(known().dropped, dropped);
}

TEST_F(TensorRoomTest, SmallRowsGoOnWhereALargeOneFoundNoRoom) {
  TensorWriter out = writer(0, 15'000);
  EXPECT_EQ(fill(out, 2), 1);
  out.add("metrics/m", 1.0);
  ASSERT_TRUE(out.commit(9));
  EXPECT_EQ(TensorReader::open(dir(0), 0)->series("metrics/m", 0, 9).size(), 1U);
}

TEST_F(TensorRoomTest, WhatATrialTookWithItComesBack) {
  {
    TensorWriter first = writer(0);
    fill(first, 18);
  }
  fs::remove_all(dir(0) + "/tensors");
  TensorWriter second = writer(1);
  EXPECT_EQ(fill(second, 18), 18);
}

TEST_F(TensorRoomTest, ATrialThatBeginsWithNothingAgainGivesBackWhatItTook) {
  for (const std::int64_t epoch : {1, 2, 2, 3}) {
    TensorWriter out = writer(0, kOfJob, epoch);
    EXPECT_EQ(fill(out, 15), 15) << epoch;
  }
  EXPECT_EQ(known().bytes, on_disk());
}

TEST_F(TensorRoomTest, WhatAKilledWriterHadTakenComesBack) {
  const pid_t child = ::fork();
  if (child == 0) {
    TensorWriter first = writer(0, 1 << 20);
    fill(first, 3);
    ::_exit(0);  // no destructor
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_GT(known().bytes, on_disk());
  TensorWriter second = writer(1);
  EXPECT_EQ(fill(second, 14), 14);
}

TEST_F(TensorRoomTest, AFileThatIsNoneOrALinkBoundsNobodyAndIsLeftAlone) {
  std::ofstream(job_ / kTensorRoomFile) << "something else";
  {
    TensorWriter out = writer(0);
    EXPECT_EQ(fill(out, 5), 5);
  }
  EXPECT_EQ(known().bytes, on_disk());
  fs::remove(job_ / kTensorRoomFile);
  const fs::path elsewhere = job_ / "elsewhere";
  std::ofstream(elsewhere) << "mine";
  fs::create_symlink(elsewhere, job_ / kTensorRoomFile);
  TensorWriter out = writer(1);
  EXPECT_EQ(fill(out, 30), 30);
  EXPECT_EQ(fs::file_size(elsewhere), 4U);
  EXPECT_FALSE(tensors_of_job(job_.string()));
}

}  // namespace tuneband::debugger::files
