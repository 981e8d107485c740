#include "debugger/mode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "debugger/files/recorder.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "tests/debugger/rule_driver.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::debugger {

namespace {

using test::faults;
using test::parsed;
using test::RuleDriver;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kLastStepOfModes = 1'000'000;

}  // namespace

TEST(Mode, OfAMetricTheNameSaysItByItsFirstWord) {
  const std::map<std::string, Mode> modes{{"metrics/train-auc", Mode::train},
                                          {"metrics/validation-auc", Mode::validation},
                                          {"losses/train", Mode::train},
                                          {"losses/val_loss", Mode::validation},
                                          {"losses/training_loss", Mode::train},
                                          {"metrics/eval-f1", Mode::validation},
                                          {"metrics/test-rmse", Mode::validation},
                                          {"metrics/valid_auc", Mode::validation},
                                          {"metrics/trained", Mode::none},
                                          {"metrics/value", Mode::none},
                                          {"metrics/auc", Mode::none},
                                          {"metrics/auc-train", Mode::none},
                                          {"metrics", Mode::none},
                                          {"labels/validation", Mode::validation}};
  for (const auto& [name, mode] : modes) EXPECT_EQ(named_mode(name).mode, mode) << name;
  EXPECT_EQ(named_mode("metrics/validation-auc").rest, "auc");
  EXPECT_EQ(named_mode("losses/train").rest, "");
  EXPECT_EQ(named_mode("metrics/auc").rest, "auc");
}

TEST(Mode, OfPartsOfAModelOnlyAWholeNameSaysIt) {
  EXPECT_EQ(named_mode("gradients/train").mode, Mode::train);
  EXPECT_EQ(named_mode("gradients/train_stem.weight").mode, Mode::none);
  EXPECT_EQ(named_mode("weights/test-block").mode, Mode::none);
}

TEST(Mode, WhatIsToldCountsBeforeTheName) {
  EXPECT_EQ(mode_of("losses/train", Mode::validation), Mode::validation);
  EXPECT_EQ(mode_of("losses/train", Mode::none), Mode::train);
  for (const std::string& name : mode_names()) EXPECT_EQ(to_string(*mode_from(name)), name);
  EXPECT_FALSE(mode_from("eval"));
  EXPECT_EQ(told_mode("losses/train", Mode::train), Mode::none) << "the name says it";
  EXPECT_EQ(told_mode("losses/train", Mode::validation), Mode::validation);
}

TEST(SaveScheduleOfAMode, WithinSomeStepsOneIsDueWheneverOneOfThemIs) {
  const SaveSchedule schedules[] = {{.every = 10, .from = 0, .until = {}, .steps = {}},
                                    {.every = 10, .from = 20, .until = 40, .steps = {}},
                                    {.every = 7, .from = 3, .until = 30, .steps = {1, 2, 31}},
                                    {.every = 1, .from = 50, .until = 50, .steps = {4}}};
  for (const SaveSchedule& schedule : schedules) {
    for (std::int64_t after = -1; after < 60; ++after) {
      bool expected = false;
      for (std::int64_t step = after + 1; step < 60; ++step) {
        expected = expected || schedule.due(step);
        EXPECT_EQ(schedule.due_within(after, step), expected) << schedule.every << ": " << after << " to " << step;
      }
      EXPECT_FALSE(schedule.due_within(after, after));
    }
  }
}

