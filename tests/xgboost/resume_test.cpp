// A trial that was paused, moved or interrupted gives the very model and the very observations of one that never was.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;

constexpr std::int64_t kRounds = 12;

struct Learning {
  const char* name;
  Json parameters;
  Json configuration;
  Json data = Json::object();  // further fields of trainer.data
};

std::ostream& operator<<(std::ostream& out, const Learning& learning) { return out << learning.name; }

class AnyLearning : public testing::TestWithParam<Learning> {
 protected:
  AnyLearning() { data_.write("data.csv", test::made_up_csv(400, GetParam().parameters.contains("num_class") ? 3 : 2)); }

  TrialUnderTest trial() const {
    const bool classes = GetParam().parameters.contains("num_class");
    const std::string metric = classes ? "mlogloss" : "logloss";
    Json data{{"train", data_.path("data.csv")}, {"label", "y"}, {"validation", {{"fraction", 0.25}, {"seed", 1}}}};
    data.update(GetParam().data);
    const Json trainer{{"type", "xgboost"},
                       {"data", std::move(data)},
                       {"parameters", GetParam().parameters},
                       {"eval_metric", {metric}},
                       {"eval_train", true}};
    return {trainer, GetParam().configuration, "validation-" + metric};
  }

  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  struct Finished {
    std::string model;
    std::map<std::int64_t, Metrics> observations;
  };
  Finished uninterrupted() const {
    TrialUnderTest one = trial();
    auto outcome = one.run(*worker(), 0, kRounds);
    EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    EXPECT_EQ(outcome.reporter.observations.size(), static_cast<std::size_t>(kRounds));
    return {one.model(), outcome.reporter.observations};
  }

  test::TemporaryDir data_;
};

TEST_P(AnyLearning, GoesOnInMemoryAsIfNeverPaused) {
  const Finished expected = uninterrupted();
  TrialUnderTest paused = trial();
  const auto runner = worker();
  ASSERT_EQ(paused.run(*runner, 0, 1).result.exit, kExitCompleted);
  ASSERT_EQ(paused.run(*runner, 1, 4).result.exit, kExitCompleted);
  const auto last = paused.run(*runner, 4, kRounds);
  EXPECT_TRUE(paused.model() == expected.model);
  EXPECT_EQ(last.reporter.observations.at(kRounds), expected.observations.at(kRounds));
}

TEST_P(AnyLearning, GoesOnFromItsCheckpointInAnotherRunnerAsIfNeverPaused) {
  const Finished expected = uninterrupted();
  TrialUnderTest paused = trial();
  ASSERT_EQ(paused.run(*worker(), 0, 3).result.exit, kExitCompleted);
  const auto last = paused.run(*worker(), 3, kRounds);
  ASSERT_EQ(last.result.exit, kExitCompleted) << last.result.message;
  EXPECT_TRUE(paused.model() == expected.model);
  EXPECT_EQ(last.reporter.observations.at(kRounds), expected.observations.at(kRounds));
}

TEST_P(AnyLearning, GoesOnAfterAnotherTrialUsedTheSameWarmData) {
  const Finished expected = uninterrupted();
  TrialUnderTest paused = trial();
  TrialUnderTest other = trial();
  other.order().trial = 1;
  other.order().configuration["eta"] = 0.9;
  other.order().configuration["max_bin"] = 16;
  const auto runner = worker();
  ASSERT_EQ(paused.run(*runner, 0, 3).result.exit, kExitCompleted);
  ASSERT_EQ(other.run(*runner, 0, 3).result.exit, kExitCompleted);
  ASSERT_EQ(paused.run(*runner, 3, kRounds).result.exit, kExitCompleted);
  EXPECT_TRUE(paused.model() == expected.model);
}

TEST_P(AnyLearning, GoesOnFromWhereItWasStoppedBetweenRungs) {
  const Finished expected = uninterrupted();
  TrialUnderTest stopped = trial();
  const auto first = stopped.run(*worker(), 0, kRounds, 5);
  ASSERT_EQ(first.result.exit, kExitStopped);
  ASSERT_EQ(first.reporter.checkpoints, std::vector<std::int64_t>{5});
  const auto second = stopped.run(*worker(), 5, kRounds);
  EXPECT_EQ(second.reporter.observations.begin()->first, 6);
  EXPECT_TRUE(stopped.model() == expected.model);
}

const Json kSampled{{"subsample", 0.7}, {"colsample_bytree", 0.6}, {"colsample_bylevel", 0.7}, {"colsample_bynode", 0.8}};

Json with(Json parameters, const Json& more) {
  parameters.update(more);
  return parameters;
}

