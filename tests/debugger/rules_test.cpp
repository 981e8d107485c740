// Every rule on series that just fire, and on some like them that just do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/debugger/rule_driver.hpp"

namespace tuneband::debugger {

namespace {

using test::RuleDriver;
using ::testing::HasSubstr;

constexpr double kRuleInf = std::numeric_limits<double>::infinity();
const double kRuleNan = std::nan("");

std::vector<double> repeated(double value, std::size_t times) { return std::vector<double>(times, value); }

}  // namespace

TEST(Rules, ExplodingTensorFiresAtTheFirstNanOrInfinity) {
  const std::string rule = R"({"rule": "exploding_tensor"})";
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 1e300, kRuleInf}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, kRuleNan}), 1);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 1e308, -1e308}), -1);
  const std::string only_nan = R"({"rule": "exploding_tensor", "parameters": {"only_nan": true}})";
  EXPECT_EQ(RuleDriver(only_nan).fires_at("losses/x", {kRuleInf, -kRuleInf}), -1);
  EXPECT_EQ(RuleDriver(only_nan).fires_at("losses/x", {kRuleInf, kRuleNan}), 1);
  RuleDriver driver(rule);
  EXPECT_EQ(driver.array("weights/w", {1, kRuleInf, kRuleNan}).judge(4),
            "`weights/w` has 2 of 3 elements that are NaN or infinite at step 4");
  EXPECT_THAT(driver.finding().remedy, HasSubstr("scale inputs"));
}

TEST(Rules, ARuleSpeaksOnceOfATrial) {
  RuleDriver driver(R"({"rule": "exploding_tensor"})");
  EXPECT_NE(driver.scalar("losses/x", kRuleNan).judge(1), "");
  EXPECT_EQ(driver.scalar("losses/x", kRuleNan).judge(2), "");
}

TEST(Rules, VanishingGradientFiresBelowTheThreshold) {
  const std::string rule = R"({"rule": "vanishing_gradient"})";
  EXPECT_NE(RuleDriver(rule).array("gradients/w", {9e-8, -9e-8}).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).array("gradients/w", {1e-7, -1e-7}).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).array("weights/w", {0, 0}).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).array("gradients/w", {kRuleNan}).judge(1), "");  // another rule's
}

TEST(Rules, TensorVarianceFiresOutsideOfItsBounds) {
  const std::string rule = R"({"rule": "tensor_variance", "parameters": {"min_threshold": 1, "max_threshold": 4}})";
  EXPECT_EQ(RuleDriver(rule).array("weights/w", {-1, 1}).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).array("weights/w", {-2, 2}).judge(1), "");
  EXPECT_NE(RuleDriver(rule).array("weights/w", {-0.99, 0.99}).judge(1), "");
  EXPECT_NE(RuleDriver(rule).array("weights/w", {-2.01, 2.01}).judge(1), "");
  EXPECT_NE(RuleDriver(rule).array("weights/w", {kRuleNan, 1}).judge(1), "");
}

TEST(Rules, AllZeroFiresAtItsShare) {
  EXPECT_NE(RuleDriver(R"({"rule": "all_zero"})").array("weights/w", {0, 0, 0}).judge(1), "");
  EXPECT_EQ(RuleDriver(R"({"rule": "all_zero"})").array("weights/w", {0, 0, 1}).judge(1), "");
  const std::string half = R"({"rule": "all_zero", "parameters": {"threshold": 50}})";
  EXPECT_NE(RuleDriver(half).array("weights/w", {0, 1}).judge(1), "");
  EXPECT_EQ(RuleDriver(half).array("weights/w", {0, 1, 1}).judge(1), "");
}