TEST(RecorderOfModes, AValidationIsKeptAtTheFirstStepAtOrAfterOneThatIsDue) {
  const tuneband::test::TemporaryDirectory directory;
  const DebugSpec spec = parsed(R"({"collections": {"losses": {"save": {"every": 10}}}, "rules": []})");
  files::Recorder recorder(spec, directory.path(), 1, 0, -1);
  for (std::int64_t step = 1; step <= 40; ++step) {
    recorder.add(step, "losses/ce", 1.0, Mode::train);
    if (step % 4 == 3) recorder.add(step, "losses/ce", 2.0, Mode::validation);
    recorder.commit(step);
    if (step % 4 != 3) continue;
    recorder.add(step, "losses/second", 2.0, Mode::validation);  // a later part of the same step
    recorder.commit(step);
  }
  const auto reader = files::TensorReader::open(directory.path(), 0);
  const auto steps = [&](const char* name, Mode mode) {
    std::vector<std::int64_t> all;
    for (const auto& [step, tensor] : reader->series(name, 0, kLastStepOfModes, mode)) all.push_back(step);
    return all;
  };
  EXPECT_THAT(steps("losses/ce", Mode::train), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(steps("losses/ce", Mode::validation), ElementsAre(3, 11, 23, 31)) << "step 0 was due before the first";
  EXPECT_THAT(steps("losses/second", Mode::validation), ElementsAre(3, 11, 23, 31));
}

TEST(RulesOfModes, OverfitReadsTheModeThatWasTold) {
  RuleDriver driver(R"({"rule": "overfit"})");
  EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::train).scalar("losses/ce", 1.05, Mode::validation).judge(1), "");
  EXPECT_THAT(driver.scalar("losses/ce", 1, Mode::train).scalar("losses/ce", 1.2, Mode::validation).judge(2),
              HasSubstr("`losses/ce` (validation) is 1.2 at step 2 where the training data has 1: worse by 20 %"));
  EXPECT_EQ(driver.finding().mode, Mode::validation);
}

TEST(RulesOfModes, OverfitHoldsAValidationThatComesLaterAgainstTheNewestTraining) {
  RuleDriver driver(R"({"rule": "overfit"})");
  EXPECT_EQ(driver.scalar("losses/ce", 9, Mode::validation).judge(0), "") << "nothing to hold it against";
  EXPECT_EQ(driver.scalar("losses/ce", 5, Mode::train).judge(10), "");
  EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::train).judge(20), "");
  EXPECT_EQ(driver.scalar("losses/ce", 1.0, Mode::predict).judge(22), "") << "a prediction is no validation";
  EXPECT_EQ(driver.standing().judged, 0);
  EXPECT_NE(driver.scalar("losses/ce", 1.2, Mode::validation).judge(25), "");
}

TEST(RulesOfModes, AValidationIsHeldAgainstTheTrainingOfItsOwnStepInWhateverOrderTheyCome) {
  RuleDriver driver(R"({"rule": "overfit"})");
  EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::train).judge(1), "");
  EXPECT_EQ(driver.scalar("losses/ce", 2, Mode::validation).scalar("losses/ce", 2, Mode::train).judge(2), "");
  EXPECT_EQ(driver.standing().judged, 1);
}

TEST(RulesOfModes, OvertrainingCountsATrainingLossOnce) {
  RuleDriver driver(R"({"rule": "overtraining", "parameters": {"patience_train": 1, "patience_validation": 2}})");
  driver.scalar("losses/ce", 1, Mode::train);
  for (std::int64_t step = 1; step < 9; ++step)
    EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::validation).judge(step), "") << "the training was saved once: step " << step;
  EXPECT_NE(driver.scalar("losses/ce", 1, Mode::train).scalar("losses/ce", 1, Mode::validation).judge(9), "");
}

TEST(RulesOfModes, TheValuesOfTwoModesAreTwoTensors) {
  RuleDriver driver(R"({"rule": "unchanged_tensor", "parameters": {"num_steps": 2}, "collections": ["losses"]})");
  EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::train).scalar("losses/ce", 1, Mode::validation).judge(1), "");
  EXPECT_EQ(driver.scalar("losses/ce", 2, Mode::train).scalar("losses/ce", 3, Mode::validation).judge(2), "");
  EXPECT_THAT(driver.scalar("losses/ce", 1, Mode::train).scalar("losses/ce", 3, Mode::validation).judge(3),
              HasSubstr("`losses/ce` (validation)"));
}

TEST(RulesOfModes, ABoundCountsTheStepsOfEachModeByItself) {
  RuleDriver driver(R"({"rule": "bound", "reduction": "mean", "above": 2, "for_steps": 2, "collections": ["losses"]})");
  EXPECT_EQ(driver.scalar("losses/x", 3, Mode::train).scalar("losses/x", 3, Mode::validation).judge(1), "");
  EXPECT_THAT(driver.scalar("losses/x", 1, Mode::train).scalar("losses/x", 3, Mode::validation).judge(2),
              HasSubstr("`losses/x` (validation)"));
}

