// What XGBoost 1.7 accepts, as its documentation says it.
#include "jobs/xgboost_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tuneband {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::EndsWith;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using Texts = std::vector<const char*>;

struct Edges {
  const char* parameter;
  Texts fit;
  Texts do_not;
};

const Texts kNoNumbers{"", "x", "1x", " 1", "nan", "inf"};

void expect_edges(const Edges& edges) {
  const XgboostParameter* parameter = find_xgboost_parameter(edges.parameter);
  ASSERT_NE(parameter, nullptr) << edges.parameter;
  for (const char* text : edges.fit) EXPECT_EQ(fault_of_value(*parameter, text), "") << edges.parameter;
  for (const char* text : edges.do_not) EXPECT_THAT(fault_of_value(*parameter, text), Not(IsEmpty())) << edges.parameter << text;
}

TEST(XgboostTables, IntegersEndWhereTheDocumentationSays) {
  const std::vector<Edges> all{
      {"verbosity", {"0", "3"}, {"-1", "4"}}, {"seed", {"-9000000000000000000", "9000000000000000000"}, {"9300000000000000000"}},
      {"gpu_id", {"-1", "7"}, {"-2"}},        {"max_depth", {"0", "2147483647"}, {"-1", "2147483648"}},
      {"max_leaves", {"0"}, {"-1"}},          {"max_bin", {"2"}, {"1"}},
      {"num_parallel_tree", {"1"}, {"0"}},    {"max_cat_to_onehot", {"1"}, {"0"}},
      {"max_cat_threshold", {"1"}, {"0"}},    {"top_k", {"0"}, {"-1"}},
      {"num_class", {"0", "3"}, {"-1"}},      {"num_pairsample", {"1"}, {"0"}}};
  for (const Edges& edges : all) {
    expect_edges(edges);
    expect_edges({edges.parameter, {}, kNoNumbers});
    expect_edges({edges.parameter, {}, {"1.5", "1e3"}});
  }
}

TEST(XgboostTables, NumbersEndWhereTheDocumentationSays) {
  for (const char* name :
       {"eta", "learning_rate", "gamma", "min_split_loss", "min_child_weight", "max_delta_step", "lambda", "reg_lambda", "alpha",
        "reg_alpha", "sketch_ratio", "tolerance", "scale_pos_weight", "fix_list_weight"}) {
    expect_edges({name, {"0", "0.5", "1e300"}, {"-1e-300"}});
    expect_edges({name, {}, kNoNumbers});
  }
  for (const char* name : {"subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode"})
    expect_edges({name, {"1e-300", "1"}, {"0", "1.0001"}});
  for (const char* name : {"sparse_threshold", "rate_drop", "skip_drop"}) expect_edges({name, {"0", "1"}, {"-0.0001", "1.0001"}});
  expect_edges({"base_score", {"-1e300", "0", "1e300"}, kNoNumbers});
  expect_edges({"huber_slope", {"1e-300", "1e300"}, {"0", "-1"}});
  expect_edges({"tweedie_variance_power", {"1.0001", "1.9999"}, {"1", "2"}});
  expect_edges({"aft_loss_distribution_scale", {"1e-300", "1e300"}, {"0"}});
}

TEST(XgboostTables, WordsAndFlagsAreThoseOfTheDocumentation) {
  expect_edges({"booster", {"gbtree", "gblinear", "dart"}, {"tree", "", "GBTREE"}});
  expect_edges({"objective", {"binary:logistic", "survival:aft"}, {"binary", ""}});
  expect_edges({"one_drop", {"true", "false", "0", "1"}, {"2", "yes", ""}});
  EXPECT_EQ(find_xgboost_parameter("n_estimators"), nullptr);
  EXPECT_THAT(refused_xgboost_parameter("n_estimators"), Not(IsEmpty()));
  EXPECT_THAT(refused_xgboost_parameter("eta"), IsEmpty());
}

TEST(XgboostTables, ConstraintsOnFeaturesAreByPlaceOrByName) {
  expect_edges({"monotone_constraints",
                {"(1,-1)", "(0)", "[1, 0]", R"({"a": 1, "b": -1, "c": 0})", ""},
                {"1", "(2)", "(-2)", "(1.0)", "(1,", "a", R"({"a": 2})", R"({"a": "1"})", R"([[1]])", "nan"}});
  expect_edges({"interaction_constraints",
                {"[[0, 1], [2]]", R"([["a", "b"], ["c", 3]])", "[]", "[[]]", ""},
                {"[0]", "[[-1]]", "[[1.5]]", "[[true]]", R"({"a": 1})", "[[0, 1]", "a", "1"}});
  EXPECT_EQ(fault_of_value(*find_xgboost_parameter("monotone_constraints"), "(2)"),
            "expected 1 (rises), 0 or -1 (falls) for each column, as {\"age\": 1}, or for each feature, as (1,0,-1), got (2)");
  EXPECT_THAT(fault_of_value(*find_xgboost_parameter("interaction_constraints"), std::string(101, '[')),
              EndsWith(", got " + std::string(100, '[') + "..."));
}

TEST(XgboostTables, OnlyALearningRateAboveOneIsUnusual) {
  for (const std::string& name : xgboost_parameter_names()) {
    const double most = find_xgboost_parameter(name)->usual_max;
    EXPECT_EQ(most, name == "eta" || name == "learning_rate" ? 1 : std::numeric_limits<double>::max()) << name;
  }
}

