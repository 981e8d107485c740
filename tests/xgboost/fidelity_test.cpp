// What a rung of the trainer xgboost trains: the formula, the default, the warnings, and the models.
#include "jobs/fidelity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
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

TEST(TrainerDefaults, LimitTheTotalShrinkageOfShrinkageAlone) {
  const auto limit = [](Json trainer) {
    trainer["type"] = "xgboost";
    Json document = job_of({{"eta", kEta}}, {}, std::move(trainer));
    write_trainer_defaults(document);
    return document["trainer"].value("shrinkage_max", Json());
  };
  EXPECT_EQ(limit({}), kShrinkageMax);
  EXPECT_EQ(limit({{"fidelity", "shrinkage"}, {"shrinkage_max", 9}}), 9);
  EXPECT_EQ(limit({{"fidelity", "prefix"}}), Json());
}

Json scheduler_of(Json scheduler, const char* fidelity = "shrinkage") {
  Json document = job_of({{"eta", kEta}}, {}, {{"type", "xgboost"}, {"fidelity", fidelity}});
  document["scheduler"] = std::move(scheduler);
  write_trainer_defaults(document);
  return document["scheduler"];
}

TEST(TrainerDefaults, GiveShrinkageALadderFromTheTwentySeventhPartOnAndNoAudit) {
  const auto with = [](const char* text) { return Json::parse(text); };
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 81})")),
            with(R"({"max_resource": 81, "min_resource": 3, "rung_audit": false})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 26, "type": "auto"})")),
            with(R"({"max_resource": 26, "type": "auto", "min_resource": 1, "rung_audit": false})"));
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 270, "type": "hyperband"})")),
            with(R"({"max_resource": 270, "type": "hyperband", "min_resource": 10})"));
  for (const char* said : {R"({"max_resource": 81, "min_resource": 1, "rung_audit": true})",
                           R"({"max_resource": 81, "rungs": [9, 81], "rung_audit": true})",
                           R"({"max_resource": 81, "type": "none"})", R"({"max_resource": "many"})", R"({})", R"(7)"}) {
    EXPECT_EQ(scheduler_of(with(said)), with(said));
  }
  EXPECT_EQ(scheduler_of(with(R"({"max_resource": 81})"), "prefix"), with(R"({"max_resource": 81})"));
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
  job["trainer"]["fidelity"] = "shrinkage";
  EXPECT_THAT(warnings_of(job), IsEmpty());
}

TEST(FidelityWarning, IsOfRoundsTooFewForTheLeastLearningRate) {
  const Json job = job_of({{"learning_rate", {{"min", 0.001}, {"max", 1}}}});
  EXPECT_THAT(warnings_of(job), ElementsAre(AllOf(HasSubstr("search_space.learning_rate.min: with a learning rate of 0.001 81"),
                                                  HasSubstr("only 8 %"), HasSubstr("raise it to about 0.028"))));
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", 0.03}, {"max", 1}}}})), IsEmpty());
  EXPECT_THAT(warnings_of(job_of({{"eta", {{"min", -1}, {"max", 3}}}})), IsEmpty());  // faults that others tell
}

class RungTraining : public testing::Test {
 protected:
  RungTraining() { data_.write("data.csv", test::made_up_csv(400)); }

  // max_resource is 27.
  TrialUnderTest trial(const char* fidelity, Json configuration = {{"eta", 0.1}, {"subsample", 0.8}},
                       const Json& more = Json::object()) const {
    Json trainer{{"type", "xgboost"},
                 {"data", {{"train", data_.path("data.csv")}, {"label", "y"}}},
                 {"parameters", {{"objective", "binary:logistic"}}},
                 {"fidelity", fidelity}};
    trainer.update(more);
    return {std::move(trainer), std::move(configuration)};
  }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  test::TemporaryDir data_;
};

TEST_F(RungTraining, IsThatOfTheLargerLearningRate) {
  TrialUnderTest rung = trial("shrinkage");
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.1, 9, 27, kUnlimited)}, {"subsample", 0.8}});
  const auto outcome = rung.run(*worker(), 0, 9);
  ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
  EXPECT_EQ(outcome.reporter.observations, plain.run(*worker(), 0, 9).reporter.observations);
  EXPECT_TRUE(rung.model() == plain.model());
}