TEST(Rules, UnchangedTensorFiresAfterThreeValuesThatAreClose) {
  const std::string rule = R"({"rule": "unchanged_tensor"})";
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 1, 1}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 1 + 9e-6, 1}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 1 + 2e-5, 1, 1}), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {kRuleNan, kRuleNan, kRuleNan}), -1);
  EXPECT_EQ(RuleDriver(R"({"rule": "unchanged_tensor", "parameters": {"equal_nan": true}})")
                .fires_at("losses/x", {kRuleNan, kRuleNan, kRuleNan}),
            2);
}

TEST(Rules, WeightUpdateRatioFiresOutsideOfItsBounds) {
  const std::string rule = R"({"rule": "weight_update_ratio", "parameters": {"large_threshold": 1, "small_threshold": 0.1}})";
  const auto second = [&](double value) {
    RuleDriver driver(rule);
    driver.array("weights/w", {3, 4}).judge(1);
    return driver.array("weights/w", {3 + value, 4}).judge(2);
  };
  EXPECT_EQ(second(4.9), "");
  EXPECT_NE(second(5.1), "");
  EXPECT_EQ(second(0.51), "");
  EXPECT_NE(second(0.49), "");
  RuleDriver from_zero(rule);
  EXPECT_EQ(from_zero.array("weights/w", {0, 0}).judge(1), "");
  EXPECT_EQ(from_zero.array("weights/w", {1, 0}).judge(2), "") << "zeros have no size to move by";
  EXPECT_NE(from_zero.array("weights/w", {3, 0}).judge(3), "");
  RuleDriver still(rule);
  EXPECT_EQ(still.array("weights/w", {0, 0}).judge(1), "");
  EXPECT_NE(still.array("weights/w", {0, 0}).judge(2), "") << "they may yet stand still";
}

TEST(Rules, LossNotDecreasingComparesWithTheNewestValueThatIsOldEnough) {
  const std::string rule = R"({"rule": "loss_not_decreasing"})";
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {0.30, 0.33, 0.31, 0.30}, 4), 12);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {0.30, 0.33, 0.31, 0.2996}, 4), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {0.30, 0.33, 0.31, 0.2998}, 4), 12);
  // Saved at 9, 12, ...: 21 is held against 9, then 33 against 21.
  RuleDriver thirds(rule);
  for (std::int64_t step = 9; step < 33; step += 3)
    EXPECT_EQ(thirds.scalar("losses/x", 1.0 / static_cast<double>(step)).judge(step), "");
  EXPECT_THAT(thirds.scalar("losses/x", 1.0 / 21).judge(33), HasSubstr("at step 21"));
}

TEST(Rules, LossNotDecreasingKnowsTheDirectionAndNan) {
  const std::string rule = R"({"rule": "loss_not_decreasing", "parameters": {"num_steps": 2}})";
  EXPECT_EQ(RuleDriver(rule).fires_at("metrics/validation-auc", {0.5, 0.6, 0.7, 0.8, 0.9}), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("metrics/validation-auc", {0.9, 0.8, 0.7}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("metrics/validation-ndcg@5", {0.9, 0.8, 0.7}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("metrics/train-aucpr", {0.5, 0.6, 0.7}), -1);
  EXPECT_EQ(RuleDriver(rule, true).fires_at("metrics/metric", {0.5, 0.6, 0.7}), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("metrics/seconds", {1, 2, 3}), -1);  // of which nobody knows what is better
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {1, 0.5, kRuleNan}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {0, 0, 0}), -1);  // nothing is left to be won
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {-1, -2, -3, -4, -5}), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {kRuleInf, 5, 4}), -1);
}

TEST(Rules, OverfitFiresWhenTheGapLastsAsLongAsItsPatience) {
  const std::string rule = R"({"rule": "overfit", "parameters": {"patience": 2}})";
  const auto pair = [](RuleDriver& driver, double train, double validation, std::int64_t step) {
    return driver.scalar("metrics/train-rmse", train).scalar("metrics/validation-rmse", validation).judge(step);
  };
  RuleDriver driver(rule);
  EXPECT_EQ(pair(driver, 1, 1.2, 1), "");
  EXPECT_EQ(pair(driver, 1, 1.09, 2), "");  // not above 0.1
  EXPECT_EQ(pair(driver, 1, 1.2, 3), "");
  EXPECT_THAT(pair(driver, 1, 1.2, 4), HasSubstr("worse by 20 %"));
  RuleDriver upwards(rule);
  for (std::int64_t step = 1; step < 4; ++step)
    EXPECT_EQ(upwards.scalar("metrics/train-auc", 0.8).scalar("metrics/validation-auc", 0.9).judge(step), "");
}

