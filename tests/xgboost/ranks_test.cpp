// Distributed trials: several ranks, each as a worker runs it, with a real tracker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "debugger/files/tensor_reader.hpp"
#include "tests/xgboost/group_fixture.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/data/data_shards.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using protocol::AssignmentOrder;
using test::GroupUnderTest;
using test::KeepingReporter;
using test::TrackerThread;
using test::TrialOutcome;
using test::TrialUnderTest;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> exits_of(const std::vector<TrialOutcome>& outcomes) {
  std::vector<std::string> exits;
  for (const TrialOutcome& outcome : outcomes) {
    exits.push_back(outcome.result.exit);
    if (outcome.result.exit == kExitCrashed) ADD_FAILURE() << outcome.result.message;
  }
  return exits;
}

std::string log_of(const TrialUnderTest& trial, int rank) { return test::read_text(trial.file(protocol::log_file_of(rank))); }

class XgboostGroups : public testing::Test {
 protected:
  Json trainer(const std::string& csv = test::made_up_csv(600)) {
    return {{"type", "xgboost"},
            {"data", {{"train", data_.write("data.csv", csv)}, {"label", "y"}}},
            {"parameters", {{"objective", "binary:logistic"}, {"subsample", 0.8}, {"colsample_bytree", 0.7}}}};
  }

  // Trains and expects that all went well.
  std::vector<TrialOutcome> train(GroupUnderTest& group, TrialUnderTest& trial, std::int64_t from, std::int64_t until) {
    auto outcomes = group.run(trial, from, until);
    for (const TrialOutcome& outcome : outcomes) EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    return outcomes;
  }

  test::TemporaryDir data_;
  TrackerThread tracker_;
};

TEST_F(XgboostGroups, AllRanksEndWithTheBytesOfTheModelThatTheFirstStores) {
  for (const Json& parameters :
       {Json{{"eta", 0.3}}, Json{{"booster", "dart"}, {"rate_drop", 0.3}}, Json{{"tree_method", "approx"}},
        Json{{"grow_policy", "lossguide"}, {"max_leaves", 7}, {"colsample_bynode", 0.6}}}) {
    GroupUnderTest group(tracker_, 3);
    TrialUnderTest trial(trainer(), parameters);
    const auto outcomes = train(group, trial, 0, 5);
    EXPECT_EQ(outcomes[0].reporter.observations.size(), 5U);
    EXPECT_THAT(outcomes[0].reporter.checkpoints, ElementsAre(5));
    const std::string fingerprint = "has the fingerprint " + std::to_string(stable_hash(trial.model()));
    for (int rank = 0; rank < 3; ++rank) EXPECT_THAT(log_of(trial, rank), HasSubstr(fingerprint)) << parameters;
    for (int rank = 1; rank < 3; ++rank) {
      EXPECT_THAT(outcomes[static_cast<std::size_t>(rank)].reporter.observations, IsEmpty());
      EXPECT_THAT(outcomes[static_cast<std::size_t>(rank)].reporter.checkpoints, IsEmpty());
    }
  }
}

TEST_F(XgboostGroups, HowUnevenlyTheRanksWorkIsSavedByTheFirst) {
  GroupUnderTest group(tracker_, 2);
  TrialUnderTest trial(trainer(), Json{{"eta", 0.3}});
  trial.order().debug = Json::object();
  train(group, trial, 0, 25);
  const auto reader = debugger::files::TensorReader::open(trial.order().trial_dir, 0);
  ASSERT_TRUE(reader);
  const auto series = reader->series("resources/rank_imbalance", 0, 25);
  ASSERT_EQ(series.size(), 2U) << "ten rounds each";
  EXPECT_EQ(series[0].first, 11);
  EXPECT_EQ(series[1].first, 21);
  for (const auto& [step, tensor] : series) {
    EXPECT_GE(tensor.summary.sum, 0);
    EXPECT_LT(tensor.summary.sum, 1);
  }
}

