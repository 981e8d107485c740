// `data.test`: rows that no trial sees, and the value of a trial's model on them, which nothing else depends on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/xgboost/group_fixture.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/data/data_check.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kRoundsOfTest = 12;

class TestRows : public testing::Test {
 protected:
  TestRows() {
    data_.write("data.csv", test::made_up_csv(400));
    const std::string rows = test::made_up_csv(700);
    data_.write("test.csv", "a,b,city,y\n" + rows.substr(data_size(rows, 400)));
  }

  // Bytes of the header and so many rows.
  static std::size_t data_size(const std::string& text, int rows) {
    std::size_t end = 0;
    for (int line = 0; line <= rows; ++line) end = text.find('\n', end) + 1;
    return end;
  }

  Json trainer(Json test, Json parameters = Json::object(), const std::string& keep = "best") const {
    parameters["objective"] = "binary:logistic";
    return {{"type", "xgboost"},
            {"data", {{"train", data_.path("data.csv")}, {"label", "y"}, {"test", std::move(test)}}},
            {"parameters", std::move(parameters)},
            {"eval_metric", {"logloss", "auc"}},
            {"keep", keep}};
  }
  static Json configuration() { return {{"eta", 0.9}, {"subsample", 0.8}, {"min_child_weight", 0}, {"lambda", 0}}; }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  // Of the model file, by the C API alone.
  static double logloss_of(const std::string& model, const Json& trainer) {
    Diagnostics diagnostics;
    const auto spec = std::get<XgboostSpec>(parse_trainer(trainer, "trainer", diagnostics));
    const auto tables = load_tables(spec.data);
    const auto matrix = XgboostMatrix::create(tables->test);
    auto booster = XgboostBooster::create(*matrix, {}, {{"eval_metric", "logloss"}, {"objective", "binary:logistic"}});
    const auto rounds = static_cast<int>(rounds_of(model));
    EXPECT_TRUE(booster->load(model, rounds));
    return booster->evaluate(rounds - 1, {{"test", &*matrix}})->front().second;
  }
  static std::int64_t rounds_of(const std::string& model) {
    Table table;
    table.columns = 1;
    table.labels = table.values = {0, 1};
    const auto data = XgboostMatrix::create(table);
    for (int rounds = 1; rounds <= kRoundsOfTest; ++rounds) {
      auto booster = XgboostBooster::create(*data, {}, {});
      if (booster->load(model, rounds)) return rounds;
    }
    return 0;
  }

  test::TemporaryDir data_;
};

TEST_F(TestRows, AreTheSameHoweverTheOthersAreSharedOut) {
  DataSpec spec;
  spec.train = {data_.path("data.csv")};
  spec.label = "y";
  const auto without = load_tables(spec);
  spec.test = SplitSpec{0.25, 3};
  // Each row has a value of its own in its first column.
  const auto rows_of = [](const Table& table) {
    std::set<float> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) rows.insert(table.values[row * table.columns]);
    return rows;
  };
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_EQ(without->rows(), 400U);
  EXPECT_EQ(tables->rows(), 400U);
  EXPECT_NEAR(static_cast<double>(tables->test.rows()), 100, 25);
  EXPECT_NEAR(static_cast<double>(tables->validation.rows()), 80, 25);
  std::set<float> seen;
  for (const Table* table : tables->parts()) seen.merge(rows_of(*table));
  EXPECT_EQ(seen.size(), 400U) << "no row is in two parts";
  for (const ValidationRows& validation : {ValidationRows(SplitSpec{0.5, 3}), ValidationRows(data_.path("test.csv"))}) {
    spec.validation = validation;
    EXPECT_EQ(rows_of(load_tables(spec)->test), rows_of(tables->test));
  }
  spec.test = SplitSpec{0.25, 4};
  EXPECT_NE(rows_of(load_tables(spec)->test), rows_of(tables->test));
}

