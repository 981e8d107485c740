// Cross-validation: which rows each fold holds out, and that its values are those of separate trainings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/text.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "jobs/trainer_spec.hpp"
#include "scheduler/job_spec.hpp"
#include "search_spaces/shrinkage.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/data/data_check.hpp"
#include "workers/data/data_folds.hpp"
#include "workers/data/memory_forecast.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Table labelled(const std::vector<float>& labels) {
  Table table;
  table.columns = 1;
  table.labels = labels;
  table.values = labels;
  return table;
}

std::vector<float> cycling(std::size_t rows, int classes) {
  std::vector<float> labels;
  for (std::size_t row = 0; row < rows; ++row) labels.push_back(static_cast<float>(row * row % 7 % classes));
  return labels;
}

// How many of the rows with this label each fold holds out.
std::vector<int> counts(const std::vector<int>& folds, int count, const Table& table, std::optional<float> label = std::nullopt) {
  std::vector<int> found(static_cast<std::size_t>(count));
  for (std::size_t row = 0; row < folds.size(); ++row) {
    if (!label || table.labels[row] == *label) ++found.at(static_cast<std::size_t>(folds[row]));
  }
  return found;
}

int spread(const std::vector<int>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return *most - *least;
}

TEST(Folds, HoldOutEachRowOnceAndAsManyRowsEach) {
  for (const std::size_t rows : {5U, 23U, 100U}) {
    for (const int count : {2, 3, 5}) {
      for (const bool stratified : {false, true}) {
        const Table table = labelled(std::vector<float>(rows, 1));
        const auto folds = folds_of_rows(table, {count, 1}, stratified);
        ASSERT_TRUE(folds);
        EXPECT_LE(spread(counts(*folds, count, table)), 1);
        std::vector<int> seen(rows);
        for (int fold = 0; fold < count; ++fold) {
          const FoldRows of_fold = rows_of_fold(table, *folds, fold);
          EXPECT_EQ(of_fold.train.size() + of_fold.validation.size(), rows);
          std::set<int> both(of_fold.train.begin(), of_fold.train.end());
          for (const int row : of_fold.validation) {
            ++seen.at(static_cast<std::size_t>(row));
            EXPECT_TRUE(both.insert(row).second) << "no row is in both";
          }
          EXPECT_TRUE(std::is_sorted(of_fold.train.begin(), of_fold.train.end()));
        }
        EXPECT_THAT(seen, testing::Each(1));
      }
    }
  }
}

TEST(Folds, HaveTheClassesInEqualSharesWhereTheyAreStratified) {
  const Table table = labelled(cycling(203, 3));
  const auto folds = folds_of_rows(table, {5, 1}, true);
  ASSERT_TRUE(folds);
  EXPECT_LE(spread(counts(*folds, 5, table)), 1);
  for (const float label : {0.0F, 1.0F, 2.0F}) EXPECT_LE(spread(counts(*folds, 5, table, label)), 1) << label;
  int uneven = 0;
  const auto plain = folds_of_rows(table, {5, 1}, false);
  for (const float label : {0.0F, 1.0F, 2.0F}) uneven = std::max(uneven, spread(counts(*plain, 5, table, label)));
  EXPECT_GT(uneven, 1);
}

TEST(Folds, DependOnTheSeedAlone) {
  const Table table = labelled(cycling(60, 2));
  for (const bool stratified : {false, true}) {
    EXPECT_EQ(*folds_of_rows(table, {5, 3}, stratified), *folds_of_rows(table, {5, 3}, stratified));
    EXPECT_NE(*folds_of_rows(table, {5, 3}, stratified), *folds_of_rows(table, {5, 4}, stratified));
  }
}