TEST_F(XgboostGroups, TreesAndContributionsThatTheFirstSavesAloneDoNotKeepTheOthersWaiting) {
  for (const char* method : {"approx", "hist"}) {
    for (const char* collection : {"trees", "shap"}) {
      GroupUnderTest group(tracker_, 2);
      TrialUnderTest trial(trainer(), Json{{"eta", 0.3}, {"tree_method", method}});
      trial.order().debug = {{"collections", {{collection, {{"save", {{"every", 1}}}}}}}, {"rules", Json::array()}};
      EXPECT_EQ(train(group, trial, 0, 4)[0].reporter.observations.size(), 4U) << method << collection;
    }
  }
}

TEST_F(XgboostGroups, TheMetricIsThatOfTheModelOnTheWholeValidationData) {
  const Json document = trainer();
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(document, {{"eta", 0.3}}, "validation-auc");
  const auto outcomes = train(group, trial, 0, 4);
  Diagnostics faults;
  const auto spec = std::get<XgboostSpec>(parse_trainer(document, "trainer", faults));
  DataCache cache;
  const auto data = cache.get(spec)->data;
  const std::vector<EvaluationSet> sets{{"validation", &data->validation}};
  auto booster = XgboostBooster::create(data->train, sets, {{"objective", "binary:logistic"}, {"eval_metric", "auc"}});
  ASSERT_TRUE(booster->load(trial.model(), 4));
  EXPECT_DOUBLE_EQ(booster->evaluate(3, sets)->at(0).second, outcomes[0].reporter.observations.at(4).at(0).second);
}

TEST_F(XgboostGroups, ATrialThatIsPausedGoesOnToTheSameBytes) {
  const Json document = trainer();
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest whole(document, {{"eta", 0.3}});
  const auto expected = train(group, whole, 0, 9);

  TrialUnderTest in_memory(document, {{"eta", 0.3}});
  train(group, in_memory, 0, 3);
  train(group, in_memory, 3, 9);
  EXPECT_TRUE(in_memory.model() == whole.model());

  TrialUnderTest from_disk(document, {{"eta", 0.3}});
  train(group, from_disk, 0, 2);
  group.new_processes();
  train(group, from_disk, 2, 5);
  group.new_session();
  const auto outcomes = train(group, from_disk, 5, 9);
  EXPECT_TRUE(from_disk.model() == whole.model());
  EXPECT_EQ(outcomes[0].reporter.observations.at(9), expected[0].reporter.observations.at(9));

  TrialUnderTest one_forgot(document, {{"eta", 0.3}});
  train(group, one_forgot, 0, 4);
  group.runner(1).release();
  train(group, one_forgot, 4, 9);
  EXPECT_TRUE(one_forgot.model() == whole.model()) << "what only some ranks have in memory is of no use";
}

TEST_F(XgboostGroups, NativeCategoriesAreTheSameAtEveryRankWhateverRowsItHas) {
  std::string csv = "a,city,y\n";  // of the two ranks, each sees categories that the other lacks
  for (int i = 0; i < 300; ++i) {
    const std::string city = (i % 2 == 0 ? "even" : "odd") + std::to_string(i / 2 % 40);
    csv += std::to_string(i % 7) + "," + city + "," + std::to_string(i / 2 % 40 % 3 == 0 ? 1 : 0) + "\n";
  }
  Json document = trainer(csv);
  document["data"]["categorical_encoding"] = "native";
  document["parameters"] = {{"objective", "binary:logistic"}, {"max_depth", 3}};
  document["data"]["validation"] = data_.path("data.csv");
  GroupUnderTest group(tracker_, 2);
  TrialUnderTest whole(document, {{"eta", 0.5}});
  const auto outcomes = train(group, whole, 0, 6);
  EXPECT_THAT(exits_of(outcomes), Each(std::string(kExitCompleted)));
  EXPECT_LT(outcomes[0].reporter.observations.at(6).at(0).second, 0.45) << "the city alone tells the label";
  EXPECT_THAT(whole.model(), HasSubstr("native"));
  Json by_place = document;  // so many categories become the same numbers: what differs is what XGBoost takes them for
  by_place["data"].erase("categorical_encoding");
  TrialUnderTest ordinal(by_place, {{"eta", 0.5}});
  EXPECT_GT(train(group, ordinal, 0, 6)[0].reporter.observations.at(6).at(0).second, 0.5);

  TrialUnderTest paused(document, {{"eta", 0.5}});
  train(group, paused, 0, 2);
  group.new_processes();
  train(group, paused, 2, 6);
  EXPECT_TRUE(paused.model() == whole.model());
}

