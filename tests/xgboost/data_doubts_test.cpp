// What the check of a job says of data that can be trained on, and that may not be what its user thinks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/jobs/read_trainer.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_check.hpp"

namespace tuneband::workers {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tuneband::test::described;

// What the check says of a job whose data this is: errors, then warnings.
std::vector<std::string> found_in(const DataSpec& data, const Json& job) {
  XgboostSpec spec;
  spec.data = data;
  Diagnostics diagnostics;
  check_data(spec, job, this_machine(1), diagnostics);
  auto texts = described(diagnostics.errors());
  for (const std::string& warning : described(diagnostics.warnings())) texts.push_back("warning " + warning);
  return texts;
}

class DataDoubts : public testing::Test {
 protected:
  DataSpec csv(const std::string& text) const {
    DataSpec spec;
    spec.train = {dir_.write("train.csv", text)};
    spec.validation = spec.train.front();
    spec.label = "y";
    return spec;
  }
  DataSpec libsvm(const std::string& text) const {
    DataSpec spec;
    spec.format = DataFormat::libsvm;
    spec.train = {dir_.write("train.libsvm", text)};
    spec.validation = spec.train.front();
    return spec;
  }
  static Json job(const std::string& objective, const std::string& metric = "validation-logloss") {
    return {{"search_space", {{"objective", objective}}}, {"objective", {{"metric", metric}}}};
  }

  test::TemporaryDir dir_;
  // Of `classes` classes.
  static Json multiclass(int classes, const std::string& metric) {
    Json of_classes = job("multi:softprob", metric);
    of_classes["search_space"]["num_class"] = classes;
    return of_classes;
  }
  // A row for each of the labels.
  static std::string rows_of(const std::vector<std::string>& labels) {
    std::string text = "a,y\n";
    for (std::size_t i = 0; i < labels.size(); ++i) text += std::to_string(i) + "," + labels[i] + "\n";
    return text;
  }
  // Of a ranking of two rows, one of which has this grade, and the other 0.
  std::vector<std::string> found_of_grade(const std::string& grade, const std::string& metric) const {
    return found_in(libsvm(grade + " qid:1 0:1\n0 qid:1 0:2\n"), job("rank:pairwise", "validation-" + metric));
  }

  const Json binary_ = job("binary:logistic");
};

TEST_F(DataDoubts, AColumnWhoseTextsAreOthersInTheValidationFileIsNamed) {
  DataSpec spec = csv("city,zip,y\nOslo,a,0\nLima,b,1\nLima,b,1\n");
  spec.validation = dir_.write("valid.csv", "city,zip,y\nOSLO,a,0\nLIMA,a,1\n,b,1\nlima,b,0\nlima,c,1\nlima,b,0\n");
  for (const auto encoding : {CategoricalEncoding::numbers, CategoricalEncoding::native}) {
    spec.categorical_encoding = encoding;
    EXPECT_THAT(found_in(spec, binary_),
                ElementsAre("warning trainer.data.validation: column `city`: 83 % of the rows have texts that the training data "
                            "lacks: they count as missing (are they written in another way there?)"))
        << "of 6 rows one is empty, and one has another `zip`: too few to tell";
  }
  spec.test = *spec.validation_file();
  EXPECT_THAT(found_in(spec, binary_), testing::SizeIs(2));
}

TEST_F(DataDoubts, AColumnThatHeldOutGroupsHaveOtherTextsInIsNamed) {
  std::string text = "patient,a,y\n";
  for (int i = 0; i < 300; ++i)
    text += "p" + std::to_string(i % 100) + "," + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  DataSpec spec = csv(text);
  spec.validation = SplitSpec{};
  EXPECT_THAT(found_in(spec, binary_), Not(Contains(HasSubstr("texts that the training data lacks"))));
  std::string twice = "patient,name,y\n";
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i % 20);
    twice += "p" + name + ",n" + name + "," + std::to_string(i / 20) + "\n";
  }
  spec = csv(twice);
  spec.validation = SplitSpec{};
  spec.group = "patient";
  EXPECT_THAT(
      found_in(spec, binary_),
      ElementsAre(StartsWith("warning trainer.data.validation: column `name`: 100 % of the rows have texts that the training "
                             "data lacks: nothing is learnt of them")));
}

