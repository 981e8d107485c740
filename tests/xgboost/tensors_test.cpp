// What the debugger saves of a training, held against what XGBoost's own C API says of the model that the training left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <map>
#include <numeric>

#include "debugger/files/tensor_reader.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using debugger::files::StoredTensor;
using debugger::files::TensorReader;
using test::TrialOutcome;
using test::TrialUnderTest;

constexpr int kTrainedRounds = 7;
constexpr int kFeatures = 3;
constexpr int kValidationRows = 40;
constexpr const char* kNames[] = {"a", "b", "c"};

float value_at(std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(random_unit(5, {row, column}));  // printed and read again it is the same
}

std::string table(std::uint64_t first, std::uint64_t rows, int classes) {
  std::string text = "a,b,c,y\n";
  for (std::uint64_t row = first; row < first + rows; ++row) {
    for (int column = 0; column < kFeatures; ++column) {
      char number[32];
      std::snprintf(number, sizeof number, "%.9g,", static_cast<double>(value_at(row, static_cast<std::uint64_t>(column))));
      text += number;
    }
    const float score = value_at(row, 0) + value_at(row, 1) * value_at(row, 2);
    text += std::to_string(std::min(classes - 1, static_cast<int>(score * static_cast<float>(classes) / 2))) + "\n";
  }
  return text;
}

// The model that a trial has left, as XGBoost reads it.
class LeftModel {
 public:
  explicit LeftModel(const std::string& file) {
    EXPECT_EQ(XGBoosterCreate(nullptr, 0, &booster_), 0);
    EXPECT_EQ(XGBoosterLoadModel(booster_, file.c_str()), 0) << XGBGetLastError();
  }
  ~LeftModel() { XGBoosterFree(booster_); }
  LeftModel(const LeftModel&) = delete;
  LeftModel& operator=(const LeftModel&) = delete;

  // Each feature's part of the sum.
  std::map<std::string, double> importance(const std::string& kind) const {
    bst_ulong count = 0;
    bst_ulong dimensions = 0;
    const char** names = nullptr;
    const bst_ulong* shape = nullptr;
    const float* scores = nullptr;
    const std::string config = R"({"importance_type": ")" + kind + R"("})";
    EXPECT_EQ(XGBoosterFeatureScore(booster_, config.c_str(), &count, &names, &dimensions, &shape, &scores), 0)
        << XGBGetLastError();
    double sum = 0;
    const bst_ulong classes = dimensions == 1 ? 1 : shape[1];
    std::map<std::string, double> shares;
    for (bst_ulong i = 0; i < count * classes; ++i) {
      shares[names[i / classes]] += std::abs(scores[i]);
      sum += std::abs(scores[i]);
    }
    for (auto& [name, share] : shares) share /= sum;
    return shares;
  }

  // Of each tree the sum over its leaves of value times the hessians there: what is not shrunk or regularized has minus the sum
  // of the gradients that it was made for.
  std::vector<double> gradient_sums(double eta) const {
    bst_ulong trees = 0;
    const char** dumps = nullptr;
    EXPECT_EQ(XGBoosterDumpModelEx(booster_, "", 1, "json", &trees, &dumps), 0) << XGBGetLastError();
    std::vector<double> sums;
    for (bst_ulong tree = 0; tree < trees; ++tree) sums.push_back(-leaf_sum(Json::parse(dumps[tree])) / eta);
    return sums;
  }