TEST_F(XgboostGroups, WhenOneRankIsAskedToStopAllStopAfterTheSameRoundWithACheckpoint) {
  const Json document = trainer();
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest whole(document, {{"eta", 0.3}});
  train(group, whole, 0, 6);
  TrialUnderTest trial(document, {{"eta", 0.3}});
  group.let_one(2, [](AssignmentOrder&, KeepingReporter& reporter) { reporter.stopping = true; });
  EXPECT_THAT(exits_of(group.run(trial, 0, 6)), Each(kExitStopped));
  group.let_one(0, [](AssignmentOrder&, KeepingReporter& reporter) { reporter.stop_after = 2; });
  EXPECT_THAT(exits_of(group.run(trial, 0, 6)), Each(kExitStopped));
  EXPECT_TRUE(std::filesystem::exists(trial.checkpoint(2)));
  group.let_all_be_alike();
  train(group, trial, 2, 6);
  EXPECT_TRUE(trial.model() == whole.model());
}

TEST_F(XgboostGroups, AnotherNumberOfRanksDoesNotGoOnWithACheckpoint) {
  const Json document = trainer();
  GroupUnderTest three(tracker_, 3);
  GroupUnderTest two(tracker_, 2);
  TrialUnderTest trial(document, {{"eta", 0.3}});
  train(three, trial, 0, 2);
  const auto of_two = two.run(trial, 2, 4);
  EXPECT_THAT(exits_of(of_two), Each(kExitInvalidParameters));
  EXPECT_THAT(of_two[0].result.message, HasSubstr("trained by 3 replicas, and cannot go on with 2"));
  const auto alone = make_xgboost_runner({});
  EXPECT_THAT(trial.run(*alone, 2, 4).result.message, HasSubstr("trained by 3 replicas, and cannot go on with 1"));
  TrialUnderTest single(document, {{"eta", 0.3}});
  single.run(*alone, 0, 2);
  EXPECT_THAT(two.run(single, 2, 4)[1].result.message, HasSubstr("trained by 1 replicas, and cannot go on with 2"));
}

TEST_F(XgboostGroups, ManyTrialsShareOneWarmSession) {
  const Json document = trainer(test::made_up_csv(200));
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest first(document, {{"eta", 0.1}});
  train(group, first, 0, 2);
  tracker_.stop();  // a group that has formed needs it no more
  for (int i = 0; i < 100; ++i) {
    TrialUnderTest trial(document, {{"eta", 0.1 + i * 0.005}, {"max_depth", 2 + i % 5}});
    const auto outcomes = train(group, trial, 0, 2);
    if (outcomes[0].result.exit != kExitCompleted) break;
    EXPECT_THAT(log_of(trial, 2), HasSubstr("in memory"));
  }
}

