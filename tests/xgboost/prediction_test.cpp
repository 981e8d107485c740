// New rows by a model that a trial left: as XGBoost measured it.
#include "workers/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "core/text.hpp"
#include "tests/xgboost/fixtures.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class Predictions : public testing::Test {
 protected:
  // The model of a trial on these data, and what was measured of it at its end.
  double train(const std::string& file, Json data, Json parameters, const std::string& metric) {
    data.update({{"train", dir_.path(file)}, {"validation", dir_.path(file)}});
    trial_.emplace(Json{{"type", "xgboost"}, {"data", data}, {"keep", "last"}, {"parameters", parameters}}, Json{{"eta", 0.5}},
                   "validation-" + metric);
    const auto outcome = trial_->run(*make_xgboost_runner({}), 0, 8);
    EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    return outcome.reporter.observations.at(8).at(0).second;
  }

  PredictionOrder order(const std::string& file) const { return {.model = trial_->model_file(), .data = dir_.path(file)}; }

  // Lines of cells, the header first.
  static std::vector<std::vector<std::string>> predicted(const PredictionOrder& order) {
    std::string text;
    const auto done = predict(order, [&text](std::string_view piece) {
      text += piece;
      return true;
    });
    EXPECT_TRUE(done) << describe(done.error());
    std::vector<std::vector<std::string>> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      std::istringstream cells(line);
      lines.emplace_back();
      for (std::string cell; std::getline(cells, cell, ',');) lines.back().push_back(cell);
    }
    return lines;
  }
  static std::string fault(const PredictionOrder& order) {
    const auto done = predict(order, [](std::string_view) { return true; });
    return done ? "" : describe(done.error());
  }

  test::TemporaryDir dir_;
  std::optional<TrialUnderTest> trial_;
};

// "a,b,city,y" with texts for the label, as made_up_csv() has numbers.
std::string with_texts(std::string text, const std::vector<std::string>& classes) {
  for (std::size_t end = text.find('\n', text.find('\n') + 1); end != std::string::npos; end = text.find('\n', end + 1)) {
    const std::string& name = classes.at(static_cast<std::size_t>(text[end - 1] - '0'));
    text.replace(end - 1, 1, name);
    end += name.size() - 1;
  }
  return text;
}

std::vector<std::string> labels_of(const std::string& csv) {
  std::vector<std::string> labels;
  std::istringstream lines(csv);
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) labels.push_back(line.substr(line.rfind(',') + 1));
  return labels;
}

TEST_F(Predictions, OfTwoClassesAreTheLikelierAndTheProbabilityOfThePositiveOne) {
  const std::string rows = with_texts(test::made_up_csv(200), {"no", "yes"});
  dir_.write("data.csv", rows);
  for (const Json& more : {Json{{"positive", "no"}}, Json::object()}) {
    Json data{{"label", "y"}};
    data.update(more);
    const double measured = train("data.csv", data, {{"objective", "binary:logistic"}}, "logloss");
    const auto lines = predicted(order("data.csv"));
    ASSERT_EQ(lines.size(), 201U);
    EXPECT_THAT(lines[0], ElementsAre("prediction", "probability"));
    const std::string positive = more.value("positive", "yes");
    const auto labels = labels_of(rows);
    double loss = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const double probability = *parse_number(lines[row + 1][1]);
      EXPECT_EQ(lines[row + 1][0] == positive, probability >= 0.5) << row;
      EXPECT_TRUE(lines[row + 1][0] == "no" || lines[row + 1][0] == "yes");
      loss -= std::log(labels[row] == positive ? probability : 1 - probability) / 200;
    }
    EXPECT_NEAR(loss, measured, 1e-5);
  }
}

TEST_F(Predictions, OfLabelsThatAreNumbersAreThoseNumbers) {
  const auto classes = [&](int count, const std::vector<std::string>& labels, const std::string& positive) {
    dir_.write("data.csv", with_texts(test::made_up_csv(200, count), labels));
    train("data.csv", {{"label", "y"}, {"positive", positive}}, {{"objective", "binary:logistic"}}, "logloss");
    const auto lines = predicted(order("data.csv"));
    std::set<std::string> predicted_ones;
    for (std::size_t row = 1; row < lines.size(); ++row) {
      EXPECT_EQ(parse_number(lines[row][0]) == parse_number(positive), *parse_number(lines[row][1]) >= 0.5) << row;
      predicted_ones.insert(lines[row][0]);
    }
    return predicted_ones;
  };
  EXPECT_THAT(classes(2, {"1", "2"}, "2"), ElementsAre("1", "2"));
  EXPECT_THAT(classes(2, {"-1", "1"}, "-1"), ElementsAre("-1", "1"));
  EXPECT_THAT(classes(2, {"0.0", "1.0"}, "1"), ElementsAre("0.0", "1.0")) << "as the file has them";
  EXPECT_THAT(classes(3, {"1", "2", "3"}, "2"), ElementsAre("0", "2")) << "there are several others";
}