TEST(Rules, OverfitIsOfTheSizeOfTheTrainingLossFromItsFirstStepOn) {
  const std::string rule = R"({"rule": "overfit", "parameters": {"ratio_threshold": 0.5, "start_step": 5}})";
  const auto judge = [&](std::int64_t step, double train, double validation) {
    return RuleDriver(rule).scalar("losses/train", train).scalar("losses/validation", validation).judge(step);
  };
  EXPECT_EQ(judge(4, 1, 9), "");
  EXPECT_NE(judge(5, 1, 9), "");
  EXPECT_EQ(judge(5, 1, 1.5), "") << "not more than half";
  RuleDriver tenth(R"({"rule": "overfit"})");
  EXPECT_EQ(tenth.scalar("losses/train", 1).scalar("losses/validation", 1.1).judge(1), "") << "not more than a tenth";
  EXPECT_NE(tenth.scalar("losses/train", 1).scalar("losses/validation", 1.1 + 1e-9).judge(2), "");
  EXPECT_NE(judge(5, -4, -1), "") << "less is better below zero, too";
  RuleDriver empty(rule);
  EXPECT_EQ(empty.scalar("losses/train", 1).array("losses/validation", {}, {0}).judge(5), "") << "nothing has no value";
}

TEST(Rules, OvertrainingFiresWhenNeitherLossHasBeenBetterForItsPatience) {
  const std::string rule = R"({"rule": "overtraining", "parameters": {"patience_train": 2, "patience_validation": 3}})";
  const auto run = [&](const std::vector<double>& train, const std::vector<double>& validation) {
    RuleDriver driver(rule);
    for (std::size_t i = 0; i < train.size(); ++i) {
      driver.scalar("losses/train", train[i]).scalar("losses/validation", validation[i]);
      if (!driver.judge(static_cast<std::int64_t>(i)).empty()) return static_cast<int>(i);
    }
    return -1;
  };
  EXPECT_EQ(run({1, 1, 1, 1}, {1, 1, 1, 1}), 3);
  EXPECT_EQ(run({1, 1, 1, 1}, {1, 1, 1, 0.98}), -1);
  RuleDriver tie(R"({"rule": "overtraining", "parameters": {"patience_train": 1, "patience_validation": 1, "delta": 0.25}})");
  EXPECT_EQ(tie.scalar("losses/train", 1).scalar("losses/validation", 1).judge(0), "");
  EXPECT_NE(tie.scalar("losses/train", 0.75).scalar("losses/validation", 0.75).judge(1), "") << "by delta is not by more";
  EXPECT_EQ(run({1, 0.9, 0.8, 0.7}, {1, 1, 1, 1}), -1);
  EXPECT_EQ(run({1, 1, 1, 1}, {1, 0.995, 0.992, 0.991}), 3);  // not by delta
}