// Only the first stores that model: what XGBoost draws together while it is made is drawn by all.
TEST_F(XgboostGroups, TrialsWhoseBestRoundIsKeptShareOneWarmSession) {
  for (const char* method : {"approx", "hist"}) {
    Json document = trainer();
    document["keep"] = "best";
    document["parameters"]["tree_method"] = method;
    GroupUnderTest group(tracker_, 2);
    for (const double eta : {0.9, 0.3, 0.1}) {
      TrialUnderTest trial(document, {{"eta", eta}});
      const auto outcomes = train(group, trial, 0, 6);
      EXPECT_TRUE(outcomes[0].result.kept) << method;
      EXPECT_NE(trial.model(), "");
    }
  }
}

TEST_F(XgboostGroups, TwoGroupsTrainAtOnceWithOneTracker) {
  const Json document = trainer();
  GroupUnderTest three(tracker_, 3);
  GroupUnderTest two(tracker_, 2);
  TrialUnderTest of_three(document, {{"eta", 0.3}});
  TrialUnderTest of_two(document, {{"eta", 0.3}});
  auto other = std::async(std::launch::async, [&] { return train(two, of_two, 0, 6); });
  train(three, of_three, 0, 6);
  other.get();
  EXPECT_NE(of_three.model(), of_two.model());
}

TEST_F(XgboostGroups, AGroupAndATrialOfOneWorkerTakeTurnsWithoutHarm) {
  const Json document = trainer();
  GroupUnderTest group(tracker_, 2);
  TrialUnderTest distributed(document, {{"eta", 0.3}});
  TrialUnderTest single(document, {{"eta", 0.3}});
  train(group, distributed, 0, 2);
  EXPECT_EQ(single.run(group.runner(0), 0, 3).result.exit, kExitCompleted);
  train(group, distributed, 2, 4);
  EXPECT_EQ(single.run(group.runner(0), 3, 5).result.exit, kExitCompleted);
}

// ---- what goes wrong ---------------------------------------------------------------------------------------------------------

TEST_F(XgboostGroups, DataThatOneRankCannotReadIsItsFaultAloneAndTheSessionGoesOn) {
  const Json document = trainer();
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(document, {{"eta", 0.3}});
  group.let_one(1, [&](AssignmentOrder& order, KeepingReporter&) { order.trainer["data"]["train"] = data_.path("absent.csv"); });
  const auto outcomes = group.run(trial, 0, 3);
  EXPECT_THAT(exits_of(outcomes), ElementsAre(kExitStopped, kExitDataUnreadable, kExitStopped));
  EXPECT_THAT(outcomes[1].result.message, HasSubstr("absent.csv"));
  EXPECT_THAT(outcomes[2].result.message, HasSubstr("another rank"));
  group.let_all_be_alike();
  train(group, trial, 0, 3);
}

// Files of the same names, one for each machine. No trial before has left word of what they held.
TEST_F(XgboostGroups, RanksThatReadOtherDataThanEachOtherTrainNothing) {
  for (const std::string& other : {test::made_up_csv(700), test::made_up_csv(600, 3), std::string("a,y\n1,0\n2,1\n3,0\n4,1\n")}) {
    data_.write("other.csv", other);
    GroupUnderTest group(tracker_, 3);
    TrialUnderTest trial(trainer(), {{"eta", 0.3}});
    group.let_one(1, [&](AssignmentOrder& order, KeepingReporter&) { order.trainer["data"]["train"] = data_.path("other.csv"); });
    for (const auto& outcome : group.run(trial, 0, 3)) {
      EXPECT_EQ(outcome.result.exit, kExitDataUnreadable);
      EXPECT_THAT(outcome.result.message, HasSubstr("trainer.data: the ranks have read other files than each other"));
    }
    group.let_all_be_alike();
    train(group, trial, 0, 3);
  }
}

