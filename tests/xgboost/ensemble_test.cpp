// Trials joined into one model, by the same files and values as the server has of them.
#include "workers/ensemble.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

#include "core/text.hpp"
#include "search_spaces/shrinkage.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/prediction.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::HasSubstr;

class Ensembles : public testing::Test {
 protected:
  Ensembles() { dir_.write("data.csv", test::made_up_csv(600)); }

  // A job on the file, its trials trained, the best one first. `shared`: what all configurations have.
  EnsembleOrder trained(Json trainer, const std::string& metric, const std::string& goal = "minimize",
                        const Json& shared = Json::object()) {
    trainer.update({{"type", "xgboost"}});
    trainer["data"].update({{"train", dir_.path("data.csv")}, {"label", "y"}});
    EnsembleOrder order;
    order.job = {{"trainer", trainer}, {"objective", {{"metric", "validation-" + metric}, {"goal", goal}}}};
    order.output = dir_.path("joined.ubj");
    const auto worker = make_xgboost_runner({});
    for (const double eta : {0.4, 0.5, 0.6, 0.7, 0.8}) {
      Json configuration{{"eta", eta}, {"subsample", 0.5}};
      configuration.update(shared);
      auto& trial = *trials_.emplace_back(std::make_unique<TrialUnderTest>(trainer, configuration, "validation-" + metric));
      trial.order().seed = static_cast<std::uint64_t>(10 * eta);
      const auto outcome = trial.run(*worker, 0, 8);
      EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
      const double value =
          outcome.result.kept ? outcome.result.kept->metrics.at(0).second : outcome.reporter.observations.at(8).at(0).second;
      const std::int64_t rounds = outcome.result.kept ? outcome.result.kept->resource : 8;
      const KeptTraining training{{configuration, trial.order().seed, 8, trial.order().max_resource}, rounds};
      order.models.push_back({static_cast<int>(order.models.size()) + 10, value, trial.model_file(), configuration, training});
    }
    const double sign = goal == "minimize" ? 1 : -1;
    std::stable_sort(order.models.begin(), order.models.end(),
                     [sign](const TrialModel& a, const TrialModel& b) { return sign * a.value < sign * b.value; });
    return order;
  }

  static Json joined(const EnsembleOrder& order) {
    const auto reply = join_trials(order);
    EXPECT_TRUE(reply) << describe(reply.error());
    if (!reply) return {};
    const Json& members = reply->at("members");
    EXPECT_TRUE(std::ranges::is_sorted(members, std::greater(), [](const Json& member) { return member.at("weight"); }))
        << members;
    return *reply;
  }
  static std::string fault(const EnsembleOrder& order) {
    const auto reply = join_trials(order);
    return reply ? "" : describe(reply.error());
  }

  // What a model says of rows.
  std::string predictions(const std::string& model, const std::string& data) {
    std::string lines;
    const auto done = predict({.model = model, .data = dir_.path(data)}, [&lines](std::string_view piece) {
      lines += piece;
      return true;
    });
    EXPECT_TRUE(done) << describe(done.error());
    return lines;
  }

  test::TemporaryDir dir_;
  std::vector<std::unique_ptr<TrialUnderTest>> trials_;
};

TEST_F(Ensembles, AreWorthMoreOnTheValidationRowsThanTheBestModel) {
  const auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  const Json reply = joined(order);
  EXPECT_LT(reply.at("value"), reply.at("value_of_best"));
  EXPECT_NEAR(reply.at("value_of_best"), order.models.front().value, 1e-6);
  double weights = 0;
  for (const Json& member : reply.at("members")) weights += member.at("weight").get<double>();
  EXPECT_NEAR(weights, 1, 1e-9);
  EXPECT_GT(reply.at("members").size(), 1U);
  EXPECT_FALSE(reply.contains("test_value")) << "the job has no such rows";
  const auto model = XgboostBooster::of_model(test::read_text(order.output));
  EXPECT_EQ(Json::parse(*model->attribute("tuneband_ensemble")), reply);
}

