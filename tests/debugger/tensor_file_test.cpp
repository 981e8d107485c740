#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "debugger/files/tensor_format.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::debugger::files {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRoom = 1 << 20;
constexpr std::int64_t kLastStep = 1'000'000;

class TensorFile : public ::testing::Test {
 protected:
  TensorWriter writer(std::int64_t epoch, std::int64_t begin, std::int64_t room = kRoom, int rank = 0) const {
    return std::move(*TensorWriter::open(directory_.string(), epoch, rank, begin, room));
  }
  TensorReader reader(int rank = 0) const { return *TensorReader::open(directory_.string(), rank); }
  fs::path file(std::int64_t epoch) const { return directory_ / "tensors" / (std::to_string(epoch) + "-0.tensors"); }
  // Step 1 to `steps`, each with the scalar `metrics/m` = its number.
  void write_steps(std::int64_t epoch, std::int64_t begin, std::int64_t steps, double factor = 1) const {
    TensorWriter out = writer(epoch, begin);
    for (std::int64_t step = begin + 1; step <= steps; ++step) {
      out.add("metrics/m", static_cast<double>(step) * factor);
      ASSERT_TRUE(out.commit(step));
    }
  }
  std::vector<double> values(const TensorReader& from) const {
    std::vector<double> all;
    for (const auto& [step, tensor] : from.series("metrics/m", 0, kLastStep)) all.push_back(tensor.summary.sum);
    return all;
  }

  tuneband::test::TemporaryDirectory temporary_;
  fs::path directory_ = temporary_.path();
};

}  // namespace