TEST_F(XgboostGroups, WhatTheFirstRankFindsWrongWithTheMetricEndsTheOthers) {
  std::string csv = "a,y\n";
  for (int i = 0; i < 40; ++i) csv += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  Json document = trainer(csv);
  document["data"]["validation"] = data_.write("valid.csv", "a,y\n1,1\n2,1\n");
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest nan(document, {}, "validation-auc");
  EXPECT_THAT(exits_of(group.run(nan, 0, 27)), ElementsAre(kExitNanMetric, kExitStopped, kExitStopped));
  document["eval_metric"] = "auc";
  TrialUnderTest missing(document, {}, "validation-logloss");
  EXPECT_THAT(exits_of(group.run(missing, 0, 3)), ElementsAre(kExitNoMetric, kExitStopped, kExitStopped));
  TrialUnderTest unwritable(document, {}, "validation-auc");
  std::ofstream(unwritable.file("epochs")) << "in the way";
  const auto outcomes = group.run(unwritable, 0, 2);
  EXPECT_THAT(outcomes[0].result.message, HasSubstr("cannot write"));
  EXPECT_EQ(outcomes[1].result.exit, kExitCompleted) << "its part is done; the first rank's is not";
}

TEST_F(XgboostGroups, ParametersThatXgboostRefusesEndTheSessionOnAllRanksWithItsWords) {
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(trainer(), {{"max_depth", -1}});
  for (const auto& outcome : group.run(trial, 0, 3)) {
    EXPECT_EQ(outcome.result.exit, kExitInvalidParameters);
    EXPECT_EQ(outcome.result.message, "XGBoost: value -1 for Parameter max_depth should be greater equal to 0");
  }
  group.new_session();
  TrialUnderTest good(trainer(), {{"max_depth", 2}});
  train(group, good, 0, 3);
}

// Of files in the order of their labels no rank sees all classes.
TEST_F(XgboostGroups, EveryRankCountsTheClassesOfAllRows) {
  std::string text = "a,y\n";
  for (int row = 0; row < 90; ++row) text += std::to_string(row % 30) + "," + std::to_string(row / 30) + "\n";
  const auto model = [&](const Json& parameters) {
    Json document = trainer(text);
    document["parameters"] = parameters;
    GroupUnderTest group(tracker_, 3);
    TrialUnderTest trial(document, {{"eta", 0.3}}, "validation-mlogloss");
    train(group, trial, 0, 3);
    return trial.model();
  };
  EXPECT_EQ(model({{"objective", "multi:softprob"}}), model({{"objective", "multi:softprob"}, {"num_class", 3}}));
}

TEST_F(XgboostGroups, MoreRanksThanRowsAreRefused) {
  GroupUnderTest group(tracker_, 5);
  Json document = trainer("a,y\n1,0\n2,1\n3,0\n");
  document["data"]["validation"] = document["data"]["train"];
  TrialUnderTest trial(document, {});
  const auto outcomes = group.run(trial, 0, 1);
  EXPECT_EQ(outcomes[4].result.exit, kExitDataUnreadable);
  EXPECT_THAT(outcomes[4].result.message, HasSubstr("rank 4 would have none"));
}

TEST_F(XgboostGroups, RanksThatWaitForOneThatNeverComesAreFreeWhenTheGroupIsForgotten) {
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(trainer(), {});
  trial.order().until_resource = 2;
  auto waiting = std::async(std::launch::async, [&] { return group.run_rank(0, trial.order()); });
  // It is parked once its connection is there; forgetting before that turns it away just as well.
  tracker_.forget(group.session());
  const auto outcome = waiting.get();
  EXPECT_EQ(outcome.result.exit, kExitWorkerLost);
  EXPECT_THAT(outcome.result.message, HasSubstr("the group of 3 workers broke"));
  group.new_session();
  train(group, trial, 0, 2);
}

TEST_F(XgboostGroups, WithoutATrackerNoGroupFormsAndTheNextSessionWorks) {
  GroupUnderTest group(tracker_, 2);
  TrialUnderTest trial(trainer(), {});
  train(group, trial, 0, 1);
  {
    TrackerThread gone;
    GroupUnderTest lost(gone, 2);
    gone.stop();
    TrialUnderTest other(trainer(), {});
    EXPECT_THAT(exits_of(lost.run(other, 0, 1)), Each(kExitWorkerLost));
  }
  group.new_session();
  train(group, trial, 1, 3);
}