TEST_F(Ensembles, AreMeasuredOnTheTestRowsToo) {
  const Json rows{{"test", {{"fraction", 0.2}}}};
  const Json reply = joined(trained({{"data", rows}, {"parameters", {{"objective", "binary:logistic"}}}}, "auc", "maximize"));
  EXPECT_GT(reply.at("value"), reply.at("value_of_best"));
  EXPECT_GT(reply.at("test_value"), 0.5);
  EXPECT_GT(reply.at("test_value_of_best"), 0.5);
  EXPECT_NE(reply.at("test_value"), reply.at("value"));
}

// The file is one as a trial leaves it: rows go by their names, and it has the value that was told of it.
TEST_F(Ensembles, PredictAsTheModelOfATrialDoes) {
  dir_.write("data.csv", test::made_up_csv(600, 3));
  for (const char* encoding : {"numbers", "native"}) {
    trials_.clear();
    const Json data{{"validation", dir_.path("data.csv")}, {"categorical_encoding", encoding}};
    const auto order = trained({{"data", data}, {"parameters", {{"objective", "multi:softprob"}}}}, "merror");
    const Json reply = joined(order);
    std::istringstream predicted(predictions(order.output, "data.csv"));
    std::istringstream rows(test::made_up_csv(600, 3));
    std::string line;
    std::string row;
    std::getline(rows, row);
    std::getline(predicted, line);
    EXPECT_EQ(line, "prediction,probability_0,probability_1,probability_2");
    double wrong = 0;
    while (std::getline(predicted, line) && std::getline(rows, row)) wrong += line.front() == row.back() ? 0 : 1;
    EXPECT_NEAR(wrong / 600, reply.at("value"), 1e-6) << encoding;
  }
}

TEST_F(Ensembles, CountRowsByTheirWeights) {
  std::string text = "a,b,w,y\n";
  for (std::size_t row = 0; row < 400; ++row) {
    const double a = random_unit(5, {row, 0});
    text += std::to_string(a) + "," + std::to_string(random_unit(5, {row, 1})) + "," + std::to_string(1 + row % 5) + "," +
            std::to_string(3 * a + random_unit(5, {row, 2})) + "\n";
  }
  dir_.write("data.csv", text);
  const auto order = trained({{"data", {{"weight", "w"}}}, {"parameters", {{"objective", "reg:squarederror"}}}}, "rmse");
  EXPECT_NEAR(joined(order).at("value_of_best"), order.models.front().value, 1e-5);
}

TEST_F(Ensembles, OfRankingsAreMeasuredByTheirQueries) {
  std::string text = "q,a,b,y\n";
  for (std::size_t row = 0; row < 600; ++row) {
    const double a = random_unit(6, {row, 0});
    text += std::to_string(row / 10) + "," + std::to_string(a) + "," + std::to_string(random_unit(6, {row, 1})) + "," +
            std::to_string(static_cast<int>(2 * a + random_unit(6, {row, 2}))) + "\n";
  }
  dir_.write("data.csv", text);
  const auto order =
      trained({{"data", {{"group", "q"}}}, {"parameters", {{"objective", "rank:pairwise"}}}}, "ndcg@5", "maximize");
  const Json reply = joined(order);
  EXPECT_NEAR(reply.at("value_of_best"), order.models.front().value, 1e-5);
  EXPECT_GE(reply.at("value"), reply.at("value_of_best"));
}