TEST_F(TestRows, TheirValueIsThatOfTheModelThatTheTrialLeaves) {
  for (const Json& test : {Json(data_.path("test.csv")), Json{{"fraction", 0.3}, {"seed", 5}}}) {
    for (const std::string keep : {"best", "last"}) {
      const Json document = trainer(test, Json::object(), keep);
      TrialUnderTest trial(document, configuration());
      const auto outcome = trial.run(*worker(), 0, kRoundsOfTest);
      ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
      ASSERT_TRUE(outcome.result.test_value);
      EXPECT_EQ(rounds_of(trial.model()), keep == "best" ? outcome.result.kept->resource : kRoundsOfTest);
      EXPECT_NEAR(*outcome.result.test_value, logloss_of(trial.model(), document), 1e-6) << test << keep;
      for (const auto& [round, metrics] : outcome.reporter.observations) {
        for (const auto& [name, value] : metrics) EXPECT_THAT(name, testing::StartsWith("validation-")) << round;
      }
      EXPECT_THAT(trial.log(), testing::Not(HasSubstr("test-")));
    }
  }
}

TEST_F(TestRows, OfAModelThatCannotBeCutAreMeasuredToo) {
  for (const char* booster : {"dart", "gblinear"}) {
    const Json document = trainer(data_.path("test.csv"), {{"booster", booster}}, "last");
    TrialUnderTest trial(document, {{"eta", 0.5}});
    const auto outcome = trial.run(*worker(), 0, 4);
    ASSERT_TRUE(outcome.result.test_value) << outcome.result.message;
    EXPECT_GT(*outcome.result.test_value, 0);
  }
}

TEST_F(TestRows, ChangeNothingButTheirOwnValue) {
  const Json document = trainer(data_.path("test.csv"));
  TrialUnderTest honest(document, configuration());
  const auto expected = honest.run(*worker(), 0, kRoundsOfTest);
  std::string flipped = test::read_text(data_.path("test.csv"));
  for (std::size_t end = flipped.find('\n'); (end = flipped.find('\n', end + 1)) != std::string::npos;)
    flipped[end - 1] = flipped[end - 1] == '0' ? '1' : '0';
  data_.write("test.csv", flipped);
  TrialUnderTest misled(document, configuration());
  const auto found = misled.run(*worker(), 0, kRoundsOfTest);
  EXPECT_EQ(found.reporter.observations, expected.reporter.observations);
  EXPECT_EQ(found.result.kept->resource, expected.result.kept->resource);
  EXPECT_TRUE(misled.model() == honest.model());
  EXPECT_GT(*found.result.test_value, *expected.result.test_value + 0.1);
  // Nor does a trial without any differ.
  Json none = document;
  none["data"].erase("test");
  TrialUnderTest plain(none, configuration());
  const auto without = plain.run(*worker(), 0, kRoundsOfTest);
  EXPECT_EQ(without.reporter.observations, expected.reporter.observations);
  EXPECT_TRUE(plain.model() == honest.model());
  EXPECT_FALSE(without.result.test_value);
}

TEST_F(TestRows, AreMeasuredAtRungsAloneAndAfterAPauseAlike) {
  const Json document = trainer(data_.path("test.csv"), Json::object(), "last");
  TrialUnderTest whole(document, configuration());
  const auto expected = whole.run(*worker(), 0, kRoundsOfTest);
  TrialUnderTest paused(document, configuration());
  const auto stopped = paused.run(*worker(), 0, kRoundsOfTest, 5);
  EXPECT_EQ(stopped.result.exit, kExitStopped);
  EXPECT_FALSE(stopped.result.test_value);
  const auto rest = paused.run(*worker(), 5, kRoundsOfTest);
  EXPECT_EQ(rest.result.test_value, expected.result.test_value);
  EXPECT_TRUE(paused.model() == whole.model());
}

TEST_F(TestRows, AreMeasuredOfATrialThatIsEndedOnItsWayToALowerRungAndMayBeTheBest) {
  TrialUnderTest trial(trainer(data_.path("test.csv")), configuration());
  trial.order().max_resource = 3 * kRoundsOfTest;
  const auto ended = trial.run(*worker(), 0, kRoundsOfTest, 5);
  EXPECT_EQ(ended.result.exit, kExitStopped);
  EXPECT_TRUE(ended.result.test_value);
}