TEST_F(TensorFile, WhatWasAppendedIsReadBack) {
  TensorWriter out = writer(7, 0);
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const ArrayView view = view_of(std::span<const float>(values), {2, 3});
  out.add("metrics/m", 0.25);
  out.add("weights/w", view, summarise(view), true);
  ASSERT_TRUE(out.commit(3));
  out.add("weights/w", view, summarise(view), false);
  ASSERT_TRUE(out.commit(6));
  const TensorReader in = reader();
  EXPECT_EQ(in.steps(), (std::vector<std::int64_t>{3, 6}));
  const auto tensors = in.tensors();
  ASSERT_EQ(tensors.size(), 2);
  EXPECT_TRUE(tensors[0].scalar);
  EXPECT_EQ(tensors[1].name, "weights/w");
  EXPECT_EQ(tensors[1].steps, 2);
  EXPECT_EQ(tensors[1].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensors[1].dtype, DType::float32);
  const auto array = in.array("weights/w", 3);
  ASSERT_TRUE(array);
  EXPECT_EQ(values_of(array->view()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(in.array("weights/w", 6));
  EXPECT_EQ(in.series("weights/w", 6, 6).front().second.summary, summarise(view));
  EXPECT_EQ(in.series("metrics/m", 0, 3).front().second.summary.sum, 0.25);
}

TEST_F(TensorFile, AScalarRowCosts28To50Bytes) {
  constexpr std::int64_t kSteps = 1000;
  write_steps(1, 0, kSteps);
  const auto size = static_cast<double>(fs::file_size(file(1))) / kSteps;
  EXPECT_GE(size, 28);
  EXPECT_LE(size, 50);
}

TEST_F(TensorFile, OfOneNameEachModeHasItsOwnValuesAndArrays) {
  TensorWriter out = writer(1, 0);
  const std::vector<float> values{1, 2, 3};
  const std::vector<float> others{4, 5, 6};
  const ArrayView view = view_of(std::span<const float>(values), {3});
  const ArrayView other = view_of(std::span<const float>(others), {3});
  out.add("losses/ce", 1, Mode::train);
  out.add("losses/ce", 2, Mode::validation);
  out.add("losses/ce", 3);
  out.add("outputs/o", view, summarise(view), true, Mode::validation);
  out.add("outputs/o", other, summarise(other), false, Mode::train);
  ASSERT_TRUE(out.commit(5));
  const TensorReader in = reader();
  const auto sum = [&](Mode mode) { return in.series("losses/ce", 0, kLastStep, mode).front().second.summary.sum; };
  EXPECT_EQ(sum(Mode::train), 1);
  EXPECT_EQ(sum(Mode::validation), 2);
  EXPECT_EQ(sum(Mode::none), 3);
  EXPECT_TRUE(in.series("losses/ce", 0, kLastStep, Mode::predict).empty());
  EXPECT_EQ(in.series("losses/ce", 0, kLastStep).size(), 3);
  EXPECT_EQ(values_of(in.array("outputs/o", 5, Mode::validation)->view()), (std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(in.array("outputs/o", 5, Mode::train));
  EXPECT_TRUE(in.series("outputs/o", 5, 5, Mode::validation).front().second.whole);
  EXPECT_FALSE(in.series("outputs/o", 5, 5, Mode::train).front().second.whole);
  const auto series = in.series("outputs/o", 5, 5);
  EXPECT_TRUE(series[0].second.whole);
  EXPECT_FALSE(series[1].second.whole);
  const auto tensors = in.tensors();
  ASSERT_EQ(tensors.size(), 5);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(tensors[i].mode, (std::array{Mode::none, Mode::train, Mode::validation})[i]);
}

// A file of the first format, "TBTENS01", as it was written before there were modes: two steps of a loss.
TEST_F(TensorFile, AFileOfTheFormatBeforeModesIsReadWithThoseThatNamesSay) {
  {
    TensorWriter out = writer(1, 0);
    out.add("metrics/validation-auc", 0.5);
    out.add("losses/ce", 2);
    ASSERT_TRUE(out.commit(1));
  }
  std::fstream old(file(1), std::ios::in | std::ios::out | std::ios::binary);
  old.seekp(7);
  old.put('1');
  old.close();
  const TensorReader in = reader();
  EXPECT_EQ(in.series("metrics/validation-auc", 0, 9, Mode::validation).size(), 1);
  EXPECT_EQ(in.series("losses/ce", 0, 9, Mode::none).size(), 1);
  fs::remove(file(1));
  {
    TensorWriter out = writer(1, 0);
    out.add("losses/ce", 2, Mode::train);
    ASSERT_TRUE(out.commit(1));
  }
  std::fstream forged(file(1), std::ios::in | std::ios::out | std::ios::binary);
  forged.seekp(7);
  forged.put('1');
  forged.close();
  EXPECT_TRUE(reader().steps().empty()) << "that format has no rows with a mode";
}

TEST_F(TensorFile, AModeThatThereIsNotEndsTheFile) {
  const auto with_mode = [&](int number) {
    const auto mode = static_cast<std::uint8_t>(number);
    std::string rows;
    const auto put = [&](auto value) { rows.append(reinterpret_cast<const char*>(&value), sizeof value); };
    put(RowKind::moded);
    put(std::uint32_t{0});
    put(mode);
    put(std::uint16_t{8});
    rows += "losses/x";
    put(RowKind::scalar);
    put(std::uint32_t{0});
    put(0.5);
    Head head{.rows_size = static_cast<std::uint32_t>(rows.size()), .step = 1, .rows_crc = crc_of(rows.data(), rows.size())};
    head.head_crc = crc_of(&head, offsetof(Head, head_crc));
    fs::create_directories(directory_ / "tensors");
    std::ofstream out(file(1), std::ios::binary);
    out.write(kFileMagic, sizeof kFileMagic);
    const std::int64_t begin = 0;
    out.write(reinterpret_cast<const char*>(&begin), sizeof begin);
    out.write(reinterpret_cast<const char*>(&head), sizeof head) << rows;
    out.close();
    return reader().series("losses/x", 0, kLastStep).size();
  };
  for (const int mode : {1, 2, 3}) EXPECT_EQ(with_mode(mode), 1) << mode;
  for (const int mode : {0, 4, 255}) EXPECT_EQ(with_mode(mode), 0) << mode;
}

TEST_F(TensorFile, WhateverIsWrittenIsReadByNameStepAndMode) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::vector<std::string> names{"losses/ce", "losses/train", "metrics/validation-auc", "outputs/o", "weights/w"};
  for (int round = 0; round < 50; ++round) {
    std::map<std::tuple<std::string, Mode, std::int64_t>, double> expected;
    {
      TensorWriter out = writer(1, 0);
      for (std::int64_t step = 1; step <= 5; ++step) {
        for (int i = 0; i < 8; ++i) {
          const std::string& name = names[random() % names.size()];
          const Mode told = static_cast<Mode>(random() % kModes);
          const double value = static_cast<double>(random() % 1000);
          if (!expected.try_emplace({name, mode_of(name, told), step}, value).second) continue;
          out.add(name, value, told);
        }
        ASSERT_TRUE(out.commit(step));
      }
    }
    std::map<std::tuple<std::string, Mode, std::int64_t>, double> read;
    const TensorReader in = reader();
    in.for_each_step(0, kLastStep, [&](std::int64_t step, const std::vector<StoredTensor>& tensors) {
      for (const StoredTensor& one : tensors) EXPECT_TRUE(read.try_emplace({one.name, one.mode, step}, one.summary.sum).second);
      return true;
    });
    EXPECT_EQ(read, expected);
    for (const auto& [key, value] : expected) {
      const auto& [name, mode, step] = key;
      const auto series = in.series(name, step, step, mode);
      ASSERT_EQ(series.size(), 1);
      EXPECT_EQ(series.front().second.summary.sum, value);
    }
  }
}

TEST_F(TensorFile, TornAtAnyByteItHasEveryStepBeforeTheTear) {
  write_steps(1, 0, 4);
  const std::string whole = tuneband::test::read_text(file(1));
  const std::size_t per_step = 32 + 13;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(file(1), std::ios::binary) << whole.substr(0, size);
    const std::vector<double> read = values(reader());
    const std::size_t tail = whole.size() - size;
    EXPECT_EQ(read.size(), tail >= whole.size() - 16 ? 0 : 4 - std::min<std::size_t>(4, (tail + per_step - 1) / per_step))
        << size;
  }
}

TEST_F(TensorFile, ADamagedByteEndsTheFileThere) {
  write_steps(1, 0, 4);
  std::fstream damaged(file(1), std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(-50, std::ios::end);
  damaged.put('\x7f');
  damaged.close();
  EXPECT_EQ(values(reader()), (std::vector<double>{1, 2}));
}

TEST_F(TensorFile, ALaterEpochTakesThePlaceOfWhatCameAfterItsBegin) {
  write_steps(1, 0, 9);
  write_steps(2, 6, 8, 10);
  EXPECT_EQ(values(reader()), (std::vector<double>{1, 2, 3, 4, 5, 6, 70, 80}));
}

TEST_F(TensorFile, AnEpochThatGoesOnKeepsWhatItHasSaved) {
  write_steps(1, 0, 3);
  write_steps(1, 3, 5, 10);
  write_steps(1, 4, 6, 100);
  EXPECT_EQ(values(reader()), (std::vector<double>{1, 2, 3, 40, 500, 600}));
  write_steps(1, files::kFromNothing, 2, 3);
  EXPECT_EQ(values(reader()), (std::vector<double>{0, 3, 6})) << "and what begins with nothing has nothing";
}

TEST_F(TensorFile, WhatFindsNoRoomIsDroppedAndCounted) {
  constexpr std::int64_t kLittle = 600;
  {
    TensorWriter out = writer(1, 0, kLittle);
    for (std::int64_t step = 1; step <= 100; ++step) {
      out.add("metrics/m", static_cast<double>(step));
      ASSERT_TRUE(out.commit(step));
    }
    EXPECT_GT(out.dropped().rows, 50);
  }
  EXPECT_LE(fs::file_size(file(1)), kLittle);
  const TensorReader in = reader();
  EXPECT_EQ(values(in).front(), 1);
  EXPECT_GT(in.dropped().rows, 0);
}

TEST_F(TensorFile, WhatWasDroppedIsCountedOverAllEpochs) {
  const std::vector<double> large(10'000, 0.5);
  const ArrayView view = view_of(std::span<const double>(large), {10'000});
  // At each step behind `begin` until `until` the array finds no room, its reductions do.
  const auto drop = [&](std::int64_t epoch, std::int64_t begin, std::int64_t until) {
    TensorWriter out = writer(epoch, begin, 20'000);
    for (std::int64_t step = begin + 1; step <= until; ++step) {
      out.add("weights/w", view, summarise(view), true);
      ASSERT_TRUE(out.commit(step));
    }
  };
  drop(1, -1, 3);
  EXPECT_EQ(reader().dropped().rows, 4U);
  drop(2, 3, 6);
  EXPECT_EQ(reader().dropped().rows, 7U);
  drop(3, 4, 5);
  EXPECT_EQ(reader().dropped().rows, 6U) << "the third takes the place of what the second dropped of later steps";
  drop(4, -1, 1);
  EXPECT_EQ(reader().dropped().rows, 2U) << "of an epoch that began with nothing";
}

TEST_F(TensorFile, AnEarlierEpochTakesOfTheRoomToo) {
  write_steps(1, 0, 20);
  TensorWriter out = writer(2, 20, static_cast<std::int64_t>(fs::file_size(file(1))) + 60);
  out.add("metrics/m", 1);
  EXPECT_EQ(out.dropped().rows, 1);
}

TEST_F(TensorFile, AnEpochThatBeginsWithNothingHasTheRoomOfThoseBefore) {
  write_steps(1, -1, 20);
  write_steps(2, 20, 30);
  const auto of_other_rank = directory_ / "tensors" / "1-3.tensors";
  writer(1, -1, kRoom, 3);
  write_steps(9, -1, 3);
  TensorWriter out = writer(7, -1, static_cast<std::int64_t>(fs::file_size(file(9))) + 200);
  out.add("metrics/m", 1);
  EXPECT_EQ(out.dropped().rows, 0);
  EXPECT_FALSE(fs::exists(file(1)));
  EXPECT_FALSE(fs::exists(file(2)));
  EXPECT_TRUE(fs::exists(file(9))) << "a later epoch's is not touched";
  EXPECT_TRUE(fs::exists(of_other_rank));
}

TEST_F(TensorFile, RanksHaveFilesOfTheirOwn) {
  write_steps(1, 0, 2);
  {
    TensorWriter out = writer(1, 0, kRoom, 3);
    out.add("metrics/m", 9);
    ASSERT_TRUE(out.commit(1));
  }
  EXPECT_EQ(TensorReader::ranks(directory_.string()), (std::vector<int>{0, 3}));
  EXPECT_EQ(values(reader(3)), (std::vector<double>{9}));
}

TEST_F(TensorFile, ALinkIsNotFollowedAndOtherFilesAreNotRead) {
  write_steps(1, 0, 2);
  fs::rename(file(1), directory_ / "elsewhere");
  fs::create_symlink(directory_ / "elsewhere", file(1));
  fs::create_directory(file(2));
  std::ofstream(directory_ / "tensors" / "x-0.tensors") << "TBTENS01";
  std::ofstream(file(3)) << "something else";
  EXPECT_EQ(reader().steps(), std::vector<std::int64_t>());
}

TEST_F(TensorFile, ATrialWithoutTensorsHasNone) {
  EXPECT_TRUE(reader().tensors().empty());
  EXPECT_TRUE(TensorReader::ranks(directory_.string()).empty());
}

}  // namespace tuneband::debugger::files