// No rows are left to choose by: each model was trained on all of them.
TEST_F(Ensembles, OfACrossValidationCountTheBestThirdByRank) {
  const Json rows{{"folds", 3}, {"test", {{"fraction", 0.3}}}};
  const auto order = trained({{"data", rows}, {"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  const Json reply = joined(order);
  EXPECT_FALSE(reply.contains("value"));
  EXPECT_EQ(reply.at("candidates"), 5);
  const Json& members = reply.at("members");
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].at("trial"), order.models[0].trial);
  EXPECT_NEAR(members[0].at("weight"), 2.0 / 3, 1e-9);
  EXPECT_NEAR(members[1].at("weight"), 1.0 / 3, 1e-9);
  EXPECT_LT(reply.at("test_value"), 0.69);
  EXPECT_NE(reply.at("test_value"), reply.at("test_value_of_best"));
  auto apart = order;
  apart.standard_error = (order.models[1].value - order.models[0].value) / 2.5;
  EXPECT_EQ(joined(apart).at("members").size(), 1U) << "the second one is more than two standard errors worse";
  apart.standard_error = (order.models[1].value - order.models[0].value) / 1.5;
  EXPECT_EQ(joined(apart).at("members").size(), 2U);
}

TEST_F(Ensembles, AreWithoutModelsThatMeasureAnotherValueThanWasTold) {
  auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  order.models[2].value *= 1 + 5e-4;  // rounding
  EXPECT_EQ(joined(order).at("candidates"), 5);
  order.models[2].value += 0.1;
  const Json reply = joined(order);
  EXPECT_EQ(reply.at("candidates"), 4);
  for (const Json& member : reply.at("members")) EXPECT_NE(member.at("trial"), order.models[2].trial);
}

TEST_F(Ensembles, AreMeasuredWithTheParametersOfTheirObjective) {
  const auto huber = trained({{"parameters", {{"objective", "reg:pseudohubererror"}, {"huber_slope", 3}}}}, "mphe");
  EXPECT_NEAR(joined(huber).at("value_of_best"), huber.models.front().value, 1e-6);
  trials_.clear();
  const auto tweedie =
      trained({{"parameters", {{"objective", "reg:tweedie"}, {"tweedie_variance_power", 1.2}}}}, "tweedie-nloglik@1.2");
  EXPECT_NEAR(joined(tweedie).at("value_of_best"), tweedie.models.front().value, 1e-5);
}

TEST_F(Ensembles, AreJudgedByAnObjectiveOfTheSearchSpaceAndAreOfThatOfTheBestTrial) {
  auto order = trained({}, "logloss", "minimize", {{"objective", "binary:logistic"}});
  EXPECT_NEAR(joined(order).at("value_of_best"), order.models.front().value, 1e-6);
  order.models[2].configuration["objective"] = "reg:logistic";
  EXPECT_EQ(joined(order).at("candidates"), 4);
}

TEST_F(Ensembles, ParametersOfTheObjectiveThatSayNothingOfItsMarginsMayDiffer) {
  auto order = trained({{"parameters", {{"objective", "reg:pseudohubererror"}}}}, "mae");
  for (std::size_t i = 0; i < order.models.size(); ++i)
    order.models[i].configuration["huber_slope"] = 1.0 + static_cast<double>(i);
  EXPECT_EQ(joined(order).at("candidates"), 5);
}

// Half of the rows are to train on, and half to validate on.
TEST_F(Ensembles, OfModelsThatAreTrainedOnceMoreKnowTheValidationRowsToo) {
  dir_.write("new.csv", test::made_up_csv(3000));
  const Json data{{"validation", {{"fraction", 0.5}}}, {"test", dir_.path("new.csv")}};
  auto order = trained({{"data", data}, {"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  const Json before = joined(order);
  order.refit = true;
  const Json reply = joined(order);
  EXPECT_EQ(reply.at("refit"), true);
  EXPECT_EQ(reply.at("members"), before.at("members"));
  EXPECT_EQ(reply.at("trees"), 2 * before.at("trees").get<int>()) << "twice as many rows";
  EXPECT_EQ(reply.at("value"), before.at("value")) << "of before: no rows are left to measure on";
  EXPECT_EQ(reply.at("test_value_of_best"), before.at("test_value_of_best"));
  EXPECT_LT(reply.at("test_value").get<double>(), before.at("test_value").get<double>());
  EXPECT_FALSE(before.contains("refit"));
}

TEST_F(Ensembles, OfClassesThatNobodyCountedAreTrainedOnceMore) {
  dir_.write("data.csv", test::made_up_csv(600, 3));
  const auto predicted = [this](const Json& parameters) {
    trials_.clear();
    auto order = trained({{"parameters", parameters}}, "mlogloss");
    order.refit = true;
    const Json reply = joined(order);
    return reply.dump() + predictions(order.output, "data.csv");
  };
  EXPECT_TRUE(predicted({{"objective", "multi:softprob"}}) == predicted({{"objective", "multi:softprob"}, {"num_class", 3}}));
}

// On files of their own, so that the rows of both have an order.
TEST_F(Ensembles, TrainOnceMoreAsTheTrialDidButOnAllRows) {
  const std::string first = test::made_up_csv(600);
  std::string second = first.substr(first.find('\n') + 1);
  second.resize(second.find('\n', second.size() / 2) + 1);
  const auto more = static_cast<double>(std::ranges::count(second, '\n'));
  dir_.write("second.csv", "a,b,city,y\n" + second);
  Json trainer{{"data", {{"validation", dir_.path("second.csv")}}},
               {"parameters", {{"objective", "binary:logistic"}, {"interaction_constraints", {{"a", "city"}, {"b"}}}}},
               {"fidelity", "shrinkage"},
               {"keep", "last"}};
  auto order = trained(trainer, "logloss");
  order.models.resize(1);
  order.refit = true;
  const auto rounds = static_cast<std::int64_t>(std::lround(8 * (600 + more) / 600));
  EXPECT_GT(rounds, 8);
  EXPECT_EQ(joined(order).at("trees"), rounds) << "as many for each row";
  const std::string anew = predictions(order.output, "second.csv");
  dir_.write("data.csv", first + second);
  trainer.update({{"type", "xgboost"}, {"fidelity", "prefix"}});
  trainer["data"].update({{"train", dir_.path("data.csv")}, {"label", "y"}});
  Json configuration = order.models.front().configuration;
  configuration["eta"] = shrunk_eta(configuration.at("eta"), 8, 27, std::numeric_limits<double>::infinity());
  TrialUnderTest on_all(trainer, configuration, "validation-logloss");
  on_all.order().seed = order.models.front().training->training.seed;
  on_all.run(*make_xgboost_runner({}), 0, rounds);
  EXPECT_EQ(anew, predictions(on_all.model_file(), "second.csv"));
  dir_.write("data.csv", first);
  order.models.front().training->rounds = 4;
  EXPECT_EQ(joined(order).at("trees"), rounds / 2) << "of a model of fewer rounds fewer";
}

// A query of the training file is another one than that of the same number in the other file.
TEST_F(Ensembles, OfRankingsAreTrainedOnceMoreWithTheQueriesOfBothFiles) {
  const auto rows = [](std::uint64_t seed) {
    std::string text = "q,a,y\n";
    for (std::size_t row = 0; row < 200; ++row) {
      const double a = random_unit(seed, {row, 0});
      text += std::to_string(row / 10) + "," + std::to_string(a) + "," +
              std::to_string(static_cast<int>(2 * a + random_unit(seed, {row, 1}))) + "\n";
    }
    return text;
  };
  dir_.write("data.csv", rows(1));
  dir_.write("second.csv", rows(2));
  const Json data{{"group", "q"}, {"validation", dir_.path("second.csv")}};
  auto order = trained({{"data", data}, {"parameters", {{"objective", "rank:pairwise"}}}}, "ndcg@5", "maximize");
  order.refit = true;
  EXPECT_EQ(joined(order).at("refit"), true);
}

TEST_F(Ensembles, OfACrossValidationWereTrainedOnAllRowsAlready) {
  auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}, {"data", {{"folds", 3}}}}, "logloss");
  const Json before = joined(order);
  order.refit = true;
  EXPECT_EQ(joined(order), before);
}

TEST_F(Ensembles, AreNotMadeOfDataThatChanged) {
  auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  dir_.write("data.csv", test::made_up_csv(500));
  EXPECT_THAT(fault(order), HasSubstr("trainer.data: is not what it was: the model of trial"));
  std::string other = test::made_up_csv(600);
  for (std::size_t at = other.find("Oslo"); at != std::string::npos; at = other.find("Oslo")) other.replace(at, 4, "Bonn");
  dir_.write("data.csv", other);
  EXPECT_THAT(fault(order), HasSubstr("trainer.data: is not what it was: the models were trained on other"));
}

// Folds leave no rows to measure on, and the rows of a split are others then.
TEST_F(Ensembles, AreNotMadeOfTheSameRowsInAnotherOrder) {
  auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}, {"data", {{"folds", 3}}}}, "logloss");
  const std::filesystem::path trials = dir_.path("trials");
  for (TrialModel& model : order.models) {  // as the server has them
    const auto trial = trials / std::to_string(model.trial);
    std::filesystem::create_directories(trial);
    std::filesystem::copy_file(model.file, trial / protocol::kModelFile);
    model.file = trial / protocol::kModelFile;
  }
  std::filesystem::copy_file(
      std::filesystem::path(trials_.front()->order().trial_dir).parent_path() / protocol::kDataChecksumFile,
      trials / protocol::kDataChecksumFile);
  EXPECT_EQ(fault(order), "");
  const std::string rows = test::made_up_csv(600);
  const std::size_t header = rows.find('\n') + 1;
  const std::size_t second = rows.find('\n', header) + 1;
  dir_.write("data.csv", rows.substr(0, header) + rows.substr(second) + rows.substr(header, second - header));
  EXPECT_THAT(fault(order), HasSubstr("trainer.data: the files are not what they were when the job's first trial read them"));
  std::filesystem::remove(trials / protocol::kDataChecksumFile);
  EXPECT_EQ(fault(order), "") << "nothing tells that they changed";
}

