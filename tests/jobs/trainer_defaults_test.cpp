// What a rung of the trainer xgboost trains: the formula, the defaults and the warnings. Its models are tests/xgboost's.
#include "jobs/trainer_defaults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

TEST(ShrunkEta, LeavesAsMuchToLearnAsTheFullTraining) {
  EXPECT_DOUBLE_EQ(shrunk_eta(0.5, 1, 2, kUnlimited), 0.75);     // half, and half of that
  EXPECT_DOUBLE_EQ(shrunk_eta(0.1, 27, 81, kUnlimited), 0.271);  // 1 - 0.9^3
  EXPECT_DOUBLE_EQ(shrunk_eta(0.19, 2, 3, kUnlimited), 1 - std::pow(0.81, 1.5));
  EXPECT_DOUBLE_EQ(shrunk_eta(0.19, 2, 3, kUnlimited), 1 - 0.729);
  EXPECT_NEAR(shrunk_eta(1e-12, 1, 81, kUnlimited), 81e-12, 1e-20);  // no cancellation
}

TEST(ShrunkEta, IsTheUsersOwnAtMaxResourceAndOutsideOfTheFormula) {
  EXPECT_EQ(shrunk_eta(0.3, 81, 81, kUnlimited), 0.3);
  EXPECT_EQ(shrunk_eta(1, 1, 81, kUnlimited), 1);
  EXPECT_EQ(shrunk_eta(0, 1, 81, kUnlimited), 0);
  EXPECT_EQ(shrunk_eta(1.5, 1, 81, kUnlimited), 1.5);
  for (int i = 1; i < 100; ++i) EXPECT_EQ(shrunk_eta(i / 100.0, 81, 81, kUnlimited), i / 100.0);  // to the last bit
}

TEST(ShrunkEta, NeverLeavesTheRangeOfALearningRate) {
  for (const double eta : {1e-9, 0.01, 0.3, 0.9, 0.999999}) {
    double above = eta;
    for (const std::int64_t rounds : {81, 27, 9, 3, 1}) {
      EXPECT_GE(shrunk_eta(eta, rounds, 81, kUnlimited), above);
      above = shrunk_eta(eta, rounds, 81, kUnlimited);
      EXPECT_LE(above, 1);
    }
  }
}

TEST(ShrunkEta, HasNoMoreShrinkageInTotalThanTheLimit) {
  // 0.75 left of 1, once a round: S = 2 ln 4 = 4 ln 2.
  EXPECT_DOUBLE_EQ(shrunk_eta(0.75, 1, 2, 4 * std::log(2)), 1 - 1.0 / 16);
  EXPECT_DOUBLE_EQ(shrunk_eta(0.75, 1, 2, 3 * std::log(2)), 1 - 1.0 / 8);
  EXPECT_DOUBLE_EQ(shrunk_eta(0.5, 3, 81, 3 * std::log(2)), 0.5);          // a third of it a round, which is its own
  EXPECT_DOUBLE_EQ(shrunk_eta(0.5, 1, 81, 3 * std::log(2)), 1 - 1.0 / 8);  // all of it
}

TEST(ShrunkEta, IsNeverLessThanTheUsersOwn) {
  EXPECT_EQ(shrunk_eta(0.5, 27, 81, 3 * std::log(2)), 0.5);
  EXPECT_EQ(shrunk_eta(0.5, 81, 81, 3 * std::log(2)), 0.5);
}

Json job_of(Json space, Json parameters = Json::object(), Json trainer = {{"type", "xgboost"}}) {
  trainer["parameters"] = std::move(parameters);
  return {{"search_space", std::move(space)}, {"trainer", std::move(trainer)}, {"scheduler", {{"max_resource", 81}}}};
}

const Json kEta{{"type", "float"}, {"min", 0.01}, {"max", 1}};

Json default_of(Json document) {
  write_trainer_defaults(document);
  return document["trainer"].value("fidelity", Json());
}

TEST(TrainerDefaults, AreShrinkageWhereTheLearningRateOfTreesIsTuned) {
  EXPECT_EQ(default_of(job_of({{"eta", kEta}})), "shrinkage");
  EXPECT_EQ(default_of(job_of({{"learning_rate", kEta}}, {{"booster", "dart"}})), "shrinkage");
  EXPECT_EQ(default_of(job_of({{"max_depth", {}}}, {{"eta", 0.1}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"booster", "gblinear"}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}, {"booster", {{"values", {"gbtree", "gblinear"}}}}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}, {"booster", {{"values", {"gbtree", "dart"}}}}})), "shrinkage");
}

