#include "debugger/files/recorder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/json.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::debugger::files {

namespace {

constexpr std::int64_t kStepsOfTraining = 12;

// One trial whose training saves a step 1 to kStepsOfTraining, in segments of an epoch each.
class RecordedTrial : public ::testing::Test {
 protected:
  void begin_anew() {
    directory_ = std::make_unique<tuneband::test::TemporaryDirectory>();
    told_.clear();
    epoch_ = 0;
  }

  // Flat from step 4 to 6, worse from step 9.
  static double loss(std::int64_t step) {
    if (step >= 4 && step <= 6) return 0.5;
    return step < 9 ? 1.0 / static_cast<double>(step) : 0.1 * static_cast<double>(step);
  }

  static DebugSpec spec(const char* rules) {
    Diagnostics diagnostics;
    const Json json{{"save", {{"every", 1}}}, {"rules", Json::parse(rules)}};
    DebugSpec parsed = parse_debug(json, "debug", {TrainerKind::command, kStepsOfTraining, {"loss", false}}, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
    return parsed;
  }

  // Saves the steps behind `from` until `until`. What is found counts once for each rule, as a trial's rows do; `told`: false
  // when the worker is killed before it could say so.
  void segment(const DebugSpec& debug, std::int64_t begin_step, std::int64_t from, std::int64_t until, bool told = true) {
    Recorder recorder(debug, directory_->path(), ++epoch_, 0, begin_step);
    for (std::int64_t step = from + 1; step <= until; ++step) {
      recorder.add(step, "losses/train", loss(step));
      recorder.commit(step);
    }
    if (!told) return;
    recorder.settle();
    for (const Finding& finding : recorder.take_findings()) told_.emplace(finding.rule, finding.step);
  }

  std::unique_ptr<tuneband::test::TemporaryDirectory> directory_ = std::make_unique<tuneband::test::TemporaryDirectory>();
  std::map<std::string, std::int64_t> told_;
  std::int64_t epoch_ = 0;
};

constexpr const char* kRules = R"([{"rule": "unchanged_tensor"}, {"rule": "loss_not_decreasing", "parameters": {"num_steps": 3}},
                                   {"rule": "bound", "above": 1.05, "reduction": "mean"}, {"rule": "exploding_tensor"}])";

}  // namespace

TEST_F(RecordedTrial, FindsTheSameWhereverItIsKilledAndFromWhereverItGoesOn) {
  const DebugSpec debug = spec(kRules);
  segment(debug, -1, 0, kStepsOfTraining);
  const auto expected = told_;
  ASSERT_EQ(expected.size(), 3U);
  for (const bool told : {false, true}) {
    for (std::int64_t killed = 1; killed <= kStepsOfTraining; ++killed) {
      for (std::int64_t checkpoint = 1; checkpoint <= killed; ++checkpoint) {
        begin_anew();
        segment(debug, -1, 0, killed, told);
        segment(debug, kStartedAgain, checkpoint, kStepsOfTraining);
        EXPECT_EQ(told_, expected) << "killed after " << killed << ", goes on from " << checkpoint;
        begin_anew();
        segment(debug, -1, 0, killed, told);
        segment(debug, checkpoint, checkpoint, kStepsOfTraining);
        EXPECT_EQ(told_, expected) << "killed after " << killed << ", goes on from the known step " << checkpoint;
      }
    }
  }
}

TEST_F(RecordedTrial, AStepThatIsSavedAgainIsNoFurtherOne) {
  const DebugSpec debug = spec(R"([{"rule": "unchanged_tensor", "parameters": {"num_steps": 4}}])");
  segment(debug, -1, 0, 5, false);
  segment(debug, kStartedAgain, 3, 6);
  EXPECT_TRUE(told_.empty()) << "three values are equal, two of them saved twice";
}

TEST_F(RecordedTrial, WhatWasFoundAndNotToldIsToldWhenNoStepComesAnyMore) {
  const DebugSpec debug = spec(R"([{"rule": "unchanged_tensor"}])");
  segment(debug, -1, 0, 6, false);
  segment(debug, kStartedAgain, 6, 6);
  EXPECT_EQ(told_, (std::map<std::string, std::int64_t>{{"unchanged_tensor", 6}}));
}

TEST_F(RecordedTrial, AHeldProcessThatGoesOnStandsWhereItStood) {
  const DebugSpec debug = spec(R"([{"rule": "unchanged_tensor"}])");
  segment(debug, -1, 0, 5);
  segment(debug, kGoesOn, 5, 7);
  EXPECT_EQ(told_, (std::map<std::string, std::int64_t>{{"unchanged_tensor", 6}}));
}

// The loss of a validation is known once it is over: that may be after the process was held.
TEST_F(RecordedTrial, WhatComesOfAStepAfterTheProcessWasHeldIsMoreOfThatStep) {
  const DebugSpec debug = spec(R"([{"rule": "overfit"}])");
  segment(debug, -1, 0, 5);
  const auto part = [&](std::int64_t begin_step) {
    Recorder recorder(debug, directory_->path(), ++epoch_, 0, begin_step);
    recorder.add(5, "losses/validation", 9.0);
    recorder.commit(5);
    return recorder.take_findings().size();
  };
  const auto saved = [&](const char* name) { return TensorReader::open(directory_->path(), 0)->series(name, 5, 5).size(); };
  EXPECT_EQ(part(kGoesOn), 1U) << "held against the training of the segment before";
  EXPECT_EQ(saved("losses/train"), 1U);
  EXPECT_EQ(saved("losses/validation"), 1U);
  part(kStartedAgain);
  EXPECT_EQ(saved("losses/train"), 0U) << "a process that was started again saves the step again";
}