TEST_F(DataDoubts, NumbersThatBecomeEqualAs32BitFloatsAreToldByColumn) {
  const auto numbers = [&](const std::function<std::string(int)>& feature, const std::function<std::string(int)>& label) {
    std::string text = "time,y\n";
    for (int i = 0; i < 1000; ++i) text += feature(i) + "," + label(i * 7 % 1000) + "\n";  // which the time does not tell
    return found_in(csv(text), job("reg:squarederror", "validation-rmse"));
  };
  const auto counted_from = [](std::int64_t first, std::int64_t step) {
    return [=](int i) { return std::to_string(first + i * step); };
  };
  EXPECT_THAT(
      numbers(counted_from(100'000'000, 1), counted_from(0, 1)),
      ElementsAre("warning trainer.data.train: column `time`: 874 of 1000 numbers become equal to others as 32-bit floats, "
                  "which is what XGBoost has (subtract an offset, or drop it if it is an id)"));
  EXPECT_THAT(numbers(counted_from(0, 3), counted_from(-100'000'000, 1)),
              ElementsAre(StartsWith("warning trainer.data.label: column `y`: 87")));
  EXPECT_THAT(numbers(counted_from(1'700'000'000'000'000'000, 1'000'000'000), counted_from(0, 1)),
              ElementsAre(HasSubstr("column `time`: 99")))
      << "nanoseconds, a second apart";
  const auto told_of = [&](const std::function<std::string(int)>& feature) { return numbers(feature, counted_from(0, 1)); };
  EXPECT_THAT(told_of(counted_from(16'000'000, 3)), IsEmpty());
  EXPECT_THAT(told_of(counted_from(20'000'001, 100)), IsEmpty()) << "each is rounded, and none is another's";
  EXPECT_THAT(told_of([](int i) { return std::to_string(100'000'001 + i % 2 * 100); }), IsEmpty());
  EXPECT_THAT(told_of([](int i) { return i < 9 ? std::to_string(100'000'000 + i) : std::to_string(i); }), IsEmpty())
      << "less than one in a hundred";
  EXPECT_THAT(told_of([](int i) { return "0.12345678" + std::to_string(i); }), IsEmpty());
}

TEST_F(DataDoubts, AnAucIsToldToBeNanWhereItIsMeasuredAndAClassIsMissing) {
  DataSpec spec = csv(rows_of({"0", "1", "1"}));
  spec.validation = dir_.write("valid.csv", rows_of({"1", "1"}));
  const auto found = [&](const Json& document) { return found_in(spec, document); };
  EXPECT_THAT(
      found(job("binary:logistic", "validation-auc")),
      ElementsAre(StartsWith("warning trainer.data.validation: every row of the validation data has the label 1: auc will be "
                             "NaN (hold out rows of each class")));
  EXPECT_THAT(found(job("binary:logistic", "validation-aucpr")), ElementsAre(HasSubstr("aucpr will be NaN")));
  EXPECT_THAT(found(job("binary:logistic", "validation-logloss")), IsEmpty());
  spec = csv(rows_of({"no", "yes", "once", "no"}));
  spec.validation = dir_.write("valid.csv", rows_of({"no", "yes", "yes"}));
  EXPECT_THAT(found(multiclass(3, "validation-mlogloss")), IsEmpty());
  EXPECT_THAT(
      found(multiclass(3, "validation-auc")),
      ElementsAre(StartsWith("warning trainer.data.validation: the validation data has no row of the class `once`: auc will be "
                             "NaN")));
  spec.test = *spec.validation_file();
  spec.validation = spec.train.front();
  EXPECT_THAT(found(multiclass(3, "validation-auc")),
              ElementsAre(StartsWith("warning trainer.data.test: the test data has no row of the class `once`")));
}

TEST_F(DataDoubts, AnAucIsToldToBeNanWhereAFoldLacksAClass) {
  DataSpec spec = csv("a,who,y\n1,u,0\n2,u,1\n3,v,1\n4,v,1\n");
  spec.validation = FoldsSpec{2, 0, 0};
  spec.group = "who";
  EXPECT_THAT(
      found_in(spec, job("binary:logistic", "validation-auc")),
      ElementsAre(ContainsRegex("^warning trainer.data.folds: every row of fold [12] of 2 has the label 1: auc will be NaN")));
  EXPECT_THAT(found_in(spec, binary_), IsEmpty());
}

TEST_F(DataDoubts, ClassesThatNoRowHasAreTold) {
  const DataSpec spec = csv(rows_of({"0", "1", "2"}));
  const auto with = [&](const DataSpec& data, int classes) { return found_in(data, multiclass(classes, "validation-mlogloss")); };
  EXPECT_THAT(with(spec, 3), IsEmpty());
  EXPECT_THAT(with(spec, 5),
              ElementsAre("warning search_space.num_class: is 5, and the training data has no row of the classes 3, "
                          "4 (set it to 3)"));
  EXPECT_THAT(with(spec, 100), ElementsAre(HasSubstr("no row of the classes 3, 4, 5, 6, 7, 8, 9, 10, ... (set it to 3)")));
  EXPECT_THAT(with(csv(rows_of({"0", "2"})), 3), ElementsAre(testing::EndsWith("the training data has no row of the class 1")));
}

TEST_F(DataDoubts, ManyTextsMayBeKeptAsCategoriesWhereTheTreesCan) {
  std::string text = "city,y\n";
  for (int i = 0; i < 50; ++i) text += "c" + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  const DataSpec spec = csv(text);
  Json document = binary_;
  const std::string native = "(set trainer.data.categorical_encoding to native to keep them as categories; drop those";
  EXPECT_THAT(found_in(spec, document), ElementsAre(HasSubstr(native)));
  document["search_space"]["tree_method"] = {{"type", "categorical"}, {"values", {"hist", "exact"}}};
  EXPECT_THAT(found_in(spec, document), ElementsAre(AllOf(HasSubstr("(drop those"), Not(HasSubstr("native")))));
  document["search_space"]["tree_method"] = "hist";
  EXPECT_THAT(found_in(spec, document), ElementsAre(HasSubstr(native)));
}

// Data of another country's spreadsheet.
TEST_F(DataDoubts, NumbersWithACommaOrASignAreToldAsSuch) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  DataSpec spec = csv("a;b;y\n1,5;x;1\n-1.234,5;y;2\n7;z;3\n");
  spec.delimiter = ';';
  EXPECT_THAT(found_in(spec, regression),
              ElementsAre("warning trainer.data.train: columns of numbers with a comma or a sign, which count as categories: a "
                          "(write them with a point, nothing between thousands and no sign but - and +)"));
  spec.validation = dir_.write("later.csv", "a;b;y\n2,5;x;1\n");
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("or a sign"))) << "and not of texts that are others there";
  spec.validation = spec.train.front();
  spec.categorical = {"a"};
  EXPECT_THAT(found_in(spec, regression), IsEmpty());
  spec = csv("a;y\n1;0,5\n2;1,5\n");
  spec.delimiter = ';';
  EXPECT_THAT(
      found_in(spec, regression),
      ElementsAre(StartsWith("trainer.data.label: the label `y` has numbers with a comma or a sign, which are texts here")));
  for (const std::string number : {"1%", "12.5 %", "$1", "-$1.5", "€ 1", "1 €", "£1"}) {
    std::string another = number;
    another.replace(another.find('1'), 1, "2");
    EXPECT_THAT(found_in(csv("a,y\n" + number + ",1\n" + another + ",2\n"), regression), ElementsAre(HasSubstr("or a sign")))
        << number;
  }
  for (const std::string text : {"\"1,2 kg\"", "%", "<5%", "$x"})
    EXPECT_THAT(found_in(csv("a,y\n" + text + ",1\n\"1,5\",2\n"), regression), IsEmpty()) << text;
}