  // Of all trees at once, on the rows of table(first, rows, ...): rows x classes x (features and the bias).
  std::vector<float> contributions(std::uint64_t first, std::uint64_t rows) const {
    std::vector<float> values;
    for (std::uint64_t row = first; row < first + rows; ++row) {
      for (int column = 0; column < kFeatures; ++column) values.push_back(value_at(row, static_cast<std::uint64_t>(column)));
    }
    DMatrixHandle matrix = nullptr;
    EXPECT_EQ(XGDMatrixCreateFromMat(values.data(), rows, kFeatures, std::nanf(""), &matrix), 0);
    const char* config = R"({"type": 2, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": true})";
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* found = nullptr;
    EXPECT_EQ(XGBoosterPredictFromDMatrix(booster_, matrix, config, &shape, &dimensions, &found), 0) << XGBGetLastError();
    const auto size = std::accumulate(shape, shape + dimensions, bst_ulong{1}, std::multiplies<>());
    std::vector<float> copied(found, found + size);
    XGDMatrixFree(matrix);
    return copied;
  }

 private:
  static double leaf_sum(const Json& node) {
    if (node.contains("leaf")) return node["leaf"].get<double>() * node["cover"].get<double>();
    double sum = 0;
    for (const Json& child : node["children"]) sum += leaf_sum(child);
    return sum;
  }

  BoosterHandle booster_ = nullptr;
};

struct Task {
  const char* name;
  const char* parameters;
  int classes = 2;
};

class XgboostTensorsAre : public testing::TestWithParam<Task> {
 protected:
  XgboostTensorsAre() {
    const Task& learning = GetParam();
    Json trainer{{"type", "xgboost"},
                 {"data",
                  {{"train", data_.write("train.csv", table(0, 200, learning.classes))},
                   {"label", "y"},
                   {"validation", data_.write("validation.csv", table(200, kValidationRows, learning.classes))}}},
                 {"keep", "last"},
                 {"parameters", Json::parse(learning.parameters)}};
    const std::string metric = learning.classes > 2 ? "validation-mlogloss" : "validation-logloss";
    trial_ = std::make_unique<TrialUnderTest>(std::move(trainer), Json{{"eta", 0.3}}, metric);
    trial_->order().debug = Json::parse(R"({"save": {"every": 2}, "collections": {"feature_importance": {"save": {"every": 1}},
                                            "shap": {"raw": true, "save": {"steps": [2, 3, 5, 7]}}}, "rules": []})");
    const auto runner = make_xgboost_runner({});
    // A pause on the way: what came before it is read from the checkpoint.
    const TrialOutcome first = trial_->run(*runner, 0, 3);
    EXPECT_EQ(first.result.exit, kExitCompleted) << first.result.message;
    const TrialOutcome second = trial_->run(*runner, 3, kTrainedRounds);
    EXPECT_EQ(second.result.exit, kExitCompleted) << second.result.message;
    reader_.emplace(*TensorReader::open(trial_->order().trial_dir, 0));
  }

  test::TemporaryDir data_;
  std::unique_ptr<TrialUnderTest> trial_;
  std::optional<TensorReader> reader_;
};

TEST_P(XgboostTensorsAre, WhatXgboostItselfSaysOfTheImportanceOfFeatures) {
  const LeftModel model(trial_->model_file());
  const bool linear = std::string(GetParam().name).starts_with("Linear");
  const std::vector<std::string> kinds = linear
                                             ? std::vector<std::string>{"weight"}
                                             : std::vector<std::string>{"weight", "gain", "cover", "total_gain", "total_cover"};
  for (const std::string& kind : kinds) {
    const auto expected = model.importance(kind);
    EXPECT_EQ(expected.size(), static_cast<std::size_t>(kFeatures))
        << "all are used: nothing else would be held against anything";
    for (const auto& [feature, share] : expected) {
      const auto series = reader_->series("feature_importance/" + kind + "/" + feature, 0, kTrainedRounds);
      ASSERT_EQ(series.size(), static_cast<std::size_t>(kTrainedRounds)) << kind << ' ' << feature << '\n' << trial_->log();
      EXPECT_EQ(series.back().first, kTrainedRounds);
      EXPECT_NEAR(series.back().second.summary.sum, share, 1e-6) << kind << ' ' << feature;
    }
  }
}

