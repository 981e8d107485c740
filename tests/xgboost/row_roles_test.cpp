// Columns that say something of a row and are no features: its weight, and the group that it stays together with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/text.hpp"
#include "tests/xgboost/fixtures.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/data/data_check.hpp"
#include "workers/data/data_folds.hpp"
#include "workers/data/data_queries.hpp"
#include "workers/data/data_shards.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {
namespace {

using test::TrialUnderTest;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class RowRoles : public testing::Test {
 protected:
  DataSpec csv(const std::string& text, const std::string& weight, const std::string& group) {
    DataSpec spec;
    spec.train = {dir_.write("train.csv", text)};
    spec.validation = spec.train.front();
    spec.label = "y";
    spec.weight = weight;
    spec.group = group;
    return spec;
  }
  static std::string fault(const DataSpec& spec) {
    const auto tables = load_tables(spec);
    return tables ? "" : describe(tables.error());
  }
  static std::unique_ptr<TrialRunner> worker() { return make_xgboost_runner({}); }

  // Row `i` has the feature `i`, so that rows can be told apart; its group has `rows_of_group` neighbours, which are not
  // together.
  static std::string grouped_csv(int rows, int groups) {
    std::string text = "x,who,y\n";
    for (int i = 0; i < rows; ++i)
      text += std::to_string(i) + ",g" + std::to_string(i % groups) + "," + std::to_string(i / groups % 2) + "\n";
    return text;
  }
  static std::set<std::uint64_t> groups_of(const Table& table) { return {table.groups.begin(), table.groups.end()}; }

  test::TemporaryDir dir_;
};

TEST_F(RowRoles, TheWeightIsNoFeatureAndEachRowHasItsOwn) {
  const auto tables = load_tables(csv("a,w,y\n1,0.5,0\n2,0,1\n3,7,1\n", "w", ""));
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->train.weights, ElementsAre(0.5, 0, 7));
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("a"));
  const auto matrix = XgboostMatrix::create(tables->train);
  EXPECT_THAT(matrix->weights(), ElementsAre(0.5, 0, 7));
  EXPECT_THAT(matrix->slice({2, 0})->weights(), ElementsAre(7, 0.5));
  DataSpec by_number = csv("1;5;0\n0;6;1\n", "1", "");
  by_number.header = false;
  by_number.delimiter = ';';
  by_number.label = "2";
  EXPECT_THAT(load_tables(by_number)->train.weights, ElementsAre(5, 6));
}

TEST_F(RowRoles, AWeightIsANumberOfAtLeastZero) {
  EXPECT_THAT(fault(csv("a,w,y\n1,1,0\n2,,1\n", "w", "")),
              HasSubstr("line 3, column `w`: expected a number, got a text of length 0 (give the row a weight, or remove it)"));
  EXPECT_THAT(fault(csv("a,w,y\n1,1,0\n2,-1,1\n", "w", "")), HasSubstr("line 3, column `w`: expected a weight of at least 0"));
  EXPECT_THAT(fault(csv("a,w,y\n1,1,0\n2,inf,1\n", "w", "")),
              EndsWith("line 3, column `w`: expected a finite number, got a text of length 3"));
  EXPECT_THAT(
      fault(csv("a,w,y\n1,1,0\n2,nan,1\n", "w", "")),
      EndsWith("line 3, column `w`: expected a finite number, got a text of length 3 (give the row a weight, or remove it)"));
  EXPECT_THAT(fault(csv("a,w,y\n1,0,0\n2,0,1\n", "w", "")),
              HasSubstr("trainer.data.weight: every row of the training data has the weight 0"));
}

TEST_F(RowRoles, AColumnHasOneRole) {
  const std::string text = "a,w,g,y\n1,1,u,0\n2,1,v,1\n";
  EXPECT_THAT(fault(csv(text, "y", "")), HasSubstr("trainer.data.weight: names the column `y`, which is the label"));
  EXPECT_THAT(fault(csv(text, "w", "w")), HasSubstr("trainer.data.group: names the column `w`, which is the weight"));
  EXPECT_THAT(fault(csv(text, "wt", "g")), HasSubstr("trainer.data.weight: the file has no column `wt`"));
  DataSpec spec = csv(text, "w", "g");
  spec.drop = {"g"};
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.drop[0]: names the column `g`, which is the group"));
  spec.drop = {};
  spec.categorical = {"w"};
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.categorical[0]: names the column `w`, which is the weight"));
  spec.categorical = {"y"};
  spec.drop = {"y"};
  EXPECT_THAT(fault(spec), HasSubstr("trainer.data.drop[0]: names the column `y`, which is the label"));
}

