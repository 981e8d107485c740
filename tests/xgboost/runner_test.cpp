// A trial of the trainer xgboost from its order to its observations, files and end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <filesystem>

#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/data/data_check.hpp"
#include "workers/xgboost/model_files.hpp"

namespace tuneband::workers {
namespace {

using test::TrialOutcome;
using test::TrialUnderTest;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

std::vector<std::string> faults_of(const std::vector<Error>& errors) {
  std::vector<std::string> texts;
  for (const Error& error : errors) texts.push_back(describe(error));
  return texts;
}

class XgboostRunner : public testing::Test {
 protected:
  Json trainer(const std::string& csv = test::made_up_csv(300)) {
    return {{"type", "xgboost"},
            {"data", {{"train", data_.write("data.csv", csv)}, {"label", "y"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}},
            {"parameters", {{"objective", "binary:logistic"}}}};
  }
  TrialOutcome run(TrialUnderTest& trial, std::int64_t from = 0, std::int64_t until = 3) {
    return trial.run(*runner_, from, until);
  }
  SegmentResult result_of(const Json& document, const Json& configuration = Json::object(),
                          const std::string& metric = "validation-logloss") {
    TrialUnderTest trial(document, configuration, metric);
    return run(trial).result;
  }

  test::TemporaryDir data_;
  std::unique_ptr<TrialRunner> runner_ = make_xgboost_runner({});
};

TEST_F(XgboostRunner, ObservesEveryRoundAndLeavesAModelAndALog) {
  Json document = trainer();
  document["eval_metric"] = {"auc", "error@0.7"};
  document["eval_train"] = true;
  TrialUnderTest trial(document, {{"eta", 0.3}, {"max_depth", 3}}, "validation-auc");
  const auto outcome = run(trial);
  EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  ASSERT_EQ(outcome.reporter.observations.size(), 3);
  EXPECT_THAT(outcome.reporter.observations.at(3),
              ElementsAre(Pair("validation-auc", testing::Gt(0.5)), Pair("validation-error@0.7", testing::Lt(0.6)),
                          Pair("train-auc", testing::Gt(0.5)), Pair("train-error@0.7", testing::Lt(0.6))));
  EXPECT_THAT(outcome.reporter.checkpoints, ElementsAre(3));
  EXPECT_THAT(trial.log(), HasSubstr("eta=0.3 max_depth=3"));
  EXPECT_THAT(trial.log(), HasSubstr("\nround 3  validation-auc 0."));
  EXPECT_TRUE(std::filesystem::exists(trial.checkpoint(3)));
}

TEST_F(XgboostRunner, TheModelFileIsReadByXgboostItselfAndDescribesItsFeatures) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  run(trial);
  BoosterHandle booster = nullptr;
  ASSERT_EQ(XGBoosterCreate(nullptr, 0, &booster), 0);
  ASSERT_EQ(XGBoosterLoadModel(booster, trial.model_file().c_str()), 0) << XGBGetLastError();
  int rounds = 0;
  XGBoosterBoostedRounds(booster, &rounds);
  EXPECT_EQ(rounds, 3);
  bst_ulong count = 0;
  const char** names = nullptr;
  XGBoosterGetStrFeatureInfo(booster, "feature_name", &count, &names);
  EXPECT_THAT(std::vector<std::string>(names, names + count),
              ElementsAre("a", "b", "city=Accra", "city=Kyoto", "city=Lima", "city=Oslo"));
  const char* described = nullptr;
  int found = 0;
  XGBoosterGetAttr(booster, "tuneband_features", &described, &found);
  ASSERT_EQ(found, 1);
  EXPECT_EQ(Json::parse(described)["features"][2]["categories"][0], "Accra");
  XGBoosterFree(booster);
}

// As a program does that scores new rows.
Json features_described_in(const std::string& model_file) {
  BoosterHandle booster = nullptr;
  EXPECT_EQ(XGBoosterCreate(nullptr, 0, &booster), 0);
  EXPECT_EQ(XGBoosterLoadModel(booster, model_file.c_str()), 0) << XGBGetLastError();
  const char* described = nullptr;
  int found = 0;
  XGBoosterGetAttr(booster, "tuneband_features", &described, &found);
  const Json features = found == 1 ? Json::parse(described) : Json();
  XGBoosterFree(booster);
  return features;
}

TEST_F(XgboostRunner, TheModelFileSaysWhichCellsAreMissingAndWhichColumnsItWants) {
  Json document = trainer("a,skipped,a,city,y\n1,0,4,Oslo,0\n2,0,5,none,1\n3,0,6,Lima,0\n4,0,7,Oslo,1\n");
  document["data"]["drop"] = {"skipped"};
  document["data"]["validation"] = document["data"]["train"];
  const auto described = [&] {
    TrialUnderTest trial(document, {{"eta", 0.3}});
    run(trial);
    return features_described_in(trial.model_file());
  };
  const Json usual = described();
  std::vector<int> sources;
  for (const Json& feature : usual["features"]) sources.push_back(feature["source"]);
  EXPECT_THAT(sources, ElementsAre(0, 2, 3)) << "two columns have the name `a`";
  EXPECT_EQ(usual["label"]["source"], 4);
  EXPECT_EQ(usual["missing"], Json({{"texts", {"", "?", "-", "na", "nan", "n/a", "#n/a", "null", "none"}}, {"any_case", true}}));
  document["data"]["missing"] = {"unknown"};
  EXPECT_EQ(described()["missing"], Json({{"texts", {"", "unknown"}}, {"any_case", false}}));
}

TEST_F(XgboostRunner, KeepsTheCheckpointThatTheServerHasAndTheLatest) {
  Json document = trainer();
  document["checkpoint_interval_seconds"] = 0;
  TrialUnderTest trial(document, {{"eta", 0.3}});
  run(trial, 0, 3);
  EXPECT_FALSE(std::filesystem::exists(trial.checkpoint(1)));
  EXPECT_TRUE(std::filesystem::exists(trial.checkpoint(2)));
  EXPECT_TRUE(std::filesystem::exists(trial.checkpoint(3)));
}

TEST_F(XgboostRunner, ASegmentThatIsOverLeavesTheFilesOfALaterOneAlone) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  run(trial, 0, 3);
  const protocol::AssignmentOrder late = trial.order();
  const auto other = make_xgboost_runner({});
  trial.run(*other, 3, 9);
  const std::string model = trial.model();
  test::KeepingReporter reporter;
  auto log = TrialLog::open(late.trial_dir);
  protocol::AssignmentOrder order = late;
  order.epoch = late.epoch + 7;          // another attempt at the same segment, which woke up late and ends wherever it stands
  order.configuration = {{"eta", 0.1}};  // to be told apart
  order.from_resource = 3;
  order.until_resource = 27;
  order.files_epoch = late.epoch;
  reporter.stop_after = 9;
  EXPECT_EQ(runner_->run(order, reporter, *log).exit, kExitStopped);
  EXPECT_THAT(reporter.checkpoints, ElementsAre(9));
  EXPECT_TRUE(trial.model() == model) << "of 9 rounds";
}

TEST_F(XgboostRunner, ChecksPointsBetweenRungsAtTheInterval) {
  Json document = trainer();
  document["checkpoint_interval_seconds"] = 0;
  TrialUnderTest trial(document, {{"eta", 0.3}});
  EXPECT_THAT(run(trial, 0, 4).reporter.checkpoints, ElementsAre(1, 2, 3, 4));
}

TEST_F(XgboostRunner, StopsBetweenTwoRoundsWithACheckpoint) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  const auto outcome = trial.run(*runner_, 0, 27, 4);
  EXPECT_EQ(outcome.result.exit, kExitStopped);
  EXPECT_EQ(outcome.reporter.observations.rbegin()->first, 4);
  EXPECT_THAT(outcome.reporter.checkpoints, ElementsAre(4));
}