TEST(Rules, ClassImbalanceFiresForClassesFarApartAndForOneThatIsMispredicted) {
  const std::string rule = R"({"rule": "class_imbalance", "parameters": {"samples": 12}})";
  std::vector<double> labels = repeated(0, 11);
  labels.push_back(1);
  EXPECT_THAT(RuleDriver(rule).array("labels/train", labels).judge(0), HasSubstr("class 0 has 11 times as many rows as class 1"));
  labels.erase(labels.begin());
  EXPECT_EQ(RuleDriver(rule).array("labels/train", labels).judge(0), "");  // too few yet
  labels.push_back(1);
  EXPECT_EQ(RuleDriver(rule).array("labels/train", labels).judge(0), "");
  std::vector<double> tenfold = repeated(0, 20);
  tenfold.insert(tenfold.end(), {1, 1});
  EXPECT_EQ(RuleDriver(rule).array("labels/train", tenfold).judge(0), "") << "not more than ten times as many";
  RuleDriver tie(R"({"rule": "class_imbalance", "parameters": {"samples": 8, "threshold_misprediction": 0.75}})");
  tie.array("labels/a", {0, 0, 0, 0, 1, 1, 1, 1}).array("predictions/a", {0, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(tie.judge(10), "") << "three of four are not more than that";
  RuleDriver wrong(rule);
  const std::vector<double> even{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  wrong.array("labels/a", even).array("predictions/a", {0, 0, 0, 0, 0, 0, 1, 0.4, 0.1, 0.2, 0.4, 0.1});
  EXPECT_THAT(wrong.judge(10), HasSubstr("83.3333 % of the rows of class 1"));
}

TEST(Rules, ConfusionIsByRowsSoThatTheIdentityPasses) {
  const std::string rule = R"({"rule": "confusion"})";
  std::vector<double> labels = repeated(0, 10);
  for (int i = 0; i < 10; ++i) labels.push_back(1);
  EXPECT_EQ(RuleDriver(rule).array("labels/a", labels).array("predictions/a", labels).judge(10), "");
  std::vector<double> one_wrong = labels;
  one_wrong[0] = 1;
  EXPECT_EQ(RuleDriver(rule).array("labels/a", labels).array("predictions/a", one_wrong).judge(10), "");
  std::vector<double> two_wrong = one_wrong;
  two_wrong[1] = 1;
  EXPECT_THAT(RuleDriver(rule).array("labels/a", labels).array("predictions/a", two_wrong).judge(10), HasSubstr("80 %"));
  RuleDriver probabilities(rule);
  probabilities.array("labels/a", {0, 1}).array("predictions/a", {0.9, 0.1, 0.8, 0.2}, {2, 2});
  EXPECT_THAT(probabilities.judge(10), HasSubstr("of the rows of class 1 of `labels/a` 0 % are predicted as class 1"));
}

TEST(Rules, PredictionsOfTheFirstStepsAreNotHeldAgainstTheLabels) {
  const std::vector<double> labels{0, 0, 1, 1};
  for (const char* rule : {R"({"rule": "confusion"})", R"({"rule": "class_imbalance", "parameters": {"samples": 4}})"}) {
    RuleDriver driver(rule);
    driver.array("labels/a", labels).array("predictions/a", {0, 0, 0, 0});
    EXPECT_EQ(driver.judge(9), "") << rule << ": what has hardly learned confuses everything";
    driver.array("labels/a", labels).array("predictions/a", {0, 0, 0, 0});
    EXPECT_NE(driver.judge(10), "") << rule;
  }
  RuleDriver imbalance(R"({"rule": "class_imbalance", "parameters": {"samples": 4}})");
  EXPECT_NE(imbalance.array("labels/a", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}).judge(0), "") << "labels do not learn";
  RuleDriver asked(R"({"rule": "confusion", "parameters": {"start_step": 2}})");
  EXPECT_NE(asked.array("labels/a", labels).array("predictions/a", {0, 0, 0, 0}).judge(2), "");
}

TEST(Rules, FeatureImportanceOverweightLooksAtTheLargestShares) {
  const std::string rule = R"({"rule": "feature_importance_overweight", "collections": ["feature_importance"]})";
  const auto judge = [&](const std::vector<double>& shares) {
    Diagnostics none;
    const Json json{{"rules", Json::array({Json::parse(rule)})}, {"collections", {{"feature_importance", Json::object()}}}};
    Judge judging(parse_debug(json, "", {TrainerKind::xgboost, 10, {}}, none));
    StepTensors step{1, {}};
    for (std::size_t i = 0; i < shares.size(); ++i)
      step.tensors.push_back({"feature_importance/weight/f" + std::to_string(i), summarise(shares[i]), nullptr});
    return !judging.step(step).empty();
  };
  EXPECT_TRUE(judge({0.3, 0.3, 0.21, 0.19}));
  EXPECT_FALSE(judge({0.3, 0.28, 0.21, 0.21}));
  EXPECT_FALSE(judge({0.25, 0.25, 0.25, 0.25}));
  EXPECT_FALSE(judge({0.5, 0.3, 0.2}));  // three have everything in any case
  EXPECT_TRUE(judge({kRuleNan, 0.3, 0.3, 0.21, 0.19})) << "of those that have a share";
  EXPECT_FALSE(judge({0.5, 0.3, 0.2, kRuleNan}));
}

TEST(Rules, SaturatedActivationAndDeadReluCountNodes) {
  const std::string saturated = R"({"rule": "saturated_activation"})";
  // Batch of 2, 2 nodes.
  EXPECT_EQ(RuleDriver(saturated).array("inputs/a_tanh_input", {20, 1, 20, 1}, {2, 2}).judge(1), "");  // 50 %, not more
  EXPECT_NE(RuleDriver(saturated).array("inputs/a_tanh_input", {20, 20, -20, 20}, {2, 2}).judge(1), "");
  EXPECT_EQ(RuleDriver(saturated).array("inputs/a_sigmoid_input", {16, -22, 16, -22}, {2, 2}).judge(1), "");
  const std::string dead = R"({"rule": "dead_relu"})";
  EXPECT_NE(RuleDriver(dead).array("outputs/relu_output", {0, 0, 0, 0}, {2, 2}).judge(1), "");
  EXPECT_EQ(RuleDriver(dead).array("outputs/relu_output", {0, 1, 0, 0}, {2, 2}).judge(1), "");
}

TEST(Rules, PoorWeightInitializationLooksAtVariancesGradientsAndTheFirstLosses) {
  const std::string rule = R"({"rule": "poor_weight_initialization"})";
  const auto variances = [&](double large) {
    return RuleDriver(rule).array("inputs/a.relu_input", {-1, 1}).array("inputs/b.relu_input", {-large, large}).judge(1);
  };
  EXPECT_EQ(variances(3.1), "");
  EXPECT_NE(variances(3.2), "");
  RuleDriver with_nan(rule);
  with_nan.array("inputs/0.relu_input", {kRuleNan, 1}).array("inputs/a.relu_input", {-1, 1});
  EXPECT_NE(with_nan.array("inputs/b.relu_input", {-9, 9}).judge(1), "") << "of those that have a variance";
  EXPECT_NE(RuleDriver(rule).array("gradients/w", repeated(0.5, 20)).judge(1), "");
  EXPECT_EQ(RuleDriver(rule).array("gradients/w", {-1, -1, kRuleNan, 1, -1}).judge(1), "") << "NaN has no place among the others";
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", repeated(1, 10)), 5);
  std::vector<double> late{10, 9, 8, 7, 6, 5};
  late.insert(late.end(), 20, 5);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", late), -1);  // after the first ten steps
}

TEST(Rules, InputRulesLookAtMeansAndTokens) {
  const std::string images = R"({"rule": "check_input_images", "parameters": {"threshold_samples": 2}})";
  EXPECT_EQ(RuleDriver(images).array("inputs/x", {0.2, 0, 0.2, 0}, {2, 2, 1, 1}).judge(1), "");
  EXPECT_THAT(RuleDriver(images).array("inputs/x", {0, 0.3, 0, 0.2}, {2, 2, 1, 1}).judge(1), HasSubstr("channel 1"));
  const std::string tokens = R"({"rule": "nlp_sequence_ratio"})";
  EXPECT_EQ(RuleDriver(tokens).array("inputs/x", {0, 5, 0, 7}).judge(1), "");
  EXPECT_NE(RuleDriver(tokens).array("inputs/x", {0, 5, 0, 0}).judge(1), "");
}

TEST(Rules, StepOutlierNeedsMoreThanItsNumberOfLongSteps) {
  const std::string rule = R"({"rule": "step_outlier", "parameters": {"patience": 4, "outliers": 1}})";
  std::vector<double> seconds{1, 1.1, 0.9, 1, 5, 1, 5};
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/step_seconds", seconds), 6);
  seconds.back() = 1.1;
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/step_seconds", seconds), -1);
}

TEST(Rules, ResourceSharesAreJudgedOverTheirPatience) {
  const std::string cpu = R"({"rule": "cpu_underused", "parameters": {"patience": 2}})";
  EXPECT_EQ(RuleDriver(cpu).fires_at("resources/cpu_share", {0.4, 0.6, 0.3}), 2);
  EXPECT_EQ(RuleDriver(cpu).fires_at("resources/cpu_share", {0.4, 0.6, 0.4}), -1);
  const std::string io = R"({"rule": "io_bottleneck", "parameters": {"patience": 1}})";
  EXPECT_EQ(RuleDriver(io).fires_at("resources/io_wait_share", {0.5, 0.51}), 1);
  EXPECT_EQ(RuleDriver(R"({"rule": "max_initialization_time"})").fires_at("resources/first_step_seconds", {1200, 1201}), 1);
}

TEST(Rules, RankImbalanceIsJudgedOverItsPatience) {
  const std::string rule = R"({"rule": "rank_imbalance", "parameters": {"patience": 2}})";
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/rank_imbalance", {0.25, 0.35, 0.3}), 2);
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/rank_imbalance", {0.25, 0.35, 0.25}), -1) << "0.3 is not more than 0.3";
  const std::vector<double> until_it_has_five{0.9, 0.9, 0.9, 0.9, 0.9};
  EXPECT_EQ(RuleDriver(R"({"rule": "rank_imbalance"})").fires_at("resources/rank_imbalance", until_it_has_five, 10), 40);
}

TEST(Rules, MemoryGrowthComparesWithWhatItHadSettledAt) {
  const std::string rule = R"({"rule": "memory_growth", "parameters": {"patience": 10}})";
  std::vector<double> bytes = repeated(100, 10);
  bytes.insert(bytes.end(), 10, 120);
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/memory_bytes", bytes), -1);
  bytes.insert(bytes.end(), 10, 130);
  EXPECT_EQ(RuleDriver(rule).fires_at("resources/memory_bytes", bytes), 20);
}

TEST(Rules, ABoundOfOnesOwnHoldsForSoManySteps) {
  const std::string rule =
      R"({"rule": "bound", "name": "small", "reduction": "max", "above": 2, "for_steps": 2, "collections": ["losses"]})";
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {3, 2, 3, 3}), 3);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {3, 2, 3, 2}), -1);
  EXPECT_EQ(RuleDriver(rule).fires_at("losses/x", {kRuleNan, kRuleNan}), 1);
  EXPECT_EQ(RuleDriver(R"({"rule": "bound", "reduction": "max", "below": 2})").fires_at("losses/x", {3, kRuleNan}), 1);
  RuleDriver relative(
      R"({"rule": "bound", "reduction": "mean", "below": 0.5, "tensors": ["^losses/a"], "relative_to": "^losses/b"})");
  EXPECT_EQ(relative.scalar("losses/a", 1).scalar("losses/b", 2).judge(1), "");
  EXPECT_THAT(relative.scalar("losses/a", 1).scalar("losses/b", 3).judge(2), HasSubstr("by that of `losses/b`"));
  EXPECT_EQ(relative.finding().rule, "bound");
}