TEST(TrainerDefaults, ArePrefixesWhereMediansOfLeavesAreWhateverTheLearningRateIs) {
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"objective", "reg:absoluteerror"}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}, {"objective", "reg:absoluteerror"}}, {{"tree_method", "approx"}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"objective", "reg:absoluteerror"}, {"tree_method", "exact"}})), "shrinkage");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"objective", "reg:absoluteerror"}, {"tree_method", "auto"}})), "shrinkage");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"objective", "reg:absoluteerror"}, {"booster", "dart"}})), "prefix")
      << "it is no speed of learning";
  const Json either{{"type", "categorical"}, {"values", {"reg:absoluteerror", "reg:squarederror"}}};
  EXPECT_EQ(default_of(job_of({{"eta", kEta}, {"objective", either}})), "shrinkage") << "for the trials that follow it";
  Json document = job_of({{"eta", kEta}}, {{"objective", "reg:absoluteerror"}});
  document["objective"] = {{"metric", "validation-mae"}};
  write_trainer_defaults(document);
  EXPECT_FALSE(document["trainer"].contains("adapt_eta"));
  EXPECT_FALSE(document["scheduler"].contains("first_resource"));
}

// As in `trainer.parameters`: all trials have it.
TEST(TrainerDefaults, TakeOneValueOfTheSearchSpaceForWhatItIs) {
  const Json one_eta[] = {0.1,
                          {{"type", "fixed"}, {"value", 0.1}},
                          {{"type", "float"}, {"min", 0.1}, {"max", 0.1}},
                          {{"type", "categorical"}, {"values", {0.1}}}};
  for (const Json& eta : one_eta) EXPECT_EQ(default_of(job_of({{"eta", eta}})), "prefix") << eta;
  const Json sometimes{{"type", "categorical"}, {"values", {0.1}}, {"when", {{"max_depth", 3}}}};
  EXPECT_EQ(default_of(job_of({{"eta", sometimes}})), "shrinkage") << "the others have XGBoost's own";
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {{"eta", 0.1}})), "prefix") << "which is a fault of its own";
  const auto keep = [](const Json& booster) {
    Json document = job_of({{"eta", kEta}, {"booster", booster}});
    document["objective"] = {{"metric", "validation-auc"}};
    write_trainer_defaults(document);
    return document["trainer"]["keep"].get<std::string>() + " " + document["trainer"]["fidelity"].get<std::string>();
  };
  EXPECT_EQ(keep("gbtree"), "best shrinkage");
  EXPECT_EQ(keep({{"type", "categorical"}, {"values", {"gbtree"}}}), "best shrinkage");
  EXPECT_EQ(keep("gblinear"), "last prefix");
  EXPECT_EQ(keep({{"type", "categorical"}, {"values", {"gbtree", "dart"}}}), "last shrinkage");
  Json document = job_of({{"objective", "binary:logistic"}}, {}, {{"type", "xgboost"}, {"data", Json::object()}});
  write_trainer_defaults(document);
  EXPECT_EQ(document["trainer"]["data"], (Json{{"validation", {{"stratify", true}}}}));
}

TEST(TrainerDefaults, LeaveWhatIsSaidAndWhatIsNotAsItShouldBe) {
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {}, {{"type", "xgboost"}, {"fidelity", "prefix"}})), "prefix");
  EXPECT_EQ(default_of(job_of({{"eta", kEta}}, {}, {{"type", "command"}})), Json());
  EXPECT_EQ(default_of(job_of("no object")), "prefix");
  for (const char* text : {"3", "[]", "{}", R"({"trainer": 4})"}) {
    Json document = Json::parse(text);
    write_trainer_defaults(document);
    EXPECT_EQ(document, Json::parse(text));
  }
}