TEST_F(XgboostRunner, ADamagedCheckpointIsNotUsedAndTheResultIsTheSame) {
  TrialUnderTest whole(trainer(), {{"eta", 0.3}});
  run(whole, 0, 6);
  for (const std::string& damage : {std::string(), std::string("garbage"), std::string(3000, '\0')}) {
    TrialUnderTest trial(trainer(), {{"eta", 0.3}});
    run(trial, 0, 3);
    std::filesystem::remove(trial.checkpoint(3));
    std::ofstream(trial.checkpoint(3), std::ios::binary) << damage;
    runner_ = make_xgboost_runner({});
    EXPECT_EQ(run(trial, 3, 6).result.exit, kExitCompleted);
    EXPECT_THAT(trial.log(), HasSubstr("the checkpoint of 3 rounds is damaged"));
    EXPECT_TRUE(trial.model() == whole.model());
  }
}

TEST_F(XgboostRunner, AMissingCheckpointMeansTrainingFromTheNewestThereIs) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  run(trial, 0, 2);
  runner_ = make_xgboost_runner({});
  const auto outcome = run(trial, 4, 6);
  EXPECT_EQ(outcome.result.exit, kExitCompleted);
  EXPECT_EQ(outcome.reporter.observations.begin()->first, 3);
  EXPECT_THAT(trial.log(), HasSubstr("there is no checkpoint of 4 rounds: goes on from 2"));
}