TEST_F(DataDoubts, DatesAreToldAsSuch) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  for (const std::string form : {"2024-05-1", "2024-05-1 12:30:00", "2024-05-1T12:30", "1.05.2024", "5/1/24", "05/1/2024"}) {
    std::string text = "day,y\n";
    for (int i = 0; i < 40; ++i) {
      std::string day = form;
      day.replace(day.find('1'), 1, std::to_string(10 + i % 20));
      text += day + "," + std::to_string(i) + "\n";
    }
    EXPECT_THAT(
        found_in(csv(text), regression),
        ElementsAre(HasSubstr("columns of dates, which count as categories, so that nothing is known of other days: day")))
        << form;
  }
  for (const std::string other : {"1-2", "1.2.3", "2024-05", "555-12-34567", "2024-05-17x", "10.0.0.1"}) {
    EXPECT_THAT(found_in(csv("day,y\n" + other + ",1\n2024-05-01,2\n"), regression), IsEmpty()) << other;
  }
  DataSpec spec = csv("day,y\n2024-05-01,1\n2024-05-02,2\n2024-05-03,3\n2024-05-04,4\n");
  spec.validation = dir_.write("later.csv", "day,y\n2024-06-01,1\n");
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("columns of dates"))) << "and not of texts that are others there";
  spec.categorical = {"day"};
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("100 % of the rows have texts that the training data lacks")));
}

TEST_F(DataDoubts, AColumnWithoutANameIsDoubted) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  DataSpec spec = csv(",a,y\n0,5,1\n1,6,2\n2,5,3\n");
  EXPECT_THAT(found_in(spec, regression),
              ElementsAre("warning trainer.data.train: column 0 has no name, and is learnt from as `column0` (if it is a data "
                          "frame's index, which says nothing of new rows, name 0 in trainer.data.drop)"));
  spec.drop = {"0"};
  EXPECT_THAT(found_in(spec, regression), IsEmpty());
}

// `rows` of a column `name` with these values, of a feature of texts before it, and of a label.
std::string rows_with(const std::string& name, int rows, const std::function<std::string(int)>& value) {
  std::string text = "color," + name + ",a,y\n";
  for (int i = 0; i < rows; ++i) {
    text += (i % 2 == 0 ? "red," : "blue,") + value(i) + "," + std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
  }
  return text;
}