INSTANTIATE_TEST_SUITE_P(
    Resume, AnyLearning,
    testing::Values(
        Learning{"plain", {{"objective", "binary:logistic"}}, {{"eta", 0.2}}},
        Learning{
            "sampled", with(kSampled, {{"objective", "binary:logistic"}}), {{"eta", 0.35}, {"max_depth", 4}, {"alpha", 0.4}}},
        Learning{"tuned_sampling", {{"objective", "binary:logistic"}}, with(kSampled, {{"learning_rate", 0.35}})},
        Learning{"approx", with(kSampled, {{"objective", "binary:logistic"}, {"tree_method", "approx"}}), {{"eta", 0.3}}},
        Learning{"native_categories",
                 with(kSampled, {{"objective", "binary:logistic"}}),
                 {{"eta", 0.3}},
                 {{"categorical_encoding", "native"}}},
        Learning{"exact", with(kSampled, {{"objective", "binary:logistic"}, {"tree_method", "exact"}}), {{"eta", 0.3}}},
        Learning{"medians", with(kSampled, {{"objective", "reg:absoluteerror"}}), {{"max_depth", 4}}},
        Learning{"medians_of_approx",
                 with({{"colsample_bynode", 0.8}}, {{"objective", "reg:absoluteerror"}, {"tree_method", "approx"}}),
                 {{"max_depth", 4}}},
        Learning{"lossguide",
                 with(kSampled, {{"objective", "binary:logistic"}, {"grow_policy", "lossguide"}, {"max_leaves", 9}}),
                 {{"eta", 0.3}}},
        Learning{"classes", with(kSampled, {{"objective", "multi:softprob"}, {"num_class", 3}}), {{"eta", 0.3}}},
        Learning{"forest", with(kSampled, {{"objective", "binary:logistic"}, {"num_parallel_tree", 3}}), {{"eta", 0.3}}},
        Learning{
            "dart", with(kSampled, {{"objective", "binary:logistic"}, {"booster", "dart"}, {"rate_drop", 0.3}}), {{"eta", 0.3}}},
        Learning{"linear",
                 {{"objective", "binary:logistic"},
                  {"booster", "gblinear"},
                  {"updater", "coord_descent"},
                  {"feature_selector", "shuffle"}},
                 {{"eta", 0.3}}},
        Learning{"gradient_based",
                 {{"objective", "binary:logistic"},
                  {"max_delta_step", 1},
                  {"min_child_weight", 2},
                  {"gamma", 0.1},
                  {"base_score", 0.3},
                  {"scale_pos_weight", 2}},
                 {{"eta", 0.3}}}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST(Resume, DoesNotDependOnTheProcess) {
  const test::TemporaryDir data;
  const Json trainer{{"type", "xgboost"},
                     {"data", {{"train", data.write("data.csv", test::made_up_csv(300))}, {"label", "y"}}},
                     {"parameters", with(kSampled, {{"objective", "binary:logistic"}})}};
  const auto in_child = [](TrialUnderTest& trial, std::int64_t from, std::int64_t until) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(trial.run(*make_xgboost_runner({}), from, until).result.exit == std::string(kExitCompleted) ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  };
  TrialUnderTest whole(trainer, {{"eta", 0.3}});
  TrialUnderTest parts(trainer, {{"eta", 0.3}});
  ASSERT_EQ(in_child(whole, 0, 9), 0);
  ASSERT_EQ(in_child(parts, 0, 2), 0);
  ASSERT_EQ(in_child(parts, 2, 7), 0);
  ASSERT_EQ(in_child(parts, 7, 9), 0);
  EXPECT_TRUE(whole.model() == parts.model());
}

TEST(Resume, DoesNotDependOnTheNumberOfThreads) {
  const test::TemporaryDir data;
  const Json trainer{{"type", "xgboost"},
                     {"data", {{"train", data.write("data.csv", test::made_up_csv(3000))}, {"label", "y"}}},
                     {"threads", 2},
                     {"parameters", with(kSampled, {{"objective", "binary:logistic"}})}};
  TrialUnderTest one(trainer, {{"eta", 0.3}});
  TrialUnderTest two(trainer, {{"eta", 0.3}});
  ASSERT_EQ(one.run(*make_xgboost_runner({1}), 0, 5).result.exit, kExitCompleted);
  ASSERT_EQ(two.run(*make_xgboost_runner({2}), 0, 5).result.exit, kExitCompleted);
  EXPECT_TRUE(one.model() == two.model());
}

}  // namespace
}  // namespace tuneband::workers
