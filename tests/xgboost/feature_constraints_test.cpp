// Directions and interactions of features, which a job gives by the names of columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_check.hpp"
#include "workers/data/feature_places.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Features: a at 0, b at 1, the cities at 2 to 4, c at 5.
CsvEncoding encoding() {
  CsvEncoding encoding;
  encoding.columns = {"a", "b", "city", "y", "c"};
  encoding.features = {{0, "a", ColumnKind::numeric, {}},
                       {1, "b", ColumnKind::numeric, {}},
                       {2, "city", ColumnKind::one_hot, {"Accra", "Lima", "Oslo"}},
                       {4, "c", ColumnKind::numeric, {}}};
  return encoding;
}

std::string placed(const char* parameter, const std::string& text, const CsvEncoding& data = encoding()) {
  const auto placed = constraints_by_place(*find_xgboost_parameter(parameter), text, data, 6);
  return placed ? *placed : describe(placed.error());
}

std::string monotone(const std::string& text) { return placed("monotone_constraints", text); }
std::string interaction(const std::string& text) { return placed("interaction_constraints", text); }

TEST(FeaturePlaces, ADirectionIsThatOfTheColumnsFeature) {
  EXPECT_EQ(monotone(R"({"c": -1, "a": 1})"), "(1,0,0,0,0,-1)");
  EXPECT_EQ(monotone(R"({"b": 0})"), "(0,0,0,0,0,0)");
  EXPECT_EQ(monotone("(1,0,-1,0,0,1)"), "(1,0,-1,0,0,1)");
  EXPECT_EQ(monotone("[1, 0]"), "(1,0)");
  EXPECT_EQ(monotone(""), "");
}

TEST(FeaturePlaces, AColumnOfTextsIsAllOfItsFeatures) {
  EXPECT_EQ(interaction(R"([["a","city"],["c","b"]])"), "[[0,2,3,4],[5,1]]");
  EXPECT_EQ(interaction(R"([[0,"c"],[5]])"), "[[0,5],[5]]");
  EXPECT_THAT(monotone(R"({"city": 1})"), HasSubstr("names `city`, a column of texts"));
}

TEST(FeaturePlaces, WhatIsNotThereIsNamed) {
  EXPECT_THAT(monotone(R"({"ctiy": 1})"), AllOf(HasSubstr("names `ctiy`, and the data has no such column"), HasSubstr("`city`")));
  EXPECT_THAT(monotone(R"({"y": 1})"), HasSubstr("names `y`, which is a column of the data, but no feature"));
  EXPECT_THAT(interaction(R"([["a","d"]])"), HasSubstr("names `d`, and the data has no such column"));
  EXPECT_THAT(interaction("[[6]]"), HasSubstr("names feature 6, and the data has 6, counted from 0"));
  EXPECT_THAT(monotone("(0,0,0,0,0,0,1)"), HasSubstr("names feature 6, and the data has 6, counted from 0"));
  EXPECT_THAT(placed("monotone_constraints", R"({"a": 1})", {}), HasSubstr("the columns of this data have no names"));
  EXPECT_THAT(interaction(R"({"a": "b"})"), HasSubstr("expected lists of columns"));
  CsvEncoding twice;
  twice.features = {{0, "a", ColumnKind::numeric, {}}, {1, "a", ColumnKind::numeric, {}}};
  EXPECT_THAT(placed("monotone_constraints", R"({"a": 1})", twice), HasSubstr("names `a`, and several columns have this name"));
}

class FeatureConstraints : public testing::Test {
 protected:
  // y falls with a, is b where a is large, and depends on nothing else.
  FeatureConstraints() {
    std::string text = "b,a,y\n";
    for (int i = 0; i < 400; ++i) {
      const int a = i % 20;
      const int b = i / 20 % 10;
      text += std::to_string(b) + "," + std::to_string(a) + "," + std::to_string(-a + (a > 9 ? 2 * b : 0)) + "\n";
    }
    file_ = dir_.write("train.csv", text);
  }

  Json trainer(const Json& more) const {
    Json parameters{{"objective", "reg:squarederror"}, {"base_score", 0}};
    parameters.update(more);
    return {{"type", "xgboost"},
            {"data", {{"train", file_}, {"label", "y"}, {"validation", file_}}},
            {"parameters", parameters},
            {"eval_metric", "rmse"}};
  }
  double rmse(const Json& more) const {
    TrialUnderTest trial(trainer(more), {{"eta", 0.5}}, "validation-rmse");
    const auto outcome = trial.run(*make_xgboost_runner({}), 0, 20);
    EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    return outcome.reporter.observations.at(20).at(0).second;
  }
  std::vector<std::string> faults(const Json& more) const {
    Diagnostics diagnostics;
    const auto spec = std::get<XgboostSpec>(parse_trainer(trainer(more), "trainer", diagnostics));
    check_data(spec, {{"trainer", trainer(more)}}, this_machine(1), diagnostics);
    std::vector<std::string> texts;
    for (const Error& error : diagnostics.errors()) texts.push_back(describe(error));
    return texts;
  }

  test::TemporaryDir dir_;
  std::string file_;
};

TEST_F(FeatureConstraints, ByNamesAModelIsHeldToThemAsByPlaces) {
  const double free = rmse(Json::object());
  const double against = rmse({{"monotone_constraints", {{"a", 1}}}});
  EXPECT_LT(free, 0.5);
  EXPECT_GT(against, 3);
  EXPECT_EQ(against, rmse({{"monotone_constraints", "(0,1)"}}));
  EXPECT_EQ(against, rmse({{"monotone_constraints", {0, 1}}}));
  EXPECT_NE(against, rmse({{"monotone_constraints", {{"b", 1}}}}));
  const double apart = rmse(Json::parse(R"({"interaction_constraints": [["a"], ["b"]]})"));
  EXPECT_GT(apart, 1.5);
  EXPECT_EQ(apart, rmse({{"interaction_constraints", "[[0], [1]]"}}));
  EXPECT_EQ(apart, rmse(Json::parse(R"({"interaction_constraints": [["a"]]})"))) << "what is in no list is alone";
  EXPECT_EQ(free, rmse(Json::parse(R"({"interaction_constraints": [["b", "a"]]})")));
}

TEST_F(FeatureConstraints, WhatTheDataLacksIsFoundBeforeTheFirstTrial) {
  EXPECT_THAT(faults({{"monotone_constraints", {{"a", -1}}}}), testing::IsEmpty());
  EXPECT_THAT(faults({{"monotone_constraints", {{"age", -1}}}}),
              ElementsAre(HasSubstr("trainer.parameters.monotone_constraints: names `age`")));
  EXPECT_THAT(faults(Json::parse(R"({"interaction_constraints": [["a", "y"]]})")),
              ElementsAre(HasSubstr("trainer.parameters.interaction_constraints: names `y`")));
  TrialUnderTest trial(trainer({{"monotone_constraints", {{"age", -1}}}}), {{"eta", 0.5}}, "validation-rmse");
  const auto outcome = trial.run(*make_xgboost_runner({}), 0, 1);
  EXPECT_EQ(outcome.result.exit, kExitInvalidParameters);
  EXPECT_THAT(outcome.result.message, HasSubstr("`monotone_constraints` names `age`, and the data has no such column"));
}

}  // namespace
}  // namespace tuneband::workers