TEST_P(XgboostTensorsAre, TheContributionsThatXgboostItselfFindsWithAllTreesAtOnce) {
  if (std::string(GetParam().name).starts_with("Linear")) {
    EXPECT_NE(trial_->log().find("the debugger: a linear model has no trees"), std::string::npos) << trial_->log();
    return;
  }
  const LeftModel model(trial_->model_file());
  const std::vector<float> expected = model.contributions(200, kValidationRows);
  const std::size_t groups = GetParam().classes > 2 ? static_cast<std::size_t>(GetParam().classes) : 1;
  ASSERT_EQ(expected.size(), kValidationRows * groups * (kFeatures + 1));
  double largest = 0;
  for (std::size_t feature = 0; feature < kFeatures; ++feature) {
    const auto stored = reader_->array(std::string("shap/") + kNames[feature], kTrainedRounds);
    ASSERT_TRUE(stored) << trial_->log();
    ASSERT_EQ(stored->bytes.size(), kValidationRows * groups * sizeof(double));
    const auto* values = reinterpret_cast<const double*>(stored->bytes.data());
    for (std::size_t line = 0; line < kValidationRows * groups; ++line) {
      const double exact = expected[line * (kFeatures + 1) + feature];
      EXPECT_NEAR(values[line], exact, 1e-5) << kNames[feature] << ", line " << line;
      largest = std::max(largest, std::abs(exact));
    }
  }
  EXPECT_GT(largest, 0.1) << "contributions of nothing would all be alike";
}

TEST(XgboostGradients, AreThoseThatXgboostMakesTheNextTreeFor) {
  std::string weighted = "w," + table(0, 200, 2);
  for (std::size_t line = weighted.find('\n') + 1, row = 0; line < weighted.size(); line = weighted.find('\n', line) + 1, ++row)
    weighted.insert(line, std::to_string(row % 5 + 1) + ",");
  const test::TemporaryDir data;
  const std::string file = data.write("train.csv", weighted);
  for (const char* objective : {"binary:logistic", "reg:squarederror", "count:poisson"}) {
    for (const bool with_weights : {false, true}) {
      Json rows{{"train", file}, {"label", "y"}, {"validation", file}};
      with_weights ? rows["weight"] = "w" : rows["drop"] = {"w"};
      Json parameters{{"objective", objective}, {"lambda", 0}, {"min_child_weight", 0}, {"max_depth", 3}, {"max_delta_step", 0}};
      if (std::string(objective) != "count:poisson") parameters["scale_pos_weight"] = 7;
      TrialUnderTest trial({{"type", "xgboost"}, {"data", rows}, {"keep", "last"}, {"parameters", parameters}}, {{"eta", 0.5}},
                           "validation-rmse");
      trial.order().debug = Json::parse(R"({"save": {"every": 1}, "collections": {"gradients": {"raw": true}}, "rules": []})");
      ASSERT_EQ(trial.run(*make_xgboost_runner({}), 0, 3).result.exit, kExitCompleted) << trial.log();
      const std::vector<double> expected = LeftModel(trial.model_file()).gradient_sums(0.5);
      const auto reader = TensorReader::open(trial.order().trial_dir, 0);
      for (const auto& [step, stored] : reader->series("gradients/train", 1, 2)) {
        EXPECT_NEAR(stored.summary.sum, expected.at(static_cast<std::size_t>(step)), 2e-3 * 200)
            << objective << step << with_weights;
      }
      EXPECT_EQ(reader->series("gradients/train", 1, 2).size(), 2U);
      EXPECT_GT(std::abs(expected.at(1)), 1) << "else nothing would be held against anything";
    }
  }
}

