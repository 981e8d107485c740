// A whole job by columns: what is left out of a large one, what is not a number, what a configuration does not have.
#include <gmock/gmock.h>

#include <algorithm>

#include "analytics/columns.hpp"
#include "analytics/decision_choice.hpp"
#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

class JobViewsTest : public DbTest {
 protected:
  void SetUp() override { store_.emplace(Store::open(path())); }

  void write_job(std::vector<Write> rows, int trials, const std::string& goal = "maximize") {
    JobRow job = running_job(1, "a");
    job.spec_json = spec_text("a", goal);
    job.trials_created = job.trials_stopped = trials;
    rows.insert(rows.begin(), job);
    store_->commit(rows);
  }
  Json columns(const ColumnsQuery& query = {}) { return parsed(Reader::open(path()).columns(kJob, query)); }
  Json curves(const CurvesQuery& query = {}) { return parsed(Reader::open(path()).curves(kJob, query)); }
  Json decisions() { return parsed(Reader::open(path()).decision_columns(kJob)); }

  std::optional<Store> store_;
};

TEST_F(JobViewsTest, WhatIsNoFiniteNumberIsATextAndWhatIsNotThereIsNull) {
  TrialRow infinite = ended_trial(1, 1, TrialState::stopped, -kInfinity, 3);
  infinite.configuration = {{"booster", Value(std::string("gbtree"))}};
  write_job({ended_trial(1, 0, TrialState::stopped, kNan, 3), infinite, pending_trial(1, 2), observation(1, 0, 1, kNan),
             observation(1, 0, 2, 0.25), observation(1, 1, 1, std::nullopt)},
            3);
  const Json shown = columns();
  EXPECT_EQ(shown.at("objective"), Json::array({"nan", "-inf", nullptr}));
  EXPECT_EQ(shown.at("parameters").at("eta").at(1), nullptr);
  EXPECT_EQ(shown.at("parameters").at("booster").at(1), "gbtree");
  EXPECT_EQ(shown.at("ended").at(2), nullptr);
  EXPECT_EQ(shown.at("worker").at(2), -1);
  const Json drawn = curves();
  EXPECT_EQ(drawn.at("trial"), Json::array({0})) << "the others have no value of the objective";
  EXPECT_EQ(drawn.at("value"), Json::array({"nan", 0.25}));
  EXPECT_EQ(drawn.at("begin"), Json::array({0, 2}));
}

TEST_F(JobViewsTest, FurtherObjectivesAreAColumnEachAndNotesAreByTheTrialsNumber) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["objectives"] = {spec["objective"], {{"metric", "ms"}, {"goal", "minimize"}}, {{"metric", "size"}, {"goal", "minimize"}}};
  spec.erase("objective");
  job.spec_json = spec.dump();
  TrialRow measured = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  measured.more_objectives = {4, 16};
  store_->commit(std::vector<Write>{job, measured, pending_trial(1, 1)});
  store_->put_note(kJob, 1, "odd", kNow);
  EXPECT_EQ(columns().at("more_objectives"), Json::parse("[[4, null], [16, null]]"));
  EXPECT_EQ(columns().at("notes"), Json::parse(R"({"1": "odd"})"));
}

TEST_F(JobViewsTest, AColumnForEachNumberOfATrialsRow) {
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  trial.created_at = kStart.plus_ms(50);
  trial.bracket = 2;
  trial.rung = 1;
  trial.until_resource = 9;
  trial.kept_value = 0.25;
  trial.kept_resource = 1;
  trial.attempts_in_all = 4;
  trial.origin = "enqueued";
  write_job({trial}, 1);
  const Json shown = columns();
  const Json expected = Json::parse(
      R"({"number": 0, "bracket": 2, "rung": 1, "resource": 3, "until_resource": 9, "objective": 0.5, "objective_resource": 3,
          "kept_value": 0.25, "kept_resource": 1, "created": 0.05, "started": 0.1, "arrived": null, "ended": 1,
          "training_seconds": 0.3, "attempts": 3, "segments": 4, "worker": 0, "exit_class": -1, "enqueued": 0})");
  for (const auto& [name, cell] : expected.items()) EXPECT_EQ(shown.at(name), Json::array({cell})) << name;
  EXPECT_EQ(shown.at("states").at(shown.at("state").at(0).get<std::size_t>()), "stopped");
}

TEST_F(JobViewsTest, ATrialThatWaitsForItsNextRungHasHadOneAttempt) {
  TrialRow promoted = pending_trial(1, 0);
  promoted.rung = 2;
  promoted.attempts_in_all = 2;
  write_job({promoted, pending_trial(1, 1)}, 2);
  EXPECT_EQ(columns().at("attempts"), Json::array({1, 0}));
}