TEST_F(XgboostRunner, ASegmentThatWasReachedBeforeIsObservedAgain) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  const auto first = run(trial, 0, 3);
  runner_ = make_xgboost_runner({});
  const auto again = run(trial, 3, 3);
  EXPECT_EQ(again.result.exit, kExitCompleted);
  EXPECT_EQ(again.reporter.observations.at(3), first.reporter.observations.at(3));
}

TEST_F(XgboostRunner, DataIsKeptWarmUntilItsFileChanges) {
  const Json document = trainer();
  TrialUnderTest trial(document, {{"eta", 0.3}});
  run(trial);
  EXPECT_EQ(runner_->data_keys().size(), 1);
  TrialUnderTest second(document, {{"eta", 0.4}});
  run(second);
  EXPECT_THAT(second.log(), HasSubstr("features, in memory"));
  data_.write("data.csv", test::made_up_csv(200));
  TrialUnderTest third(document, {{"eta", 0.4}});
  run(third);
  EXPECT_THAT(third.log(), HasSubstr("features, read"));
  EXPECT_EQ(runner_->data_keys().size(), 1);
}

TEST_F(XgboostRunner, SaysWhatIsWrongWithTheParameters) {
  const auto bad = [this](const Json& configuration) { return result_of(trainer(), configuration); };
  EXPECT_EQ(bad({{"max_depth", -1}}).exit, kExitInvalidParameters);
  EXPECT_EQ(bad({{"max_depth", -1}}).message, "XGBoost: value -1 for Parameter max_depth should be greater equal to 0");
  EXPECT_EQ(bad({{"booster", "x"}}).exit, kExitInvalidParameters);
  EXPECT_EQ(result_of(trainer(), {}, "validation-nonsense").exit, kExitInvalidParameters);
  EXPECT_THAT(result_of(trainer(), {}, "validation-nonsense").message, "XGBoost: Unknown metric function nonsense");
  Json document = trainer();
  document["datta"] = 1;
  EXPECT_THAT(result_of(document).message, HasSubstr("trainer.datta: unknown field"));
}

TEST_F(XgboostRunner, AnObjectiveMetricThatIsNotEvaluatedIsNoMetric) {
  Json document = trainer();
  document["eval_metric"] = "auc";
  const auto result = result_of(document, {}, "validation-logloss");
  EXPECT_EQ(result.exit, kExitNoMetric);
  EXPECT_EQ(result.message, "XGBoost evaluates validation-auc, and the objective is `validation-logloss`");
}

TEST_F(XgboostRunner, AMetricThatStaysNanEndsTheTrial) {
  std::string csv = "a,y\n";
  for (int i = 0; i < 40; ++i) csv += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  Json document = trainer(csv);
  document["data"]["validation"] = data_.write("valid.csv", "a,y\n1,1\n2,1\n");
  TrialUnderTest trial(document, {}, "validation-auc");
  const auto short_run = run(trial, 0, 3);
  EXPECT_EQ(short_run.result.exit, kExitCompleted);
  EXPECT_TRUE(std::isnan(short_run.reporter.observations.at(3).at(0).second));
  const auto long_run = run(trial, 3, 27);
  EXPECT_EQ(long_run.result.exit, kExitNanMetric);
  EXPECT_THAT(long_run.result.message, HasSubstr("was NaN for 10 rounds in a row"));
}

