// Rules on a training as a whole: stalled_training, similar_across_runs, process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "debugger/judge.hpp"

namespace tuneband::debugger {

namespace {

using testing::HasSubstr;

DebugSpec spec_of(const char* rule) {
  Diagnostics diagnostics;
  DebugSpec spec = parse_debug(Json{{"rules", Json::array({Json::parse(rule)})}}, "debug",
                               {TrainerKind::command, 100, {"loss", false}}, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
  return spec;
}

std::string fault_of_rule(const char* rule) {
  Diagnostics diagnostics;
  parse_debug(Json{{"rules", Json::array({Json::parse(rule)})}}, "debug", {TrainerKind::command, 100, {"loss", false}},
              diagnostics);
  return diagnostics.ok() ? "" : describe(diagnostics.errors().front());
}

StepTensors with_loss(std::int64_t step, double loss) { return {step, {{"losses/train", summarise(loss), nullptr}}, {}}; }

// What similar_across_runs says of a loss here and in trial 4.
std::vector<Finding> compared(double here, double there, const char* name_there = "losses/train") {
  Judge judge(spec_of(R"({"rule": "similar_across_runs", "parameters": {"other_trial": 4, "rtol": 0.125, "atol": 0}})"),
              [&](int trial, std::int64_t step) {
                EXPECT_EQ(trial, 4);
                EXPECT_EQ(step, 9);
                return std::vector<TensorAtStep>{{name_there, summarise(there), nullptr}};
              });
  return judge.step(with_loss(9, here));
}

}  // namespace

TEST(StalledTraining, FiresOnceNothingWasSavedForLonger) {
  Judge judge(spec_of(R"({"rule": "stalled_training", "parameters": {"threshold": 10}})"));
  EXPECT_TRUE(judge.step(with_loss(7, 1)).empty());
  EXPECT_TRUE(judge.quiet(10).empty());
  const auto found = judge.quiet(10.5);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step, 7);
  EXPECT_EQ(found[0].value, 10.5);
  EXPECT_EQ(found[0].threshold, 10);
  EXPECT_THAT(found[0].message, HasSubstr("for more than 10 s after step 7"));
  EXPECT_TRUE(judge.quiet(100).empty()) << "it speaks once";
}

TEST(SimilarAcrossRuns, FiresWhereATensorIsNotCloseToThatOfTheOtherTrial) {
  EXPECT_TRUE(compared(1.125, 1.0).empty()) << "an eighth of the other's";
  EXPECT_TRUE(compared(0.875, 1.0).empty());
  const auto found = compared(1.2, 1.0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tensor, "losses/train");
  EXPECT_EQ(found[0].value, 1.2);
  EXPECT_EQ(found[0].threshold, 1.0);
  EXPECT_THAT(found[0].message, HasSubstr("and 1 in trial 4"));
  EXPECT_EQ(compared(0.8, 1.0).size(), 1U);
  const double nan = std::nan("");
  EXPECT_TRUE(compared(nan, nan).empty());
  EXPECT_EQ(compared(nan, 1.0).size(), 1U);
  EXPECT_EQ(compared(1.0, nan).size(), 1U);
  EXPECT_TRUE(compared(5.0, 1.0, "losses/validation").empty()) << "another tensor";
}

TEST(SimilarAcrossRuns, OfAnotherTrialWithoutTheStepNothingIsSaid) {
  Judge judge(spec_of(R"({"rule": "similar_across_runs", "parameters": {"other_trial": 4}})"),
              [](int, std::int64_t) { return std::vector<TensorAtStep>{}; });
  EXPECT_TRUE(judge.step(with_loss(9, 1)).empty());
  Judge alone(spec_of(R"({"rule": "similar_across_runs", "parameters": {"other_trial": 4}})"));
  EXPECT_TRUE(alone.step(with_loss(9, 1)).empty());
}

TEST(BoundOfAnotherTrial, IsOfTheShareOfTheSameTensorThere) {
  const auto found_at = [](double here, double there, std::int64_t step = 9) {
    Judge judge(spec_of(R"({"rule": "bound", "reduction": "mean", "above": 1.5, "other_trial": 4, "tensors": ["losses"]})"),
                [&](int trial, std::int64_t at) {
                  EXPECT_EQ(trial, 4);
                  if (at != 9) return std::vector<TensorAtStep>{};
                  return std::vector<TensorAtStep>{{"losses/other", summarise(0.0), nullptr},
                                                   {"losses/train", summarise(there), nullptr}};
                });
    return judge.step(with_loss(step, here));
  };
  EXPECT_TRUE(found_at(3, 2).empty()) << "one and a half times as large";
  EXPECT_TRUE(found_at(3.5, 2, 8).empty()) << "a step that the other trial has not";
  const auto found = found_at(3.5, 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].value, 1.75);
  EXPECT_EQ(found[0].threshold, 1.5);
  EXPECT_THAT(found[0].message, HasSubstr("mean of `losses/train` by that in trial 4 is 1.75 at step 9"));
}