TEST(Folds, HoldOutARowThatCountsEach) {
  Table table = labelled(cycling(20, 2));
  const auto folds = folds_of_rows(table, {4, 1}, true);
  for (const int fold : *folds) table.weights.push_back(fold == 2 ? 0 : 1);
  EXPECT_THAT(describe(folds_of_rows(table, {4, 1}, true).error()),
              testing::StartsWith("trainer.data.folds: every row that fold 3 of 4 holds out has the weight 0"));
  table.weights[static_cast<std::size_t>(std::find(folds->begin(), folds->end(), 2) - folds->begin())] = 0.5;
  EXPECT_EQ(*folds_of_rows(table, {4, 1}, true), *folds);
}

TEST(Folds, KeepTheRowsOfAQueryTogether) {
  Table table = labelled(std::vector<float>(20, 0));
  table.query_sizes = {3, 1, 4, 2, 5, 5};
  const auto folds = folds_of_rows(table, {3, 0}, true);
  ASSERT_TRUE(folds);
  std::size_t row = 0;
  std::vector<int> queries_of_fold(3);
  for (const unsigned size : table.query_sizes) {
    const int fold = (*folds)[row];
    ++queries_of_fold.at(static_cast<std::size_t>(fold));
    for (unsigned i = 0; i < size; ++i) EXPECT_EQ((*folds)[row++], fold);
  }
  EXPECT_THAT(queries_of_fold, ElementsAre(2, 2, 2));
  const FoldRows rows = rows_of_fold(table, *folds, 1);
  EXPECT_EQ(rows.train_queries.size(), 4U);
  EXPECT_EQ(rows.validation_queries.size(), 2U);
  EXPECT_EQ(std::accumulate(rows.validation_queries.begin(), rows.validation_queries.end(), 0U), rows.validation.size());
  EXPECT_EQ(std::accumulate(rows.train_queries.begin(), rows.train_queries.end(), 0U), rows.train.size());
}

TEST(Folds, KeepAGroupsQueriesOfTwoFilesTogether) {
  Table table = labelled(std::vector<float>(8, 0));
  table.query_sizes = {1, 2, 1, 2, 1, 1};  // groups 7, 5, 3 in one file, and 5, 7, 9 in the other
  table.groups = {7, 5, 5, 3, 5, 5, 7, 9};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto folds = folds_of_rows(table, {2, seed}, false);
    ASSERT_TRUE(folds);
    EXPECT_EQ(folds->at(0), folds->at(6));
    for (const std::size_t row : {2, 4, 5}) EXPECT_EQ(folds->at(1), folds->at(row));
  }
  EXPECT_THAT(describe(folds_of_rows(table, {5, 0}, false).error()), HasSubstr("the training data has 4 queries: too few"));
}

TEST(Folds, NeedARowOfEachClassEach) {
  const auto fault = [](const Table& table, int count, bool stratified) {
    const auto folds = folds_of_rows(table, {count, 0}, stratified);
    return folds ? "" : describe(folds.error());
  };
  EXPECT_EQ(fault(labelled({1, 2, 3}), 3, false), "");
  EXPECT_THAT(fault(labelled({1, 2, 3}), 4, false),
              HasSubstr("trainer.data.folds: the training data has 3 rows: too few for 4 folds"));
  EXPECT_EQ(fault(labelled({0, 0, 1, 1}), 2, true), "");
  EXPECT_THAT(fault(labelled({0, 0, 0, 1}), 2, true), HasSubstr("1 row has the label 1: too few for 2 folds"));
  EXPECT_EQ(fault(labelled({0, 0, 1, 1, 2}), 2, true), "") << "of more than two classes a rare one may be in some folds alone";
  Table queries = labelled({0, 1, 0, 1});
  queries.query_sizes = {2, 2};
  EXPECT_EQ(fault(queries, 2, false), "");
  EXPECT_THAT(fault(queries, 3, false), HasSubstr("the training data has 2 queries: too few"));
}

class CrossValidation : public testing::Test {
 protected:
  static constexpr int kFolds = 4;
  static constexpr std::int64_t kRoundsOfTest = 9;

  CrossValidation() { data_.write("data.csv", test::made_up_csv(240)); }