TEST_F(DataDoubts, AColumnThatCountsTheRowsIsDoubted) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  const auto backwards = [](int i) { return std::to_string(5000 - i); };
  DataSpec spec = csv(rows_with("n", 100, backwards));
  EXPECT_THAT(
      found_in(spec, regression),
      ElementsAre("warning trainer.data.train: columns with another whole number in each row, as ids have, which say "
                  "nothing of new rows: n (name them in trainer.data.drop, unless they measure something, such as a time)"));
  spec.drop = {"n"};
  EXPECT_THAT(found_in(spec, regression), IsEmpty());
  EXPECT_THAT(found_in(csv(rows_with("n", 99, backwards)), regression), IsEmpty()) << "of few rows";
  spec = csv(rows_with("n", 200, backwards));
  spec.validation = SplitSpec{.fraction = 0.5};
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("new rows: n "))) << "the rows that are held out count too";
  const auto up_to = [](int last) { return [last](int i) { return std::to_string(i == 199 ? last : 2 * i); }; };
  EXPECT_THAT(found_in(csv(rows_with("n", 200, up_to(439))), regression), ElementsAre(HasSubstr("new rows: n ")));
  EXPECT_THAT(found_in(csv(rows_with("n", 200, up_to(440))), regression), IsEmpty())
      << "more than 1.1 numbers for each row, of both files";
  EXPECT_THAT(found_in(csv(rows_with("n", 200, [](int i) { return std::to_string(i == 7 ? 8 : i); })), regression), IsEmpty())
      << "two rows have the same";
  EXPECT_THAT(found_in(csv(rows_with("n", 200, [](int i) { return std::to_string(i) + ".5"; })), regression), IsEmpty());
  EXPECT_THAT(found_in(csv(rows_with("n", 200, [](int i) { return i == 7 ? "" : std::to_string(i); })), regression), IsEmpty());
}

TEST_F(DataDoubts, AColumnNamedAsAnIdIsDoubtedWhereItIsAnotherInEachRow) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  const auto far_apart = [](int i) { return std::to_string(i * 3); };
  for (const char* name : {"id", "ID", "user_id", "PassengerId", "customerID", "row id"}) {
    EXPECT_THAT(found_in(csv(rows_with(name, 120, far_apart)), regression), ElementsAre(HasSubstr("as ids have"))) << name;
  }
  for (const char* name : {"paid", "PAID", "fluid", "i", "idle", "Grid"}) {
    EXPECT_THAT(found_in(csv(rows_with(name, 120, far_apart)), regression), IsEmpty()) << name;
  }
  EXPECT_THAT(found_in(csv(rows_with("user_id", 120, [](int i) { return std::to_string(i / 2); })), regression), IsEmpty());
}

TEST_F(DataDoubts, TextsThatAModelCannotKeepAreTold) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  const auto texts = [](std::size_t size) {
    std::string text = "name,a,y\n";
    for (int i = 0; i < 1000; ++i) {
      const std::string number = std::to_string(i);
      text += number + "x" + std::string(size, 'n') + "," + std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
    }
    return text;
  };
  EXPECT_THAT(
      found_in(csv(texts(1100)), regression),
      Contains(HasSubstr("the texts of the categories are too many to be kept in a model, which `tuneband predict` needs")));
  EXPECT_THAT(found_in(csv(texts(900)), regression), Not(Contains(HasSubstr("too many to be kept"))));
}

TEST_F(DataDoubts, AFrameIndexIsDoubtedOnce) {
  const Json regression = job("reg:squarederror", "validation-rmse");
  const DataSpec spec = csv(rows_with("", 120, [](int i) { return std::to_string(i); }));
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("column 1 has no name")));
}

TEST_F(DataDoubts, GradesThatNdcgCannotTakeAreRefused) {
  EXPECT_THAT(found_of_grade("31", "ndcg@5"), IsEmpty());
  EXPECT_THAT(found_of_grade("32", "ndcg@5"), ElementsAre(HasSubstr("has the label 32, and ndcg needs grades from 0 to 31")));
  EXPECT_THAT(found_of_grade("0.5", "ndcg"),
              ElementsAre(HasSubstr("has labels with fractions, and ndcg cuts grades to whole numbers")));
  EXPECT_THAT(found_of_grade("32", "map"), IsEmpty());
}

TEST_F(DataDoubts, MetricsThatALabelHasNoneOfAreTold) {
  const auto found = [this](const std::string& label, const std::string& metric) {
    return found_in(csv("a,y\n1,0.5\n2," + label + "\n3,2.5\n4,1.5\n"), job("reg:squarederror", "validation-" + metric));
  };
  EXPECT_THAT(found("0", "mape"), Contains(HasSubstr("some labels are 0, by which mape divides: it will be infinite")));
  EXPECT_THAT(found("0.1", "mape"), IsEmpty());
  EXPECT_THAT(found("-1", "rmsle"),
              Contains(HasSubstr("some labels are -1 or less, of which rmsle has no logarithm: it will be NaN")));
  EXPECT_THAT(found("-0.9", "rmsle"), IsEmpty());
}