TEST(TrainerDefaults, StratifySplitsWhereEveryObjectiveTellsClassesApart) {
  const auto data_of = [](const Json& data, const Json& parameters, const Json& space = Json::object()) {
    Json document = job_of(space, parameters, {{"type", "xgboost"}, {"data", data}});
    write_trainer_defaults(document);
    return document["trainer"]["data"];
  };
  const Json binary{{"objective", "binary:logistic"}};
  const Json yes{{"stratify", true}};
  EXPECT_EQ(data_of(Json::object(), binary), (Json{{"validation", yes}}));
  EXPECT_EQ(data_of(Json::object(), {{"objective", "multi:softprob"}}), (Json{{"validation", yes}}));
  EXPECT_EQ(data_of({{"validation", {{"fraction", 0.3}}}, {"test", {{"seed", 1}}}}, binary),
            (Json{{"validation", {{"fraction", 0.3}, {"stratify", true}}}, {"test", {{"seed", 1}, {"stratify", true}}}}));
  EXPECT_EQ(data_of({{"folds", 5}}, binary), (Json{{"folds", 5}}));
  EXPECT_EQ(data_of({{"validation", "v.csv"}, {"test", "t.csv"}}, binary), (Json{{"validation", "v.csv"}, {"test", "t.csv"}}));
  EXPECT_EQ(data_of({{"validation", {{"stratify", false}}}}, binary), (Json{{"validation", {{"stratify", false}}}}));
  EXPECT_EQ(data_of({{"group", "who"}}, binary), (Json{{"group", "who"}}));
  EXPECT_EQ(data_of(Json::object(), {{"objective", "reg:squarederror"}}), Json::object());
  EXPECT_EQ(data_of(Json::object(), Json::object()), Json::object()) << "XGBoost's own default is a regression";
  const auto choice = [](const Json& values) { return Json{{"objective", {{"type", "categorical"}, {"values", values}}}}; };
  EXPECT_EQ(data_of(Json::object(), Json::object(), choice({"binary:logistic", "binary:hinge"})), (Json{{"validation", yes}}));
  EXPECT_EQ(data_of(Json::object(), Json::object(), choice({"binary:logistic", "reg:logistic"})), Json::object());
  EXPECT_EQ(data_of(Json::object(), Json::object(), choice(Json::array())), Json::object());
}

TEST(TrainerDefaults, LimitTheTotalShrinkageOfShrinkageAlone) {
  const auto limit = [](Json trainer, const char* metric = "train-auc") {
    trainer["type"] = "xgboost";
    Json document = job_of({{"eta", kEta}}, {}, std::move(trainer));
    document["objective"] = {{"metric", metric}};
    write_trainer_defaults(document);
    return document["trainer"].value("shrinkage_max", Json());
  };
  EXPECT_EQ(limit({}), kShrinkageMax);
  EXPECT_EQ(limit({}, "validation-auc"), kShrinkageMaxToFollow);
  EXPECT_EQ(limit({{"adapt_eta", false}}, "validation-auc"), kShrinkageMax);
  EXPECT_EQ(limit({{"fidelity", "shrinkage"}, {"shrinkage_max", 9}}), 9);
  EXPECT_EQ(limit({{"fidelity", "prefix"}}), Json());
}

TEST(TrainerDefaults, AdaptTheLearningRateWhereASamplerLearnsOfALearningRateAndTheBestRoundIsKept) {
  const auto adapts = [](const Json& overlay, Json trainer = {{"type", "xgboost"}}, const char* metric = "validation-auc") {
    Json document = job_of({{"eta", kEta}}, {}, std::move(trainer));
    document["objective"] = {{"metric", metric}};
    document.merge_patch(overlay);
    write_trainer_defaults(document);
    return document["trainer"].value("adapt_eta", Json());
  };
  EXPECT_EQ(adapts(Json::object()), true);
  EXPECT_EQ(adapts({{"sampler", {{"type", "tpe"}}}}), true);
  for (const char* draws : {"random", "grid", "sobol"}) EXPECT_EQ(adapts({{"sampler", {{"type", draws}}}}), false) << draws;
  EXPECT_EQ(adapts({{"candidates", Json::array()}}), false);
  EXPECT_EQ(adapts(Json::object(), {{"type", "xgboost"}}, "train-auc"), false);
  EXPECT_EQ(adapts(Json::object(), {{"type", "xgboost"}, {"keep", "last"}}), false);
  EXPECT_EQ(adapts(Json::object(), {{"type", "xgboost"}, {"keep", "best_full"}}), true);
  EXPECT_EQ(adapts({{"search_space", {{"eta", {{"type", "categorical"}}}}}}), false);
  EXPECT_EQ(adapts(Json::object(), {{"type", "xgboost"}, {"adapt_eta", false}}), false);
  EXPECT_EQ(adapts(Json::object(), {{"type", "xgboost"}, {"fidelity", "prefix"}}), Json());
}

