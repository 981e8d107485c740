#include "simulator/curve_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simulator/csv.hpp"
#include "tests/simulator/temporary_file.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {

namespace {

std::string error_of(const std::string& text) {
  const auto csv = parse_csv(text);
  return csv ? "" : describe(csv.error());
}

Result<CurveTable> table_of(const std::string& text, const std::string& metric = "") {
  const TemporaryFiles directory;
  return load_curve_table(directory.write("curves.csv", text), {metric, "", ""});
}

std::string fault_of(const std::string& text, const std::string& metric = "") {
  const auto table = table_of(text, metric);
  return table ? "" : table.error().message;
}

}  // namespace

TEST(Csv, ReadsQuotesCommasAndLineBreaksWithinThem) {
  const auto csv = parse_csv("a,b\r\n\"x, \"\"y\"\"\n\",2\n\n3,\n");
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->header, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(csv->rows.size(), 2U);
  EXPECT_EQ(csv->rows[0], (std::vector<std::string>{"x, \"y\"\n", "2"}));
  EXPECT_EQ(csv->rows[1], (std::vector<std::string>{"3", ""}));
  EXPECT_EQ(csv->column("b"), 1U);
  EXPECT_EQ(csv->column("c"), 2U);
}

TEST(Csv, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_of(""), "there is nothing in it: expected a line with the columns' names");
  EXPECT_EQ(error_of("a,a\n"), "line 1: the column `a` is there twice");
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "line 3: expected 2 cells as in the header, got 1");
  EXPECT_EQ(error_of("a,b\n1,\"2\n"), "the quote that line 2 opens is never closed");
  EXPECT_EQ(error_of("a,b\n\"1\n\",2\n3\n"), "line 4: expected 2 cells as in the header, got 1");
}

TEST(Csv, KeepsEveryTextAsItWasWritten) {
  const auto csv = parse_csv("\xef\xbb\xbf a , b\r\n\"\"\r\n'=1+1,\" \xff\"\r\nnan,-inf");
  ASSERT_TRUE(csv) << describe(csv.error());
  EXPECT_EQ(csv->header, (std::vector<std::string>{" a ", " b"}));
  EXPECT_EQ(csv->rows, (std::vector<std::vector<std::string>>{{"=1+1", " \xff"}, {"nan", "-inf"}}));
}

TEST(Csv, ReadsGzipAsIfItWereNot) {
  const TemporaryFiles directory;
  const auto plain = read_csv(directory.write("t.csv", "a\n1\n"));
  const auto packed = read_csv(directory.write_gzip("t.csv.gz", "a\n1\n"));
  ASSERT_TRUE(plain && packed);
  EXPECT_EQ(plain->rows, packed->rows);
}