// In a training and in what is measured, with folds and without.
TEST_F(RowRoles, AWeightOfThreeIsAsTheRowThreeTimes) {
  std::string weighted = "a,b,w,y\n";
  std::string repeated = "a,b,y\n";
  for (std::uint64_t row = 0; row < 300; ++row) {
    const auto draw = [row](std::uint64_t which, double below) {
      return std::to_string(static_cast<int>(below * random_unit(5, {row, which})));
    };
    const std::string features = draw(0, 9) + "," + draw(1, 7) + ",";
    const std::string label = random_unit(5, {row, 2}) < 0.3 + 0.05 * (features[0] - '0') ? "1\n" : "0\n";
    const int times = static_cast<int>(row % 4);
    weighted += features + std::to_string(times) + "," + label;
    for (int i = 0; i < times; ++i) repeated += features + label;
  }
  const auto trial_of = [&](const std::string& text, const Json& more) {
    const std::string file = dir_.write("data" + std::to_string(text.size()) + ".csv", text);
    Json data{{"train", file}, {"label", "y"}, {"validation", file}, {"test", file}};
    data.update(more);
    return TrialUnderTest({{"type", "xgboost"},
                           {"data", data},
                           {"parameters", {{"objective", "binary:logistic"}}},
                           {"eval_metric", {"logloss", "auc"}}},
                          {{"eta", 0.5}, {"min_child_weight", 2}});
  };
  TrialUnderTest with_weights = trial_of(weighted, {{"weight", "w"}});
  TrialUnderTest with_rows = trial_of(repeated, Json::object());
  TrialUnderTest plain = trial_of(weighted, {{"drop", {"w"}}});
  const auto first = with_weights.run(*worker(), 0, 10);
  const auto second = with_rows.run(*worker(), 0, 10);
  const auto third = plain.run(*worker(), 0, 10);
  ASSERT_EQ(first.result.exit, kExitCompleted) << first.result.message;
  for (std::int64_t round = 1; round <= 10; ++round) {
    for (const std::size_t metric : {0U, 1U}) {
      const double value = first.reporter.observations.at(round).at(metric).second;
      EXPECT_NEAR(value, second.reporter.observations.at(round).at(metric).second, 1e-5) << round;
      EXPECT_GT(std::abs(value - third.reporter.observations.at(round).at(metric).second), 1e-3) << round;
    }
  }
  EXPECT_NEAR(*first.result.test_value, *second.result.test_value, 1e-5);
}

TEST_F(RowRoles, RowsOfAGroupStayTogetherInASplit) {
  DataSpec spec = csv(grouped_csv(2000, 100), "", "who");
  spec.validation = SplitSpec{0.3, 5};
  spec.test = SplitSpec{0.2, 5};
  const auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  EXPECT_THAT(tables->encoding.feature_names(), ElementsAre("x"));
  std::size_t groups = 0;
  for (const Table* part : tables->parts()) groups += groups_of(*part).size();
  EXPECT_EQ(groups, 100U) << "no group is in two parts";
  EXPECT_EQ(tables->rows(), 2000U);
  EXPECT_NEAR(static_cast<double>(groups_of(tables->validation).size()), 30, 14);
  EXPECT_NEAR(static_cast<double>(groups_of(tables->test).size()), 20, 12);
  spec.validation = SplitSpec{0.3, 6};
  EXPECT_NE(groups_of(load_tables(spec)->validation), groups_of(tables->validation));
  EXPECT_THAT(
      fault(csv("x,who,y\n1,a,0\n2,,1\n", "", "who")),
      HasSubstr("line 3, column `who`: expected a group, got a text of length 0 (name the row's group, or remove the row)"));
}

TEST_F(RowRoles, FoldsHoldGroupsOutWholeAndAsManyRowsEach) {
  Table table;
  table.columns = 1;
  for (std::uint64_t group = 0; group < 30; ++group) table.groups.insert(table.groups.end(), group + 1, group * 7919);
  table.labels.assign(table.groups.size(), 0);
  std::map<std::uint64_t, std::set<int>> folds_of_group;
  const auto folds = folds_of_rows(table, {5, 3}, true);
  ASSERT_TRUE(folds);
  std::vector<int> rows(5);
  for (std::size_t row = 0; row < folds->size(); ++row) {
    folds_of_group[table.groups[row]].insert((*folds)[row]);
    ++rows.at(static_cast<std::size_t>((*folds)[row]));
  }
  for (const auto& [group, in] : folds_of_group) EXPECT_EQ(in.size(), 1U) << group;
  EXPECT_THAT(rows, testing::Each(testing::AllOf(testing::Ge(88), testing::Le(98)))) << "of 465";
  EXPECT_NE(*folds_of_rows(table, {5, 4}, true), *folds);
  EXPECT_TRUE(folds_of_rows(table, {20, 0}, false));
  table.groups.assign(table.groups.size(), 1);
  EXPECT_THAT(describe(folds_of_rows(table, {2, 0}, false).error()), HasSubstr("the training data has 1 group: too few for 2"));
}