Json scheduler_of(Json scheduler, const char* fidelity = "shrinkage", const Json& limits = nullptr) {
  Json document = job_of({{"eta", kEta}}, {}, {{"type", "xgboost"}, {"fidelity", fidelity}});
  if (limits.is_object()) document["limits"] = limits;
  document["objective"] = {{"metric", "validation-auc"}};
  document["scheduler"] = std::move(scheduler);
  write_trainer_defaults(document);
  return document["scheduler"];
}

TEST(TrainerDefaults, GiveShrinkageALadderFromTheNinthPartOnOrThe27thOfManyRoundsAndNoAudit) {
  const auto with = [](const char* text) { return Json::parse(text); };
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 81})")),
            with(R"({"max_resource": 81, "min_resource": 9, "rung_audit": false})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 1})")), with(R"({"max_resource": 1, "min_resource": 1, "rung_audit": false})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 17, "type": "auto"})")),
            with(R"({"max_resource": 17, "type": "auto", "min_resource": 1, "rung_audit": false})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 161, "type": "hyperband"})")),
            with(R"({"max_resource": 161, "type": "hyperband", "min_resource": 17})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 162, "type": "hyperband"})")),
            with(R"({"max_resource": 162, "type": "hyperband", "min_resource": 6})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 270, "type": "hyperband"})")),
            with(R"({"max_resource": 270, "type": "hyperband", "min_resource": 10})"));
  for (const char* said :
       {R"({"max_resource": 81, "min_resource": 1, "rung_audit": true})",
        R"({"max_resource": 81, "rungs": [9, 81], "rung_audit": true})", R"({"max_resource": 81, "type": "none"})",
        R"({"max_resource": "many"})", R"({"max_resource": 1000000001})", R"({})", R"(7)"}) {
    EXPECT_EQ(scheduler_of(with(said)), with(said));
  }
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 81})"), "prefix"), with(R"({"max_resource": 81})"));
}

TEST(TrainerDefaults, GiveFewTrialsALadderFromTheNinthPartOnHoweverManyRounds) {
  const auto least = [](const Json& limits) {
    return scheduler_of({{"max_resource", 243}}, "shrinkage", limits)["min_resource"].get<int>();
  };
  EXPECT_EQ(least({{"max_trials", 30}}), 27);
  EXPECT_EQ(least({{"max_trials", 59}}), 27);
  EXPECT_EQ(least({{"max_trials", 60}}), 9);
  EXPECT_EQ(least({{"max_runtime_seconds", 60}}), 9);
  EXPECT_EQ(least({{"max_trials", "30"}}), 9) << "which is refused elsewhere";
}

TEST(TrainerDefaults, LetTheFirstTrialsOfSeveralWorkersStartLowerWhereThreeRoundsAreLeftAndTrialsToSpare) {
  const auto first = [](Json scheduler, const Json& limits) {
    return scheduler_of(std::move(scheduler), "shrinkage", limits).value("first_resource", 0);
  };
  const Json many{{"max_trials", 60}};
  EXPECT_EQ(first({{"max_resource", 81}}, many), 3);
  EXPECT_EQ(first({{"max_resource", 80}}, many), 0) << "8 / 3 are two rounds";
  EXPECT_EQ(first({{"max_resource", 162}}, many), 0) << "which is looked at from 6 on";
  EXPECT_EQ(first({{"max_resource", 243}}, many), 3);
  EXPECT_EQ(first({{"max_resource", 81}}, {{"max_trials", 59}}), 0);
  EXPECT_EQ(first({{"max_resource", 81}}, nullptr), 0) << "of one pass";
  for (const char* limit : {"max_runtime_seconds", "convergence", "max_trials_without_improvement"})
    EXPECT_EQ(first({{"max_resource", 81}}, {{limit, 60}}), 3) << limit;
  EXPECT_EQ(first({{"max_resource", 81}, {"min_resource", 9}}, many), 0) << "the job has its own ladder";
  EXPECT_EQ(first({{"max_resource", 81}, {"rungs", {9, 81}}}, many), 0);
  EXPECT_EQ(first({{"max_resource", 81}, {"rung_audit", true}}, many), 0);
  EXPECT_EQ(first({{"max_resource", 81}, {"type", "hyperband"}}, many), 0);
  EXPECT_EQ(first({{"max_resource", 81}, {"first_resource", 5}}, many), 5);
  EXPECT_EQ(first({{"max_resource", 81}, {"eta", 3}}, many), 3);
  EXPECT_EQ(first({{"max_resource", 81}, {"eta", 4}}, many), 0) << "whose lowest rung is another";
  EXPECT_EQ(first({{"max_resource", 81}, {"promotion", "prediction"}}, many), 0);
}