// As a program that compares them with the labels has them, whatever a spreadsheet would make of them.
TEST_F(Predictions, OfClassesThatBeginLikeAFormulaAreThoseTexts) {
  dir_.write("data.csv", with_texts(test::made_up_csv(200), {"-", "+1 to 5"}));
  train("data.csv", {{"label", "y"}, {"missing", {"NA"}}}, {{"objective", "binary:logistic"}}, "logloss");
  const auto lines = predicted(order("data.csv"));
  std::set<std::string> classes;
  for (std::size_t row = 1; row < lines.size(); ++row) classes.insert(lines[row][0]);
  EXPECT_THAT(classes, ElementsAre("+1 to 5", "-"));
}

TEST_F(Predictions, OfMoreClassesAreTheLikeliestAndTheProbabilityOfEach) {
  const std::string rows = with_texts(test::made_up_csv(300, 3), {"ash", "beech", "oak"});
  dir_.write("data.csv", rows);
  for (const char* encoding : {"numbers", "native"}) {
    const double measured =
        train("data.csv", {{"label", "y"}, {"categorical_encoding", encoding}}, {{"objective", "multi:softprob"}}, "merror");
    const auto lines = predicted(order("data.csv"));
    EXPECT_THAT(lines[0], ElementsAre("prediction", "probability_ash", "probability_beech", "probability_oak"));
    const auto labels = labels_of(rows);
    double wrong = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) wrong += lines[row + 1][0] == labels[row] ? 0 : 1;
    EXPECT_NEAR(wrong / 300, measured, 1e-6) << encoding;
  }
}

TEST_F(Predictions, OfNumbersAreNumbersAndColumnsGoByTheirNames) {
  dir_.write("data.csv", "a,b,y\n1,?,2\n2,x,4\n3,,6\n4,x,8\n5,z,11\n6,z,12\n-9,z,11\n");
  const double measured = train("data.csv", {{"label", "y"}, {"missing", {"?", -9}}},
                                {{"objective", "reg:squarederror"}, {"min_child_weight", 0}}, "rmse");
  dir_.write("new.csv", "b,more,a\n?,0,1\nx,0,2\n,0,3\nx,0,4\nz,0,5\nz,0,6\nz,0,-9.0\nnew,0,6\n");
  const auto lines = predicted(order("new.csv"));
  EXPECT_THAT(lines[0], ElementsAre("prediction"));
  const double labels[] = {2, 4, 6, 8, 11, 12, 11};
  double squares = 0;
  for (std::size_t row = 0; row < 7; ++row) squares += std::pow(*parse_number(lines[row + 1][0]) - labels[row], 2) / 7;
  EXPECT_NEAR(std::sqrt(squares), measured, 1e-5);
  EXPECT_EQ(lines.size(), 9U);
  dir_.write("plain.csv", "1;?;2\n2;x;4\n");
  PredictionOrder plain = order("plain.csv");
  plain.header = false;
  plain.delimiter = ';';
  const auto two = predicted(plain);
  EXPECT_EQ(two.at(1), lines.at(1));
  EXPECT_EQ(two.at(2), lines.at(2));
}

// By a name that is its place it would be another one where the places are others.
TEST_F(Predictions, AreNotOfAColumnWithoutANameWhereColumnsStandElsewhere) {
  dir_.write("data.csv", "y,a,\n2,1,5\n4,2,6\n6,3,7\n8,4,8\n");
  train("data.csv", {{"label", "y"}}, {{"objective", "reg:squarederror"}, {"min_child_weight", 0}}, "rmse");
  EXPECT_EQ(predicted(order("data.csv")).size(), 5U);
  dir_.write("new.csv", "a,b,\n1,0,5\n");
  EXPECT_THAT(fault(order("new.csv")), HasSubstr("data: column 2 has no name, and the columns do not stand as in the training"));
  dir_.write("named.csv", "a,column2\n1,5\n");
  EXPECT_EQ(predicted(order("named.csv")).size(), 2U) << "which says what it is";
}