TEST_F(DataDoubts, ClassesThatNobodyCountedAreThoseOfTheLabels) {
  const auto found = [this](const std::vector<std::string>& labels) {
    return found_in(csv(rows_of(labels)), job("multi:softprob", "validation-mlogloss"));
  };
  EXPECT_THAT(found({"a", "b", "c"}), IsEmpty());
  EXPECT_THAT(found({"0", "1", "2"}), IsEmpty());
  const std::string mended =
      "(name the label's column in trainer.data.categorical, so that each number is a class, or set num_class";
  EXPECT_THAT(found({"1", "2", "3"}),
              ElementsAre("trainer.data.label: no row has the label 0, and the greatest is 3 " + mended + " to 4)"));
  EXPECT_THAT(found({"0", "2"}), ElementsAre(HasSubstr("no row has the label 1, and the greatest is 2")));
  EXPECT_THAT(found({"-1", "0", "1"}),
              ElementsAre(AllOf(HasSubstr("has the label -1, and multi:softprob needs whole numbers from 0 to 9999"),
                                HasSubstr("trainer.data.categorical"))));
  EXPECT_THAT(found({"0", "1", "10000"}), ElementsAre(HasSubstr("has the label 10000, and multi:softprob needs whole numbers")));
  EXPECT_THAT(found({"0", "0.5", "1"}), ElementsAre(HasSubstr("has labels with fractions")));
  DataSpec from_one = csv(rows_of({"1", "2", "3"}));
  from_one.categorical = {"y"};
  EXPECT_THAT(found_in(from_one, job("multi:softprob", "validation-mlogloss")), IsEmpty());
  EXPECT_THAT(found_in(libsvm("1 0:1\n2 0:2\n"), job("multi:softprob", "validation-mlogloss")),
              ElementsAre(HasSubstr("(count the classes from 0, or set num_class to 3)")));
}

TEST_F(DataDoubts, AClassOfWhichNothingIsLearntIsToldWhereNobodyCountedThem) {
  DataSpec spec = csv(rows_of({"0", "1", "0", "1"}));
  spec.validation = dir_.write("valid.csv", rows_of({"0", "1", "2"}));
  EXPECT_THAT(found_in(spec, job("multi:softprob", "validation-mlogloss")),
              ElementsAre("warning trainer.data.label: the training data has no row of the class 2, of which nothing is learnt "
                          "(train with such rows, or leave them out everywhere)"));
  spec.test = dir_.write("test.csv", rows_of({"3", "1", "2"}));
  EXPECT_THAT(found_in(spec, job("multi:softprob", "validation-mlogloss")), ElementsAre(HasSubstr("the classes 2, 3")));
}

TEST_F(DataDoubts, AClassThatNoTextStandsForIsRefused) {
  const DataSpec texts = csv(rows_of({"a", "b", "c", "a", "b", "c"}));
  EXPECT_THAT(found_in(texts, multiclass(3, "validation-mlogloss")), IsEmpty());
  EXPECT_THAT(found_in(texts, multiclass(4, "validation-mlogloss")),
              ElementsAre("search_space.num_class: is 4, and the labels are of 3 classes (set it to 3)"));
}

TEST_F(DataDoubts, LabelsThatPseudoHuberErrorsCannotReachAreTold) {
  const auto found = [this](const std::string& label, const Json& parameters) {
    Json of_job = job("reg:pseudohubererror", "validation-mae");
    of_job["search_space"].update(parameters);
    return found_in(csv(rows_of({"-1000", label, "1000"})), of_job);
  };
  EXPECT_THAT(found("10.5", Json::object()), IsEmpty());
  EXPECT_THAT(found("10.6", Json::object()),
              ElementsAre(HasSubstr("the labels, of a median of 10.6, are far from the base_score of 0.5 for a huber_slope of 1: "
                                    "reg:pseudohubererror would learn next to nothing")));
  EXPECT_THAT(found("-9.5", Json::object()), IsEmpty());
  EXPECT_THAT(found("-9.6", Json::object()), ElementsAre(HasSubstr("a median of -9.6")));
  const Json scores = {{"base_score", {{"type", "float"}, {"min", 0}, {"max", 90}}}};
  EXPECT_THAT(found("100", scores), IsEmpty()) << "a trial may have one that is near enough";
  EXPECT_THAT(found("101", scores), ElementsAre(HasSubstr("the base_score of 90")));
  const Json slopes = {{"huber_slope", {{"type", "categorical"}, {"values", {20, 1, 3}}}}};
  EXPECT_THAT(found("200", slopes), IsEmpty());
  EXPECT_THAT(found("201", slopes), ElementsAre(HasSubstr("a huber_slope of 20")));
  EXPECT_THAT(found_in(csv(rows_of({"-1000", "201", "1000"})), job("reg:squarederror", "validation-mae")), IsEmpty());
  const auto spread = [this](const std::string& least) {  // one in 20 is as near as `least`, and one nearer
    std::vector<std::string> labels{"1", least, "-900"};
    for (int i = 0; i < 10; ++i) labels.insert(labels.end(), {"-900", "900"});
    return found_in(csv(rows_of(labels)), job("reg:pseudohubererror", "validation-mae"));
  };
  EXPECT_THAT(spread("40.5"), IsEmpty());
  EXPECT_THAT(
      spread("40.6"),
      ElementsAre(HasSubstr("nearly all labels differ by more than 40.1 from the base_score of 0.5 for a huber_slope of 1")));
}

