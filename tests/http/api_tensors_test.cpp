// What was saved of two trials, side by side, from real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "debugger/files/tensor_writer.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

class ApiTensorsTest : public ApiTest {
 protected:
  ApiTensorsTest() {
    job_ = submit(job_document("saves"));
    for (const std::string worker : {"w1", "w2"}) sync(worker);
    for (int trial = 0; trial < 2; ++trial) std::filesystem::create_directories(trial_dir(job_, trial));
  }

  void save(int trial, const std::vector<std::pair<std::int64_t, double>>& values, const std::string& name = "metrics/x") {
    auto writer = debugger::files::TensorWriter::open(trial_dir(job_, trial), ++epoch_, 0, -1, 1'000'000);
    ASSERT_TRUE(writer);
    for (const auto& [step, value] : values) {
      writer->add(name, value);
      const std::vector<double> array = {value, -2 * value};
      const auto view = debugger::view_of(std::span<const double>(array), {2});
      writer->add("weights/w", view, debugger::summarise(view), false);
      ASSERT_TRUE(writer->commit(step));
    }
  }
  Json beside(const std::string& more) { return get_json("/v1/jobs/saves/trials/0/tensors/beside?other=1" + more); }

  std::string job_;
  std::int64_t epoch_ = 0;
};

TEST_F(ApiTensorsTest, StepsOfTwoTrialsAreAligned) {
  save(0, {{10, 0.5}, {20, 0.25}, {30, 0.125}});
  save(1, {{20, 1}, {25, 2}});
  EXPECT_EQ(beside("&name=metrics/x"), Json::parse(R"({"rank": 0, "trials": [0, 1], "reduction": "mean", "name": "metrics/x",
    "steps": [{"step": 10, "values": [0.5, null]}, {"step": 20, "values": [0.25, 1.0]}, {"step": 25, "values": [null, 2.0]},
              {"step": 30, "values": [0.125, null]}]})"));
  EXPECT_EQ(beside("&name=weights/w&reduction=abs_max&from=20&until=20").at("steps"),
            Json::parse(R"([{"step": 20, "values": [0.5, 2.0]}])"));
  EXPECT_EQ(beside("&name=metrics/x&from=40&until=50").at("steps"), Json::array()) << "it was saved, at other steps";
}

TEST_F(ApiTensorsTest, EveryTensorIsComparedAtTheLastStepOfBoth) {
  save(0, {{10, 0.5}, {20, 0.25}, {30, 0.125}});
  save(1, {{10, 3}, {20, 1}, {25, 2}}, "metrics/y");
  EXPECT_EQ(beside("").at("tensors"), Json::parse(R"([
    {"name": "metrics/x", "mode": null, "steps": [3, 0], "step": null, "values": [null, null]},
    {"name": "metrics/y", "mode": null, "steps": [0, 3], "step": null, "values": [null, null]},
    {"name": "weights/w", "mode": null, "steps": [3, 3], "step": 20, "values": [-0.125, -0.5]}])"));
}

TEST_F(ApiTensorsTest, TheSummaryOfAJobSaysWhatFoundNoRoom) {
  EXPECT_TRUE(get_json("/v1/jobs/saves/summary").at("tensors").is_null()) << "nothing is saved yet";
  save(0, {{10, 0.5}});
  const Json saved = get_json("/v1/jobs/saves/summary").at("tensors");
  EXPECT_GT(saved.at("bytes"), 100);
  EXPECT_EQ(saved.at("dropped"), Json::parse(R"({"rows": 0, "bytes": 0})"));
  {
    auto full = debugger::files::TensorWriter::open(trial_dir(job_, 1), ++epoch_, 0, -1, 1'000'000, 1);
    ASSERT_TRUE(full);
    full->add("metrics/x", 1.0);
  }
  EXPECT_EQ(get_json("/v1/jobs/saves/summary").at("tensors").at("dropped").at("rows"), 1);
}