  Json trainer(const std::string& keep = "last", Json more = Json::object()) const {
    Json data{{"train", data_.path("data.csv")}, {"label", "y"}, {"folds", {{"count", kFolds}, {"seed", 7}}}};
    data.update(more);
    return {{"type", "xgboost"},
            {"data", data},
            {"parameters", {{"objective", "binary:logistic"}}},
            {"eval_metric", {"logloss", "auc"}},
            {"keep", keep}};
  }
  static Json configuration() { return {{"eta", 0.9}, {"subsample", 0.8}, {"colsample_bylevel", 0.7}, {"min_child_weight", 0}}; }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }
  static XgboostSpec spec_of(const Json& trainer) {
    Diagnostics diagnostics;
    auto spec = parse_trainer(trainer, "trainer", diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << describe(diagnostics.errors().front());
    return std::get<XgboostSpec>(spec);
  }
  static double value_of(const Metrics& metrics, const std::string& name) {
    for (const auto& [known, value] : metrics) {
      if (known == name) return value;
    }
    throw std::out_of_range(name);
  }

  // The logloss on the held-out rows after each round of a training of its own on the others.
  std::vector<double> separate(const LoadedTables& tables, const FoldRows& rows, const std::string& eta = "0.9") const {
    const auto part = [&](const std::vector<int>& which) {
      Table table = tables.train;
      table.labels.clear();
      table.values.clear();
      for (const int row : which) {
        const auto begin =
            tables.train.values.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(table.columns);
        table.values.insert(table.values.end(), begin, begin + static_cast<std::ptrdiff_t>(table.columns));
        table.labels.push_back(tables.train.labels[static_cast<std::size_t>(row)]);
      }
      return *XgboostMatrix::create(table);
    };
    const XgboostMatrix train = part(rows.train);
    const XgboostMatrix validation = part(rows.validation);
    const std::vector<EvaluationSet> sets{{"validation", &validation}};
    auto booster = XgboostBooster::create(train, sets,
                                          {{"colsample_bylevel", "0.7"},
                                           {"eta", eta},
                                           {"min_child_weight", "0"},
                                           {"objective", "binary:logistic"},
                                           {"seed", "1234567"},
                                           {"seed_per_iteration", "1"},
                                           {"subsample", "0.8"},
                                           {"tree_method", "hist"},
                                           {"eval_metric", "logloss"}});
    std::vector<double> values;
    for (int round = 0; round < kRoundsOfTest; ++round) {
      EXPECT_TRUE(booster->train_round(round));
      values.push_back(booster->evaluate(round, sets)->front().second);
    }
    return values;
  }

  test::TemporaryDir data_;
};