TEST_F(RowRoles, QueriesOfACsvFileAreTheRowsOfAGroupWhereverTheyStand) {
  LoadedTables tables;
  tables.train.columns = 1;
  tables.train.groups = {5, 9, 5, 9, 2, 5, 9};
  tables.train.labels = tables.train.values = {0, 1, 2, 3, 4, 5, 6};
  tables.train.weights = {0, 1, 2, 3, 4, 5, 6};
  tables.train.file_ends = {4, 7};
  make_queries(tables);
  EXPECT_THAT(tables.train.labels, ElementsAre(0, 2, 1, 3, 4, 5, 6)) << "files stay apart";
  EXPECT_THAT(tables.train.values, ElementsAre(0, 2, 1, 3, 4, 5, 6));
  EXPECT_THAT(tables.train.weights, ElementsAre(0, 2, 1, 3, 4, 5, 6));
  EXPECT_THAT(tables.train.query_sizes, ElementsAre(2, 2, 1, 1, 1));
  const Table shard = shard_of(tables, Sharding::rows, 1, 2);
  EXPECT_THAT(shard.labels, ElementsAre(1, 3, 5));
  EXPECT_THAT(shard.query_sizes, ElementsAre(2, 1));
  EXPECT_THAT(shard.weights, ElementsAre(1, 3, 5));
}

std::string csv_of_queries(bool interleaved) {
  std::string text = "a,b,query,y\n";
  for (int i = 0; i < 240; ++i) {
    const int row = interleaved ? i % 24 * 10 + i / 24 : i;
    text += format_number(1 + row % 3 + 0.1 * (row % 7)) + "," + std::to_string(1 + row % 5) + ",q" + std::to_string(row / 10) +
            "," + std::to_string(row % 3) + "\n";
  }
  return text;
}

std::string libsvm_of_queries() {
  std::string text;
  for (int row = 0; row < 240; ++row)
    text += std::to_string(row % 3) + " qid:" + std::to_string(row / 10) + " 0:" + format_number(1 + row % 3 + 0.1 * (row % 7)) +
            " 1:" + std::to_string(1 + row % 5) + "\n";
  return text;
}

TEST_F(RowRoles, ARankingOfACsvFileIsThatOfTheSameLibsvmFile) {
  const auto values_of = [&](const std::string& file, Json more) {
    more.update({{"train", file}, {"validation", file}});
    TrialUnderTest trial(
        {{"type", "xgboost"}, {"data", more}, {"parameters", {{"objective", "rank:ndcg"}}}, {"eval_metric", "ndcg@3"}},
        {{"eta", 0.1}, {"max_depth", 2}}, "validation-ndcg@3");
    const auto outcome = trial.run(*worker(), 0, 5);
    EXPECT_EQ(outcome.result.exit, kExitCompleted) << outcome.result.message;
    return outcome.reporter.observations;
  };
  const Json columns{{"label", "y"}, {"group", "query"}};
  const auto of_libsvm = values_of(dir_.write("queries.libsvm", libsvm_of_queries()), Json::object());
  EXPECT_GT(of_libsvm.at(5).at(0).second, 0.5);
  EXPECT_EQ(values_of(dir_.write("queries.csv", csv_of_queries(false)), columns), of_libsvm);
  EXPECT_EQ(values_of(dir_.write("interleaved.csv", csv_of_queries(true)), columns).at(1), of_libsvm.at(1));
}

TEST_F(RowRoles, ASplitTearsNoQuery) {
  DataSpec of_csv = csv(csv_of_queries(true), "", "query");
  DataSpec of_libsvm;
  of_libsvm.format = DataFormat::libsvm;
  of_libsvm.train = {dir_.write("train.libsvm", libsvm_of_queries())};
  for (DataSpec spec : {of_csv, of_libsvm}) {
    spec.validation = SplitSpec{0.3, 1};
    spec.test = SplitSpec{0.3, 2};
    auto tables = load_tables(spec);
    ASSERT_TRUE(tables) << describe(tables.error());
    make_queries(*tables);
    std::size_t queries = 0;
    for (const Table* part : tables->parts()) {
      EXPECT_THAT(part->query_sizes, testing::Each(10U));
      EXPECT_GT(part->query_sizes.size(), 2U);
      queries += part->query_sizes.size();
    }
    EXPECT_EQ(queries, 24U);
  }
}

