// `tuneband tensors --beside` against prepared answers: numbers that are easily told apart, null and nan among them, of a shape
// that server/openapi.json describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands/commands.hpp"
#include "tests/cli/canned_server.hpp"

namespace tuneband::cli {

namespace {

using testing::HasSubstr;

class TensorsBeside : public testing::Test {
 protected:
  // What is printed to a pipe, or to a terminal of 80 columns.
  std::string shown(const TensorsOptions& options, bool terminal = false) {
    std::ostringstream out;
    Console console{terminal ? Terminal{.interactive = true, .utf8 = true, .width = 80} : Terminal{}, out, out, false};
    ApiClient api = std::move(ApiClient::create(server_.url()).value());
    const Finished finished = show_tensors({api, console}, options);
    return finished ? out.str() : finished.error().errors.front().message;
  }

  test::CannedServer server_;
};

const char* const kSteps = R"({"rank": 0, "trials": [3, 7], "reduction": "mean", "name": "metrics/auc", "steps": [
  {"step": 10, "values": [0.5, 0.75]}, {"step": 20, "values": [0.625, null]}, {"step": 30, "values": ["nan", 1]}]})";

}  // namespace

TEST_F(TensorsBeside, OfOneTensorStepsStandInOneLine) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors/beside?other=7&rank=0&name=metrics%2Fauc", kSteps);
  EXPECT_EQ(shown({.job = "7", .trial = 3, .name = "metrics/auc", .beside = 7}),
            "step\ttrial 3\ttrial 7\tdifference\n10\t0.5\t0.75\t0.25\n20\t0.625\t-\t-\n30\tnan\t1\tnan\n");
}

TEST_F(TensorsBeside, ATerminalHasBothCurvesOnTheSameAxes) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors/beside?other=7&rank=0&name=metrics%2Fauc", kSteps);
  const std::string text = shown({.job = "7", .trial = 3, .name = "metrics/auc", .beside = 7}, true);
  const std::size_t second = text.find("\ntrial 7");
  ASSERT_NE(second, std::string::npos) << text;
  for (const std::string& plot : {text.substr(0, second), text.substr(second)}) {
    EXPECT_THAT(plot, HasSubstr("step 10"));
    EXPECT_THAT(plot, HasSubstr(" 30"));
    EXPECT_THAT(plot, HasSubstr("0.5"));
  }
}

TEST_F(TensorsBeside, WithoutANameEveryTensorIsShownAtTheLastStepOfBoth) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors/beside?other=7&rank=1&reduction=abs_max", R"({"rank": 1, "trials": [3, 7],
    "reduction": "abs_max", "tensors": [{"name": "weights/fc1", "mode": null, "steps": [5, 4], "step": 40, "values": [0.5, 1e10]},
    {"name": "weights/fc2", "mode": "train", "steps": [1, 0], "step": null, "values": [null, null]}]})");
  EXPECT_EQ(shown({.job = "7", .trial = 3, .rank = 1, .reduction = "abs_max", .beside = 7}),
            "tensor\tstep\ttrial 3\ttrial 7\tsteps\tmode\nweights/fc1\t40\t0.5\t1e+10\t5 and 4\t-\n"
            "weights/fc2\t-\t-\t-\t1 and 0\ttrain\n");
  EXPECT_THAT(shown({.job = "7", .trial = 3, .output = "x.npy", .beside = 7}), HasSubstr("does not go with --beside"));
}

TEST_F(TensorsBeside, WhatIsAskedOfATensorNeedsItsName) {
  EXPECT_THAT(shown({.job = "7", .trial = 3, .step = 4}), HasSubstr("--step needs NAME"));
  EXPECT_THAT(shown({.job = "7", .trial = 3, .output = "x.npy"}), HasSubstr("--output needs NAME"));
  EXPECT_THAT(shown({.job = "7", .trial = 3, .reduction = "max"}), HasSubstr("--reduction needs NAME"));
  EXPECT_THAT(shown({.job = "7", .trial = 3, .name = "weights/fc1", .reduction = "median"}),
              testing::AllOf(HasSubstr("--reduction: expected min, max, mean"), HasSubstr("got median")));
}

TEST_F(TensorsBeside, ARuleIsAskedAsAJobHasIt) {
  const char* const none = R"({"findings": [], "rules": []})";
  server_.answer("POST /v1/jobs/7/trials/3/check?rank=0", none);
  const auto asked = [&](const std::string& rule) {
    std::ostringstream out;
    Console console{Terminal{}, out, out, false};
    ApiClient api = std::move(ApiClient::create(server_.url()).value());
    const Finished finished = check_trial({api, console}, {.job = "7", .trial = 3, .rules = {rule}});
    return finished ? "" : finished.error().errors.front().message;
  };
  EXPECT_EQ(asked(R"({"rule": "bound", "reduction": "mean", "above": 3, "collections": ["losses"]})"), "");
  EXPECT_THAT(asked(R"({"rule": )"), HasSubstr("--rule: "));
}