TEST_F(Ensembles, OfABestTrialAloneAreTrainedOnceMoreWhateverItIsTheBestOf) {
  auto order = trained({{"parameters", {{"objective", "binary:logistic"}}}}, "logloss");
  const Json plain = order.job;
  const Json objective = plain.at("objective");
  order.refit = true;
  Json bounded = objective;
  bounded["constraints"] = Json::array({{{"metric", "validation-error"}, {"max", 0.5}}});
  Json several = plain;
  several.erase("objective");
  several["objectives"] = Json::array({bounded, {{"metric", "validation-error"}, {"goal", "minimize"}}});
  const auto models = order.models;
  order.models.resize(1);
  const Json expected = joined(order);
  for (const Json& job : {Json{{"trainer", plain.at("trainer")}, {"objective", bounded}}, several}) {
    order.job = job;
    order.models = models;
    EXPECT_THAT(fault(order), HasSubstr("(with --refit --models 1 the best trial's model alone is trained once more)"));
    order.models.resize(1);
    EXPECT_EQ(joined(order), expected);
    order.refit = false;
    EXPECT_NE(fault(order), "") << "nothing would come of it but the model as it is";
    order.refit = true;
  }
}

TEST_F(Ensembles, AreOfOneObjectiveAndOfModelsThatAreThere) {
  const auto of = [&](const Json& trainer, const Json& objective) {
    Json with_type = trainer;
    with_type.update({{"type", "xgboost"}});
    with_type["data"].update({{"train", dir_.path("data.csv")}, {"label", "y"}});
    Json job{{"trainer", with_type}};
    job.update(objective);
    return fault({.job = job, .models = {{1, 0.5, "/none"}}, .output = dir_.path("joined.ubj")});
  };
  const Json plain{{"parameters", {{"objective", "binary:logistic"}}}, {"eval_train", true}};
  const Json objective{{"metric", "validation-auc"}, {"goal", "maximize"}};
  EXPECT_THAT(of(plain, {{"objective", {{"metric", "train-auc"}, {"goal", "maximize"}}}}), HasSubstr("objective.metric"));
  EXPECT_THAT(of(plain, {{"objectives", Json::array({objective, objective})}}), HasSubstr("objectives"));
  Json bounded = objective;
  bounded["constraints"] = Json::array({{{"metric", "validation-logloss"}, {"max", 1}}});
  EXPECT_THAT(of(plain, {{"objective", bounded}}), HasSubstr("objective.constraints"));
  EXPECT_THAT(of(plain, {{"objective", objective}}), HasSubstr("models: cannot read /none"));
  EXPECT_THAT(fault({.job = {{"trainer", {{"type", "command"}, {"argv", {"true"}}}}}, .models = {}, .output = ""}),
              HasSubstr("trainer.type"));
}