// ---- shards ------------------------------------------------------------------------------------------------------------------

TEST_F(XgboostGroups, TrainOnFilesOfWhichEachRankHasItsOwn) {
  const std::string csv = test::made_up_csv(300);
  Json document = trainer();
  document["data"]["train"] = {data_.write("1.csv", csv), data_.write("2.csv", csv), data_.write("3.csv", csv)};
  document["sharding"] = "files";
  document["eval_train"] = true;
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(document, {{"eta", 0.3}});
  const auto outcomes = train(group, trial, 0, 3);
  EXPECT_THAT(outcomes[0].reporter.observations.at(3),
              ElementsAre(testing::Pair("validation-logloss", testing::_), testing::Pair("train-logloss", testing::_)));
}

TEST_F(XgboostGroups, ACellThatOneRankAloneLacksIsLearntFromAsByOneWorker) {
  std::string csv = test::made_up_csv(600);
  for (std::size_t at = csv.find("NA"); at != std::string::npos; at = csv.find("NA")) csv.replace(at, 2, "0.5");
  const std::size_t cell = csv.find('\n', csv.find('\n') + 1) + 1;  // of the second row, which rank 1 has
  csv.erase(cell, csv.find(',', cell) - cell);
  Json document = trainer(csv);
  document["parameters"] = {{"objective", "binary:logistic"}};
  for (const Json& parameters : {Json{{"eta", 0.3}}, Json{{"eta", 0.3}, {"grow_policy", "lossguide"}, {"max_leaves", 7}},
                                 Json{{"eta", 0.3}, {"booster", "dart"}}}) {
    std::vector<double> values;
    for (const int world : {1, 2, 3}) {
      GroupUnderTest group(tracker_, world);
      TrialUnderTest trial(document, parameters);
      values.push_back(train(group, trial, 0, 4)[0].reporter.observations.at(4).at(0).second);
    }
    EXPECT_NEAR(values[1], values[0], 0.01 * values[0]) << parameters;
    EXPECT_NEAR(values[2], values[0], 0.01 * values[0]) << parameters;
  }
}

TEST_F(XgboostGroups, QueriesStayWhole) {
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
  GroupUnderTest group(tracker_, 3);
  TrialUnderTest trial(document, {{"eta", 0.5}}, "validation-ndcg@3");
  EXPECT_GT(train(group, trial, 0, 4)[0].reporter.observations.at(4).at(0).second, 0.9);
}

TEST(Shards, ShareOutRowsQueriesAndFiles) {
  LoadedTables tables;
  tables.train.columns = 1;
  for (int row = 0; row < 7; ++row) {
    tables.train.labels.push_back(static_cast<float>(row));
    tables.train.values.push_back(static_cast<float>(10 * row));
  }
  tables.train.file_ends = {2, 3, 7};
  EXPECT_THAT(shard_of(tables, Sharding::rows, 1, 3).labels, ElementsAre(1, 4));
  EXPECT_THAT(shard_of(tables, Sharding::rows, 0, 3).values, ElementsAre(0, 30, 60));
  EXPECT_THAT(shard_of(tables, Sharding::files, 0, 2).labels, ElementsAre(0, 1, 3, 4, 5, 6));
  EXPECT_THAT(shard_of(tables, Sharding::files, 1, 2).labels, ElementsAre(2));
  EXPECT_THAT(shard_of(tables, Sharding::files, 3, 4).labels, IsEmpty());
  tables.train.query_sizes = {1, 2, 4};
  const Table queries = shard_of(tables, Sharding::rows, 0, 2);
  EXPECT_THAT(queries.labels, ElementsAre(0, 3, 4, 5, 6));
  EXPECT_THAT(queries.query_sizes, ElementsAre(1, 4));
  tables.train.file_ends = {3, 7};
  EXPECT_THAT(shard_of(tables, Sharding::files, 0, 2).query_sizes, ElementsAre(1, 2));
}