TEST_F(JobViewsTest, ReplicasAreAColumnWhereATrialHasMoreThanOne) {
  TrialRow replicated = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  write_job({replicated, pending_trial(1, 1)}, 2);
  EXPECT_FALSE(columns().contains("replicas"));
  replicated.peers = {WorkerId{"w1"}};
  write_job({replicated}, 2);
  EXPECT_EQ(columns().at("replicas"), Json::array({2, 1}));
}

TEST_F(JobViewsTest, ViolationsAreAColumnOfTrialsAndOfDecisionsWhereTheJobHasConstraints) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["objective"]["constraints"] = Json::array({{{"metric", "ms"}, {"max", 5}}});
  job.spec_json = spec.dump();
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  trial.violation = 0.25;
  DecisionRow judged = decision(1, 0, 1, 0.5, Verdict::stopped, 0);
  judged.violation = 0.75;
  store_->commit(std::vector<Write>{job, trial, judged});
  EXPECT_EQ(columns().at("violation"), Json::array({0.25}));
  EXPECT_EQ(decisions().at("violation"), Json::array({0.75}));
}

TEST_F(JobViewsTest, AColumnForEachNumberOfADecision) {
  DecisionRow judged = decision(1, 0, 1, 0.5, Verdict::promoted, 0);
  judged.bracket = 2;
  judged.rank = 4;
  judged.filled = 5;
  judged.slots = 6;
  judged.keep = 7;
  judged.cutoff = 0.125;
  DecisionRow diverged = decision(1, 1, 1, kNan, Verdict::stopped, 1);
  diverged.cutoff = kNan;
  write_job({ended_trial(1, 0, TrialState::stopped, 0.5, 3), ended_trial(1, 1, TrialState::stopped, kNan, 3), judged, diverged},
            2);
  const Json shown = decisions();
  const Json expected = Json::parse(R"({"trial": 0, "bracket": 2, "rung": 1, "resource": 3, "value": 0.5, "rank": 4, "filled": 5,
                                        "slots": 6, "keep": 7, "cutoff": 0.125, "at": 0.5})");
  for (const auto& [name, cell] : expected.items()) EXPECT_EQ(shown.at(name).at(0), cell) << name;
  EXPECT_EQ(shown.at("value").at(1), "nan");
  EXPECT_EQ(shown.at("cutoff").at(1), "nan");
  EXPECT_EQ(shown.at("verdicts").at(shown.at("verdict").at(0).get<std::size_t>()), "promoted");
  EXPECT_FALSE(shown.contains("violation"));
}

TEST_F(JobViewsTest, AConfigurationMayLackAParameterOrBeLaidOutOtherwise) {
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  trial.configuration = {{"booster", Value(std::string("gbtree"))}};
  write_job({trial, ended_trial(1, 1, TrialState::stopped, 0.5, 3)}, 2);
  Connection::open_to_write(path()).execute(
      R"(UPDATE trials SET configuration = '{ "booster" : "dart", "eta" : 0.5 }' WHERE number = 1)");
  EXPECT_EQ(columns().at("parameters"), Json::parse(R"({"booster": ["gbtree", "dart"], "eta": [null, 0.5]})"));
}

TEST_F(JobViewsTest, ACurveKeepsItsEndsItsLowestAndItsHighestPoint) {
  std::vector<Write> rows = {ended_trial(1, 0, TrialState::stopped, 0.5, 100)};
  for (int resource = 1; resource <= 100; ++resource)
    rows.push_back(observation(1, 0, resource, resource == 40 ? 9.0 : resource == 60 ? -9.0 : 0.5));
  write_job(std::move(rows), 1);
  CurvesQuery query;
  query.points = 4;
  EXPECT_EQ(curves(query).at("resource"), Json::array({1, 40, 60, 100}));
}

TEST_F(JobViewsTest, OfManyTrialsTheBestAreDrawnAndTheOthersEvenly) {
  constexpr int kMany = 3000;
  std::vector<Write> rows;
  for (int number = 0; number < kMany; ++number) {
    rows.push_back(ended_trial(1, number, TrialState::stopped, -number * 1.0, 3));
    rows.push_back(observation(1, number, 3, -number * 1.0));
  }
  write_job(std::move(rows), kMany, "minimize");
  const Json shown = curves();
  EXPECT_EQ(shown.at("trial").size(), static_cast<std::size_t>(kCurvesMax));
  EXPECT_EQ(shown.at("left_out"), kMany - kCurvesMax);
  const auto trials = shown.at("trial").get<std::vector<int>>();
  const auto below = [&](int number) { return std::lower_bound(trials.begin(), trials.end(), number) - trials.begin(); };
  constexpr int kBest = kCurvesMax / 4;
  EXPECT_EQ(kCurvesMax - below(kMany - kBest), kBest) << "all of the best";
  EXPECT_NEAR(static_cast<double>(below((kMany - kBest) / 2)), (kCurvesMax - kBest) / 2.0, 1.0);
  CurvesQuery few;
  few.trials_max = 8;
  EXPECT_EQ(curves(few).at("trial"), Json::array({0, 499, 999, 1499, 1998, 2498, 2998, 2999}));
  EXPECT_EQ(curves(few).at("left_out"), kMany - 8);
  CurvesQuery named;
  named.trials = {5, 2};
  EXPECT_EQ(curves(named).at("trial"), Json({5, 2}));
  EXPECT_EQ(curves(named).at("left_out"), 0);
}