TEST(EnsembleOrders, AreReadStrictly) {
  const auto order = read_ensemble_order(R"({"job": {"name": "j"}, "output": "o",
    "models": [{"trial": 3, "value": 0.5, "file": "a", "configuration": {"eta": 0.5}},
               {"trial": 1, "value": 1, "file": "b", "configuration": {}}]})");
  ASSERT_TRUE(order) << describe(order.error());
  EXPECT_EQ(order->job.at("name"), "j");
  EXPECT_EQ(order->output, "o");
  ASSERT_EQ(order->models.size(), 2U);
  EXPECT_EQ(order->models[0].trial, 3);
  EXPECT_EQ(order->models[0].value, 0.5);
  EXPECT_EQ(order->models[0].configuration, Json({{"eta", 0.5}}));
  EXPECT_EQ(order->models[1].file, "b");
  EXPECT_FALSE(order->standard_error);
  EXPECT_EQ(
      read_ensemble_order(R"({"job": {}, "output": "o", "models": [{"trial": 3, "value": 0.5, "file": "a", "configuration": {}}],
    "standard_error": 0.25})")
          ->standard_error,
      0.25);
  EXPECT_FALSE(order->refit);
  const auto refit =
      read_ensemble_order(R"({"job": {}, "output": "o", "refit": true, "models": [{"trial": 3, "value": 0.5, "file": "a",
    "configuration": {"eta": 0.5},
    "training": {"seed": 18446744073709551615, "rounds": 9, "max_rounds": 81, "kept_rounds": 7}}]})");
  ASSERT_TRUE(refit) << describe(refit.error());
  EXPECT_TRUE(refit->refit);
  const auto& training = refit->models[0].training;
  ASSERT_TRUE(training);
  EXPECT_EQ(training->training.configuration, Json({{"eta", 0.5}}));
  EXPECT_EQ(training->training.seed, UINT64_MAX);
  EXPECT_EQ(training->training.rounds, 9);
  EXPECT_EQ(training->training.max_rounds, 81);
  EXPECT_EQ(training->rounds, 7);
  for (const char* bad :
       {"", "[]",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {}}], "output": "o", "refit": true})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {},
            "training": {"seed": 1, "rounds": 9, "max_rounds": 81}}], "output": "o", "refit": true})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {},
            "training": {"seed": 1, "rounds": 0, "max_rounds": 81, "kept_rounds": 1}}], "output": "o", "refit": true})",
        R"({"job": {}, "models": {}, "output": "o"})", R"({"job": {}, "models": [], "output": "o"})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {}, "more": 1}], "output": "o"})",
        R"({"models": [], "output": "o"})",
        R"({"job": {}, "models": [{"trial": 1, "file": "a", "configuration": {}}], "output": "o"})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a"}], "output": "o"})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {}}]})",
        R"({"job": {}, "models": [{"trial": 1, "value": 1, "file": "a", "configuration": {}}], "output": "o", "more": 1})"})
    EXPECT_FALSE(read_ensemble_order(bad)) << bad;
}

}  // namespace
}  // namespace tuneband::workers