TEST_F(XgboostRunner, LabelsThatDoNotSuitTheObjectiveAreUnreadableData) {
  const auto with = [this](const Json& parameters, const std::string& csv) {
    Json document = trainer(csv);
    document["parameters"] = parameters;
    const auto result = result_of(document, {}, "validation-rmse");
    EXPECT_EQ(result.exit, kExitDataUnreadable) << result.message;
    return result.message;
  };
  std::string numbers = "a,y\n";
  std::string texts = "a,y\n";
  std::string constant = "a,y\n";
  for (int i = 0; i < 60; ++i) {
    const std::string a = std::to_string(i) + ",";
    numbers += a + std::to_string(i % 3) + "\n";
    texts += a + (i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z") + "\n";
    constant += a + "1\n";
  }
  EXPECT_THAT(with({{"objective", "binary:logistic"}}, numbers),
              HasSubstr("has the label 2, and binary:logistic needs labels between 0 and 1"));
  EXPECT_THAT(with({{"objective", "binary:logistic"}}, texts),
              HasSubstr("has the texts x, y, z, and binary:logistic needs two classes"));
  EXPECT_THAT(with({{"objective", "binary:logistic"}}, constant), HasSubstr("nothing to tell apart"));
  EXPECT_THAT(with({{"objective", "reg:squarederror"}}, texts), HasSubstr("needs numbers"));
  EXPECT_THAT(with({{"objective", "reg:gamma"}}, numbers), HasSubstr("needs labels above 0"));
  EXPECT_THAT(with({{"objective", "multi:softprob"}, {"num_class", 2}}, numbers), HasSubstr("set num_class to 3"));
  std::string from_one = "a,y\n";
  for (int i = 0; i < 60; ++i) from_one += std::to_string(i) + "," + std::to_string(i % 3 + 1) + "\n";
  const Json three{{"objective", "multi:softprob"}, {"num_class", 3}};
  EXPECT_THAT(with(three, from_one),
              HasSubstr("name the label's column in trainer.data.categorical, so that each number is a class"));
  EXPECT_THAT(with({{"objective", "multi:softprob"}, {"num_class", 2}}, from_one), HasSubstr("set num_class to 4"));
  EXPECT_THAT(with({{"objective", "rank:ndcg"}}, numbers), HasSubstr("needs queries"));
}

TEST_F(XgboostRunner, LabelsTellHowManyClassesThereAre) {
  const std::string numbers = test::made_up_csv(300, 3);
  std::string texts = numbers;
  for (std::size_t i = texts.find('\n'); i != std::string::npos; i = texts.find('\n', i + 1)) {
    if (i > 0 && texts[i - 1] >= '0' && texts[i - 1] <= '2') texts.insert(i, "rd");
  }
  const auto observed = [this](const std::string& text, const Json& data, Json parameters) {
    Json document = trainer(text);
    document["data"].update(data);
    if (data.contains("folds")) document["data"].erase("validation");
    parameters["objective"] = "multi:softprob";
    document["parameters"] = parameters;
    TrialUnderTest trial(document, {{"eta", 0.3}}, "validation-mlogloss");
    const auto ended = run(trial, 0, 5);
    EXPECT_EQ(ended.result.exit, kExitCompleted) << ended.result.message;
    return ended.reporter.observations;
  };
  const Json given{{"num_class", 3}};
  for (const Json& data : {Json::object(), Json{{"folds", 3}}, Json{{"categorical", {"y"}}}})
    EXPECT_EQ(observed(numbers, data, Json::object()), observed(numbers, data, given)) << data;
  EXPECT_EQ(observed(texts, Json::object(), Json::object()), observed(texts, Json::object(), given));
  const Json of_text{{"positive", "1rd"}};
  EXPECT_EQ(observed(texts, of_text, Json::object()), observed(texts, of_text, {{"num_class", 2}}));
}

TEST_F(XgboostRunner, APositiveLabelThatNoRowHasIsUnreadableData) {
  std::string numbers = "a,y\n";
  for (int i = 0; i < 60; ++i) numbers += std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  for (const char* objective : {"binary:logistic", "reg:squarederror"}) {
    Json document = trainer(numbers);
    document["parameters"] = {{"objective", objective}};
    document["data"]["positive"] = "7";
    const auto result = result_of(document, {}, "validation-rmse");
    EXPECT_EQ(result.exit, kExitDataUnreadable) << result.message;
    EXPECT_THAT(result.message,
                HasSubstr("trainer.data.positive: the label's column has no `7` (the column has 0 and 1, or more numbers)"));
  }
}

TEST_F(XgboostRunner, AFileThatIsNotThereIsUnreadableData) {
  Json document = trainer();
  document["data"]["train"] = data_.path("absent.csv");
  EXPECT_EQ(result_of(document).exit, kExitDataUnreadable);
  EXPECT_THAT(result_of(document).message, HasSubstr("absent.csv: No such file"));
}

TEST_F(XgboostRunner, LibsvmAndRankingTrain) {
  std::string text;
  for (int row = 0; row < 120; ++row) {
    text += std::to_string(row % 3) + " qid:" + std::to_string(row / 10) + " 0:" + std::to_string(row % 3 + 0.1 * (row % 7)) +
            " 5:1\n";
  }
  const std::string file = data_.write("rank.libsvm", text);
  const Json document{{"type", "xgboost"},
                      {"data", {{"train", file}, {"validation", file}}},
                      {"parameters", {{"objective", "rank:ndcg"}}},
                      {"eval_metric", "ndcg@3"}};
  TrialUnderTest trial(document, {{"eta", 0.5}}, "validation-ndcg@3");
  const auto outcome = run(trial);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_GT(outcome.reporter.observations.at(3).at(0).second, 0.9);
}

// A query is of rankings alone: XGBoost would measure the AUC by query, and take weights for those of queries.
TEST_F(XgboostRunner, OtherObjectivesKnowNoQueriesOfLibsvmRows) {
  const auto observed = [this](const std::string& query) {
    std::string text;
    for (int row = 0; row < 120; ++row) {
      text += std::to_string(row % 3 == 0) + ":" + std::to_string(1 + row % 2) +
              (query.empty() ? "" : " " + query + std::to_string(row / 10)) + " 0:" + std::to_string(0.1 * (row % 13) + row % 2) +
              "\n";
    }
    const std::string file = data_.write("plain" + query + ".libsvm", text);
    const Json data{{"train", file}, {"validation", file}};
    TrialUnderTest trial(
        {{"type", "xgboost"}, {"data", data}, {"parameters", {{"objective", "binary:logistic"}}}, {"eval_metric", "auc"}},
        {{"eta", 0.5}}, "validation-auc");
    const auto outcome = run(trial);
    EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    return outcome.reporter.observations;
  };
  EXPECT_EQ(observed("qid:"), observed(""));
}

TEST_F(XgboostRunner, LabelsOfMinusOneAndOneAreThoseOfTwoClasses) {
  const auto libsvm = [this](const char* name, const char* negative) {
    std::string text;
    for (int row = 0; row < 90; ++row)
      text += std::string(row % 3 == 0 ? "1" : negative) + " 0:" + std::to_string(row % 3 + 0.3 * (row % 7)) + " 2:1\n";
    return Json{
        {"type", "xgboost"}, {"data", {{"train", data_.write(name, text)}}}, {"parameters", {{"objective", "binary:logistic"}}}};
  };
  TrialUnderTest zero(libsvm("zero.libsvm", "0"), {{"eta", 0.5}});
  TrialUnderTest minus(libsvm("minus.libsvm", "-1"), {{"eta", 0.5}});
  const auto expected = run(zero);
  const auto outcome = run(minus);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_EQ(outcome.reporter.observations, expected.reporter.observations);
  EXPECT_THAT(minus.log(), HasSubstr("the labels -1 and 1 are trained as 0 and 1"));
  EXPECT_THAT(zero.log(), testing::Not(HasSubstr("trained as")));
  EXPECT_THAT(minus.model(), HasSubstr(R"("classes":["-1","1"])")) << "the model says what its 0 and 1 were";
}

TEST_F(XgboostRunner, AnObjectiveOfNumbersTrainsOnMinusOneAndOneAsTheyAre) {
  Json document = trainer("a,y\n1,-1\n2,1\n3,-1\n4,1\n5,1\n6,-1\n7,1\n8,-1\n9,1\n");
  document.erase("parameters");
  document["data"]["validation"] = document["data"]["train"];
  const auto first_error = [&](const char* objective) {
    TrialUnderTest trial(document, {{"objective", objective}, {"eta", 0.000001}, {"base_score", 0.5}}, "validation-rmse");
    return run(trial, 0, 1).reporter.observations.at(1).at(0).second;
  };
  EXPECT_NEAR(first_error("reg:squarederror"), std::sqrt((5 * 0.25 + 4 * 2.25) / 9), 1e-4);
  EXPECT_NEAR(first_error("binary:logistic"), 0.5, 1e-4) << "the same file, warm in memory, with other labels";
  EXPECT_NEAR(first_error("reg:squarederror"), std::sqrt((5 * 0.25 + 4 * 2.25) / 9), 1e-4);
}

TEST_F(XgboostRunner, AnUnwritableTrialDirectoryIsSaid) {
  TrialUnderTest trial(trainer(), {{"eta", 0.3}});
  std::ofstream(trial.file("epochs")) << "in the way";
  const auto result = run(trial).result;
  EXPECT_EQ(result.exit, kExitCrashed);
  EXPECT_THAT(result.message, HasSubstr("cannot write"));
}

// Appended to, or changed in place; not when it is only written again.
TEST(ChangedData, FailsTheTrialsOfItsJobThatWouldTrainOnIt) {
  const test::TemporaryDir dir;
  const std::string rows = test::made_up_csv(200);
  const std::string file = dir.write("data.csv", rows);
  const Json document{
      {"type", "xgboost"}, {"data", {{"train", file}, {"label", "y"}}}, {"parameters", {{"objective", "binary:logistic"}}}};
  test::TrialUnderTest trial(document, {{"eta", 0.3}});
  const auto runner = make_xgboost_runner({});
  ASSERT_EQ(trial.run(*runner, 0, 2).result.exit, kExitCompleted);
  std::string changed = rows;
  changed[rows.find("Oslo")] = 'M';
  for (const std::string& other : {rows + "0.5,0.5,Lima,1\n", changed}) {
    dir.write("data.csv", other);
    const auto outcome = trial.run(*runner, 2, 4).result;
    EXPECT_EQ(outcome.exit, kExitDataUnreadable);
    EXPECT_THAT(outcome.message,
                HasSubstr("trainer.data: the files are not what they were when the job's first trial read them"));
    EXPECT_EQ(trial.run(*make_xgboost_runner({}), 2, 4).result.exit, kExitDataUnreadable) << "on another worker, too";
  }
  dir.write("data.csv", rows);
  EXPECT_EQ(trial.run(*runner, 2, 4).result.exit, kExitCompleted);
  test::TrialUnderTest of_another_job(document, {{"eta", 0.3}});
  dir.write("data.csv", changed);
  EXPECT_EQ(of_another_job.run(*runner, 0, 2).result.exit, kExitCompleted);
}

TEST(DataCache, ForgetsTheLeastRecentlyUsed) {
  const test::TemporaryDir dir;
  const auto spec = [&dir](const std::string& name) {
    XgboostSpec all;
    all.data.train = {dir.write(name, test::made_up_csv(200))};
    all.data.label = "y";
    return all;
  };
  const auto first = spec("1.csv");
  const auto second = spec("2.csv");
  const auto third = spec("3.csv");
  DataCache measure;
  const auto one = measure.get(first);
  DataCache cache(2 * (one->data->train.size_bytes() + one->data->validation.size_bytes()));
  cache.get(first);
  cache.get(second);
  EXPECT_TRUE(cache.get(first)->warm);
  cache.get(third);
  EXPECT_THAT(cache.keys(), ElementsAre(data_key(third), data_key(first)));
  EXPECT_FALSE(cache.get(second)->warm);
}

TEST(Evaluation, IsReadWithNanAndInfinity) {
  const auto values = parse_evaluation("[3]\tvalidation-auc:0.71\ttrain-auc:-nan\ttrain-mape:inf\tvalidation-error@0.7:1e-3");
  ASSERT_EQ(values.size(), 4);
  EXPECT_EQ(values[0], (std::pair<std::string, double>{"validation-auc", 0.71}));
  EXPECT_TRUE(std::isnan(values[1].second));
  EXPECT_TRUE(std::isinf(values[2].second));
  EXPECT_EQ(values[3].first, "validation-error@0.7");
  EXPECT_THAT(parse_evaluation(""), IsEmpty());
  EXPECT_THAT(parse_evaluation("[3]"), IsEmpty());
}

// A check of 20 MB of text, with a fault in its last row.
struct LargeCheck {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

LargeCheck check_large(const std::string& last_row, const std::string& validation = "", const XgboostSpec& more = {}) {
  const test::TemporaryDir dir;
  std::string csv = "a,b,y\n";
  while (csv.size() < 20 * 1024 * 1024) csv += "0.123456789,,0\n0.5,,0\n";
  XgboostSpec spec = more;
  spec.data.train = {dir.write("data.csv", csv + last_row)};
  if (!validation.empty()) spec.data.validation = dir.write("validation.csv", validation);
  spec.data.label = "y";
  Diagnostics diagnostics;
  check_data(spec, Json{{"search_space", {{"objective", "binary:logistic"}}}}, this_machine(1), diagnostics);
  return {faults_of(diagnostics.errors()), faults_of(diagnostics.warnings())};
}

TEST(DataCheck, OfLargeFilesASampleIsReadAndTheRestIsLeftToTheTrial) {
  for (const char* last_row : {"1,2,1\n", "1\n", "1,2,\n"}) {
    const LargeCheck found = check_large(last_row);
    EXPECT_THAT(found.errors, IsEmpty()) << "what the sample lacks, like a label of 1, is no fault";
    ASSERT_EQ(found.warnings.size(), 1);
    EXPECT_THAT(found.warnings[0], AllOf(StartsWith("trainer.data: of the data's 20 MB a sample was checked:"),
                                         HasSubstr(" of memory in each worker (a fault further down is found when")));
  }
}

TEST(DataCheck, TextsOfAColumnThatBeginsLateAreNoFaultOfALargeFile) {
  const LargeCheck found = check_large("1,web,0\n", "a,b,y\n1,web,0\n2,app,1\n3,,0\n");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, testing::Contains(StartsWith("trainer.data.validation: column `b` has texts there, and none in the "
                                                           "sample of the training data")));
  EXPECT_THAT(check_large("", "a,b,y\n1,,0\n2,7,1\n").warnings, testing::Each(Not(HasSubstr("column `b` has texts"))));
}

TEST(DataCheck, AConstraintOfAFeatureBeyondTheSampleIsNoFaultOfALargeFile) {
  XgboostSpec spec;
  spec.parameters = {{"monotone_constraints", "(0,1,1)"}};
  const LargeCheck found = check_large("1,web,0\n1,app,0\n", "", spec);
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, testing::Contains(AllOf(HasSubstr("monotone_constraints: of the sample that was checked: "),
                                                      HasSubstr("the first trial fails"))));
}