TEST_F(RungTraining, HasNoMoreShrinkageThanTheJobSays) {
  TrialUnderTest limited = trial("shrinkage", {{"eta", 0.3}}, {{"shrinkage_max", 6}});  // of 27 * 0.357
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.3, 9, 27, 6)}});
  ASSERT_EQ(limited.run(*worker(), 0, 9).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 9);
  EXPECT_TRUE(limited.model() == plain.model());
}

TEST_F(RungTraining, WithADefaultLearningRateIsThatOfALargerOneToo) {
  TrialUnderTest rung = trial("shrinkage", {{"max_depth", 3}});
  TrialUnderTest plain = trial("prefix", {{"eta", shrunk_eta(0.3, 9, 27, kUnlimited)}, {"max_depth", 3}});
  ASSERT_EQ(rung.run(*worker(), 0, 9).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 9);
  EXPECT_TRUE(rung.model() == plain.model());
}

TEST_F(RungTraining, WithADefaultLearningRateIsTheUsersOwnAtTheLastRung) {
  TrialUnderTest last = trial("shrinkage", {{"max_depth", 3}});
  TrialUnderTest plain = trial("prefix", {{"max_depth", 3}});
  ASSERT_EQ(last.run(*worker(), 0, 27).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 27);
  EXPECT_TRUE(last.model() == plain.model());
}

TEST_F(RungTraining, IsTheUsersOwnAtTheLastRungWhateverWasTrainedBelow) {
  TrialUnderTest climbing = trial("shrinkage");
  TrialUnderTest plain = trial("prefix");
  const auto runner = worker();
  for (const std::int64_t until : {3, 9, 27}) ASSERT_EQ(climbing.run(*runner, 0, until).result.exit, kExitCompleted);
  plain.run(*worker(), 0, 27);
  EXPECT_TRUE(climbing.model() == plain.model());
}

TEST_F(RungTraining, GoesOnFromItsOwnCheckpointAfterALoss) {
  TrialUnderTest whole = trial("shrinkage");
  TrialUnderTest lost = trial("shrinkage");
  ASSERT_EQ(whole.run(*worker(), 0, 9).result.exit, kExitCompleted);
  ASSERT_EQ(lost.run(*worker(), 0, 9, 4).result.exit, kExitStopped);
  const auto rest = lost.run(*worker(), 4, 9);
  EXPECT_EQ(rest.reporter.began_at, 4);
  EXPECT_TRUE(lost.model() == whole.model());
}

TEST_F(RungTraining, IsNotGoneOnWithByAWorkerThatHoldsALowerRungs) {
  TrialUnderTest moved = trial("shrinkage");
  TrialUnderTest whole = trial("shrinkage");
  const auto first = worker();
  ASSERT_EQ(moved.run(*first, 0, 3).result.exit, kExitCompleted);      // holds 3 rounds of the rung of 3
  ASSERT_EQ(moved.run(*worker(), 0, 9, 3).result.exit, kExitStopped);  // 3 rounds of the rung of 9 are on disk
  ASSERT_EQ(moved.run(*first, 3, 9).result.exit, kExitCompleted);
  whole.run(*worker(), 0, 9);
  EXPECT_TRUE(moved.model() == whole.model());
}

TEST_F(RungTraining, NeverGoesOnFromTheCheckpointOfALowerRung) {
  TrialUnderTest damaged = trial("shrinkage");
  TrialUnderTest whole = trial("shrinkage");
  ASSERT_EQ(damaged.run(*worker(), 0, 3).result.exit, kExitCompleted);
  ASSERT_EQ(damaged.run(*worker(), 0, 9, 5).result.exit, kExitStopped);
  std::ofstream(damaged.checkpoint(5), std::ios::app) << "x";
  const auto rest = damaged.run(*worker(), 5, 9);
  EXPECT_EQ(rest.reporter.began_at, 0);
  whole.run(*worker(), 0, 9);
  EXPECT_TRUE(damaged.model() == whole.model());
}

TEST_F(RungTraining, OfALinearModelIsRefused) {
  Diagnostics diagnostics;
  const Json trainer{{"type", "xgboost"},
                     {"data", {{"train", "a.csv"}, {"label", "y"}}},
                     {"parameters", {{"booster", "gblinear"}}},
                     {"fidelity", "shrinkage"}};
  const auto spec = parse_trainer(trainer, "trainer", "/", diagnostics);
  check_trainer(spec, {}, "validation-rmse", false, diagnostics);
  ASSERT_EQ(diagnostics.errors().size(), 1U);
  EXPECT_EQ(diagnostics.errors()[0].path, "trainer.fidelity");
}

}  // namespace
}  // namespace tuneband::workers