TEST(Shards, ARowThatLacksAValueIsLentToRanksThatHaveNoneAndCountsOnce) {
  LoadedTables tables;
  tables.train.columns = 2;
  for (int row = 0; row < 7; ++row) {
    tables.train.labels.push_back(static_cast<float>(row));
    tables.train.values.insert(tables.train.values.end(), {static_cast<float>(10 * row), 1});
  }
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 1, 3).weights, IsEmpty()) << "nobody lacks one";
  tables.train.values[2 * 4] = std::nanf("");
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 0, 3).labels, ElementsAre(0, 3, 6, 4));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 0, 3).weights, ElementsAre(1, 1, 1, 1 / 3.0F));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 1, 3).labels, ElementsAre(1, 4));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 1, 3).weights, ElementsAre(1, 1 / 3.0F));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 2, 3).labels, ElementsAre(2, 5, 4));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 7, 8).labels, IsEmpty()) << "too few rows stay too few";
  tables.train.weights = {1, 1, 1, 1, 6, 2, 1};
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 1, 3).weights, ElementsAre(1, 2));
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 2, 3).weights, ElementsAre(1, 2, 2));
  tables.train.file_ends = {2, 7};
  EXPECT_THAT(shard_in_step(tables, Sharding::files, 0, 2).weights, ElementsAre(1, 1, 3));
  tables.train.weights.clear();
  for (const std::size_t row : {0, 2}) tables.train.values[2 * row] = std::nanf("");
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 0, 3).weights, IsEmpty()) << "each has one";
}

TEST(Shards, ToARankingARowIsLentAsAQueryOfItsOwn) {
  LoadedTables tables;
  tables.train.columns = 1;
  tables.train.labels = {0, 1, 2, 0};
  tables.train.values = {1, std::nanf(""), 3, 4};
  tables.train.query_sizes = {2, 2};
  const Table shard = shard_in_step(tables, Sharding::rows, 1, 2);
  EXPECT_THAT(shard.labels, ElementsAre(2, 0, 1));
  EXPECT_THAT(shard.query_sizes, ElementsAre(2, 1));
  EXPECT_THAT(shard.weights, IsEmpty());
  EXPECT_THAT(shard_in_step(tables, Sharding::rows, 0, 2).query_sizes, ElementsAre(2));
}

TEST(Shards, OfASparseTableARowLacksAValueWhereItHasNoEntryForAColumn) {
  LoadedTables tables;
  tables.train.columns = 2;
  tables.train.sparse = true;
  tables.train.labels = {0, 1};
  tables.train.row_starts = {0, 2, 3};
  tables.train.entry_columns = {0, 1, 1};
  tables.train.values = {1, 2, 3};
  const Table shard = shard_in_step(tables, Sharding::rows, 0, 2);
  EXPECT_THAT(shard.labels, ElementsAre(0, 1));
  EXPECT_THAT(shard.weights, ElementsAre(1, 0.5F));
  EXPECT_THAT(shard.row_starts, ElementsAre(0, 2, 3));
}

TEST(Shards, OfASparseTableKeepTheirEntries) {
  LoadedTables tables;
  tables.train.columns = 3;
  tables.train.sparse = true;
  tables.train.labels = {0, 1, 2};
  tables.train.row_starts = {0, 2, 2, 3};
  tables.train.entry_columns = {0, 2, 1};
  tables.train.values = {1, 2, 3};
  const Table shard = shard_of(tables, Sharding::rows, 0, 2);
  EXPECT_THAT(shard.labels, ElementsAre(0, 2));
  EXPECT_THAT(shard.row_starts, ElementsAre(0, 2, 3));
  EXPECT_THAT(shard.entry_columns, ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace tuneband::workers