TEST_F(ApiTensorsTest, AQueryForAModeHasItsValuesAlone) {
  using debugger::Mode;
  const std::vector<double> values = {1, 2};
  const auto view = debugger::view_of(std::span<const double>(values), {2});
  for (const int trial : {0, 1}) {
    auto writer = debugger::files::TensorWriter::open(trial_dir(job_, trial), ++epoch_, 0, -1, 1'000'000);
    ASSERT_TRUE(writer);
    writer->add("losses/ce", 1 + trial, Mode::train);
    writer->add("losses/ce", 3 + trial, Mode::validation);
    writer->add("metrics/train-x", 5);
    writer->add("outputs/o", view, debugger::summarise(view), true, Mode::validation);
    ASSERT_TRUE(writer->commit(10));
  }
  const std::string base = "/v1/jobs/saves/trials/0/tensors";
  const auto listed = [&](const std::string& query) {
    std::vector<std::string> all;
    const Json page = get_json(base + query);
    for (const Json& one : page.at("tensors")) all.push_back(one.at("name").get<std::string>() + " " + one.at("mode").dump());
    return all;
  };
  using testing::ElementsAre;
  EXPECT_THAT(listed(""), ElementsAre(R"(losses/ce "train")", R"(losses/ce "validation")", R"(metrics/train-x "train")",
                                      R"(outputs/o "validation")"));
  EXPECT_THAT(listed("?mode=train"), ElementsAre(R"(losses/ce "train")", R"(metrics/train-x "train")"));
  EXPECT_THAT(listed("?mode=none"), ElementsAre());
  const Json both = get_json(base + "/series?name=losses/ce").at("steps");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].at("mode"), "validation");
  const Json one = get_json(base + "/series?name=losses/ce&mode=validation").at("steps");
  ASSERT_EQ(one.size(), 1U) << one;
  EXPECT_EQ(one[0].at("value"), 3.0);
  EXPECT_EQ(beside("&name=losses/ce&mode=validation").at("steps"), Json::parse(R"([{"step": 10, "values": [3.0, 4.0]}])"));
  EXPECT_EQ(beside("&mode=train").at("tensors").at(0),
            Json::parse(R"({"name": "losses/ce", "mode": "train", "steps": [1, 1], "step": 10, "values": [1.0, 2.0]})"));
  for (const std::string& query : {std::string("/array?step=10&"), std::string("/beside?other=1&")}) {
    const RawReply reply = get(base + query + "name=losses/ce");
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, testing::HasSubstr("was saved in the modes train and validation: say which"));
  }
  EXPECT_EQ(get(base + "/array?step=10&name=losses/ce&mode=train").status, 200);
  EXPECT_EQ(get(base + "/array?step=10&name=outputs/o").status, 200) << "there is one mode of it";
  const RawReply other = get(base + "/array?step=10&name=outputs/o&mode=predict");
  EXPECT_EQ(other.status, 404);
  EXPECT_THAT(other.body, testing::HasSubstr("`outputs/o` was saved in the mode validation, not predict"));
  const RawReply unknown = get(base + "?mode=eval");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, testing::HasSubstr("expected none, train, validation or predict, got "));
}

TEST_F(ApiTensorsTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(beside("").at("tensors"), Json::array());
  EXPECT_EQ(get("/v1/jobs/saves/trials/0/tensors/beside?other=1&name=metrics/x").status, 404);
  EXPECT_EQ(get("/v1/jobs/saves/trials/0/tensors/beside?other=9").status, 404) << "no such trial";
  EXPECT_EQ(get("/v1/jobs/saves/trials/0/tensors/beside").status, 400);
  const RawReply reply = get("/v1/jobs/saves/trials/0/tensors/beside?other=1&reduction=median");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, testing::HasSubstr("abs_max"));
}

TEST_F(ApiTensorsTest, WhereNothingIsEverSavedThatIsSaidAndNotYet) {
  const std::string rules = R"({"rules": [{"rule": "overfit"}]})";
  const std::string trial = "/v1/jobs/saves/trials/0";
  for (const RawReply& reply : {post(trial + "/check", rules), get(trial + "/tensors/series?name=metrics/x"),
                                get(trial + "/tensors/array?name=metrics/x&step=1")}) {
    EXPECT_EQ(reply.status, 404);
    EXPECT_THAT(reply.body, testing::HasSubstr("nothing is saved of this job's trials: it has no section `debug`"));
  }
  Json json = job_document("saving");
  json["debug"] = Json::object();
  const std::string job = submit(json);
  for (const std::string worker : {"w3", "w4"}) sync(worker);
  EXPECT_THAT(post("/v1/jobs/saving/trials/0/check", rules).body, testing::HasSubstr("the trial has saved no tensors yet"));
}

TEST_F(ApiTensorsTest, ARankThatIsNotSavedIsSaid) {
  save(0, {{10, 0.5}});
  const RawReply reply = get("/v1/jobs/saves/trials/0/tensors/series?name=metrics/x&rank=1");
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.body, testing::HasSubstr("only of 0"));
}