TEST(OtherTrial, ATensorIsComparedWithThatOfItsOwnModeThere) {
  const auto found = [](const char* rule, Mode there) {
    Judge judge(spec_of(rule), [&](int, std::int64_t) {
      return std::vector<TensorAtStep>{{"losses/ce", summarise(1.0), nullptr, there}};
    });
    return judge.step({9, {{"losses/ce", summarise(3.0), nullptr, Mode::train}}, {}}).size();
  };
  for (const char* rule : {R"({"rule": "similar_across_runs", "parameters": {"other_trial": 4}})",
                           R"({"rule": "bound", "reduction": "mean", "above": 1.5, "other_trial": 4, "tensors": ["losses"]})"}) {
    EXPECT_EQ(found(rule, Mode::train), 1U) << rule;
    EXPECT_EQ(found(rule, Mode::validation), 0U) << rule;
  }
}

TEST(BoundRelativeToAnotherCollection, SeesThatOneAlsoWhereItLooksAtTheFirstAlone) {
  Judge judge(spec_of(R"({"rule": "bound", "reduction": "abs_mean", "below": 0.5, "collections": ["gradients"],
                          "relative_to": "^weights/"})"));
  const auto at = [&](std::int64_t step, double gradient) {
    return judge.step({step, {{"gradients/w", summarise(gradient), nullptr}, {"weights/w", summarise(2.0), nullptr}}, {}});
  };
  EXPECT_TRUE(at(1, 1).empty());
  EXPECT_EQ(at(2, 0.9).size(), 1U);
}

TEST(RulesOfRuns, SayWhatIsWrongWithThem) {
  EXPECT_THAT(fault_of_rule(R"({"rule": "bound", "reduction": "mean", "above": 1, "other_trial": 4, "relative_to": "x"})"),
              HasSubstr("expected either `relative_to` or `other_trial`"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "bound", "reduction": "mean", "above": 1, "other_trial": -1})"),
              HasSubstr("other_trial"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "similar_across_runs"})"), HasSubstr("expected `parameters.other_trial`"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "process"})"), HasSubstr("debug.rules[0].argv: is missing"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "process", "argv": []})"), HasSubstr("expected an array of a program"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "process", "argv": ["./rule"]})"), HasSubstr("expected an absolute path"));
  EXPECT_THAT(fault_of_rule(R"({"rule": "process", "argv": ["sh", 3]})"), HasSubstr("argv[1]: expected a text"));
  EXPECT_EQ(fault_of_rule(R"({"rule": "process", "argv": ["sh", "rule.sh"], "tensors": ["loss"]})"), "");
  EXPECT_THAT(fault_of_rule(R"({"rule": "overfit", "argv": ["sh"]})"), HasSubstr("unknown field"));
}

}  // namespace tuneband::debugger