TEST(Csv, TellsOfFilesThatAreNotThereOrCutOff) {
  const TemporaryFiles directory;
  const auto missing = read_csv("/nowhere/at/all.csv");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  std::string packed = *tuneband::read_text(directory.write("whole", "x"));
  const std::string path = directory.write_gzip("t.gz", std::string(100'000, 'a') + "b\n1,2\n");
  const std::string bytes = read_text(path);
  const auto cut = read_csv(directory.write("cut.gz", bytes.substr(0, bytes.size() - 12)));
  EXPECT_FALSE(cut);
}

TEST(CurveTable, TakesCurvesCostsAndHyperparametersFromTheColumns) {
  const auto table = table_of(
      "config,rate,layers,kind,time_4,acc_1,acc_2,acc_4\n"
      "0,0.001,1,a,8,10,20,40\n"
      "1,0.1,3,b,4,11,,\n"
      "2,1e-2,2,a,,nan,,\n");
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->metric, "acc");
  EXPECT_EQ(table->max_resource, 4);
  EXPECT_EQ(table->parameters, (std::vector<std::string>{"rate", "layers", "kind"}));
  ASSERT_EQ(table->curves.size(), 3U);
  const Curve& first = table->curves[0];
  EXPECT_EQ(first.configuration, (Configuration{{"rate", 0.001}, {"layers", std::int64_t{1}}, {"kind", std::string("a")}}));
  EXPECT_EQ(first.seconds_per_unit, 2);
  EXPECT_EQ(first.at(2), 20);
  EXPECT_EQ(first.at(3), 20);
  EXPECT_EQ(first.at(0), std::nullopt);
  EXPECT_FALSE(first.measured_at(3));
  EXPECT_TRUE(first.measured_at(4));
  EXPECT_EQ(table->curves[1].at(4), 11);
  EXPECT_EQ(table->curves[1].measured_until(), 1);
  EXPECT_TRUE(std::isnan(table->curves[2].at(1).value()));
  EXPECT_EQ(table->curves[2].seconds_per_unit, 1);
  EXPECT_EQ(table->measured_at(4), 1);
}

TEST(CurveTable, JoinsConfigurationsOfAFileBesideIt) {
  const TemporaryFiles directory;
  directory.write("configs.csv", "config,rate\n7,0.5\n8,0.25\n");
  const auto table = load_curve_table(directory.write_gzip("task.csv.gz", "config,acc_1\n8,1\n7,2\n"), {});
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->name, "task");
  EXPECT_EQ(table->curves[0].configuration, (Configuration{{"rate", 0.25}}));
  const auto unknown = load_curve_table(directory.write("other.csv", "config,acc_1\n9,1\n"), {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "has no line with the config `9`");
}

TEST(CurveTable, RefusesTwoConfigurationsOfOneName) {
  const TemporaryFiles directory;
  const std::string curves = directory.write("task.csv", "config,acc_1\n7,1\n");
  directory.write("configs.csv", "config,rate\n7,0.5\n7,0.25\n");
  const auto table = load_curve_table(curves, {});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message, "has two lines with the config `7`");
  directory.write("configs.csv", "config,rate\n7,0.5\n7,0.5\n");
  EXPECT_TRUE(load_curve_table(curves, {}));
}

TEST(CurveTable, TakesTheCostOfTheLongestTrainingThatALineHas) {
  const auto table = table_of("x,time_9,time_1,time_3,acc_1\n0,18,4,9,1\n1,,4,9,1\n2,,,,1\n");
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->curves[0].seconds_per_unit, 2);
  EXPECT_EQ(table->curves[1].seconds_per_unit, 3);
  EXPECT_EQ(table->curves[2].seconds_per_unit, 1);
}