class ApiRulesTest : public ApiTest {
 protected:
  ApiRulesTest() {
    Json json = job_document("watched");
    json["debug"] = Json::parse(R"({"rules": [{"rule": "overfit"}, {"rule": "exploding_tensor", "name": "nan"}]})");
    job_ = submit(json);
  }

  // What the worker says of its trial's rules: steps saved, judged, the last one, fault.
  void say(const Json& rules, const Json& findings = Json::array()) {
    if (order_.is_null()) order_ = sync("w1").at("order");
    sync("w1", {{"epoch", order_.at("epoch")}, {"observations", Json::array()}, {"rules", rules}, {"findings", findings}});
  }
  static Json standing(const std::string& rule, int saved, int judged, const std::string& fault = "") {
    return {{"rule", rule}, {"saved", saved}, {"judged", judged}, {"last_step", judged}, {"fault", fault}};
  }
  Json rules(const std::string& of) { return get_json("/v1/jobs/watched" + of + "/rules").at("rules"); }

  std::string job_;
  Json order_;
};

TEST_F(ApiRulesTest, EachRuleOfATrialSaysHowItStands) {
  say(Json::array({standing("overfit", 3, 0), standing("nan", 3, 3, "crashed")}));
  const Json both = rules("/trials/0");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].at("rule"), "overfit");
  EXPECT_EQ(both[0].at("status"), "in_progress");
  EXPECT_EQ(both[0].at("saved_steps"), 3);
  EXPECT_TRUE(both[0].at("last_step").is_null());
  EXPECT_EQ(both[1].at("rule"), "nan");
  EXPECT_EQ(both[1].at("type"), "exploding_tensor");
  EXPECT_EQ(both[1].at("status"), "error");
  EXPECT_EQ(both[1].at("details"), "its process crashed");
  EXPECT_EQ(get("/v1/jobs/watched/trials/99/rules").status, 404);
}

TEST_F(ApiRulesTest, OverAJobTheFirstTrialIsNamedWhereSomethingWasFound) {
  say(Json::array({standing("overfit", 3, 0)}), Json::array({{{"rule", "nan"},
                                                              {"tensor", "metrics/x"},
                                                              {"mode", "validation"},
                                                              {"step", 2},
                                                              {"value", "nan"},
                                                              {"threshold", 0},
                                                              {"message", "it is not a number"},
                                                              {"remedy", "look"}}}));
  const Json both = rules("");
  EXPECT_EQ(both.at(0).at("status"), "in_progress");
  EXPECT_EQ(both.at(1).at("status"), "issues_found");
  EXPECT_EQ(both.at(1).at("example"), 0);
  EXPECT_EQ(both.at(1).at("trials").at("issues_found"), 1);
  EXPECT_EQ(both.at(1).at("details"), "in 1 of 1 trial; in trial 0: it is not a number");
  EXPECT_EQ(get_json("/v1/jobs/watched/findings").at("findings").at(0).at("mode"), "validation");
  submit(job_document("unwatched"));
  EXPECT_EQ(get_json("/v1/jobs/unwatched/rules").at("rules"), Json::array());
}

TEST_F(ApiRulesTest, TheSummaryOfAJobSaysHowItsRulesStand) {
  say(Json::array({standing("overfit", 3, 0), standing("nan", 3, 3)}));
  EXPECT_EQ(get_json("/v1/jobs/watched/summary").at("rules"), rules(""));
  submit(job_document("unwatched"));
  EXPECT_EQ(get_json("/v1/jobs/unwatched/summary").at("rules"), Json::array());
}

TEST_F(ApiTensorsTest, ACheckSaysOfARuleThatItJudgedNothing) {
  save(0, {{10, 0.5}, {20, 0.25}});
  const RawReply reply =
      post("/v1/jobs/saves/trials/0/check", R"({"rules": [{"rule": "overfit"}, {"rule": "exploding_tensor"}]})");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Json checked = Json::parse(reply.body);
  EXPECT_EQ(checked.at("rules").at(0).at("judged_steps"), 0);
  EXPECT_EQ(checked.at("rules").at(0).at("saved_steps"), 2);
  EXPECT_EQ(checked.at("rules").at(1).at("judged_steps"), 2);
}

}  // namespace
}  // namespace tuneband::test