TEST(RulesOfModes, ARuleLooksAtTheModeThatItSays) {
  const std::string rule = R"({"rule": "bound", "reduction": "mean", "above": 2, "mode": "validation", "tensors": ["^losses/"]})";
  EXPECT_EQ(RuleDriver(rule).scalar("losses/ce", 3, Mode::train).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).scalar("losses/ce", 3).judge(1), "");
  EXPECT_NE(RuleDriver(rule).scalar("losses/ce", 3, Mode::validation).judge(1), "");
  EXPECT_NE(RuleDriver(rule).scalar("losses/validation", 3).judge(1), "");
  const std::string nan = R"({"rule": "exploding_tensor", "mode": "train"})";
  EXPECT_EQ(RuleDriver(nan).scalar("losses/ce", std::nan(""), Mode::validation).judge(1), "");
  EXPECT_NE(RuleDriver(nan).scalar("losses/ce", std::nan(""), Mode::train).judge(1), "");
}

TEST(RulesOfModes, ABoundComparesTwoModesOfOneTensor) {
  const std::string rule =
      R"({"rule": "bound", "reduction": "mean", "above": 1.5, "for_steps": 2, "mode": "validation", "relative_to_mode": "train",
          "tensors": ["^losses/ce$", "^metrics/validation-x$"]})";
  RuleDriver driver(rule);
  EXPECT_EQ(driver.scalar("losses/ce", 4, Mode::validation).judge(1), "") << "no training yet";
  EXPECT_EQ(driver.scalar("losses/ce", 2, Mode::train).scalar("losses/ce", 3, Mode::validation).judge(2), "");
  EXPECT_EQ(driver.scalar("losses/ce", 3.1, Mode::validation).judge(3), "") << "the first beyond the bound";
  EXPECT_EQ(driver.scalar("losses/ce", 10, Mode::train).judge(4), "") << "what others are divided by is not judged itself";
  EXPECT_EQ(driver.scalar("losses/ce", 1, Mode::train).judge(5), "");
  EXPECT_THAT(driver.scalar("losses/ce", 1.6, Mode::validation).judge(6),
              HasSubstr("mean of `losses/ce` (validation) by that of `losses/ce` (train) is 1.6 at step 6, not at most 1.5"));
  RuleDriver by_name(rule);
  for (const std::int64_t step : {1, 2})
    by_name.scalar("metrics/train-x", 1).scalar("metrics/train-y", 9).scalar("metrics/validation-x", 2).judge(step);
  EXPECT_EQ(by_name.finding().value, 2);
}

TEST(RulesOfModes, ABoundComparesWithAnotherTensorInAnotherMode) {
  RuleDriver driver(R"({"rule": "bound", "reduction": "mean", "below": 0.5, "mode": "validation", "tensors": ["^losses/a$"],
                        "relative_to": "^losses/b$", "relative_to_mode": "train"})");
  EXPECT_EQ(driver.scalar("losses/b", 9, Mode::validation).scalar("losses/a", 1, Mode::validation).judge(1), "");
  EXPECT_NE(driver.scalar("losses/b", 3, Mode::train).scalar("losses/a", 1, Mode::validation).judge(2), "");
}

TEST(RulesOfModes, LabelsAreHeldAgainstThePredictionsOfTheirMode) {
  RuleDriver driver(R"({"rule": "confusion"})");
  driver.array("labels/y", {0, 1}, {}, Mode::train).array("labels/y", {1, 0}, {}, Mode::validation);
  EXPECT_EQ(driver.array("predictions/y", {1, 0}, {}, Mode::validation).judge(10), "");
  EXPECT_EQ(driver.standing().judged, 1);
}

TEST(RulesOfModes, EachModesPredictionsAreHeldAgainstItsOwnLabels) {
  RuleDriver driver(R"({"rule": "confusion"})");
  driver.array("labels/y", {0, 1}, {}, Mode::train).array("labels/y", {0, 1}, {}, Mode::validation);
  driver.array("predictions/y", {0, 1}, {}, Mode::train).array("predictions/y", {1, 1}, {}, Mode::validation);
  EXPECT_THAT(driver.judge(10), HasSubstr("predicted as class 0"));
  EXPECT_EQ(driver.finding().value, 0);
  RuleDriver one(R"({"rule": "confusion"})");
  one.array("labels/y", {0, 1, 0, 1}, {}, Mode::train).array("labels/y", {1, 0}, {}, Mode::validation);
  EXPECT_EQ(one.array("predictions/y", {0, 1, 0, 1}).judge(10), "") << "without a mode they are those of the first labels alone";
  EXPECT_EQ(one.standing().judged, 1);
  RuleDriver own(R"({"rule": "confusion"})");
  own.array("labels/y", {0, 1}).array("labels/y", {1, 0}, {}, Mode::validation);
  EXPECT_EQ(own.array("predictions/y", {1, 0}, {}, Mode::validation).judge(10), "") << "their own before those of any mode";
  RuleDriver any(R"({"rule": "confusion"})");
  EXPECT_NE(any.array("labels/y", {0, 1}).array("predictions/y", {1, 0}, {}, Mode::validation).judge(10), "");
  RuleDriver first(R"({"rule": "confusion"})");
  first.array("labels/a", {0, 1}).array("labels/b", {0, 1}).array("predictions/a", {0, 1}).array("predictions/b", {1, 0});
  EXPECT_EQ(first.judge(10), "") << "of a mode the first labels alone";
}

