#include "workers/xgboost/joined_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/random.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using testing::HasSubstr;

constexpr std::size_t kRows = 200;

// Two numbers and a category of six, with gaps, and a label of `classes` classes.
Table made_up_table(int classes, std::size_t columns = 3) {
  Table table;
  table.columns = columns;
  for (std::size_t row = 0; row < kRows; ++row) {
    double score = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      const double unit = random_unit(3, {row, column});
      score += column == 2 ? static_cast<double>(static_cast<int>(unit * 6) % 2) : unit;
      const bool gap = row % 13 == column;
      table.values.push_back(gap ? std::nanf("") : static_cast<float>(column == 2 ? static_cast<int>(unit * 6) : unit));
    }
    table.labels.push_back(static_cast<float>(std::min(classes - 1, static_cast<int>(score / 3 * classes))));
  }
  table.feature_types = std::string(columns, 'q');
  if (columns > 2) table.feature_types[2] = 'c';
  return table;
}

class JoinedModels : public testing::Test {
 protected:
  std::string model(XgboostParameters parameters, int rounds = 5) {
    auto booster = XgboostBooster::create(matrix_, {}, std::move(parameters));
    EXPECT_TRUE(booster);
    for (int round = 0; round < rounds; ++round) EXPECT_TRUE(booster->train_round(round));
    return *booster->save();
  }

  std::vector<float> margins(std::string_view model) {
    auto booster = XgboostBooster::of_model(model);
    EXPECT_TRUE(booster) << describe(booster.error());
    const auto rows = booster->predict(matrix_, Prediction::margin);
    EXPECT_TRUE(rows) << describe(rows.error());
    return {rows->values.begin(), rows->values.end()};
  }

  void expect_weighted_sum(const std::vector<WeightedModel>& models) {
    const auto joined = join_models(models);
    ASSERT_TRUE(joined) << describe(joined.error());
    const auto found = margins(joined->json);
    std::vector<double> expected(found.size());
    for (const WeightedModel& model : models) {
      const auto of_one = margins(model.bytes);
      ASSERT_EQ(of_one.size(), found.size());
      for (std::size_t i = 0; i < found.size(); ++i) expected[i] += model.weight * static_cast<double>(of_one[i]);
    }
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(static_cast<double>(found[i]), expected[i], 1e-5) << i;
  }

  static std::string fault(const std::vector<WeightedModel>& models) {
    const auto joined = join_models(models);
    return joined ? "" : describe(joined.error());
  }

  void use(int classes, std::size_t columns = 3) { matrix_ = *XgboostMatrix::create(made_up_table(classes, columns)); }

  XgboostMatrix matrix_ = *XgboostMatrix::create(made_up_table(2));
};

TEST_F(JoinedModels, HaveTheWeightedSumOfTheMargins) {
  const XgboostParameters shallow{{"objective", "binary:logistic"}, {"tree_method", "hist"}, {"max_depth", "2"}};
  const XgboostParameters deep{{"objective", "binary:logistic"}, {"tree_method", "hist"}, {"max_depth", "6"}, {"eta", "0.9"}};
  const XgboostParameters forest{
      {"objective", "binary:logistic"}, {"tree_method", "hist"}, {"num_parallel_tree", "3"}, {"subsample", "0.5"}};
  expect_weighted_sum({{model(shallow), 0.25}, {model(deep, 9), 0.625}, {model(forest), 0.125}});
  expect_weighted_sum({{model(deep), 1}});
  EXPECT_EQ(join_models({{model(shallow), 0.5}, {model(forest, 2), 0.5}})->trees, 11U);
}

TEST_F(JoinedModels, HaveTheWeightsOfAllNodesInShares) {
  const std::string one = model({{"objective", "binary:logistic"}, {"tree_method", "hist"}}, 1);
  const auto weights = [&](double weight) {
    const Json joined = Json::parse(join_models({{one, weight}})->json);
    return joined.at("/learner/gradient_booster/model/trees/0/base_weights"_json_pointer).get<std::vector<double>>();
  };
  std::vector<double> half = weights(1);
  for (double& weight : half) weight *= 0.5;
  EXPECT_THAT(weights(0.5), testing::Pointwise(testing::DoubleNear(1e-6), half));
  EXPECT_THAT(half, testing::Contains(testing::Gt(0.01)));
}

TEST_F(JoinedModels, OfATreeThatIsALeafTheLeafCounts) {
  const XgboostParameters leaves{{"objective", "reg:squarederror"}, {"tree_method", "hist"}, {"gamma", "1e9"}};
  ASSERT_NE(margins(model(leaves)).front(), 0.5F) << "more than the base score";
  expect_weighted_sum({{model(leaves), 0.25}, {model({{"objective", "reg:squarederror"}, {"tree_method", "hist"}}), 0.75}});
}