TEST(DataCheck, ASampleEstimatesTheRowsOfAll) {
  const test::TemporaryDir dir;
  DataSpec spec;
  spec.label = "y";
  const std::string csv = test::made_up_csv(40'000);  // 0.9 MB
  spec.train = {dir.write("data.csv", csv)};
  const auto sample = load_tables(spec, {.sample_bytes = 512 * 1024, .on_progress = {}});
  ASSERT_TRUE(sample) << describe(sample.error());
  ASSERT_TRUE(sample->rows_of_all);
  EXPECT_NEAR(*sample->rows_of_all, 40'000, 1'000);
  EXPECT_NEAR(static_cast<double>(sample->train.rows() + sample->validation.rows()) * static_cast<double>(csv.size()),
              40'000. * 512 * 1024, 1e9);
  const auto all = load_tables(spec, {.sample_bytes = csv.size(), .on_progress = {}});
  EXPECT_FALSE(all->rows_of_all);
  EXPECT_EQ(all->train.rows() + all->validation.rows(), 40'000);
  EXPECT_NEAR(memory_to_load(*sample), memory_to_load(*all), 0.05 * memory_to_load(*all));
}

TEST(DataCheck, SaysWhenThereIsNotEnoughMemory) {
  LoadedTables tables;
  tables.train.columns = 100;
  tables.train.labels.assign(10, 0);
  tables.train.values.assign(1000, 0);
  tables.rows_of_all = 10'000'000;
  Diagnostics diagnostics;
  check_memory(tables, {.memory_bytes = 20.1e9}, diagnostics);
  EXPECT_THAT(diagnostics.warnings(), IsEmpty());
  check_memory(tables, {.memory_bytes = 19.9e9}, diagnostics);
  EXPECT_THAT(
      faults_of(diagnostics.warnings()),
      ElementsAre(AllOf(StartsWith("trainer.data: about 10000000 rows of 100 features need some 19073 MB of memory in each"),
                        HasSubstr("and there are 18978 MB"))));
}

TEST(DataLoad, SaysHowFarItIs) {
  const test::TemporaryDir dir;
  DataSpec spec;
  spec.label = "y";
  spec.train = {dir.write("data.csv", test::made_up_csv(40'000))};
  std::vector<double> shares;
  ASSERT_TRUE(load_tables(spec, {.sample_bytes = kWholeFile, .on_progress = [&](double share) { shares.push_back(share); }}));
  ASSERT_GT(shares.size(), 3);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

TEST(DataLoad, AFileThatChangesWhileItIsReadIsNotTaken) {
  const test::TemporaryDir dir;
  DataSpec spec;
  spec.label = "y";
  spec.train = {dir.write("data.csv", test::made_up_csv(40'000))};
  bool grown = false;
  const auto grow = [&](double) {
    if (!std::exchange(grown, true)) std::ofstream(spec.train.front(), std::ios::app) << "0.5,0.5,Quito,1\n";
  };
  const auto loaded = load_tables(spec, {.sample_bytes = kWholeFile, .on_progress = grow});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(describe(loaded.error()), HasSubstr("a file changed while it was read"));
  EXPECT_TRUE(load_tables(spec)) << "it is whole now";
}

TEST(DataCheck, FindsWhatATrialWouldMeet) {
  const test::TemporaryDir dir;
  const auto check = [&dir](const std::string& csv, const Json& job, const std::vector<std::string>& categorical = {}) {
    XgboostSpec spec;
    spec.data.train = {dir.write("data.csv", csv)};
    spec.data.validation = spec.data.train.front();
    spec.data.label = "y";
    spec.data.categorical = categorical;
    Diagnostics diagnostics;
    check_data(spec, job, this_machine(1), diagnostics);
    auto texts = faults_of(diagnostics.errors());
    for (const std::string& warning : faults_of(diagnostics.warnings())) texts.push_back("warning " + warning);
    return texts;
  };
  const Json binary{{"search_space", {{"objective", "binary:logistic"}}}};
  const Json either{{"search_space", {{"objective", {{"type", "categorical"}, {"values", {"binary:logistic", "reg:gamma"}}}}}}};
  EXPECT_THAT(check("a,y\n1,0\n2,1\n", binary), IsEmpty());
  EXPECT_THAT(check("a,y\n1,0\n2,1\n", Json{{"search_space", 3}}), IsEmpty());
  EXPECT_THAT(check("a,y\n1,0\n2,5\n", binary), ElementsAre(StartsWith("trainer.data.label: the training data has the label 5")));
  EXPECT_THAT(check("a,y\n1,-1\n2,1\n", binary),
              ElementsAre(StartsWith("warning trainer.data.label: the labels are -1 and 1, and binary:logistic needs 0 and 1")));
  EXPECT_THAT(check("a,y\n1,-1\n2,1\n3,0.5\n", binary), ElementsAre(HasSubstr("has the label -1, and binary:logistic")));
  EXPECT_THAT(check("a,y\n1,0\n2,1\n", either), ElementsAre(HasSubstr("reg:gamma needs labels above 0")));
  EXPECT_THAT(check("t,a,y\n,1,0\n,2,1\n", binary, {"t"}), Not(Contains(HasSubstr("of the rows have texts"))));
  EXPECT_THAT(check("t,y\n,0\n,1\n", binary, {"t"}), Contains(HasSubstr("no column is left to learn from")));
  EXPECT_THAT(check("a,z\n1,0\n2,1\n", binary), ElementsAre(StartsWith("trainer.data.label: the file has no column `y`")));
  const auto replicas = [&](const std::string& csv, const Json& count) {
    Json job = binary;
    job["trainer"] = {{"replicas", count}};
    return check(csv, job);
  };
  EXPECT_THAT(replicas("a,y\n1,0\n2,1\n3,0\n4,1\n", 1), IsEmpty());
  EXPECT_THAT(replicas("a,y\n1,0\n2,0\n3,1\n4,1\n", 2), IsEmpty());
  EXPECT_THAT(replicas("a,y\n1,0\n2,1\n3,0\n4,1\n", 2),
              ElementsAre(StartsWith("warning trainer.replicas: of 2 replicas, rank 0 would have 1 of the 2 classes")))
      << "said once";
  EXPECT_THAT(replicas("a,y\n1,0\n2,1\n", {1, 3}),
              Contains(StartsWith("trainer.replicas: of 3 replicas, rank 2 would have no row")));
  std::string ids = "a,y\n";
  for (int i = 0; i < 50; ++i) ids += "id" + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  EXPECT_THAT(check(ids, binary),
              ElementsAre(AllOf(StartsWith("warning trainer.data.train: columns with more than 32"), HasSubstr("a (50)"))));
}

}  // namespace
}  // namespace tuneband::workers