TEST_F(CrossValidation, ItsValuesAreTheMeansOfSeparateTrainings) {
  TrialUnderTest trial(trainer(), configuration());
  const auto outcome = trial.run(*worker(), 0, kRoundsOfTest);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  const auto tables = load_tables(spec_of(trainer()).data);
  const auto folds = folds_of_rows(tables->train, {kFolds, 7}, true);
  std::vector<std::vector<double>> values;
  for (int fold = 0; fold < kFolds; ++fold) values.push_back(separate(*tables, rows_of_fold(tables->train, *folds, fold)));
  for (std::int64_t round = 1; round <= kRoundsOfTest; ++round) {
    double sum = 0;
    double squares = 0;
    for (const auto& of_fold : values) {
      const double value = of_fold[static_cast<std::size_t>(round) - 1];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kFolds;
    const Metrics& metrics = outcome.reporter.observations.at(round);
    EXPECT_NEAR(value_of(metrics, "validation-logloss"), mean, 1e-6) << round;
    EXPECT_NEAR(value_of(metrics, std::string("validation-logloss") + kStandardErrorEnding),
                std::sqrt((squares / kFolds - mean * mean) / (kFolds - 1)), 1e-5)
        << round;
    EXPECT_EQ(metrics.size(), 3U) << "the standard error is that of the objective alone";
  }
}

TEST_F(CrossValidation, TheModelIsThatOfATrainingOnAllRows) {
  TrialUnderTest folds(trainer(), configuration());
  ASSERT_EQ(folds.run(*worker(), 0, kRoundsOfTest).result.exit, kExitCompleted);
  Json whole = trainer();
  whole["data"].erase("folds");
  whole["data"]["validation"] = data_.write("other.csv", test::made_up_csv(20));
  TrialUnderTest alone(whole, configuration());
  ASSERT_EQ(alone.run(*worker(), 0, kRoundsOfTest).result.exit, kExitCompleted);
  EXPECT_FALSE(folds.model().empty());
  EXPECT_TRUE(folds.model() == alone.model());
}

TEST_F(CrossValidation, KeepsTheRoundOfTheBestMean) {
  TrialUnderTest trial(trainer("best"), configuration());
  const auto outcome = trial.run(*worker(), 0, kRoundsOfTest);
  ASSERT_TRUE(outcome.result.kept);
  const std::int64_t best = outcome.result.kept->resource;
  EXPECT_LT(best, kRoundsOfTest);
  EXPECT_EQ(outcome.result.kept->metrics, outcome.reporter.observations.at(best));
  for (const auto& [round, metrics] : outcome.reporter.observations) {
    EXPECT_GE(value_of(metrics, "validation-logloss"), value_of(outcome.result.kept->metrics, "validation-logloss")) << round;
  }
  TrialUnderTest shorter(trainer("best"), configuration());
  ASSERT_EQ(shorter.run(*worker(), 0, best).result.exit, kExitCompleted);
  EXPECT_TRUE(shorter.model() == trial.model());
}

TEST_F(CrossValidation, GoesOnFromItsCheckpointAsIfNeverPaused) {
  for (const std::string keep : {"best", "last"}) {
    TrialUnderTest whole(trainer(keep), configuration());
    const auto expected = whole.run(*worker(), 0, kRoundsOfTest);
    TrialUnderTest paused(trainer(keep), configuration());
    const auto first = paused.run(*worker(), 0, 4);
    const auto stopped = paused.run(*worker(), 4, kRoundsOfTest, 6);
    EXPECT_EQ(stopped.result.exit, kExitStopped);
    const auto rest = paused.run(*worker(), 6, kRoundsOfTest);
    ASSERT_EQ(rest.result.exit, kExitCompleted) << rest.result.message;
    EXPECT_EQ(rest.reporter.began_at, 6);
    for (std::int64_t round = 1; round <= kRoundsOfTest; ++round) {
      const auto& found = round <= 4 ? first : round <= 6 ? stopped : rest;
      EXPECT_EQ(found.reporter.observations.at(round), expected.reporter.observations.at(round)) << round;
    }
    EXPECT_TRUE(paused.model() == whole.model());
    EXPECT_EQ(rest.result.kept.has_value(), keep == "best");
    EXPECT_EQ(rest.result.kept ? rest.result.kept->resource : 0, expected.result.kept ? expected.result.kept->resource : 0);
  }
}

TEST_F(CrossValidation, ACheckpointWhoseFoldsAreDamagedIsNotUsed) {
  TrialUnderTest trial(trainer(), configuration());
  ASSERT_EQ(trial.run(*worker(), 0, 4).result.exit, kExitCompleted);
  const std::string folds = trial.checkpoint(4).substr(0, trial.checkpoint(4).size() - 3) + "folds";
  std::string bytes = test::read_text(folds);
  ASSERT_FALSE(bytes.empty());
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(folds, std::ios::binary) << bytes;
  const auto rest = trial.run(*worker(), 4, kRoundsOfTest);
  EXPECT_EQ(rest.reporter.began_at, 0);
  EXPECT_THAT(trial.log(), HasSubstr("the checkpoint of 4 rounds is damaged"));
  TrialUnderTest whole(trainer(), configuration());
  whole.run(*worker(), 0, kRoundsOfTest);
  EXPECT_TRUE(trial.model() == whole.model());
}

TEST_F(CrossValidation, BeginsAnewAtEachRungOfShrinkage) {
  Json document = trainer("best");
  document["fidelity"] = "shrinkage";
  TrialUnderTest trial(document, {{"eta", 0.1}});
  const auto runner = worker();
  const auto low = trial.run(*runner, 0, 3);
  const auto high = trial.run(*runner, 0, kRoundsOfTest);
  EXPECT_EQ(low.result.exit, kExitCompleted);
  EXPECT_EQ(high.reporter.began_at, 0);
  EXPECT_NE(low.reporter.observations.at(1), high.reporter.observations.at(1));
}

TEST_F(CrossValidation, BelowMaxResourceItsValuesAreTheMeansOfTheFirstFoldsWhereSoManyAreAskedFor) {
  Json document = trainer("best", {{"folds", {{"count", kFolds}, {"seed", 7}, {"early", 2}}}});
  document["fidelity"] = "shrinkage";
  TrialUnderTest trial(document, configuration());
  trial.order().max_resource = kRoundsOfTest;
  const auto runner = worker();
  const auto tables = load_tables(spec_of(document).data);
  const auto folds = folds_of_rows(tables->train, {kFolds, 7}, true);
  const auto mean = [&](std::int64_t rounds, int count) {
    const double eta = shrunk_eta(0.9, rounds, kRoundsOfTest, spec_of(document).shrinkage_max);
    double sum = 0;
    for (int fold = 0; fold < count; ++fold)
      sum += separate(*tables, rows_of_fold(tables->train, *folds, fold), format_number(eta))
                 .at(static_cast<std::size_t>(rounds) - 1);
    return sum / count;
  };
  for (const auto& [rounds, count] : {std::pair<std::int64_t, int>{3, 2}, {kRoundsOfTest, kFolds}}) {
    const auto outcome = trial.run(*runner, 0, rounds);
    ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    EXPECT_NEAR(value_of(outcome.reporter.observations.at(rounds), "validation-logloss"), mean(rounds, count), 1e-6) << rounds;
  }
  EXPECT_THAT(trial.log(), AllOf(HasSubstr(" 2 of 4 folds of them to validate"), HasSubstr(", 4 folds of them to validate")));
}

TEST_F(CrossValidation, GoesOnFromACheckpointOfFewerFolds) {
  Json document = trainer("last", {{"folds", {{"count", kFolds}, {"early", 2}}}});
  document["fidelity"] = "shrinkage";
  TrialUnderTest whole(document, configuration());
  const auto expected = whole.run(*worker(), 0, kRoundsOfTest);
  TrialUnderTest paused(document, configuration());
  EXPECT_EQ(paused.run(*worker(), 0, kRoundsOfTest, 4).result.exit, kExitStopped);
  const auto rest = paused.run(*worker(), 4, kRoundsOfTest);
  EXPECT_EQ(rest.reporter.began_at, 4);
  EXPECT_EQ(rest.reporter.observations.at(kRoundsOfTest), expected.reporter.observations.at(kRoundsOfTest));
}

TEST_F(CrossValidation, TakesAnyBooster) {
  for (const char* booster : {"dart", "gblinear"}) {
    Json document = trainer();
    document["parameters"]["booster"] = booster;
    TrialUnderTest whole(document, {{"eta", 0.5}});
    const auto expected = whole.run(*worker(), 0, 6);
    ASSERT_EQ(expected.result.exit, kExitCompleted) << expected.result.message;
    TrialUnderTest paused(document, {{"eta", 0.5}});
    paused.run(*worker(), 0, 3);
    EXPECT_EQ(paused.run(*worker(), 3, 6).reporter.observations.at(6), expected.reporter.observations.at(6)) << booster;
    EXPECT_TRUE(paused.model() == whole.model()) << booster;
  }
}

TEST_F(CrossValidation, ShowsTheDebuggerTheMeansAndTheModelOfAllRows) {
  TrialUnderTest trial(trainer(), configuration());
  trial.order().debug = Json::object();
  ASSERT_EQ(trial.run(*worker(), 0, 3).result.exit, kExitCompleted) << trial.log();
  const auto tensors = debugger::files::TensorReader::open(trial.order().trial_dir, 0);
  ASSERT_TRUE(tensors);
  std::vector<std::string> names;
  for (const auto& tensor : tensors->tensors()) names.push_back(tensor.name);
  EXPECT_THAT(names, testing::Contains("metrics/validation-logloss"));
  EXPECT_THAT(names, testing::Contains(testing::StartsWith("feature_importance/")));
  EXPECT_THAT(names, testing::Not(testing::Contains(HasSubstr("standard-error"))));
}

TEST_F(CrossValidation, MeasuresTheModelOfAllRowsOnTheTestRows) {
  const Json test{{"test", data_.write("test.csv", test::made_up_csv(90))}};
  TrialUnderTest trial(trainer("best", test), configuration());
  const auto outcome = trial.run(*worker(), 0, kRoundsOfTest);
  ASSERT_TRUE(outcome.result.test_value) << outcome.result.message;
  Json whole = trainer("best", test);
  whole["data"].erase("folds");
  whole["data"]["validation"] = data_.path("test.csv");
  TrialUnderTest alone(whole, configuration());
  const auto measured = alone.run(*worker(), 0, outcome.result.kept->resource);
  EXPECT_NEAR(*outcome.result.test_value,
              value_of(measured.reporter.observations.at(outcome.result.kept->resource), "validation-logloss"), 1e-6);
}

TEST_F(CrossValidation, RanksQueriesThatStayWhole) {
  std::string text;
  for (int row = 0; row < 120; ++row) {
    const double x = random_unit(3, {static_cast<std::uint64_t>(row)});
    text += std::to_string(static_cast<int>(x * 3)) + " qid:" + std::to_string(row / 8) + " 0:" + std::to_string(x) + "\n";
  }
  const Json document{{"type", "xgboost"},
                      {"data", {{"train", data_.write("rank.libsvm", text)}, {"folds", 3}}},
                      {"parameters", {{"objective", "rank:ndcg"}}},
                      {"eval_metric", "ndcg@3"}};
  TrialUnderTest trial(document, {{"eta", 0.3}}, "validation-ndcg@3");
  trial.order().maximize = true;
  const auto outcome = trial.run(*worker(), 0, 5);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_GT(value_of(outcome.reporter.observations.at(5), "validation-ndcg@3"), 0.9);
}

TEST_F(CrossValidation, SlicesAreTheSameAsTablesOfTheirRowsWithNativeCategoriesToo) {
  DataSpec spec = spec_of(trainer("last", {{"categorical_encoding", "native"}})).data;
  const auto all = load_tables(spec);
  spec.train = {data_.write("first.csv", [] {
    const std::string text = test::made_up_csv(240);
    std::size_t end = 0;
    for (int line = 0; line <= 100; ++line) end = text.find('\n', end) + 1;
    return text.substr(0, end);
  }())};
  const auto some = load_tables(spec);
  ASSERT_EQ(some->train.rows(), 100U);
  ASSERT_EQ(some->train.feature_types, "qqc");
  std::vector<int> rows(100);
  std::iota(rows.begin(), rows.end(), 0);
  const auto model_of = [](const XgboostMatrix& matrix) {
    auto booster = XgboostBooster::create(matrix, {}, {{"objective", "binary:logistic"}, {"tree_method", "hist"}});
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(booster->train_round(round));
    return *booster->save();
  };
  const auto matrix = XgboostMatrix::create(all->train);
  const auto slice = matrix->slice(rows);
  EXPECT_EQ(slice->rows(), 100U);
  EXPECT_NEAR(static_cast<double>(slice->size_bytes()), static_cast<double>(matrix->size_bytes()) * 100 / 240, 200);
  EXPECT_TRUE(model_of(*slice) == model_of(*XgboostMatrix::create(some->train)));
}

TEST_F(CrossValidation, TheCacheTellsStratifiedFoldsFromOthers) {
  DataCache cache;
  const XgboostSpec spec = spec_of(trainer());
  const auto classes = cache.get(spec, XgboostTask::binary);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->data->folds.size(), 4U);
  EXPECT_EQ(classes->data->validation.handle(), nullptr);
  EXPECT_GT(classes->data->size_bytes(), 4 * classes->data->train.size_bytes());
  EXPECT_TRUE(cache.get(spec, XgboostTask::binary)->warm);
  EXPECT_FALSE(cache.get(spec, XgboostTask::regression)->warm);
}