TEST(TrainerDefaults, LetNoTrialStartLowerWhereTheSamplerLearnsNothingOrKnowsEarlierJobs) {
  const auto first = [](const Json& overlay) {
    Json document = job_of({{"eta", kEta}}, {}, {{"type", "xgboost"}});
    document["objective"] = {{"metric", "validation-auc"}};
    document["scheduler"] = {{"max_resource", 81}};
    document["limits"] = {{"max_trials", 100}};
    document.merge_patch(overlay);
    write_trainer_defaults(document);
    return document["scheduler"].value("first_resource", 0);
  };
  EXPECT_EQ(first(Json::object()), 3);
  EXPECT_EQ(first({{"sampler", {{"type", "sobol"}}}}), 0);
  EXPECT_EQ(first({{"candidates", {{{"eta", 0.1}}, {{"eta", 0.2}}}}}), 0);
  EXPECT_EQ(first({{"warm_start", {"before"}}}), 0);
  EXPECT_EQ(first({{"warm_start", {{"jobs", {"before"}}, {"observations", Json::array()}}}}), 0);
  EXPECT_EQ(first({{"warm_start", Json::array()}}), 3);
  EXPECT_EQ(first({{"limits", nullptr}, {"objective", {{"target", 0.9}}}}), 3) << "a limit, too";
}

TEST(TrainerDefaults, LeaveAJobWithoutALowerStartWithoutOneWhenItIsChanged) {
  Json document = job_of({{"eta", kEta}}, {}, {{"type", "xgboost"}});
  document["objective"] = {{"metric", "validation-auc"}};
  document["limits"] = {{"max_trials", 100}};
  document["scheduler"] = {{"max_resource", 81}, {"min_resource", 9}};
  Json stored = document;
  write_trainer_defaults(stored);
  EXPECT_FALSE(stored["scheduler"].contains("first_resource"));
  Json again = without_trainer_defaults(stored);
  EXPECT_EQ(again["scheduler"], (Json{{"max_resource", 81}, {"first_resource", 0}}));
  write_trainer_defaults(again);
  EXPECT_EQ(again["scheduler"]["min_resource"], 9);
  EXPECT_EQ(without_trainer_defaults(again)["scheduler"]["first_resource"], 0) << "however often";
  document["scheduler"] = {{"max_resource", 81}};
  Json with = document;
  write_trainer_defaults(with);
  EXPECT_EQ(with["scheduler"]["first_resource"], 3);
  EXPECT_EQ(without_trainer_defaults(with)["scheduler"], document["scheduler"]);
}

std::vector<std::string> warnings_of(Json document) {
  write_trainer_defaults(document);
  Diagnostics diagnostics;
  warn_of_fidelity(document, diagnostics);
  std::vector<std::string> texts;
  for (const Error& warning : diagnostics.warnings()) texts.push_back(describe(warning));
  return texts;
}

TEST(FidelityWarning, IsOfPrefixesOfTrainingsWithAWideLearningRate) {
  const Json prefix{{"type", "xgboost"}, {"fidelity", "prefix"}};
  Json job = job_of({{"eta", {{"min", 0.1}, {"max", 0.31}}}}, {}, prefix);
  EXPECT_THAT(warnings_of(job), ElementsAre(HasSubstr("trainer.fidelity: with `prefix` and a tuned learning rate")));
  job["search_space"]["eta"]["max"] = 0.3;
  EXPECT_THAT(warnings_of(job), IsEmpty());
  job["search_space"]["eta"]["min"] = 0;
  EXPECT_THAT(warnings_of(job), ElementsAre(HasSubstr("trainer.fidelity")));
  job["scheduler"]["type"] = "none";  // all trials run to the end
  EXPECT_THAT(warnings_of(job), IsEmpty());
  job["scheduler"].erase("type");
  job["scheduler"]["max_resource"] = 1;  // there is one rung
  EXPECT_EQ(warnings_of(job).size(), 0U);
  job["scheduler"]["max_resource"] = 81;
  job["trainer"]["fidelity"] = "shrinkage";
  EXPECT_THAT(warnings_of(job), IsEmpty());
}