TEST_F(TestRows, AreNotMeasuredWhereTheModelOfALowerRungStays) {
  TrialUnderTest trial(trainer(data_.path("test.csv")), configuration());
  trial.order().kept_value = 0.0;
  EXPECT_FALSE(trial.run(*worker(), 0, kRoundsOfTest).result.test_value);
}

TEST_F(TestRows, GiveAGroupTheValueOfItsModel) {
  test::TrackerThread tracker;
  for (const std::string keep : {"best", "last"}) {
    test::GroupUnderTest group(tracker, 2);
    const Json document = trainer(data_.path("test.csv"), Json::object(), keep);
    TrialUnderTest trial(document, configuration());
    const auto outcomes = group.run(trial, 0, kRoundsOfTest);
    for (const auto& outcome : outcomes) {
      ASSERT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
      ASSERT_TRUE(outcome.result.test_value);
      EXPECT_NEAR(*outcome.result.test_value, logloss_of(trial.model(), document), 1e-6) << keep;
    }
  }
}

class TestRowsCheck : public TestRows {
 protected:
  std::string faults(const Json& data) const {
    Json job{{"trainer", {{"type", "xgboost"}, {"data", data}, {"parameters", {{"objective", "binary:logistic"}}}}},
             {"objective", {{"metric", "validation-auc"}}}};
    Diagnostics diagnostics;
    const auto spec = std::get<XgboostSpec>(parse_trainer(job["trainer"], "trainer", diagnostics));
    if (diagnostics.ok()) check_data(spec, job, {4, 1e12, 1}, diagnostics);
    std::string text;
    for (const Error& fault : diagnostics.errors()) text += describe(fault) + "\n";
    for (const Error& doubt : diagnostics.warnings()) text += "warning: " + describe(doubt) + "\n";
    return text;
  }
  Json data(Json test) const { return {{"train", data_.path("data.csv")}, {"label", "y"}, {"test", std::move(test)}}; }
};

TEST_F(TestRowsCheck, FindsWhatIsWrongWithThem) {
  EXPECT_THAT(faults(data(data_.path("test.csv"))), IsEmpty());
  EXPECT_THAT(faults(data({{"fraction", 0.2}})), IsEmpty());
  EXPECT_THAT(faults(data({{"fraction", 1.5}})), HasSubstr("trainer.data.test.fraction"));
  EXPECT_THAT(faults(data(7)), HasSubstr("trainer.data.test: expected a path or"));
  Json both = data({{"fraction", 0.5}});
  both["validation"] = {{"fraction", 0.5}};
  EXPECT_THAT(faults(both), HasSubstr("trainer.data.test: expected fractions for validation and test that leave rows"));
  both["validation"] = {{"fraction", 0.49}};
  EXPECT_THAT(faults(both), IsEmpty());
  EXPECT_THAT(faults(data({{"fraction", 1e-9}})), HasSubstr("trainer.data.test: the split of 400 rows leaves none for the test"));
  data_.write("empty.csv", "a,b,city,y\n");
  EXPECT_THAT(faults(data(data_.path("empty.csv"))), HasSubstr("trainer.data.test: the file"));
  data_.write("other.csv", "a,b,y\n1,2,0\n");
  EXPECT_THAT(faults(data(data_.path("other.csv"))), HasSubstr("trainer.data.test: "));
  data_.write("labels.csv", "a,b,city,y\n1,2,Oslo,3\n");
  EXPECT_THAT(faults(data(data_.path("labels.csv"))), HasSubstr("the test data has the label 3"));
  data_.write("one.csv", "a,b,city,y\n1,2,Oslo,1\n");
  EXPECT_THAT(faults(data(data_.path("one.csv"))),
              HasSubstr("warning: trainer.data.test: every row of the test data has the label 1"));
}

}  // namespace
}  // namespace tuneband::workers