TEST(XgboostTables, WhatIsMisspeltMayBeMeantByAnyNameOrAlias) {
  EXPECT_THAT(xgboost_parameter_names(), IsSupersetOf({"eta", "learning_rate", "seed", "random_state"}));
  EXPECT_THAT(xgboost_metric_names(), IsSupersetOf({"rmse", "error", "error@n", "ndcg", "ndcg@n", "ams@n"}));
  EXPECT_THAT(xgboost_metric_names(), Not(AnyOf(Contains("ams"), Contains("rmse@n"))));
}

TEST(XgboostTables, AFaultNamesTheRange) {
  const auto fault = [](const char* name, const char* value) { return fault_of_value(*find_xgboost_parameter(name), value); };
  EXPECT_EQ(fault("subsample", "2"), "expected a number between 0 (excluded) and 1, got 2");
  EXPECT_EQ(fault("tweedie_variance_power", "2"), "expected a number between 1 (excluded) and 2 (excluded), got 2");
  EXPECT_EQ(fault("verbosity", "4"), "expected an integer between 0 and 3, got 4");
  EXPECT_EQ(fault("aft_loss_distribution_scale", "0"), "expected a number above 0, got 0");
  EXPECT_EQ(fault("seed", "x"), "expected an integer, got x");
  EXPECT_EQ(fault("one_drop", "x"), "expected true or false, got x");
}

TEST(XgboostTables, MetricsAreToBeMaximisedOrMinimisedAsTheDocumentationSays) {
  for (const char* name :
       {"auc", "aucpr", "pre@5", "ndcg", "ndcg@10", "ndcg@5-", "map", "map@3-", "ams@0.15", "interval-regression-accuracy"}) {
    ASSERT_NE(find_xgboost_metric(name), nullptr) << name;
    EXPECT_TRUE(find_xgboost_metric(name)->maximize) << name;
  }
  for (const char* name :
       {"rmse", "rmsle", "mae", "mape", "mphe", "logloss", "error", "error@0.7", "merror", "mlogloss", "poisson-nloglik",
        "gamma-nloglik", "gamma-deviance", "tweedie-nloglik@1.5", "cox-nloglik", "aft-nloglik"}) {
    ASSERT_NE(find_xgboost_metric(name), nullptr) << name;
    EXPECT_FALSE(find_xgboost_metric(name)->maximize) << name;
  }
  for (const char* name : {"ams", "pre", "tweedie-nloglik", "tweedie-nloglik@2", "tweedie-nloglik@1", "rmse@3", "auc@0.5",
                           "error@", "error@x", "error@nan", "ndcg@-", "", "@5"})
    EXPECT_EQ(find_xgboost_metric(name), nullptr) << name;
}

TEST(XgboostTables, ObjectivesTakeTheLabelsThatTheyCanLearn) {
  const auto range = [](const char* name) { return find_xgboost_objective(name)->label; };
  for (const char* name : {"binary:logistic", "binary:logitraw", "binary:hinge", "reg:logistic"}) {
    EXPECT_EQ(range(name).min, 0) << name;
    EXPECT_EQ(range(name).max, 1) << name;
    EXPECT_FALSE(range(name).min_excluded || range(name).max_excluded) << name;
  }
  for (const char* name :
       {"reg:tweedie", "count:poisson", "multi:softmax", "multi:softprob", "rank:pairwise", "rank:ndcg", "rank:map"}) {
    EXPECT_EQ(range(name).min, 0) << name;
    EXPECT_FALSE(range(name).min_excluded) << name;
    EXPECT_GT(range(name).max, 1e300) << name;
  }
  EXPECT_EQ(range("reg:gamma").min, 0);
  EXPECT_TRUE(range("reg:gamma").min_excluded);
  EXPECT_EQ(range("reg:squaredlogerror").min, -1);
  EXPECT_TRUE(range("reg:squaredlogerror").min_excluded);
  for (const char* name : {"reg:squarederror", "reg:linear", "reg:pseudohubererror", "reg:absoluteerror", "survival:cox"}) {
    EXPECT_LT(range(name).min, -1e300) << name;
    EXPECT_GT(range(name).max, 1e300) << name;
  }
}

TEST(XgboostTables, AMetricMeasuresTheObjectivesWhoseClassesItKnows) {
  const auto fits = [](const char* metric, const char* objective) {
    return fault_of_metric(*find_xgboost_metric(metric), *find_xgboost_objective(objective)).empty();
  };
  for (const char* metric : {"merror", "mlogloss"}) {
    EXPECT_TRUE(fits(metric, "multi:softprob"));
    EXPECT_FALSE(fits(metric, "binary:logistic"));
  }
  for (const char* metric : {"auc", "aucpr"}) {
    EXPECT_TRUE(fits(metric, "multi:softmax"));
    EXPECT_TRUE(fits(metric, "binary:logistic"));
  }
  for (const char* metric : {"rmse", "logloss", "error", "ndcg", "mphe", "cox-nloglik", "ams@0.1"}) {
    EXPECT_FALSE(fits(metric, "multi:softmax"));
    EXPECT_TRUE(fits(metric, "binary:logistic"));
  }
  for (const char* metric : {"aft-nloglik", "interval-regression-accuracy"}) {
    EXPECT_FALSE(fits(metric, "multi:softmax"));
    EXPECT_FALSE(fits(metric, "survival:aft"));
  }
}

}  // namespace
}  // namespace tuneband