TEST(CurveTable, LeavesOutLinesWithoutAValueUnlessTheyFailed) {
  const auto table = table_of("x,state,acc_1\n1,stopped,\n2,failed,\n3,completed,5\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->left_out, 1);
  ASSERT_EQ(table->curves.size(), 2U);
  EXPECT_TRUE(table->curves[0].failed);
  EXPECT_TRUE(table->curves[0].points.empty());
}

TEST(CurveTable, NamesTheLineOfTheFileInWhichACellIsNoNumber) {
  const auto table = table_of("x,a_1\n\"1\n\",1\n\n2,two\n");
  ASSERT_FALSE(table);
  EXPECT_TRUE(table.error().path.ends_with("curves.csv, line 5, column a_1")) << table.error().path;
}

TEST(CurveTable, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(fault_of("x,y\n1,2\n"), "has no curve: no column is of the form <metric>_<resource>");
  EXPECT_EQ(fault_of("x,a_1,b_1\n1,2,3\n"), "has several metrics: say which");
  EXPECT_EQ(fault_of("x,a_1\n1,2\n", "b"), "has no curve of `b`");
  EXPECT_EQ(fault_of("x,a_1\n1,two\n"), "expected a number, got `two`");
  EXPECT_EQ(fault_of("x,a_1\n1,\n"), "has no line with a value of `a`");
  EXPECT_EQ(fault_of("a_1\n1\n"), "has no hyperparameters");
}

TEST(CurveTable, SpansASpaceWithLogarithmicScalesWhereValuesLieSo) {
  const auto table = table_of(
      "rate,dropout,layers,kind,same,a_1\n"
      "0.0001,0.001,1,a,5,0\n0.001,0.3,2,b,5,0\n0.01,0.5,3,a,5,0\n0.1,0.7,4,a,5,0\n1,0.9,5,b,5,0\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(space_of(*table), Json::parse(R"({"rate": {"type": "float", "scale": "log", "min": 0.0001, "max": 1.0},
                            "dropout": {"type": "float", "scale": "linear", "min": 0.001, "max": 0.9},
                            "layers": {"type": "int", "scale": "linear", "min": 1, "max": 5},
                            "kind": {"type": "categorical", "values": ["a", "b"]}, "same": 5})"));
  Diagnostics diagnostics;
  SearchSpace::parse(space_of(*table), "", diagnostics);
  EXPECT_TRUE(diagnostics.ok());
}

// As an export writes them: what a cell is the text of is for the search space to say.
TEST(CurveTable, TakesTheValuesOfTheSearchSpaceThatItsCellsAreTheTextsOf) {
  const TemporaryFiles directory;
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(Json::parse(R"({
    "flag": {"type": "categorical", "values": [true, false]}, "text": {"type": "categorical", "values": ["1", "2"]},
    "mixed": {"type": "categorical", "values": [1, 0.5, "auto", true]}, "rate": {"type": "categorical", "values": [0.1, 1]},
    "on": true, "number": "7", "x_1": {"type": "float", "min": 0, "max": 1}, "time_2": {"type": "int", "min": 1, "max": 9}})"),
                                               "", diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  const std::string path =
      directory.write("curves.csv",
                      "flag,text,mixed,rate,on,number,x_1,time_2,acc_1\n"
                      "true,1,1,0.10,true,7,0.5,3,1\nfalse,2,auto,1.0,true,7,1,4,2\ntrue,2,true,1,true,7,0,5,3\n");
  auto table = load_curve_table(path, {"", "", "", space});
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(keep_within(*table, space), 0);
  EXPECT_EQ(table->metric, "acc");
  EXPECT_EQ(table->curves[0].configuration, (Configuration{{"flag", true},
                                                           {"text", std::string("1")},
                                                           {"mixed", std::int64_t{1}},
                                                           {"rate", 0.1},
                                                           {"on", true},
                                                           {"number", std::string("7")},
                                                           {"x_1", 0.5},
                                                           {"time_2", std::int64_t{3}}}));
  EXPECT_EQ(table->curves[1].configuration.at("mixed"), Value(std::string("auto")));
  EXPECT_EQ(table->curves[1].configuration.at("rate"), Value(std::int64_t{1}));
  EXPECT_EQ(table->curves[2].configuration.at("mixed"), Value(true));
}

TEST(CurveTable, TakesAnEmptyCellForTheEmptyTextWhereThatMayBe) {
  const TemporaryFiles directory;
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(Json::parse(R"({
    "flag": {"type": "categorical", "values": ["", "--fast"]},
    "how": {"type": "categorical", "values": ["", "most"], "when": {"flag": ""}},
    "none": {"type": "categorical", "values": ["", "1"]}, "on": 7,
    "rate": {"type": "int", "min": 1, "max": 9, "when": {"flag": ""}}})"),
                                               "", diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  const std::string path =
      directory.write("curves.csv", "flag,how,none,on,rate,acc_1\n,,,,3,1\n--fast,,1,,,2\n,most,,,4,3\n,most,,,,4\n");
  auto table = load_curve_table(path, {"", "", "", space});
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(keep_within(*table, space), 1) << "an active number has a value";
  ASSERT_EQ(table->curves.size(), 3U);
  const std::string empty;
  EXPECT_EQ(
      table->curves[0].configuration,
      (Configuration{{"flag", empty}, {"how", empty}, {"none", empty}, {"on", std::int64_t{7}}, {"rate", std::int64_t{3}}}));
  EXPECT_EQ(table->curves[1].configuration,
            (Configuration{{"flag", std::string("--fast")}, {"none", std::string("1")}, {"on", std::int64_t{7}}}));
  EXPECT_EQ(table->curves[2].configuration.at("how"), Value(std::string("most")));
  auto without_a_column = load_curve_table(directory.write("few.csv", "flag,acc_1\n--fast,1\n"), {"", "", "", space});
  ASSERT_TRUE(without_a_column) << describe(without_a_column.error());
  EXPECT_EQ(keep_within(*without_a_column, space), 1);
}

TEST(CurveTable, TakesWholeNumbersOfTheSearchSpaceHoweverTheyAreWritten) {
  const TemporaryFiles directory;
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(
      Json::parse(
          R"({"depth": {"type": "int", "min": 1, "max": 9}, "seed": {"type": "int", "min": 0, "max": 9007199254740991}})"),
      "", diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  const std::string path = directory.write("curves.csv", "depth,seed,acc_1\n3.0,9007199254740991,1\n4,1e3,2\n2.5,7,3\n");
  auto table = load_curve_table(path, {"", "", "", space});
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->curves[0].configuration,
            (Configuration{{"depth", std::int64_t{3}}, {"seed", std::int64_t{9007199254740991}}}));
  EXPECT_EQ(table->curves[1].configuration.at("seed"), Value(std::int64_t{1000}));
  EXPECT_EQ(keep_within(*table, space), 1) << "2.5 is no whole number";
}

TEST(CurveTable, TakesNamesThatMeanSomethingElseInATableWhenTheySayWhatTheyAre) {
  for (const char* name : {"config", "state", "seconds_per_unit", "cpu_s_R", "time_3", "x_1"}) {
    EXPECT_EQ(parameter_column(name), std::string("parameter:") + name);
  }
  EXPECT_EQ(parameter_column("eta"), "eta");
  EXPECT_EQ(metric_column("acc", 9), "acc_9");
  EXPECT_EQ(metric_column("time", 1'000'000'000), "metric:time_1000000000");
  EXPECT_EQ(metric_column("parameter:x", 9), "metric:parameter:x_9");

  const auto table = table_of(
      "config,state,seconds_per_unit,parameter:config,parameter:state,parameter:seconds_per_unit,parameter:time_2,x,"
      "metric:time_1,metric:time_2\n"
      "0,completed,3,2,on,0.5,7,1,0.1,0.2\n1,failed,3,4,failed,0.25,8,1,0.3,\n");
  ASSERT_TRUE(table) << describe(table.error());
  EXPECT_EQ(table->metric, "time");
  EXPECT_EQ(table->parameters, (std::vector<std::string>{"config", "state", "seconds_per_unit", "time_2", "x"}));
  EXPECT_EQ(table->curves[0].configuration.at("state"), Value(std::string("on")));
  EXPECT_EQ(table->curves[0].configuration.at("config"), Value(std::int64_t{2}));
  EXPECT_EQ(table->curves[0].seconds_per_unit, 3);
  EXPECT_EQ(table->curves[0].at(2), 0.2);
  EXPECT_FALSE(table->curves[0].failed);
  EXPECT_TRUE(table->curves[1].failed);
}

TEST(CurveTable, TakesTheNamesOfTheJobForWhatTheyAreInTheJob) {
  const auto times = table_of("x,seconds_1,time_1,time_2\n1,4,8,9\n2,4,6,7\n", "time");
  ASSERT_TRUE(times) << describe(times.error());
  EXPECT_EQ(times->curves[0].at(2), 9);
  EXPECT_EQ(times->curves[0].seconds_per_unit, 4);
  const auto before = table_of("x,m_1,m_2,time_0\n1,4,8,900\n", "m");
  ASSERT_TRUE(before) << describe(before.error());
  EXPECT_EQ(before->curves[0].seconds_per_unit, 1) << "the time before anything was trained is no cost";

  const TemporaryFiles directory;
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(
      Json::parse(
          R"({"state": {"type": "categorical", "values": ["on", "failed"]}, "a_1": {"type": "int", "min": 1, "max": 9}})"),
      "", diagnostics);
  const auto own = load_curve_table(directory.write("own.csv", "state,b_1\nfailed,1\non,2\n"), {"", "", "", space});
  ASSERT_TRUE(own) << describe(own.error());
  EXPECT_FALSE(own->curves[0].failed);
  EXPECT_EQ(own->curves[0].configuration.at("state"), Value(std::string("failed")));
  // What says that it is the parameter leaves the plain name to the table's own meaning.
  const auto both =
      load_curve_table(directory.write("both.csv", "state,parameter:state,a_1,parameter:a_1\nfailed,on,5,1\ncompleted,on,6,2\n"),
                       {"", "", "", space});
  ASSERT_TRUE(both) << describe(both.error());
  EXPECT_EQ(both->metric, "a");
  EXPECT_TRUE(both->curves[0].failed);
  EXPECT_EQ(both->parameters, (std::vector<std::string>{"state", "a_1"}));
  EXPECT_EQ(both->curves[1].configuration, (Configuration{{"state", std::string("on")}, {"a_1", std::int64_t{2}}}));
}

TEST(CurveTable, KeepsOnlyWhatLiesInASpace) {
  auto table = table_of("x,a_1\n1,0\n5,0\n11,0\n");
  ASSERT_TRUE(table);
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(Json::parse(R"({"x": {"type": "float", "min": 0, "max": 10}})"), "", diagnostics);
  EXPECT_EQ(keep_within(*table, space), 1);
  ASSERT_EQ(table->curves.size(), 2U);
  EXPECT_EQ(table->curves[0].configuration.at("x"), Value(1.0));  // as its domain is
}

TEST(CurveTable, HasTheBestUntilThereOfTrialsThatKeepIt) {
  CurveTable table;
  table.curves.resize(1);
  table.curves[0].points = {{1, std::nan("")}, {2, 3}, {3, 5}, {4, 2}, {5, std::nan("")}, {6, 4}};
  CurveTable maximized = table;
  keep_best_so_far(table, Goal::minimize);
  keep_best_so_far(maximized, Goal::maximize);
  const auto values = [](const CurveTable& of) {
    std::vector<double> all;
    for (const auto& [resource, value] : of.curves[0].points) all.push_back(value);
    EXPECT_TRUE(std::isnan(all.front()));
    all.erase(all.begin());
    return all;
  };
  EXPECT_EQ(values(table), (std::vector<double>{3, 3, 2, 2, 2}));
  EXPECT_EQ(values(maximized), (std::vector<double>{3, 5, 5, 5, 5}));
}

TEST(RegretOfCurves, IsZeroForTheBestOneForTheMedianAndAtMostOne) {
  const auto table = table_of("x,a_1,a_2\n1,0,10\n2,0,4\n3,0,6\n4,0,nan\n5,9,0\n");
  ASSERT_TRUE(table);
  const Regret maximised(*table, Goal::maximize, 2);  // 10 6 4 0 nan: the median is 4
  EXPECT_EQ(maximised.best(), 10);
  EXPECT_EQ(maximised.median(), 4);
  EXPECT_EQ(maximised.of(0), 0);
  EXPECT_NEAR(maximised.of(2), 4.0 / 6, 1e-12);
  EXPECT_EQ(maximised.of(1), 1);
  EXPECT_EQ(maximised.of(3), 1);
  EXPECT_EQ(maximised.of(4), 1);
  const Regret minimised(*table, Goal::minimize, 2);  // 0 4 6 10 nan
  EXPECT_EQ(minimised.best(), 0);
  EXPECT_NEAR(minimised.of(1), 4.0 / 6, 1e-12);
  EXPECT_EQ(Regret(*table, Goal::maximize, 1).best(), 9);
}

TEST(RegretOfCurves, OfAValueFoundAtALowerRungIsByTheFinalOnesAndNotBelowZero) {
  const auto table = table_of("x,a_1,a_2\n1,0,10\n2,0,4\n3,12,6\n4,0,nan\n5,9,0\n");
  ASSERT_TRUE(table);
  const Regret maximised(*table, Goal::maximize, 2);  // 10 6 4 0 nan
  EXPECT_NEAR(maximised.of_value(9), 1.0 / 6, 1e-12);
  EXPECT_EQ(maximised.of_value(12), 0);
  EXPECT_EQ(maximised.of_value(3), 1);
  EXPECT_EQ(maximised.of_value(std::numeric_limits<double>::quiet_NaN()), 1);
  const Regret minimised(*table, Goal::minimize, 2);  // 0 4 6 10 nan
  EXPECT_NEAR(minimised.of_value(3), 3.0 / 6, 1e-12);
  EXPECT_EQ(minimised.of_value(-1), 0);
}

}  // namespace tuneband::test