// XGBoost writes names into the JSON of its trees as they are.
TEST(XgboostTrees, AreSeenWhateverTheFeaturesAreCalled) {
  const test::TemporaryDir data;
  std::vector<std::vector<double>> leaves;
  for (const char* names : {"a,b,c,y\n", "\"a\"\"1\",b\\2,c\t3,y\n"}) {
    const std::string text = table(0, 200, 2);
    const std::string file = data.write("train.csv", names + text.substr(text.find('\n') + 1));
    TrialUnderTest trial({{"type", "xgboost"},
                          {"data", {{"train", file}, {"label", "y"}, {"validation", file}}},
                          {"parameters", {{"objective", "binary:logistic"}}}},
                         {{"eta", 0.3}});
    trial.order().debug = Json::parse(R"({"save": {"every": 1}, "collections": {"trees": {}}, "rules": []})");
    ASSERT_EQ(trial.run(*make_xgboost_runner({}), 0, 3).result.exit, kExitCompleted) << trial.log();
    const auto reader = TensorReader::open(trial.order().trial_dir, 0);
    leaves.emplace_back();
    for (const auto& [step, stored] : reader->series("trees/leaves", 1, 3)) leaves.back().push_back(stored.summary.sum);
  }
  EXPECT_THAT(leaves[0], testing::AllOf(testing::SizeIs(3), testing::Each(testing::Gt(2))));
  EXPECT_EQ(leaves[1], leaves[0]);
}

class FindingReporter final : public TrialReporter {
 public:
  void began(std::int64_t) override {}
  void observe(std::int64_t resource, Metrics) override { observed_ = resource; }
  void checkpointed(std::int64_t) override {}
  bool should_stop() const override { return false; }
  int stop_fd() const override { return -1; }
  void found(debugger::Finding finding) override { found_.emplace_back(finding.step, observed_); }

  const std::vector<std::pair<std::int64_t, std::int64_t>>& found_after() const { return found_; }  // step, round that was told

 private:
  std::int64_t observed_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> found_;
};

TEST(XgboostJudging, IsDoneWithARoundBeforeTheNextOneBegins) {
  const test::TemporaryDir data;
  const Json trainer{
      {"type", "xgboost"},
      {"data", {{"train", data.write("train.csv", table(0, 200, 2))}, {"label", "y"}, {"validation", {{"fraction", 0.3}}}}},
      {"parameters", {{"objective", "binary:logistic"}}}};
  TrialUnderTest trial(trainer, Json{{"eta", 0.3}});
  protocol::AssignmentOrder& order = trial.order();
  order.debug = Json::parse(R"({"save": {"every": 1}, "rules": [{"rule": "bound", "name": "third", "collections": ["metrics"],
                                "reduction": "mean", "above": 0, "for_steps": 3}]})");
  order.until_resource = kTrainedRounds;
  order.epoch = 1;
  FindingReporter reporter;
  auto log = TrialLog::open(order.trial_dir);
  EXPECT_EQ(make_xgboost_runner({})->run(order, reporter, *log).exit, kExitCompleted);
  ASSERT_EQ(reporter.found_after().size(), 1U);
  EXPECT_EQ(reporter.found_after()[0].first, 3);
  EXPECT_LE(reporter.found_after()[0].second, 3) << "no later round was trained";
}

INSTANTIATE_TEST_SUITE_P(
    Task, XgboostTensorsAre,
    testing::Values(Task{"Binary", R"({"objective": "binary:logistic", "max_depth": 3})"},
                    Task{"Classes", R"({"objective": "multi:softprob", "num_class": 3, "max_depth": 3})", 3},
                    Task{"ParallelTrees", R"({"objective": "binary:logistic", "num_parallel_tree": 2, "subsample": 0.8})"},
                    Task{"Dart", R"({"objective": "binary:logistic", "booster": "dart", "max_depth": 3})"},
                    Task{"DartThatDrops", R"({"objective": "binary:logistic", "booster": "dart",
                                                                   "max_depth": 3, "rate_drop": 0.5, "one_drop": true})"},
                    Task{"Linear", R"({"objective": "binary:logistic", "booster": "gblinear"})"},
                    Task{"LinearClasses", R"({"objective": "multi:softprob", "num_class": 3, "booster": "gblinear"})", 3}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tuneband::workers