TEST_F(RecordedTrial, IsComparedWithAnotherTrialAndNotWithItself) {
  const auto judged = [&](const std::string& trial) {
    const DebugSpec debug = spec(R"([{"rule": "similar_across_runs", "parameters": {"other_trial": 7}}])");
    Recorder recorder(debug, directory_->path() + "/" + trial, ++epoch_, 0, -1);
    for (std::int64_t step = 1; step <= 2; ++step) {
      recorder.add(step, "losses/train", loss(step));
      recorder.commit(step);
    }
    return recorder.standings().front().judged;
  };
  std::filesystem::create_directory(directory_->path() + "/7");
  std::filesystem::create_directory(directory_->path() + "/17");
  EXPECT_EQ(judged("7"), 0);
  EXPECT_EQ(judged("17"), 2);
}

TEST_F(RecordedTrial, WhatWasKeptWholeIsToldWholeToTheNextSegment) {
  const std::vector<double> labels{0, 1, 0, 1};
  const auto judged = [&](bool raw, std::optional<std::int64_t> goes_on) {
    begin_anew();
    Diagnostics diagnostics;
    const Json json{{"collections", {{"labels", {{"raw", raw}, {"save", {{"every", 1}}}}}}},
                    {"rules", {{{"rule", "class_imbalance"}, {"parameters", {{"samples", 8}}}}}}};
    const DebugSpec debug = parse_debug(json, "debug", {TrainerKind::command, kStepsOfTraining, {}}, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
    std::optional<Recorder> recorder;
    recorder.emplace(debug, directory_->path(), ++epoch_, 0, -1);
    for (std::int64_t step = 1; step <= 2; ++step) {
      if (step == 2 && goes_on) recorder.emplace(debug, directory_->path(), ++epoch_, 0, *goes_on);
      recorder->add(step, "labels/train", view_of(std::span<const double>(labels), {4}));
      recorder->commit(step);
    }
    return recorder->standings().front().judged;
  };
  EXPECT_EQ(judged(true, std::nullopt), 1) << "both steps together have eight rows";
  for (const std::int64_t goes_on : {std::int64_t{1}, kGoesOn, kStartedAgain}) EXPECT_EQ(judged(true, goes_on), 1) << goes_on;
  EXPECT_EQ(judged(false, 1), 0) << "what was not kept is not there";
}

// Keeps which of the tensors that it is told are numbers.
class TellsNumbers final : public OutsideRules {
 public:
  explicit TellsNumbers(std::map<std::string, std::vector<bool>>& told) : told_(told) {}
  void tell(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) told_[tensor.name].push_back(tensor.scalar);
  }
  std::vector<Finding> take_findings() override { return {}; }
  void finish() override {}
  std::vector<Fault> take_faults() override { return {}; }

 private:
  std::map<std::string, std::vector<bool>>& told_;
};

TEST_F(RecordedTrial, AnArrayOfOneElementIsNoNumberWhenItIsToldAgain) {
  const DebugSpec debug = spec(R"([{"rule": "exploding_tensor"}])");
  std::map<std::string, std::vector<bool>> told;
  const double element = 0.5;
  const auto recorder = [&](std::int64_t begin) {
    return std::make_unique<Recorder>(debug, directory_->path(), ++epoch_, 0, begin, std::make_unique<TellsNumbers>(told));
  };
  const auto first = recorder(kFromNothing);
  first->add(1, "losses/train", 0.5);
  first->add(1, "losses/array", view_of(std::span<const double>(&element, 1), {1}));
  first->commit(1);
  recorder(1);
  EXPECT_EQ(told["losses/train"], (std::vector<bool>{true, true}));
  EXPECT_EQ(told["losses/array"], (std::vector<bool>{false, false}));
}

// Rules that are judged outside, one of which has a fault.
class FaultyRules final : public OutsideRules {
 public:
  void tell(const StepTensors&) override {}
  std::vector<Finding> take_findings() override { return {}; }
  void finish() override {}
  std::vector<Fault> take_faults() override { return std::exchange(faults_, {}); }

 private:
  std::vector<Fault> faults_ = {{"exploding_tensor", "ended without an answer"}};
};

TEST_F(RecordedTrial, ARuleStandsInTheNextSegmentWhereItStood) {
  const DebugSpec debug = spec(R"([{"rule": "exploding_tensor"}, {"rule": "overfit"}])");
  segment(debug, -1, 0, 5);
  Recorder recorder(debug, directory_->path(), ++epoch_, 0, 5, std::make_unique<FaultyRules>());
  recorder.add(6, "losses/train", 1.0);
  recorder.commit(6);
  const std::vector<RuleStanding> expected = {{"exploding_tensor", 6, 6, 6, ""}, {"overfit", 6, 0, 0, ""}};
  EXPECT_EQ(recorder.standings(), expected);
  EXPECT_EQ(recorder.take_outside_faults().size(), 1U);
  EXPECT_TRUE(recorder.take_outside_faults().empty()) << "it is told once";
  EXPECT_EQ(recorder.standings().front().fault, "ended without an answer");
  EXPECT_EQ(recorder.standings().back().fault, "");
}

}  // namespace tuneband::debugger::files