TEST_F(CrossValidation, TheMemoryOfAllFoldsIsForeseen) {
  DataSpec spec = spec_of(trainer()).data;
  const auto folds = load_tables(spec);
  spec.validation = SplitSpec{};
  const auto split = load_tables(spec);
  const double values = static_cast<double>(folds->train.values.size());
  EXPECT_NEAR(memory_to_load(*folds), values * (4 + 16 * 5), 1);
  EXPECT_NEAR(memory_to_load(*split), values * (4 + 16), 1);
}

TEST_F(CrossValidation, WhatItCannotDoIsSaidWhenTheJobIsSubmitted) {
  std::string warnings;
  const auto faults = [&](Json data, const std::string& text, const std::string& objective, const std::string& metric = "") {
    data["train"] = data_.write("checked.csv", text);
    data["label"] = "y";
    Json parameters{{"objective", objective}};
    if (objective.starts_with("multi:")) parameters["num_class"] = 3;
    Json job{{"trainer", {{"type", "xgboost"}, {"data", data}, {"parameters", parameters}}}};
    if (!metric.empty()) job["objective"]["metric"] = "validation-" + metric;
    Diagnostics diagnostics;
    const auto spec = std::get<XgboostSpec>(parse_trainer(job["trainer"], "trainer", diagnostics));
    if (diagnostics.ok()) check_data(spec, job, {4, 1e12, 1}, diagnostics);
    warnings.clear();
    for (const Error& warning : diagnostics.warnings()) warnings += describe(warning) + "\n";
    return diagnostics.ok() ? "" : describe(diagnostics.errors().front());
  };
  const std::string few = "x,y\n1,0\n2,0\n3,0\n4,1\n5,1\n";
  EXPECT_EQ(faults({{"folds", 2}}, few, "binary:logistic"), "");
  EXPECT_THAT(faults({{"folds", 3}}, few, "binary:logistic"), HasSubstr("2 rows have the label 1: too few for 3 folds"));
  EXPECT_EQ(faults({{"folds", 5}}, few, "reg:squarederror"), "");
  EXPECT_THAT(faults({{"folds", 6}}, few, "reg:squarederror"), HasSubstr("has 5 rows: too few for 6 folds"));
  EXPECT_THAT(faults({{"folds", 3}}, few, "binary:logistic"), HasSubstr("(use fewer folds)"));
  const std::string once = "x,y\n1,no\n2,no\n3,once\n4,yes\n5,yes\n";
  EXPECT_EQ(faults({{"folds", 2}, {"positive", "yes"}}, once, "binary:logistic"), "");
  EXPECT_EQ(faults({{"folds", 2}}, once, "multi:softprob", "mlogloss"), "");
  EXPECT_THAT(warnings, HasSubstr("trainer.data.folds: fewer rows than the 2 folds have the classes: `once` (1)"));
  EXPECT_THAT(faults({{"folds", 2}}, once, "multi:softprob", "auc"), HasSubstr("`once` (1): auc will be NaN"));
  // A share between two classes is no class.
  EXPECT_EQ(faults({{"folds", 2}}, "x,y\n1,0.5\n2,0\n3,0\n4,1\n5,1\n", "binary:logistic"), "");
}

}  // namespace
}  // namespace tuneband::workers