TEST_F(Predictions, TellOfColumnsWhoseTextsTheModelDoesNotKnow) {
  dir_.write("data.csv", "city,a,y\nOslo,1,2\nOslo,2,4\nLima,3,6\nLima,4,8\n");
  train("data.csv", {{"label", "y"}}, {{"objective", "reg:squarederror"}, {"min_child_weight", 0}}, "rmse");
  const auto told = [&](const std::string& rows) {
    dir_.write("new.csv", "city,a\n" + rows);
    return *predict(order("new.csv"), [](std::string_view) { return true; });
  };
  EXPECT_THAT(told("Oslo,1\n,2\nLima,1\n"), testing::IsEmpty()) << "a missing one is none";
  EXPECT_THAT(told("OSLO,1\nOslo,1\nOslo,1\nOslo,1\nOslo,1\n"),
              ElementsAre(testing::StartsWith("column `city`: 20 % of the rows have texts that the model does not know")));
  EXPECT_THAT(told("OSLO,1\nOslo,1\nOslo,1\nOslo,1\nOslo,1\nOslo,1\n"), testing::IsEmpty());
}

TEST_F(Predictions, ReadRowsAsTheTrainingFileWas) {
  dir_.write("data.csv", "1;Oslo;4\n2;Oslo;4\n3;Lima;9\n4;Lima;9\n");
  const Json data{{"label", "2"}, {"header", false}, {"delimiter", ";"}};
  train("data.csv", data, {{"objective", "reg:squarederror"}, {"min_child_weight", 0}}, "rmse");
  const auto lines = predicted(order("data.csv"));
  EXPECT_EQ(lines.size(), 5U);
  EXPECT_NE(lines.at(1), lines.at(4));
  dir_.write("commas.csv", "1,Oslo\n2,Oslo\n3,Lima\n4,Lima\n");
  PredictionOrder commas = order("commas.csv");
  EXPECT_THAT(fault(commas), HasSubstr("is the delimiter `,`?"));
  commas.delimiter = ',';
  EXPECT_EQ(predicted(commas), lines);
  dir_.write("named.csv", "size,town\n1,Oslo\n2,Oslo\n3,Lima\n4,Lima\n");
  PredictionOrder named = order("named.csv");
  named.delimiter = ',';
  named.header = true;
  EXPECT_EQ(predicted(named), lines) << "the training file had no names to go by";
}

// Latin-1, which is told when the job is submitted, and taken.
TEST_F(Predictions, KnowTextsThatAreNoUtf8) {
  const std::string texts[] = {"K\xf6ln", "M\xfcnchen", "Oslo", "\xc5rhus"};
  std::string rows = "city,y\n";
  for (int row = 0; row < 80; ++row) rows += texts[row % 4] + (row % 4 < 2 ? ",sch\xf6n\n" : ",sp\xe4t\n");
  dir_.write("data.csv", rows);
  for (const char* encoding : {"numbers", "native"}) {
    const double measured = train("data.csv", {{"label", "y"}, {"categorical_encoding", encoding}},
                                  {{"objective", "binary:logistic"}, {"min_child_weight", 0}}, "error");
    EXPECT_EQ(measured, 0) << encoding;
    const auto lines = predicted(order("data.csv"));
    const auto labels = labels_of(rows);
    for (std::size_t row = 0; row < labels.size(); ++row) EXPECT_EQ(lines.at(row + 1)[0], labels[row]) << encoding << " " << row;
  }
}

TEST_F(Predictions, OfColumnsThatShareANameGoByTheirPlaces) {
  dir_.write("data.csv", "a,y,a\n1,1,9\n2,1,9\n3,2,5\n4,2,5\n");
  train("data.csv", {{"label", "y"}}, {{"objective", "reg:squarederror"}, {"min_child_weight", 0}}, "rmse");
  const auto lines = predicted(order("data.csv"));
  EXPECT_EQ(lines.size(), 5U);
  EXPECT_NE(lines.at(1), lines.at(4));
  dir_.write("features.csv", "a,a\n1,9\n2,9\n3,5\n4,5\n");
  EXPECT_EQ(predicted(order("features.csv")), lines) << "the columns of the features alone, in their order";
  dir_.write("other.csv", "y,a,a\n1,1,9\n");
  EXPECT_THAT(fault(order("other.csv")), HasSubstr("data: the model has features of the same name"));
}

