#include "debugger/debug_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/debugger/rule_driver.hpp"

namespace tuneband::debugger {

namespace {

using test::faults;
using test::parsed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const DebugSpec& spec) {
  std::vector<std::string> names;
  for (const Collection& collection : spec.collections) names.push_back(collection.name);
  return names;
}

}  // namespace

TEST(SaveSchedule, MultiplesInTheRangeAndListedSteps) {
  const SaveSchedule schedule{.every = 10, .from = 20, .until = 40, .steps = {3, 40}};
  for (const std::int64_t step : {3, 20, 30, 40}) EXPECT_TRUE(schedule.due(step)) << step;
  for (const std::int64_t step : {0, 10, 25, 50}) EXPECT_FALSE(schedule.due(step)) << step;
}

TEST(SaveSchedule, DerivedFromMaxResourceWithTheFirstStepsInIt) {
  EXPECT_EQ(derived_schedule(50, 50).every, 1);
  const SaveSchedule schedule = derived_schedule(1000, 50);
  EXPECT_EQ(schedule.every, 20);
  EXPECT_TRUE(schedule.due(1));
  EXPECT_FALSE(schedule.due(6));
  EXPECT_EQ(derived_schedule(3, 1).steps, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(DebugSpec, AnEmptySectionHasDefaultCollectionsAndRules) {
  const DebugSpec spec = parsed("{}", TrainerKind::xgboost, 81);
  EXPECT_THAT(names_of(spec), ElementsAre("metrics", "resources", "hyperparameters", "feature_importance"));
  EXPECT_EQ(spec.collection("metrics")->save.every, 1);
  EXPECT_EQ(spec.collection("feature_importance")->save.every, 9);  // each costs a walk over all trees
  EXPECT_NE(spec.rule("exploding_tensor"), nullptr);
  EXPECT_EQ(spec.rule("loss_not_decreasing")->parameter("num_steps"), 10);
  EXPECT_EQ(spec.rules.size(), 2);
}

TEST(DebugSpec, AnActionMayBeAWebhookAndEndTheTrialToo) {
  const DebugSpec spec = parsed(R"({"rules": [{"rule": "overfit", "action": {"webhook": "http://a/b"}},
      {"rule": "overtraining", "action": {"webhook": "http://a/b", "also": "stop_trial"}}, {"rule": "exploding_tensor"}]})");
  EXPECT_EQ(spec.rules[0].webhook, "http://a/b");
  EXPECT_EQ(spec.rules[0].action, Action::note);
  EXPECT_EQ(spec.rules[1].action, Action::stop_trial);
  EXPECT_EQ(spec.rules[2].webhook, "");
  const auto fault = [](const std::string& action) {
    const auto all = faults(R"({"rules": [{"rule": "overfit", "action": )" + action + "}]}");
    return all.empty() ? "" : all.front();
  };
  EXPECT_THAT(fault(R"({})"), HasSubstr("debug.rules[0].action.webhook: is missing"));
  EXPECT_THAT(fault(R"({"webhook": "https://a"})"), HasSubstr("debug.rules[0].action.webhook: https is not spoken"));
  EXPECT_THAT(fault(R"({"webhook": "http://a", "also": "mail"})"), HasSubstr("debug.rules[0].action.also"));
  EXPECT_THAT(fault(R"({"webhook": "http://a", "then": "note"})"), HasSubstr("unknown field"));
}

TEST(DebugSpec, AStopOfTrialsThatHaveConvergedIsDoubted) {
  const auto doubts = [](const char* type, const char* action) {
    Diagnostics diagnostics;
    parse_rule({{"rule", type}, {"action", action}}, "debug.rules[0]", diagnostics);
    EXPECT_TRUE(diagnostics.errors().empty()) << type;
    std::string all;
    for (const Error& warning : diagnostics.warnings()) all += describe(warning);
    return all;
  };
  for (const char* type : {"loss_not_decreasing", "overtraining"}) {
    EXPECT_THAT(doubts(type, "stop_trial"), HasSubstr("debug.rules[0].action: ends a trial that has converged"));
    EXPECT_EQ(doubts(type, "note"), "");
  }
  EXPECT_EQ(doubts("exploding_tensor", "stop_trial"), "");
}

TEST(DebugSpec, TensorsHaveABoundByTrialAndByJob) {
  EXPECT_EQ(parsed("{}").job_bytes_max, std::int64_t{10} << 30);
  const DebugSpec spec = parsed(R"({"trial_megabytes_max": 2, "job_megabytes_max": 3})");
  EXPECT_EQ(spec.trial_bytes_max, 2 << 20);
  EXPECT_EQ(spec.job_bytes_max, 3 << 20);
  EXPECT_THAT(faults(R"({"job_megabytes_max": 0})").front(), HasSubstr("debug.job_megabytes_max"));
}

TEST(DebugSpec, WhoSaysWhenIsNotSavedLessOften) {
  EXPECT_TRUE(parsed("{}").collection("weights")->save.derived);
  EXPECT_TRUE(parsed(R"({"collections": {"weights": {"raw": true}}})").collection("weights")->save.derived);
  EXPECT_TRUE(parsed(R"({"collections": {"weights": {"save": {"from": 3}}}})").collection("weights")->save.derived);
  EXPECT_FALSE(parsed(R"({"save": {"every": 1}})").collection("weights")->save.derived);
  EXPECT_FALSE(parsed(R"({"collections": {"weights": {"save": {"steps": [1]}}}})").collection("weights")->save.derived);
}

TEST(DebugSpec, MetricsAreThereInAnyCase) {
  EXPECT_THAT(names_of(parsed(R"({"collections": {"shap": {"rows": 50}}})", TrainerKind::xgboost)),
              ElementsAre("shap", "metrics", "resources"));
}

TEST(DebugSpec, AScheduleOfListedStepsAloneSavesTheseAlone) {
  const DebugSpec spec = parsed(R"({"collections": {"weights": {"save": {"steps": [7, 3]}}}})");
  EXPECT_NE(spec.saves("weights/a", 3), nullptr);
  EXPECT_EQ(spec.saves("weights/a", 0), nullptr);
  EXPECT_EQ(spec.saves("weights/a", 10), nullptr);
}

TEST(DebugSpec, ACollectionOfOnesOwnHoldsWhatItsPatternsFind) {
  const DebugSpec spec =
      parsed(R"({"collections": {"mine": {"patterns": ["fc[0-9]\\.bias$"], "raw": true, "save": {"every": 5}}}})");
  ASSERT_NE(spec.saves("weights/fc1.bias", 5), nullptr);
  EXPECT_TRUE(spec.saves("weights/fc1.bias", 5)->raw);
  EXPECT_EQ(spec.saves("weights/fc1.weight", 5), nullptr);
}

TEST(DebugSpec, EveryFaultIsNamedAtItsPath) {
  const auto found = faults(R"({"save": {"every": 0, "until": "x"}, "colections": {}, "ranks": "both",
    "collections": {"gradient": {}, "metrics": {"patterns": ["a"]}, "mine": {"patterns": ["(", 3]}, "a/b": {}},
    "rules": [{"rule": "overfitt"}, {"rule": "overfit", "parameters": {"patience": 0.5, "ratio": 1}},
              {"rule": "bound", "reduction": "median"}, {"rule": "tensor_variance", "collections": ["metrics", "nope"]},
              {"rule": "exploding_tensor", "action": "stop"}, {"rule": "exploding_tensor"}, 7]})");
  EXPECT_THAT(found, Contains(HasSubstr("debug.save.every:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.save.until:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.colections: ")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.ranks:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.collections.gradient: expected `patterns`")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.collections.metrics.patterns:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.collections.mine.patterns[0]: expected a regular expression")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.collections.mine.patterns[1]:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.collections.a/b:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[0].rule:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[1].parameters.patience:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[1].parameters.ratio:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[2].reduction:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[2]: expected either `above` or `below`")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[3]: expected `parameters.min_threshold`")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[3].collections[1]: `nope` is not among")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[4].action:")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[5]: another rule has the name")));
  EXPECT_THAT(found, Contains(HasSubstr("debug.rules[6]")));
}

TEST(DebugSpec, ARuleWhoseTensorsAreNotSavedIsRefused) {
  EXPECT_THAT(faults(R"({"rules": [{"rule": "tree_depth"}]})"), ElementsAre(HasSubstr("debug.rules[0]: `tree_depth` looks at")));
  EXPECT_THAT(faults(R"({"collections": {"trees": {}}, "rules": [{"rule": "tree_depth"}]})"), ElementsAre());
  EXPECT_THAT(faults(R"({"rules": [{"rule": "dead_relu"}]})"), ElementsAre(HasSubstr("which XGBoost does not have")));
  EXPECT_THAT(faults(R"({"collections": {"outputs": {"patterns": ["^x"]}}, "rules": [{"rule": "dead_relu"}]})"), ElementsAre());
}

TEST(Tensors, NamesThatLeadOutOfTheirPlaceAreRefused) {
  for (const char* good : {"metrics/validation-auc", "weights/fc1.weight", "a"}) EXPECT_TRUE(valid_tensor_name(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a//b", "../a", "a/../b", ".", "a\nb", "\xff"})
    EXPECT_FALSE(valid_tensor_name(bad)) << bad;
  EXPECT_FALSE(valid_tensor_name(std::string(kTensorNameSizeMax + 1, 'a')));
}

}  // namespace tuneband::debugger