TEST_F(JobViewsTest, OfManyTrialsThoseThatRaisedTheBestSoFarAreShownWithWhatTheJobHadSpent) {
  std::vector<Write> rows;
  for (int number = 0; number < 40; ++number) {
    const double value = number == 20 ? 0.5 : number == 30 ? 0.9 : number >= 36 ? 1.0 + number : 0.1;
    TrialRow trial = ended_trial(1, number, TrialState::stopped, value, number == 30 ? 9 : 3);
    trial.started_at = kStart;
    trial.ended_at = Timestamp{kStart.ms + 1000 * (40 - number)};  // the last one first
    trial.training_ms = 500;
    if (number == 39) trial.violation = 0.1;
    rows.push_back(trial);
    DecisionRow result = decision(1, number, number == 30 ? 2 : 1, value, Verdict::stopped, number);
    result.at = *trial.ended_at;
    result.violation = trial.violation;
    rows.push_back(result);
  }
  TrialRow under_way = pending_trial(1, 40);
  rows.push_back(under_way);
  write_job(std::move(rows), 41);
  ColumnsQuery query;
  query.trials_max = 12;
  const Json shown = columns(query);
  const auto trials = shown.at("number").get<std::vector<int>>();
  EXPECT_EQ(trials.size(), 12u);
  EXPECT_EQ(shown.at("left_out"), 41 - 12);
  // 39 violates a constraint, so that it is none of the best; 38 is the first that counts; 30 is the first at the highest
  // resource.
  EXPECT_THAT(trials, ::testing::IsSupersetOf({30, 36, 37, 38}));
  EXPECT_THAT(trials, ::testing::Not(::testing::Contains(39)));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const int before = 40 - trials[i];
    if (trials[i] == 40) continue;
    EXPECT_EQ(shown.at("resource_so_far").at(i), 3 * before + (trials[i] <= 30 ? 6 : 0)) << trials[i];
    EXPECT_EQ(shown.at("worker_seconds_so_far").at(i), 0.5 * before);
  }
  EXPECT_EQ(shown.at("best_so_far"), Json::parse(R"({"seconds": [2, 10], "trial": [38, 30], "value": [39, 0.9],
      "resource": [3, 9], "resource_so_far": [6, 36], "worker_seconds_so_far": [1, 5]})"));
  query.trials_max = 41;
  EXPECT_EQ(columns(query).at("left_out"), 0);
  EXPECT_EQ(columns(query).at("resource_so_far").size(), 41u) << "of a choice of trials or of all";
}

TEST_F(JobViewsTest, ATrialThatWasChosenAndNotStartedHasNoCost) {
  write_job({ended_trial(1, 0, TrialState::stopped, 0.9, 3), pending_trial(1, 1), ended_trial(1, 2, TrialState::stopped, 0.1, 3)},
            3);
  ColumnsQuery query;
  query.trials_max = 2;
  EXPECT_EQ(columns(query).at("number"), Json({0, 1}));
  EXPECT_EQ(columns(query).at("resource_so_far"), Json({3, nullptr}));
  EXPECT_EQ(columns(query).at("worker_seconds_so_far"), Json({0.3, nullptr}));
}

TEST_F(JobViewsTest, ParametersHaveAsManyDigitsAsAreAskedFor) {
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 1.0 / 3, 3);
  trial.configuration = {
      {"eta", Value(2.0 / 3)}, {"max_depth", Value(std::int64_t{12345678})}, {"booster", Value(std::string("1.23456"))}};
  write_job({trial}, 1);
  ColumnsQuery query;
  query.digits = 3;
  const Json rounded = columns(query);
  EXPECT_EQ(rounded.at("parameters").at("eta"), Json::array({0.667}));
  EXPECT_EQ(rounded.at("parameters").at("booster"), Json::array({"1.23456"}));
  EXPECT_EQ(rounded.at("objective"), Json::array({1.0 / 3}));
  EXPECT_EQ(columns().at("parameters").at("eta"), Json::array({2.0 / 3}));
}