TEST_F(JoinedModels, KeepSplitsThatTellNumbersFromWhatIsMissing) {
  Table table = made_up_table(2, 2);
  constexpr float kMax = std::numeric_limits<float>::max();
  for (std::size_t row = 0; row < kRows; ++row) {
    const bool missing = row % 3 == 0;
    float& value = table.values[2 * row + 1];
    value = missing ? std::nanf("") : row % 3 == 1 ? kMax : -kMax;
    table.labels[row] = missing ? 4.0F : static_cast<float>(row % 2);
  }
  matrix_ = *XgboostMatrix::create(table);
  const XgboostParameters deep{{"objective", "reg:squarederror"}, {"tree_method", "hist"}, {"max_depth", "3"}, {"eta", "0.9"}};
  const std::string one = model(deep);
  const auto of_one = margins(one);
  ASSERT_GT(of_one[0], of_one[1] + 1);
  ASSERT_GT(of_one[0], of_one[2] + 1);
  expect_weighted_sum({{one, 1}});
}

TEST_F(JoinedModels, HaveNoAttributesOfTheirMembers) {
  auto booster = XgboostBooster::of_model(model({{"tree_method", "hist"}}));
  ASSERT_TRUE(booster->set_attribute("best_iteration", "3"));
  const auto joined = join_models({{*booster->save(), 1}});
  ASSERT_TRUE(joined) << describe(joined.error());
  EXPECT_EQ(*XgboostBooster::of_model(joined->json)->attribute("best_iteration"), "");
}

TEST_F(JoinedModels, OfClassesHaveItForEachClass) {
  use(3);
  const XgboostParameters classes{{"objective", "multi:softprob"}, {"num_class", "3"}, {"tree_method", "hist"}};
  XgboostParameters others = classes;
  others.emplace_back("eta", "0.05");
  expect_weighted_sum({{model(classes, 4), 0.7}, {model(others, 7), 0.3}});
}

TEST_F(JoinedModels, KeepHowDartWeighsItsTrees) {
  const XgboostParameters dart{{"booster", "dart"}, {"tree_method", "hist"}, {"rate_drop", "0.5"}, {"one_drop", "1"}};
  const XgboostParameters trees{{"tree_method", "hist"}};
  expect_weighted_sum({{model(dart, 12), 0.5}, {model(trees), 0.5}});
}

TEST_F(JoinedModels, BeginWithTheWeightedMeanOfTheBaseScoresInMargins) {
  for (const char* objective : {"reg:squarederror", "reg:logistic", "binary:logistic", "binary:logitraw", "binary:hinge",
                                "reg:pseudohubererror", "reg:tweedie", "count:poisson", "survival:cox", "rank:pairwise"}) {
    SCOPED_TRACE(objective);
    const auto of = [&](const char* base_score, int rounds) {
      return model({{"objective", objective}, {"tree_method", "hist"}, {"base_score", base_score}}, rounds);
    };
    expect_weighted_sum({{of("0.1", 5), 0.5}, {of("0.1", 3), 0.5}});
    expect_weighted_sum({{of("0.07", 5), 0.25}, {of("0.9", 3), 0.625}, {of("0.3", 2), 0.125}});
  }
  const auto raw = [&](const char* base_score) {
    return model({{"objective", "binary:logitraw"}, {"tree_method", "hist"}, {"base_score", base_score}});
  };
  expect_weighted_sum({{raw("-2"), 0.75}, {raw("4"), 0.25}});
  use(3);
  const auto of_classes = [&](const char* base_score) {
    return model({{"objective", "multi:softprob"}, {"num_class", "3"}, {"tree_method", "hist"}, {"base_score", base_score}});
  };
  expect_weighted_sum({{of_classes("0.1"), 0.75}, {of_classes("-2"), 0.25}});
}

TEST_F(JoinedModels, AreOfTreesAndOfOneKind) {
  const std::string trees = model({{"tree_method", "hist"}});
  EXPECT_THAT(fault({{model({{"booster", "gblinear"}}), 1}}), HasSubstr("`gblinear` has no trees"));
  EXPECT_THAT(fault({{trees, 0.5}, {model({{"objective", "binary:logistic"}, {"tree_method", "hist"}}), 0.5}}),
              HasSubstr("several objectives"));
  use(2, 2);
  EXPECT_THAT(fault({{trees, 0.5}, {model({{"tree_method", "hist"}}), 0.5}}), HasSubstr("the same features"));
  EXPECT_THAT(fault({{trees.substr(0, trees.size() / 2), 1}}), HasSubstr("not as XGBoost 1.7 writes it"));
  EXPECT_THAT(fault({{"{}", 1}}), HasSubstr("not as XGBoost 1.7 writes it"));
}

}  // namespace
}  // namespace tuneband::workers