TEST_F(DataDoubts, LabelsThatAreTooLargeForSquaredLogErrorsAreTold) {
  const auto found = [this](const std::string& label, const Json& parameters = Json::object(),
                            const std::string& objective = "reg:squaredlogerror") {
    Json of_job = job(objective, "validation-rmsle");
    of_job["search_space"].update(parameters);
    return found_in(csv(rows_of(std::vector<std::string>(8, label))), of_job);
  };
  EXPECT_THAT(found("1"), IsEmpty()) << "8 / (1 + 1)^2 is what two leaves need";
  EXPECT_THAT(found("1.01"), ElementsAre(StartsWith(
                                 "warning trainer.data.label: the labels, of a median of 1.01, are large for "
                                 "reg:squaredlogerror: on the way to them the rows' second derivatives fall to 1.98015 in all, "
                                 "and with a min_child_weight of 1 or more no tree splits any more")));
  EXPECT_THAT(found("1.01", Json::object(), "reg:squarederror"), IsEmpty());
  const Json low = {{"min_child_weight", {{"type", "float"}, {"min", 0.000003}, {"max", 9}}}};
  EXPECT_THAT(found("1000", low), IsEmpty()) << "a trial may have one that is low enough";
  EXPECT_THAT(found("1e9", low), IsEmpty()) << "XGBoost takes a millionth for what is less";
  EXPECT_THAT(found("1000", {{"min_child_weight", 0.000005}}), SizeIs(1));
}

TEST_F(DataDoubts, MeansThatALogLinkComesToLateAreTold) {
  const auto found = [this](const std::string& objective, const std::string& label, const Json& parameters = Json::object(),
                            int rounds = 27) {
    Json of_job = job(objective, "validation-mae");
    of_job["search_space"].update(parameters);
    of_job["scheduler"] = {{"max_resource", rounds}};
    return found_in(csv(rows_of({label, label})), of_job);
  };
  EXPECT_THAT(found("count:poisson", "4"), IsEmpty()) << "0.5 e^(0.7 * 27 / 9) is 4.08";
  EXPECT_THAT(found("count:poisson", "5"),
              ElementsAre("warning trainer.data.label: the labels, of a mean of 5, are far from the base_score of 0.5: "
                          "count:poisson would spend most rounds of the lower rungs on the way to them (set "
                          "trainer.parameters.base_score near the mean)"));
  EXPECT_THAT(found("count:poisson", "5", Json::object(), 81), IsEmpty());
  EXPECT_THAT(found("count:poisson", "5", {{"max_delta_step", 2}}), IsEmpty());
  EXPECT_THAT(found("count:poisson", "5", {{"base_score", 1.5}}), IsEmpty());
  for (const char* eta : {"eta", "learning_rate"}) {
    EXPECT_THAT(found("count:poisson", "4", {{eta, {{"type", "float"}, {"min", 0.01}, {"max", 0.1}}}}), SizeIs(1));
  }
  EXPECT_THAT(found("reg:gamma", "10"), IsEmpty()) << "0.5 e^3 is 10.04";
  EXPECT_THAT(found("reg:gamma", "10.1"), SizeIs(1));
  EXPECT_THAT(found("reg:tweedie", "201"), IsEmpty()) << "0.5 e^6 is 201.7";
  EXPECT_THAT(found("reg:tweedie", "202"), SizeIs(1));
  EXPECT_THAT(found("reg:squarederror", "1e9"), IsEmpty());
  EXPECT_THAT(found("reg:gamma", "0.0501"), IsEmpty());
  EXPECT_THAT(found("reg:gamma", "0.0499"), ElementsAre(HasSubstr("reg:gamma would step far beyond them")));
  EXPECT_THAT(found("reg:tweedie", "0.0001"), IsEmpty());
}

TEST_F(DataDoubts, FeaturesThatTellNoRowFromAnotherAreTold) {
  const auto nothing = ElementsAre(StartsWith("warning trainer.data.train: no feature has two values in the training rows"));
  EXPECT_THAT(found_in(csv("a,b,y\n1,,0\n1,,1\n1.0,,0\n"), binary_), nothing);
  EXPECT_THAT(found_in(csv("a,b,y\n1,,0\n1,,1\n1,2,0\n"), binary_), IsEmpty());
  EXPECT_THAT(found_in(csv("a,b,y\n1,,0\n1.5,,1\n1,,0\n"), binary_), IsEmpty());
  EXPECT_THAT(found_in(csv("a,b,y\n1,2,0\n,2,1\n1,2,0\n"), binary_), IsEmpty()) << "a missing one is another";
  EXPECT_THAT(found_in(libsvm("0\n1\n"), binary_), nothing);
}