TEST_F(RowRoles, AGroupInTwoTrainingFilesIsTwoQueriesInEveryPart) {
  DataSpec spec = csv(csv_of_queries(true), "", "query");
  spec.train.push_back(dir_.write("more.csv", csv_of_queries(false)));
  spec.validation = SplitSpec{0.3, 1};
  spec.test = SplitSpec{0.3, 2};
  auto tables = load_tables(spec);
  ASSERT_TRUE(tables) << describe(tables.error());
  make_queries(*tables);
  std::size_t queries = 0;
  for (const Table* part : tables->parts()) {
    EXPECT_THAT(part->query_sizes, testing::Each(10U));
    queries += part->query_sizes.size();
  }
  EXPECT_EQ(queries, 48U);
}

TEST_F(RowRoles, WarmDataServesARankingOrAnotherTaskNotBoth) {
  XgboostSpec spec;
  spec.data = csv(csv_of_queries(false), "", "query");
  DataCache cache;
  EXPECT_FALSE(cache.get(spec, XgboostTask::ranking)->warm);
  EXPECT_TRUE(cache.get(spec, XgboostTask::ranking)->warm);
  const auto other = cache.get(spec, XgboostTask::regression);
  EXPECT_FALSE(other->warm);
  EXPECT_FALSE(other->data->labels.train.queries);
  EXPECT_TRUE(cache.get(spec, XgboostTask::ranking)->warm);
  EXPECT_TRUE(cache.get(spec, XgboostTask::multiclass)->warm) << "differs from a regression in nothing without folds";
}

TEST_F(RowRoles, TheCheckOfARankingSeesTheQueriesOfACsvFile) {
  const auto faults_of = [&](const std::string& text) {
    XgboostSpec spec;
    spec.data = csv(text, "", "query");
    spec.data.validation = SplitSpec{};
    spec.parameters = {{"objective", "rank:ndcg"}};
    Diagnostics diagnostics;
    check_data(spec, Json::object(), this_machine(1), diagnostics);
    std::vector<std::string> faults;
    for (const Error& error : diagnostics.errors()) faults.push_back(describe(error));
    return faults;
  };
  EXPECT_THAT(faults_of(csv_of_queries(true)), IsEmpty());
  EXPECT_THAT(faults_of("a,query,y\n1,q,0\n2,q,1\n"), ElementsAre(HasSubstr("leaves none for")));
}

// Of each label as many as the fraction says, however many rows there are.
TEST(StratifiedSplit, HoldsOutTheFractionOfEachLabel) {
  for (const double fraction : {0.1, 0.2, 1.0 / 3, 0.5, 0.75, 0.9}) {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      RowSplit split({fraction, seed, true}, fraction, std::nullopt);
      std::map<float, int> rows;
      std::map<float, int> held_out;
      for (std::uint64_t row = 0; row < 3000; ++row) {
        const float label = row % 50 == 7 ? 1 : row % 3 == 0 ? 2 : 0;
        ++rows[label];
        if (split.holds_out({row, std::nullopt, label})) ++held_out[label];
        EXPECT_LE(std::abs(held_out[label] - fraction * rows[label]), 1.0 + 1e-9) << fraction << " " << row;
      }
    }
  }
}

TEST(StratifiedSplit, IsDrawnAtRandom) {
  const auto held_out = [](std::uint64_t seed, std::optional<std::uint64_t> purpose, float label) {
    RowSplit split({0.2, seed, true}, 0.2, purpose);
    std::vector<std::uint64_t> rows;
    for (std::uint64_t row = 0; row < 5000; ++row) {
      if (split.holds_out({row, std::nullopt, label})) rows.push_back(row);
    }
    return rows;
  };
  const auto rows = held_out(1, std::nullopt, 0);
  EXPECT_EQ(rows, held_out(1, std::nullopt, 0));
  EXPECT_EQ(rows, held_out(1, std::nullopt, -0.0F));
  EXPECT_NE(rows, held_out(2, std::nullopt, 0));
  EXPECT_NE(rows, held_out(1, 1, 0));
  EXPECT_NE(rows, held_out(1, std::nullopt, 1));
  std::vector<int> places(5);
  for (const std::uint64_t row : rows) ++places[row % 5];
  EXPECT_THAT(places, testing::Each(testing::AllOf(testing::Gt(150), testing::Lt(250)))) << "of 1000, each place of five alike";
}

TEST(StratifiedSplit, ARowThatIsAloneIsHeldOutAsOftenAsOthers) {
  int held_out = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RowSplit split({0.2, seed, true}, 0.2, std::nullopt);
    held_out += split.holds_out({0, std::nullopt, 3}) ? 1 : 0;
  }
  EXPECT_NEAR(held_out, 400, 60);
}

}  // namespace
}  // namespace tuneband::workers