TEST(Rules, EveryTypeHasARemedyAndCanBeParsedWithItsDefaults) {
  for (const RuleType& type : rule_types()) {
    EXPECT_FALSE(type.remedy.empty()) << type.name;
    EXPECT_FALSE(type.needs.empty()) << type.name;
    const bool asks_for_more =
        type.name == "bound" || type.name == "tensor_variance" || type.name == "similar_across_runs" || type.name == "process";
    if (asks_for_more) continue;
    Diagnostics diagnostics;
    parse_rule(Json{{"rule", type.name}}, "rule", diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << type.name;
  }
}

// Saved, judged.
using Counts = std::pair<std::int64_t, std::int64_t>;
Counts counts(const RuleDriver& rule) { return {rule.standing().saved, rule.standing().judged}; }

TEST(Rules, OneThatNeverSawWhatItNeedsHasNotJudged) {
  RuleDriver overfit(R"({"rule": "overfit"})");
  EXPECT_EQ(overfit.fires_at("losses/validation", {1, 2, 3}), -1);
  EXPECT_EQ(counts(overfit), Counts(3, 0)) << "there is no training loss";
  EXPECT_EQ(overfit.scalar("losses/validation", 1).scalar("losses/train", 1).judge(7), "");
  EXPECT_EQ(counts(overfit), Counts(4, 1));
  EXPECT_EQ(overfit.standing().last_step, 7);
  EXPECT_EQ(overfit.scalar("losses/validation", 1).scalar("losses/train", 1).judge(7), "");
  EXPECT_EQ(counts(overfit), Counts(4, 1)) << "a step that comes in parts is one";
  EXPECT_EQ(overfit.scalar("weights/fc1", 1).judge(8), "");
  EXPECT_EQ(counts(overfit), Counts(4, 1)) << "it does not look at weights";
}

// What a step brings comes by lines, files and reports, each when it is there.
TEST(Rules, APartOfAStepIsHeldAgainstThePartsBefore) {
  RuleDriver overfit(R"({"rule": "overfit"})");
  EXPECT_EQ(overfit.scalar("losses/train-loss", 1).judge(3), "");
  EXPECT_EQ(counts(overfit), Counts(1, 0));
  EXPECT_NE(overfit.scalar("metrics/validation-loss", 2).judge(3), "");
  EXPECT_EQ(counts(overfit), Counts(1, 1));
  EXPECT_EQ(overfit.finding().step, 3);
  RuleDriver overtraining(R"({"rule": "overtraining", "parameters": {"patience_train": 1, "patience_validation": 1}})");
  for (const int step : {1, 2}) {
    EXPECT_EQ(overtraining.scalar("losses/train", 1).judge(step), "");
    EXPECT_EQ(overtraining.scalar("losses/validation", 1).judge(step).empty(), step == 1);
  }
  const char* relative =
      R"({"rule": "bound", "reduction": "mean", "above": 2, "tensors": ["^losses/a"], "relative_to": "^losses/b"})";
  RuleDriver other_step(relative);
  EXPECT_EQ(other_step.scalar("losses/b", 1).judge(1), "");
  EXPECT_EQ(other_step.scalar("losses/a", 3).judge(2), "") << "of another step";
  EXPECT_EQ(counts(other_step), Counts(2, 0));
  RuleDriver bound(relative);
  EXPECT_EQ(bound.scalar("losses/b", 1).judge(1), "");
  EXPECT_NE(bound.scalar("losses/a", 3).judge(1), "");
  RuleDriver weights(R"({"rule": "poor_weight_initialization"})");
  EXPECT_EQ(weights.array("inputs/a.relu_input", {-1, 1}).judge(1), "");
  EXPECT_NE(weights.array("inputs/b.relu_input", {-9, 9}).judge(1), "");
}

TEST(Rules, AStepThatComesInPartsCountsOnce) {
  RuleDriver overfit(R"({"rule": "overfit", "parameters": {"patience": 2}})");
  EXPECT_EQ(overfit.scalar("losses/train", 1).scalar("losses/validation", 2).judge(1), "");
  EXPECT_EQ(overfit.scalar("losses/train-more", 1).judge(1), "") << "the same step";
  EXPECT_NE(overfit.scalar("losses/train", 1).scalar("losses/validation", 2).judge(2), "");
  RuleDriver overtraining(R"({"rule": "overtraining", "parameters": {"patience_train": 2, "patience_validation": 2}})");
  EXPECT_EQ(overtraining.fires_at("losses/train", {1, 1, 1, 1}), -1) << "no validation";
  for (const int step : {11, 12}) {
    EXPECT_EQ(overtraining.scalar("losses/train", 1).scalar("losses/validation", 1).judge(step), "");
    EXPECT_EQ(overtraining.scalar("losses/a", 1).judge(step), "");
  }
  EXPECT_NE(overtraining.scalar("losses/train", 1).scalar("losses/validation", 1).judge(13), "");
  RuleDriver bound(R"({"rule": "bound", "reduction": "max", "above": 2, "for_steps": 2, "collections": ["losses"]})");
  EXPECT_EQ(bound.scalar("losses/x", 3).judge(1), "");
  EXPECT_EQ(bound.scalar("losses/y", 1).judge(1), "") << "x was above at one step only";
  EXPECT_NE(bound.scalar("losses/x", 3).judge(2), "");
  RuleDriver weights(R"({"rule": "poor_weight_initialization", "parameters": {"steps": 2, "patience": 1}})");
  EXPECT_EQ(weights.scalar("losses/x", 1).judge(1), "");
  EXPECT_EQ(weights.scalar("losses/y", 3).judge(1), "") << "x did not stand still, it is told again";
  EXPECT_NE(weights.scalar("losses/x", 1).judge(2), "") << "still the second step";
}

TEST(Rules, OneThatNeedsSeveralStepsJudgesFromTheLastOfThemOn) {
  RuleDriver unchanged(R"({"rule": "unchanged_tensor", "parameters": {"num_steps": 3}})");
  EXPECT_EQ(unchanged.fires_at("losses/x", {1, 2}), -1);
  EXPECT_EQ(counts(unchanged), Counts(2, 0));
  EXPECT_EQ(unchanged.scalar("losses/x", 3).judge(3), "");
  EXPECT_EQ(counts(unchanged), Counts(3, 1));
  RuleDriver loss(R"({"rule": "loss_not_decreasing", "parameters": {"num_steps": 10}})");
  EXPECT_EQ(loss.fires_at("losses/train", {9, 8, 7, 6}, 3), -1);
  EXPECT_EQ(counts(loss), Counts(4, 0)) << "nine steps are not ten";
  EXPECT_EQ(loss.scalar("losses/train", 1).judge(10), "");
  EXPECT_EQ(counts(loss), Counts(5, 1));
  RuleDriver cpu(R"({"rule": "cpu_underused", "parameters": {"patience": 2}, "collections": ["resources"]})");
  EXPECT_EQ(cpu.fires_at("resources/cpu_share", {1}), -1);
  EXPECT_EQ(counts(cpu), Counts(1, 0));
  EXPECT_EQ(cpu.scalar("resources/cpu_share", 1).judge(2), "");
  EXPECT_EQ(counts(cpu), Counts(2, 1));
}

TEST(Rules, OneThatNeedsWholeArraysDoesNotJudgeByReductions) {
  RuleDriver update(R"({"rule": "weight_update_ratio"})");
  EXPECT_EQ(update.fires_at("weights/fc1", {1, 2}), -1);
  EXPECT_EQ(counts(update), Counts(2, 0));
  EXPECT_EQ(update.array("weights/fc1", {1, 2}).judge(3), "");
  EXPECT_EQ(counts(update), Counts(3, 0)) << "there is none before it";
  EXPECT_EQ(update.array("weights/fc1", {1, 3}).judge(4), "");
  EXPECT_EQ(counts(update), Counts(4, 1));
}

}  // namespace tuneband::debugger