TEST_F(DataDoubts, TwoFeaturesOfOneNameAreTold) {
  EXPECT_THAT(found_in(csv("a,a=x,y\nx,1,0\nz,2,1\n"), binary_),
              ElementsAre(StartsWith("warning trainer.data.train: two features are called a=x: ")));
}

TEST_F(DataDoubts, RankingsWithoutAQueryOfTwoLabelsAreRefused) {
  const auto found = [this](const std::string& rows) { return found_in(libsvm(rows), job("rank:ndcg", "validation-ndcg")); };
  EXPECT_THAT(found("1 qid:1 0:1\n0 qid:2 0:2\n1 qid:3 0:1\n"),
              ElementsAre(StartsWith("trainer.data.label: no query of the training data has rows of two labels")));
  EXPECT_THAT(found("1 qid:1 0:1\n1 qid:1 0:2\n0 qid:2 0:1\n0 qid:2 0:4\n"), SizeIs(1)) << "neighbours of two queries";
  EXPECT_THAT(found("1 qid:1 0:1\n1 qid:1 0:2\n0 qid:2 0:1\n1 qid:2 0:4\n"), IsEmpty());
}

TEST_F(DataDoubts, MetricsOfTwoClassesAreRefusedOfOtherLabels) {
  const auto found = [this](const std::string& label, const std::string& objective, const std::string& metric) {
    return found_in(csv("a,y\n1,0\n2," + label + "\n3,1\n4,0.5\n"), job(objective, "validation-" + metric));
  };
  for (const char* metric : {"logloss", "error", "error@0.7", "auc", "aucpr"}) {
    EXPECT_THAT(found("7", "reg:squarederror", metric),
                ElementsAre("trainer.data.label: the validation data has the label 7, and `" + std::string(metric) +
                            "` of reg:squarederror needs labels between 0 and 1 (measure rmse or mae, or train for classes)"));
    EXPECT_THAT(found("-2", "survival:cox", metric), ElementsAre(HasSubstr("measure cox-nloglik"))) << metric;
    EXPECT_THAT(found("1", "reg:squarederror", metric), IsEmpty()) << metric;
  }
  EXPECT_THAT(found("7", "reg:squarederror", "rmse"), IsEmpty());
  EXPECT_THAT(found_in(csv("a,y\n1,0\n2,1\n3,2\n4,0\n"), multiclass(3, "validation-auc")), IsEmpty());
  EXPECT_THAT(found_in(csv("a,y\n1,-1\n2,1\n3,1\n"), binary_), ElementsAre(StartsWith("warning trainer.data.label: the labels")));
  DataSpec positive = csv("a,y\n1,7\n2,9\n3,7\n");
  positive.positive = "9";
  EXPECT_THAT(found_in(positive, job("reg:squarederror", "validation-auc")), IsEmpty()) << "it counts as 1, and 7 as 0";
}

TEST_F(DataDoubts, WeightsOfLibsvmRowsThatCountInPartAreToldOfSurvival) {
  const Json cox = job("survival:cox", "validation-cox-nloglik");
  EXPECT_THAT(
      found_in(libsvm("1:2 0:1\n2:1 0:2\n"), cox),
      ElementsAre(
          "warning trainer.data.label: the rows have weights: weights multiply the derivatives of survival:cox alone: among "
          "the rows at risk, and in cox-nloglik, each row counts once (write a row as many times as it counts)"));
  EXPECT_THAT(found_in(libsvm("1 0:1\n2 0:2\n"), cox), IsEmpty());
  DataSpec column = csv("a,w,y\n1,2,1\n2,1,2\n");
  column.weight = "w";
  EXPECT_THAT(found_in(column, cox), IsEmpty()) << "check_trainer() has told it";
}

TEST_F(DataDoubts, TimesWithoutAnEventAreRefused) {
  const Json cox = job("survival:cox", "validation-cox-nloglik");
  EXPECT_THAT(
      found_in(csv("a,y\n1,-3\n2,-5\n3,0\n"), cox),
      ElementsAre(StartsWith("trainer.data.label: the training data has no label above 0, which survival:cox takes for")));
  DataSpec spec = csv("a,y\n1,-3\n2,5\n3,2\n");
  EXPECT_THAT(found_in(spec, cox), IsEmpty());
  spec.test = dir_.write("test.csv", "a,y\n1,-3\n");
  EXPECT_THAT(found_in(spec, cox), ElementsAre(HasSubstr("the test data has no label above 0")));
}