TEST(FidelityWarning, IsOfRoundsTooFewForTheLeastLearningRate) {
  const Json job = job_of({{"learning_rate", {{"min", 0.001}, {"max", 1}}}});
  EXPECT_THAT(warnings_of(job), ElementsAre(AllOf(HasSubstr("search_space.learning_rate.min: with a learning rate of 0.001 81"),
                                                  HasSubstr("only 8 %"), HasSubstr("raise it to about 0.029"))));
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", 0.03}, {"max", 1}}}})), IsEmpty());
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", -1}, {"max", 3}}}})), IsEmpty());  // faults that others tell
  const Json adapts{{"type", "xgboost"}, {"adapt_eta", true}};                        // no trial begins with so small a one
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", 0.001}, {"max", 1}}}}, {}, adapts)), IsEmpty());
}

TEST(FidelityWarning, IsOfPrefixesFromTwoRoundsOnAndOfMoreThanThreeTimesTheLeastRate) {
  const auto warned = [](double min, double max, int rounds) {
    Json job = job_of({{"eta", {{"min", min}, {"max", max}}}}, {}, {{"type", "xgboost"}, {"fidelity", "prefix"}});
    job["scheduler"]["max_resource"] = rounds;
    const auto warnings = warnings_of(job);
    return std::any_of(warnings.begin(), warnings.end(), [](const auto& one) { return one.starts_with("trainer.fidelity"); });
  };
  EXPECT_TRUE(warned(0.25, 0.8, 81));
  EXPECT_FALSE(warned(0.25, 0.75, 81));
  EXPECT_TRUE(warned(0.25, 0.8, 2));
  EXPECT_FALSE(warned(0.25, 0.8, 1));
}

TEST(FidelityWarning, OfTooFewRoundsSaysHowMuchTheyLearnAndWhatWouldDo) {
  const auto warnings = [](double eta, int rounds) {
    Json job = job_of({{"eta", {{"min", eta}, {"max", 1}}}});
    job["scheduler"]["max_resource"] = rounds;
    return warnings_of(job);
  };
  EXPECT_THAT(warnings(0.3628, 2), ElementsAre(HasSubstr("only 59 %")));  // 0.594
  EXPECT_THAT(warnings(0.5, 1), ElementsAre(HasSubstr("raise it to about 0.9, or")));
}