TEST(RulesOfModes, ClassesAreCountedInEachModeByItself) {
  const std::string rule = R"({"rule": "class_imbalance", "parameters": {"samples": 12}})";
  const auto labels = [](int zeros, int ones) {
    std::vector<double> all(static_cast<std::size_t>(zeros), 0);
    all.insert(all.end(), static_cast<std::size_t>(ones), 1);
    return all;
  };
  RuleDriver hidden(rule);
  hidden.array("labels/y", labels(100, 100), {}, Mode::train).array("labels/y", labels(11, 1), {}, Mode::validation);
  EXPECT_THAT(hidden.judge(1), HasSubstr("of `labels/y` (validation) class 0 has 11 times as many rows as class 1"));
  RuleDriver apart(rule);
  apart.array("labels/y", labels(100, 100), {}, Mode::train).array("labels/y", labels(11, 0), {}, Mode::validation);
  EXPECT_EQ(apart.judge(1), "") << "11 rows of the validation are too few";
  EXPECT_EQ(apart.standing().judged, 1) << "those of the training are not";
  EXPECT_EQ(apart.array("labels/y", labels(0, 1), {}, Mode::train).judge(2), "") << "of another mode";
  EXPECT_NE(apart.array("labels/y", labels(0, 1), {}, Mode::validation).judge(3), "");
  RuleDriver wrong(rule);
  wrong.array("labels/y", labels(6, 6), {}, Mode::train).array("labels/y", labels(6, 6), {}, Mode::validation);
  wrong.array("predictions/y", labels(6, 6), {}, Mode::train).array("predictions/y", labels(12, 0), {}, Mode::validation);
  EXPECT_THAT(wrong.judge(10),
              HasSubstr("100 % of the rows of class 1 of `labels/y` (validation) are predicted as another class"));
}

TEST(RulesOfModes, AFindingHasTheModeOfItsTensor) {
  const auto mode_of_nan = [](const std::string& name, Mode told) {
    RuleDriver driver(R"({"rule": "exploding_tensor"})");
    EXPECT_NE(driver.scalar(name, std::nan(""), told).judge(1), "");
    return driver.finding().mode;
  };
  EXPECT_EQ(mode_of_nan("losses/ce", Mode::predict), Mode::predict);
  EXPECT_EQ(mode_of_nan("metrics/validation-auc", Mode::none), Mode::validation) << "its name says it";
  EXPECT_EQ(mode_of_nan("losses/ce", Mode::none), Mode::none);
}

TEST(RulesOfModes, FaultsOfAModeAreSaidAtItsField) {
  const auto of = [](const std::string& fields) {
    return faults(R"({"rules": [{"rule": "bound", "reduction": "mean", "above": 1, )" + fields + "}]}");
  };
  EXPECT_THAT(of(R"("mode": "eval")"), ElementsAre(HasSubstr("debug.rules[0].mode: ")));
  EXPECT_THAT(of(R"("mode": "train", "relative_to_mode": "train")"),
              ElementsAre("debug.rules[0].relative_to_mode: expected another mode than `mode`, or `relative_to` with it"));
  EXPECT_THAT(of(R"("other_trial": 1, "relative_to_mode": "train")"),
              ElementsAre("debug.rules[0]: expected either `relative_to_mode` or `other_trial`"));
  EXPECT_TRUE(of(R"("mode": "train", "relative_to": "^weights/", "relative_to_mode": "train")").empty());
}

}  // namespace tuneband::debugger