TEST_F(DataDoubts, FoldsWithoutAnEventAreRefused) {
  const auto found = [this](const std::vector<std::string>& labels, int folds) {
    DataSpec spec = csv(rows_of(labels));
    spec.validation = FoldsSpec{folds, 0};
    return found_in(spec, job("survival:cox", "validation-cox-nloglik"));
  };
  std::vector<std::string> labels(40, "-7");
  labels[3] = "5";
  labels[8] = "2";
  EXPECT_THAT(found(labels, 5), ElementsAre(ContainsRegex("^trainer.data.folds: fold [1-5] of 5 has no label above 0, which "
                                                          "survival:cox takes for the time of an event: nothing can be "
                                                          "measured there .use fewer folds or another seed.$")));
  labels[8] = "-2";
  EXPECT_THAT(found(labels, 2), ElementsAre(ContainsRegex("fold [12] of 2 has no label above 0"))) << "the other has the event";
  EXPECT_THAT(found(std::vector<std::string>(40, "7"), 5), IsEmpty());
}

TEST_F(DataDoubts, MetricsOfTwoClassesAreRefusedWhereverTheyAreMeasured) {
  const std::string classes = "a,y\n1,0\n2,1\n";
  DataSpec spec = csv("a,y\n1,0\n2,7\n");
  spec.validation = dir_.write("validation.csv", classes);
  const Json regression = job("reg:squarederror", "validation-auc");
  EXPECT_THAT(found_in(spec, regression), IsEmpty()) << "nothing is measured on the rows of the training";
  spec.test = spec.train.front();
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("the test data has the label 7, and `auc`")));
  spec.test.reset();
  spec.validation = FoldsSpec{2, 0};
  EXPECT_THAT(found_in(spec, regression), ElementsAre(HasSubstr("the training data has the label 7, and `auc`")));
}

TEST_F(DataDoubts, OfGradesTheAucOfPairsIsMeasuredAndOtherMetricsOfTwoClassesAreRefused) {
  EXPECT_THAT(found_of_grade("2", "auc"), IsEmpty());
  EXPECT_THAT(found_of_grade("1", "aucpr"), IsEmpty());
  EXPECT_THAT(found_of_grade("2", "aucpr"),
              ElementsAre(HasSubstr("`aucpr` of rank:pairwise needs labels between 0 and 1 (measure ndcg")));
}

TEST_F(DataDoubts, LabelsOfSignsAreRefusedWhereObjectivesWouldTakeThemInTwoWays) {
  const DataSpec spec = csv("a,y\n1,-1\n2,1\n3,-1\n4,1\n5,1\n6,-1\n7,1\n8,-1\n9,1\n");
  Json both = job("", "validation-rmse");
  both["search_space"]["objective"] = {{"type", "categorical"}, {"values", {"binary:logistic", "reg:squarederror"}}};
  EXPECT_THAT(found_in(spec, both),
              Contains(HasSubstr("the labels are -1 and 1, which count as 0 and 1 for binary objectives alone")));
}

TEST_F(DataDoubts, WeightsOfWhichNoTreeCanSplitAreTold) {
  const auto told = [&](double weight, const std::string& objective, const Json& min_child_weight = nullptr) {
    std::string text = "a,w,y\n";
    for (int row = 0; row < 40; ++row)
      text += std::to_string(row) + "," + std::to_string(weight) + "," + std::to_string(row % 2) + "\n";
    DataSpec data = csv(text);
    data.weight = "w";
    Json document = job(objective);
    if (!min_child_weight.is_null()) document["search_space"]["min_child_weight"] = min_child_weight;
    return found_in(data, document);
  };
  const auto no_split = Contains(StartsWith("warning trainer.data.weight: the training rows' weights sum to "));
  EXPECT_THAT(told(0.025, "binary:logistic"), no_split);
  EXPECT_THAT(told(0.19, "binary:logistic"), no_split) << "7.6 times a quarter is less than 2";
  EXPECT_THAT(told(0.21, "binary:logistic"), Not(no_split));
  EXPECT_THAT(told(0.049, "reg:squarederror"), no_split);
  EXPECT_THAT(told(0.051, "reg:squarederror"), Not(no_split));
  EXPECT_THAT(told(0.001, "count:poisson"), Not(no_split)) << "whose derivatives may be large";
  EXPECT_THAT(told(0.025, "binary:logistic", 0.01), Not(no_split));
  EXPECT_THAT(told(0.025, "binary:logistic", {{"type", "float"}, {"min", 0.01}, {"max", 10}}), Not(no_split));
  EXPECT_THAT(told(0.99, "binary:logistic", {{"type", "float"}, {"min", 6}, {"max", 10}}), no_split);
  EXPECT_THAT(told(1, "binary:logistic", {{"type", "float"}, {"min", 6}, {"max", 10}}), Not(no_split)) << "not for their sake";
}

TEST_F(DataDoubts, WeightsOfLibsvmRowsAreRefusedForRankings) {
  const DataSpec spec = libsvm("1:2 qid:1 0:1\n0:1 qid:1 0:2\n");
  EXPECT_THAT(
      found_in(spec, job("rank:ndcg", "validation-ndcg")),
      ElementsAre(StartsWith("trainer.data.label: the rows have weights, and rank:ndcg takes none: XGBoost weighs queries")));
  EXPECT_THAT(found_in(spec, binary_), IsEmpty());
}

}  // namespace
}  // namespace tuneband::workers