TEST(FidelityWarning, OfTooFewRoundsIsGoneOnceItsHintIsFollowed) {
  for (const int rounds : {1, 2, 27, 81, 1000, 10'000, 1'000'000}) {
    Json job = job_of({{"eta", {{"min", 1e-9}, {"max", 1}}}});
    job["scheduler"]["max_resource"] = rounds;
    const auto told = warnings_of(job);
    ASSERT_EQ(told.size(), 1U) << rounds;
    const std::string before = "raise it to about ";
    const std::size_t begin = told[0].find(before) + before.size();
    const std::string least = told[0].substr(begin, told[0].find(", or", begin) - begin);
    job["search_space"]["eta"]["min"] = parse_number(least).value_or(0);
    EXPECT_GT(job["search_space"]["eta"]["min"], 0) << rounds;
    EXPECT_THAT(warnings_of(job), IsEmpty()) << rounds << " rounds, " << least;
  }
}

TEST(FidelityWarning, IsOfXgboostAlone) {
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", 0.0001}, {"max", 1}}}}, {}, {{"type", "command"}})), IsEmpty());
}

TEST(FidelityWarning, IsOfNothingThatIsAFaultAlready) {
  for (const Json& eta : {Json{{"min", 0.0001}, {"max", 1.5}}, Json{{"min", 0.001}, {"max", 0.0001}}, Json{{"min", 0.0001}},
                          Json{{"min", 0.0001}, {"max", "1"}}, Json{{"min", "0.0001"}, {"max", 1}}, Json(7)}) {
    EXPECT_THAT(warnings_of(job_of({{"eta", eta}})), IsEmpty()) << eta;
  }
  for (const Json& rounds : {Json(0), Json(-3), Json(2.5), Json("many"), Json()}) {
    Json job = job_of({{"eta", kEta}});
    job["scheduler"]["max_resource"] = rounds;
    EXPECT_THAT(warnings_of(job), IsEmpty()) << rounds;
  }
}

TEST(FidelityWarning, IsOfLessThanNineTenthsOfWhatThereIsToLearn) {
  const auto warned = [](double eta, int rounds) {
    Json job = job_of({{"eta", {{"min", eta}, {"max", 1}}}});
    job["scheduler"]["max_resource"] = rounds;
    return !warnings_of(job).empty();
  };
  EXPECT_TRUE(warned(0.68, 2));   // leaves 0.1024
  EXPECT_FALSE(warned(0.69, 2));  // leaves 0.0961
  EXPECT_TRUE(warned(0.89, 1));
  EXPECT_FALSE(warned(0.91, 1));
}

Json kept_by_default(const char* text) {
  Json document = Json::parse(text);
  write_trainer_defaults(document);
  return document["trainer"]["keep"];
}

TEST(TrainerDefaults, KeepTheBestRoundWhereHeldOutRowsTellItAndTheModelCanBeCutToIt) {
  EXPECT_EQ(kept_by_default(R"({"trainer": {"type": "xgboost"}, "objective": {"metric": "validation-auc"}})"), "best");
  EXPECT_EQ(kept_by_default(R"({"trainer": {"type": "xgboost", "parameters": {"booster": "gbtree"}},
                                "objective": {"metric": "validation-auc"}})"),
            "best");
  for (const char* text :
       {R"({"trainer": {"type": "xgboost"}, "objective": {"metric": "train-auc"}})",
        R"({"trainer": {"type": "xgboost"}, "objective": {}})", R"({"trainer": {"type": "xgboost"}})",
        R"({"trainer": {"type": "xgboost"}, "objective": {"metric": "validation-auc", "constraints": []}})",
        R"({"trainer": {"type": "xgboost", "parameters": {"booster": "dart"}}, "objective": {"metric": "validation-auc"}})",
        R"({"trainer": {"type": "xgboost", "keep": "last"}, "objective": {"metric": "validation-auc"}})",
        R"({"trainer": {"type": "xgboost"}, "search_space": {"booster": {}}, "objective": {"metric": "validation-auc"}})"}) {
    EXPECT_EQ(kept_by_default(text), "last") << text;
  }
}

// Of a job of trees with a tuned learning rate and two classes.
Json tuned_document() {
  return Json::parse(R"({"name": "a", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"eta": {"type": "float", "min": 0.05, "max": 0.5}},
    "trainer": {"type": "xgboost", "data": {"train": "/x.csv", "label": "y"}, "parameters": {"objective": "binary:logistic"}},
    "scheduler": {"max_resource": 27}})");
}

TEST(TrainerDefaults, WhatTheyWroteIsTakenOutAgainAndWhatTheUserWroteStays) {
  const std::vector<const char*> changes{"{}",
                                         R"({"trainer": {"fidelity": "prefix"}})",
                                         R"({"trainer": {"keep": "last"}})",
                                         R"({"scheduler": {"min_resource": 9}})",
                                         R"({"trainer": {"data": {"validation": {"fraction": 0.3}}}})",
                                         R"({"trainer": {"data": {"test": {"stratify": false}}}})",
                                         R"({"sampler": {"type": "random"}})",
                                         R"({"scheduler": {"rung_audit": true}})",
                                         R"({"search_space": {"eta": 0.1}})",
                                         R"({"trainer": {"shrinkage_max": 7}})",
                                         R"({"trainer": {"fidelity": "shrinkage"}, "search_space": {"eta": 0.1}})",
                                         R"({"trainer": {"type": "command"}})"};
  for (const char* change : changes) {
    Json written = tuned_document();
    written.merge_patch(Json::parse(change));
    Json stored = written;
    write_trainer_defaults(stored);
    const Json asked = without_trainer_defaults(stored);
    EXPECT_EQ(asked, written) << change;
    Json again = asked;
    write_trainer_defaults(again);
    EXPECT_EQ(again, stored) << change;
  }
}

TEST(TrainerDefaults, OfWhatSaysADefaultItselfItIsTakenOutToo) {
  Json document = tuned_document();
  document["trainer"]["keep"] = "best";
  EXPECT_EQ(without_trainer_defaults(document), tuned_document());
}

}  // namespace
}  // namespace tuneband