TEST_F(Predictions, OfALibsvmModelAreThoseOfLibsvmRows) {
  std::string rows;
  for (int row = 0; row < 40; ++row)
    rows += std::to_string(row % 4) + " 0:" + std::to_string(row % 4 + 1) + " 3:" + std::to_string(row) + "\n";
  dir_.write("data.libsvm", rows);
  const double measured = train("data.libsvm", Json::object(), {{"objective", "reg:squarederror"}}, "rmse");
  const auto lines = predicted(order("data.libsvm"));
  double squares = 0;
  for (std::size_t row = 0; row < 40; ++row)
    squares += std::pow(*parse_number(lines[row + 1][0]) - static_cast<double>(row % 4), 2) / 40;
  EXPECT_NEAR(std::sqrt(squares), measured, 1e-5);
  dir_.write("wide.libsvm", "0 0:1 4:2\n");
  EXPECT_THAT(fault(order("wide.libsvm")), HasSubstr("data: has a column 4, and the model was trained on 4 columns, from 0"));
  dir_.write("data.csv", "a,b,c,d\n1,2,3,4\n");
  EXPECT_THAT(fault(order("data.csv")), AllOf(HasSubstr("data: line 1: expected a label"), HasSubstr("trained on LibSVM files")));
}

TEST_F(Predictions, SayWhatTheyLack) {
  dir_.write("data.csv", test::made_up_csv(50));
  train("data.csv", {{"label", "y"}}, {{"objective", "binary:logistic"}}, "logloss");
  dir_.write("lacks.csv", "a,city\n1,Oslo\n");
  EXPECT_THAT(fault(order("lacks.csv")), HasSubstr("data: the file has no column `b`"));
  dir_.write("odd.csv", "a,b,city\n1,x,Oslo\n");
  EXPECT_THAT(fault(order("odd.csv")), HasSubstr("data: line 2, column `b`: expected a number"));
  dir_.write("empty.csv", "a,b,city\n");
  EXPECT_THAT(fault(order("empty.csv")), HasSubstr("data: has no rows below its header"));
  dir_.write("empty.csv", "");
  EXPECT_THAT(fault(order("empty.csv")), HasSubstr("data: is empty"));
  dir_.write("narrow.csv", "1,2\n");
  PredictionOrder narrow = order("narrow.csv");
  narrow.header = false;
  EXPECT_THAT(fault(narrow), HasSubstr("data: the file has 2 columns, and the model needs one numbered 2"));
  EXPECT_THAT(fault({.model = dir_.path("absent"), .data = dir_.path("data.csv")}), HasSubstr("model: cannot read"));
  dir_.write("semicolons.csv", "a;b;city\n1;2;Oslo\n");
  EXPECT_THAT(fault(order("semicolons.csv")), HasSubstr("is the delimiter `;`? the file has one column"));
  EXPECT_THAT(fault({.model = dir_.path(""), .data = dir_.path("data.csv")}), HasSubstr("model: cannot read"));
  dir_.write("text.ubj", "no model");
  EXPECT_THAT(fault({.model = dir_.path("text.ubj"), .data = dir_.path("data.csv")}), EndsWith("is no model of XGBoost"));
  dir_.write("begun.json", "{\"learner\": ");
  EXPECT_THAT(fault({.model = dir_.path("begun.json"), .data = dir_.path("data.csv")}), HasSubstr("is no model of XGBoost: "));
  EXPECT_THAT(describe(read_prediction_order(R"({"model": "m"})").error()), HasSubstr("data: is missing"));
  EXPECT_THAT(describe(read_prediction_order(R"({"model": "m", "data": "d", "delimiter": ""})").error()),
              HasSubstr("delimiter: expected"));
}

// Its description would be more than a megabyte.
TEST_F(Predictions, OfTooManyTextsAreNone) {
  std::string rows = "id,b,y\n";
  for (int row = 0; row < 10'000; ++row)
    rows += std::string(120, 'x') + std::to_string(row) + "," + std::to_string(row % 7) + "," + std::to_string(row % 2) + "\n";
  dir_.write("data.csv", rows);
  train("data.csv", {{"label", "y"}}, {{"objective", "binary:logistic"}}, "logloss");
  EXPECT_THAT(fault(order("data.csv")), HasSubstr("does not say how its features are made from columns"));
}

}  // namespace
}  // namespace tuneband::workers