TEST_F(TensorsBeside, WhereNothingWasFoundItIsNotSaidThatThereAreRules) {
  server_.answer("GET /v1/jobs/7/findings", R"({"findings": []})");
  std::ostringstream out;
  Terminal terminal;
  terminal.interactive = true;
  Console console{terminal, out, out, false};
  ApiClient api = std::move(ApiClient::create(server_.url()).value());
  EXPECT_TRUE(show_findings({api, console}, "7", std::nullopt));
  EXPECT_THAT(out.str(), HasSubstr("no rule has found anything: `tuneband rules 7` says which there are"));
}

const char* const kModes = R"({"name": "losses/ce", "rank": 0, "steps": [
  {"step": 10, "mode": "train", "value": 0.5, "reductions": {"mean": 0.5}},
  {"step": 10, "mode": "validation", "value": 0.75, "reductions": {"mean": 0.75}},
  {"step": 20, "mode": "train", "value": 0.25, "reductions": {"mean": 0.25}}]})";

using TensorsOfModes = TensorsBeside;

TEST_F(TensorsOfModes, EachModeHasItsRowsAndItsCurve) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors/series?name=losses%2Fce&rank=0", kModes);
  EXPECT_EQ(shown({.job = "7", .trial = 3, .name = "losses/ce"}),
            "step\tvalue\tmode\n10\t0.5\ttrain\n10\t0.75\tvalidation\n20\t0.25\ttrain\n");
  const std::string text = shown({.job = "7", .trial = 3, .name = "losses/ce"}, true);
  EXPECT_TRUE(text.starts_with("train\n")) << text;
  EXPECT_THAT(text, HasSubstr("\nvalidation\n"));
}

TEST_F(TensorsOfModes, OneThatIsAskedForIsShownAlone) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors/series?name=losses%2Fce&rank=0&mode=validation",
                 R"({"name": "losses/ce", "rank": 0, "steps": [
                   {"step": 10, "mode": "validation", "value": 0.75, "reductions": {"mean": 0.75}}]})");
  EXPECT_EQ(shown({.job = "7", .trial = 3, .name = "losses/ce", .mode = "validation"}), "step\tvalue\n10\t0.75\n");
}

TEST_F(TensorsOfModes, TheListSaysTheModeOfEach) {
  server_.answer("GET /v1/jobs/7/trials/3/tensors?rank=0&mode=train", R"({"rank": 0, "ranks": [0],
    "steps": {"first": 1, "last": 2, "count": 2}, "tensors": [{"name": "losses/ce", "collection": "losses", "mode": "train",
    "scalar": true, "dtype": "float64", "shape": [], "whole": false, "steps": 2, "first_step": 1, "last_step": 2}],
    "dropped": {"rows": 0, "bytes": 0}})");
  EXPECT_EQ(shown({.job = "7", .trial = 3, .mode = "train"}),
            "tensor\tshape\tkept\tsteps\tfirst\tlast\tmode\nlosses/ce\tscalar\tvalue\t2\t1\t2\ttrain\n");
}

class Rules : public testing::Test {
 protected:
  test::CannedServer server_;
  ApiClient api_ = std::move(ApiClient::create(server_.url()).value());
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Rules, EachIsShownWithItsStatusAndWhy) {
  server_.answer("GET /v1/jobs/7/trials/3/rules", R"({"rules": [
    {"rule": "overfit", "type": "overfit", "action": "note", "status": "not_judged", "details": "it lacks a training loss",
     "changed_at": "2026-03-01T12:00:00.000Z", "saved_steps": 4, "judged_steps": 0, "last_step": null}]})");
  Console pipe{Terminal{}, out_, err_, false};
  ASSERT_TRUE(show_rules({api_, pipe}, "7", 3));
  EXPECT_EQ(out_.str(),
            "rule\tstatus\tchanged\tdetails\noverfit\tnot_judged\t2026-03-01T12:00:00.000Z\tit lacks a training loss\n");
  out_.str("");
  Console terminal{Terminal{.interactive = true, .width = 80}, out_, err_, false};
  ASSERT_TRUE(show_rules({api_, terminal}, "7", 3));
  EXPECT_EQ(out_.str(), "overfit  not judged\n  it lacks a training loss\n");
}

TEST_F(Rules, ACheckSaysWhichOfThemJudgedNothing) {
  server_.answer("POST /v1/jobs/7/trials/3/check?rank=0", R"({"findings": [], "rules": [
    {"rule": "overfit", "type": "overfit", "action": "note", "status": "not_judged", "details": "it lacks a training loss",
     "changed_at": null, "saved_steps": 4, "judged_steps": 0, "last_step": null},
    {"rule": "exploding_tensor", "type": "exploding_tensor", "action": "note", "status": "no_issues_found", "details": "fine",
     "changed_at": null, "saved_steps": 4, "judged_steps": 4, "last_step": 4}]})");
  Console console{Terminal{}, out_, err_, false};
  const Finished finished = check_trial({api_, console}, {.job = "7", .trial = 3, .rules = {"overfit", "exploding_tensor"}});
  ASSERT_TRUE(finished);
  EXPECT_EQ(*finished, kExitOk);
  EXPECT_THAT(err_.str(), HasSubstr("the rule `overfit` judged nothing: it lacks a training loss"));
  EXPECT_EQ(err_.str().find("exploding_tensor"), std::string::npos);
}

}  // namespace tuneband::cli