TEST_F(JobViewsTest, ACategoryIsANumberWithAllOfItsDigits) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["search_space"]["k"] = {{"type", "categorical"}, {"values", {0.12345678901, 0.22345678901}}};
  job.spec_json = spec.dump();
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 0.5, 3);
  trial.configuration["k"] = Value(0.12345678901);
  store_->commit(std::vector<Write>{job, trial});
  ColumnsQuery query;
  query.digits = 7;
  EXPECT_EQ(columns(query).at("parameters").at("k"), Json::array({0.12345678901}));
}

TEST_F(JobViewsTest, OfManyDecisionsTheBestTheWorstAndSomeBetweenOfEachRungStay) {
  constexpr int kMany = 30'000;
  std::vector<Write> rows;
  for (int number = 0; number < kMany; ++number) {
    rows.push_back(ended_trial(1, number, TrialState::stopped, number * 1.0, 3));
    rows.push_back(decision(1, number, number < 3 ? 1 : 0, number == 7 ? kNan : number * 1.0, Verdict::stopped, number));
  }
  write_job(std::move(rows), kMany);
  const Json shown = decisions();
  EXPECT_EQ(shown.at("decisions"), kMany);
  EXPECT_EQ(shown.at("left_out").get<std::size_t>() + shown.at("trial").size(), static_cast<std::size_t>(kMany));
  EXPECT_LE(shown.at("trial").size(), static_cast<std::size_t>(kDecisionsShownMax));
  const auto trials = shown.at("trial").get<std::vector<int>>();
  for (const int stays : {0, 2, 3, 7}) EXPECT_THAT(trials, ::testing::Contains(stays));
}

TEST(DecisionChoice, OfEachRungTheBestTheWorstAndTheQuantilesBetweenStayByTheirValues) {
  std::vector<DecisionShown> all;
  const auto add = [&](int bracket, int rung, const std::vector<std::optional<double>>& values) {
    for (const std::optional<double>& value : values) {
      DecisionShown& one = all.emplace_back();
      one.trial = static_cast<int>(all.size()) - 1;
      one.bracket = bracket;
      one.rung = rung;
      one.value = value;
    }
  };
  const auto trials = [](const std::vector<DecisionShown>& some) {
    std::vector<int> numbers;
    for (const DecisionShown& one : some) numbers.push_back(one.trial);
    return numbers;
  };
  add(1, 0, {0.5});
  add(0, 1, {3.0, 1.0, 2.0});
  add(0, 0, {0.4, kNan, 0.2, -0.6, 0.3, std::nullopt, 0.1, kInfinity, -0.5});
  // By value 7, 12, 10, 6, 8, 4, 11, and without one 5 and 9.
  EXPECT_THAT(trials(thinned(all, 7)), ::testing::ElementsAre(7, 10, 4, 9, 2, 1, 0));
  EXPECT_THAT(trials(thinned(all, 4)), ::testing::ElementsAre(7, 9, 2, 1, 0)) << "two of a rung at least";
  EXPECT_THAT(trials(thinned(all, 12)), ::testing::ElementsAre(7, 12, 10, 6, 8, 4, 11, 9, 2, 1, 0));
  EXPECT_THAT(trials(thinned(all, 13)), ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)) << "all, as they are";
}

TEST(Columns, ValuesThatAreDrawnHaveSevenDigits) {
  std::string text;
  JsonWriter json(text);
  Column column("value");
  for (const double value : {1.0 / 3, 123456789.0, -2.0e-20, kInfinity, 0.0}) column.add_drawn(value);
  json.begin_object();
  column.write(json);
  json.end_object();
  EXPECT_EQ(text, R"({"value":[0.3333333,1.234568e+08,-2e-20,"inf",0]})");
}

TEST(Columns, TimesAreSecondsSinceAnother) {
  std::string text;
  JsonWriter json(text);
  Column column("started");
  column.add_time(kStart.plus_ms(1500), kStart);
  column.add_time(std::nullopt, kStart);
  json.begin_object();
  column.write(json);
  json.end_object();
  EXPECT_EQ(text, R"({"started":[1.5,null]})");
}

TEST(Columns, WordsAreNumberedAsTheyCome) {
  Words words;
  EXPECT_EQ(words.index_of("b"), 0);
  EXPECT_EQ(words.index_of("a"), 1);
  EXPECT_EQ(words.index_of("b"), 0);
  EXPECT_EQ(words.index_of(""), -1);
  std::string text;
  JsonWriter json(text);
  words.write(json);
  EXPECT_EQ(text, R"(["b","a"])");
}

}  // namespace
}  // namespace tuneband::testing
