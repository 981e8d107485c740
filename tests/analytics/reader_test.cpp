#include "analytics/reader.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::optional<std::string> no_model(TrialId) { return std::nullopt; }

// Every name in `shape` is in `value`, at every depth; of a list the first element counts.
void expect_names(const Json& shape, const Json& value, const std::string& path) {
  if (shape.is_array() && value.is_array() && !shape.empty() && !value.empty()) expect_names(shape[0], value[0], path + "[0]");
  if (!shape.is_object() || !value.is_object()) return;
  for (const auto& [name, inner] : shape.items()) {
    const bool of_the_example = path.ends_with("configuration") || path.ends_with("parameters");
    if (of_the_example || name == "...") continue;  // "...": what is told elsewhere
    EXPECT_TRUE(value.contains(name)) << path << "." << name;
    if (value.contains(name)) expect_names(inner, value[name], path + "." + name);
  }
}

// The example of docs/api.md under the heading "**name**".
Json documented(const std::string& name) {
  const std::string text = read_text(std::string(TUNEBAND_SOURCE_DIR) + "/docs/api.md");
  const std::size_t heading = text.find("**" + name + "**");
  const std::size_t begin = text.find("```json\n", heading) + 8;
  return Json::parse(text.substr(begin, text.find("```", begin) - begin));
}

class ReaderTest : public DbTest {
 protected:
  void SetUp() override { store_.emplace(Store::open(path())); }

  void write(const std::vector<Write>& writes) { store_->commit(writes); }
  Reader& reader() {
    if (!reader_) reader_.emplace(Reader::open(path()));
    return *reader_;
  }

  // Job 1 with `values` as the objectives of its trials 0, 1, 2..., each as `change` leaves it.
  void write_trials(
      const std::vector<std::optional<double>>& values, const std::string& goal = "maximize",
      const std::function<void(TrialRow&)>& change = [](TrialRow&) {}) {
    JobRow job = running_job(1, "a");
    job.spec_json = spec_text("a", goal);
    job.trials_created = job.trials_stopped = static_cast<int>(values.size());
    std::vector<Write> writes = {job};
    for (std::size_t i = 0; i < values.size(); ++i) {
      TrialRow trial = ended_trial(1, static_cast<int>(i), TrialState::stopped, values[i], 3);
      change(trial);
      writes.emplace_back(trial);
    }
    write(writes);
  }

  // By their objective, in pages of every size.
  void expect_best_first(const std::vector<int>& numbers) {
    TrialsQuery query;
    query.sort = TrialsQuery::Sort::objective;
    for (query.limit = 1; query.limit <= static_cast<int>(numbers.size()) + 1; ++query.limit)
      EXPECT_EQ(numbers_by_pages(query), numbers) << query.limit;
  }

  // Follows `next` to the end. Fails on a number that comes twice.
  std::vector<int> numbers_by_pages(TrialsQuery query) {
    std::vector<int> numbers;
    for (int pages = 0; pages < 100; ++pages) {
      const Json page = parsed(reader().trials(kJob, query, kNow));
      EXPECT_LE(page["trials"].size(), static_cast<std::size_t>(query.limit));
      for (const Json& trial : page["trials"]) numbers.push_back(trial["number"]);
      if (page["next"].is_null()) break;
      query.after = page["next"];
    }
    EXPECT_EQ(std::set<int>(numbers.begin(), numbers.end()).size(), numbers.size());
    return numbers;
  }

 private:
  std::optional<Store> store_;
  std::optional<Reader> reader_;
};

// ---- jobs ---------------------------------------------------------------------------------------------------------------------

TEST_F(ReaderTest, FindsAJobByItsIdAndByItsName) {
  write({running_job(7, "direct-marketing")});
  EXPECT_EQ(*reader().find_job("7"), JobId{7});
  EXPECT_EQ(*reader().find_job("direct-marketing"), JobId{7});
  for (const std::string name : {"8", "", "direct", "7 ", "-1", "99999999999999999999", "x' OR 1=1 --", "\xff\xfe"}) {
    const Result<JobId> found = reader().find_job(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
  }
}

JobRow measured_job(int id, const std::string& name, const Json& trainer, std::int64_t training_ms, std::int64_t resource_spent) {
  JobRow row = running_job(id, name);
  Json spec = Json::parse(row.spec_json);
  spec["trainer"] = trainer;
  row.spec_json = spec.dump();
  row.training_ms = training_ms;
  row.resource_spent = resource_spent;
  return row;
}

TEST_F(ReaderTest, MeasuresAUnitInTheNewestJobOfTheSameDataOrCommand) {
  const auto job = [](int id, const std::string& name, const Json& trainer, std::int64_t training_ms) {
    return measured_job(id, name, trainer, training_ms, training_ms > 0 ? 10 : 0);
  };
  const Json train{{"type", "command"}, {"argv", {"train"}}};
  const Json table{{"type", "xgboost"}, {"data", {{"train", "/a.csv"}}}};
  write({job(1, "older", train, 9000), job(2, "newer", train, 2500), job(3, "not-begun", train, 0), job(4, "table", table, 100)});
  JobSpec spec;
  spec.trainer = train;
  const auto measured = reader().measured_unit_time(spec);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->job, "newer");
  EXPECT_EQ(measured->seconds_per_unit, 0.25);
  spec.trainer = {{"type", "xgboost"}, {"data", {{"train", "/a.csv"}}}, {"parameters", {{"eta", 1}}}};
  EXPECT_EQ(reader().measured_unit_time(spec)->job, "table");
  spec.trainer["data"]["train"] = "/b.csv";
  EXPECT_FALSE(reader().measured_unit_time(spec));
}

TEST_F(ReaderTest, MeasuresAUnitInAnEarlierJobWhoseCommandRanInTheSameEnvironmentAlone) {
  const Json train{{"type", "command"}, {"argv", {"train"}}, {"environment", {{"SIZE", "9"}}}, {"working_dir", "/a"}};
  write({measured_job(1, "same", train, 1000, 10)});
  JobSpec spec;
  spec.trainer = train;
  EXPECT_TRUE(reader().measured_unit_time(spec));
  spec.trainer["environment"]["SIZE"] = "90";
  EXPECT_FALSE(reader().measured_unit_time(spec));
  spec.trainer = train;
  spec.trainer["working_dir"] = "/b";
  EXPECT_FALSE(reader().measured_unit_time(spec));
}

TEST_F(ReaderTest, MeasuresAUnitOfAGroupByOneOfItsRanks) {
  JobSpec spec;
  spec.trainer = {{"type", "command"}, {"argv", {"train"}}};
  Json of_three = spec.trainer;
  of_three["replicas"] = 3;
  write({measured_job(1, "three", of_three, 3000, 10)});
  EXPECT_EQ(reader().measured_unit_time(spec)->seconds_per_unit, 0.1);
  Json of_some = spec.trainer;
  of_some["replicas"] = {1, 3};
  write({measured_job(2, "some", of_some, 3000, 10)});
  EXPECT_EQ(reader().measured_unit_time(spec)->job, "three") << "there are no trials by which to tell";
  TrialRow trial = ended_trial(2, 0, TrialState::completed, 0.5, 9);
  trial.training_ms = 2000;
  write({trial});
  EXPECT_EQ(reader().measured_unit_time(spec)->seconds_per_unit, 0.2);
}

TEST_F(ReaderTest, MeasuresAUnitOfAllFoldsWhereEarlyRungsHaveFewer) {
  JobSpec spec;
  spec.trainer = {{"type", "xgboost"}, {"data", {{"train", "/a.csv"}, {"folds", {{"count", 10}, {"early", 2}}}}}};
  write({measured_job(1, "folds", spec.trainer, 1000, 10)});
  const auto unit = reader().measured_unit_time(spec);
  ASSERT_TRUE(unit);
  const auto parsed = reader().parsed_job(JobId{1});
  ASSERT_TRUE(parsed);
  const double work = work_of_a_unit((*parsed)->plan, (*parsed)->spec);
  EXPECT_LT(work, 1);
  EXPECT_GT(work, 0.2);
  EXPECT_DOUBLE_EQ(unit->seconds_per_unit, 0.1 / work);
}

TEST_F(ReaderTest, MeasuresAUnitInAnEarlierJobThatHadManyTimesTheUnits) {
  const Json train{{"type", "command"}, {"argv", {"train"}}};
  JobSpec spec;
  spec.trainer = train;
  const auto measured_in = [&](std::int64_t units_before) {
    write({measured_job(1, "before", train, 1000, units_before), measured_job(2, "tiny", train, 120, 3)});
    return reader().measured_unit_time(spec)->job;
  };
  EXPECT_EQ(measured_in(30), "tiny") << "the newest";
  EXPECT_EQ(measured_in(31), "before") << "whose units are not mostly beginnings";
}

TEST_F(ReaderTest, MeasuresNoUnitInAJobWithoutTimeOrUnitsNorInOneThatItCannotRead) {
  const Json train{{"type", "command"}, {"argv", {"train"}}};
  JobRow unread = measured_job(4, "unread", train, 5, 5);
  unread.spec_json = R"({"from": "the future"})";
  write({measured_job(1, "least", train, 1, 1), measured_job(2, "no-time", train, 0, 10),
         measured_job(3, "no-units", train, 10, 0), unread});
  JobSpec spec;
  spec.trainer = train;
  const auto measured = reader().measured_unit_time(spec);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->job, "least");
  EXPECT_EQ(measured->seconds_per_unit, 0.001);
}

TEST_F(ReaderTest, ShowsAJobAsDocumented) {
  JobRow job = running_job(1, "a");
  job.trials_created = 4;
  job.trials_stopped = job.trials_completed = 1;
  job.best = BestRow{0, 9, 0.75};
  job.best_anywhere = BestRow{1, 3, 0.8};
  job.resource_spent = 13;
  job.training_ms = 1500;
  write({job, ended_trial(1, 0, TrialState::completed, 0.75, 9), ended_trial(1, 1, TrialState::stopped, 0.8, 3),
         running_trial(1, 2), pending_trial(1, 3)});
  const Json json = parsed(reader().job(kJob));
  expect_names(documented("Job"), json, "Job");
  EXPECT_EQ(json["created_at"], "2026-03-01T12:00:00.000Z");
  EXPECT_EQ(json["ended_at"], nullptr);
  EXPECT_EQ(json["objective"], Json::parse(R"({"metric": "validation-auc", "goal": "maximize"})"));
  EXPECT_EQ(json["scheduler"], "hyperband");
  EXPECT_EQ(json["resource_name"], "rounds");
  EXPECT_EQ(json["max_resource"], 9);
  EXPECT_EQ(json["trials"]["running"], 1);
  EXPECT_EQ(json["trials"]["pending"], 1);
  EXPECT_EQ(json["trials"]["paused"], 0);
  EXPECT_EQ(json["trials"]["planned"], 9 + 5 + 3);
  EXPECT_EQ(json["best"]["value"], 0.75);
  EXPECT_EQ(json["best"]["configuration"]["booster"], "gbtree");
  EXPECT_EQ(json["best_anywhere"]["trial"], 1);
  EXPECT_EQ(json["training_seconds"], 1.5);
}

TEST_F(ReaderTest, WhereFewerFoldsAreTrainedAtLowerRungsTheyHaveNoBestBesideThatOfAFullTraining) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["trainer"]["data"].erase("validation");
  spec["trainer"]["data"]["folds"] = {{"count", 5}, {"early", 2}};
  job.spec_json = spec.dump();
  job.best_anywhere = BestRow{1, 3, 0.8};
  write({job, ended_trial(1, 0, TrialState::completed, 0.75, 9), ended_trial(1, 1, TrialState::stopped, 0.8, 3)});
  EXPECT_EQ(parsed(reader().job(kJob))["best_anywhere"]["trial"], 1) << "there is no other yet";
  job.best = BestRow{0, 9, 0.75};
  write({job});
  EXPECT_EQ(parsed(reader().job(kJob))["best_anywhere"]["trial"], 0);
}

TEST_F(ReaderTest, ShowsAJobsFurtherObjectivesAndItsConstraints) {
  JobRow several = running_job(1, "a");
  Json spec = Json::parse(several.spec_json);
  spec["objectives"] = Json::array({spec["objective"], {{"metric", "size"}, {"goal", "minimize"}}});
  spec.erase("objective");
  several.spec_json = spec.dump();
  JobRow constrained = running_job(2, "b");
  spec = Json::parse(constrained.spec_json);
  spec["objective"]["constraints"] = Json::array({{{"metric", "ms"}, {"max", 5}}});
  constrained.spec_json = spec.dump();
  write({several, constrained});
  EXPECT_EQ(parsed(reader().job(kJob))["more_objectives"], Json::parse(R"([{"metric": "size", "goal": "minimize"}])"));
  EXPECT_EQ(parsed(reader().job(JobId{2}))["constraints"], Json::parse(R"([{"metric": "ms", "min": null, "max": 5}])"));
}

TEST_F(ReaderTest, CountsTrialsByTheirStateAndThoseThatAreLeftArePaused) {
  JobRow job = running_job(1, "a");
  job.trials_created = 15;
  job.trials_completed = 1;
  job.trials_stopped = 2;
  job.trials_failed = 3;
  job.trials_cancelled = 4;
  write({job, running_trial(1, 0), running_trial(1, 1), pending_trial(1, 2)});
  EXPECT_EQ(parsed(reader().job(kJob))["trials"],
            Json::parse(R"({"created": 15, "pending": 1, "running": 2, "paused": 2, "completed": 1, "stopped": 2, "failed": 3,
                            "cancelled": 4, "planned": 17})"));
}

TEST_F(ReaderTest, KeepsADocumentThatItHasRead) {
  write({running_job(1, "a")});
  const Reader::Source source(path());
  EXPECT_EQ(source.jobs->bytes(), 0U);
  Reader one = Reader::open(source);
  EXPECT_TRUE(one.plan(kJob));
  EXPECT_GT(source.jobs->bytes(), 0U);
}

TEST_F(ReaderTest, ShowsTheDocumentAndWhatWaitsInTheDetail) {
  write({running_job(1, "a")});
  const Json json = parsed(reader().job_detail(kJob, {{{"no free worker", 3}, {"rung \"not\" full", 2}}, std::nullopt}));
  EXPECT_EQ(json["spec"], Json::parse(spec_text("a")));
  EXPECT_EQ(json["waiting"]["no free worker"], 3);
  EXPECT_EQ(json["waiting"]["rung \"not\" full"], 2);
  EXPECT_EQ(json["best"], nullptr);
}

TEST_F(ReaderTest, ShowsAJobWhoseDocumentThisVersionDoesNotTake) {
  JobRow job = running_job(1, "a");
  job.spec_json = R"({"name": "a", "from": "the future"})";
  write({job});
  EXPECT_EQ(parsed(reader().job(kJob))["name"], "a");
  EXPECT_EQ(parsed(reader().job(kJob))["resource_name"], "units");
  EXPECT_THAT(parsed(reader().jobs({}))["jobs"], SizeIs(1));
  EXPECT_EQ(reader().plan(kJob).error().code, ErrorCode::internal);
}

TEST_F(ReaderTest, ListsJobsNewestFirstByPages) {
  std::vector<Write> writes;
  for (int id = 1; id <= 5; ++id) {
    JobRow job = running_job(id, "job-" + std::to_string(id));
    if (id % 2 == 0) {
      job.state = JobState::failed;
      job.ended_at = kNow;
    }
    writes.emplace_back(job);
  }
  write(writes);
  JobsQuery query;
  query.limit = 2;
  std::vector<int> ids;
  std::vector<std::size_t> sizes;
  for (;;) {
    const Json page = parsed(reader().jobs(query));
    for (const Json& job : page["jobs"]) ids.push_back(job["id"]);
    sizes.push_back(page["jobs"].size());
    if (page["next"].is_null()) break;
    query.after = page["next"];
  }
  EXPECT_THAT(ids, ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(sizes, ElementsAre(2, 2, 1));

  const Json failed = parsed(reader().jobs({JobState::failed, 50, ""}));
  ASSERT_THAT(failed["jobs"], SizeIs(2));
  EXPECT_EQ(failed["jobs"][0]["id"], 4);
}

// ---- trials -------------------------------------------------------------------------------------------------------------------

TEST_F(ReaderTest, ShowsATrialAsDocumented) {
  TrialRow failed = ended_trial(1, 1, TrialState::failed, std::nullopt, 0);
  failed.message = "\"quoted\"\n\x01 \xff text";
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, 0.75, 9), failed});
  const Json json = parsed(reader().trial({kJob, 0}, kNow));
  expect_names(documented("Trial"), json, "Trial");
  EXPECT_EQ(json["state"], "completed");
  EXPECT_EQ(json["configuration"]["eta"], 0.1);
  EXPECT_EQ(json["exit_class"], nullptr);
  EXPECT_EQ(json["advice"], "");
  EXPECT_EQ(json["segments"], 1);
  EXPECT_EQ(json["training_seconds"], 0.3);
  EXPECT_EQ(json["queue_seconds"], 0.6);  // 1.0 s from creation to end, 0.4 s of it with a worker

  const Json other = parsed(reader().trial({kJob, 1}, kNow));
  EXPECT_EQ(other["exit_class"], "no_metric");
  EXPECT_EQ(other["advice"], std::string(advice(ExitClass::no_metric)));
  EXPECT_EQ(other["message"], "\"quoted\"\n\x01 \xef\xbf\xbd text");
  EXPECT_EQ(other["objective"], nullptr);
}

TEST_F(ReaderTest, CountsTheTimeOfARunningTrialUpToNow) {
  write({running_job(1, "a"), running_trial(1, 0), pending_trial(1, 1)});
  EXPECT_EQ(parsed(reader().trial({kJob, 0}, kNow))["queue_seconds"], 0.1);
  EXPECT_EQ(parsed(reader().trial({kJob, 1}, kNow))["queue_seconds"], 5.0);
}

TEST_F(ReaderTest, GivesATrialsRowBack) {
  const TrialRow row = running_trial(1, 0);
  write({running_job(1, "a"), row});
  EXPECT_EQ(*reader().trial_row({kJob, 0}), row);
}

TEST_F(ReaderTest, WritesNanAndInfinityAsTexts) {
  write_trials({kNan, kInfinity, -kInfinity});
  EXPECT_EQ(parsed(reader().trial({kJob, 0}, kNow))["objective"], "nan");
  EXPECT_EQ(parsed(reader().trial({kJob, 1}, kNow))["objective"], "inf");
  EXPECT_EQ(parsed(reader().trial({kJob, 2}, kNow))["objective"], "-inf");
}

TEST_F(ReaderTest, ListsTrialsByNumberByPages) {
  write_trials({0.1, 0.2, 0.3, 0.4, 0.5});
  for (int limit = 1; limit <= 6; ++limit) {
    TrialsQuery query;
    query.limit = limit;
    EXPECT_THAT(numbers_by_pages(query), ElementsAre(0, 1, 2, 3, 4)) << limit;
  }
}

TEST_F(ReaderTest, ListsTrialsBestFirstAndThoseWithoutAFiniteValueLast) {
  write_trials({0.5, kNan, 0.9, std::nullopt, 0.5, kInfinity, -0.1, -kInfinity, 0.9});
  expect_best_first({2, 8, 0, 4, 6, 1, 3, 5, 7});
}

TEST_F(ReaderTest, ListsTrialsByTheValueThatTheyKeep) {
  const std::optional<double> kept[] = {0.9, 0.6, std::nullopt, 0.8, 0.9};
  write_trials({0.5, 0.6, 0.7, kInfinity, 0.1}, "maximize", [&](TrialRow& trial) { trial.kept_value = kept[trial.id.number]; });
  expect_best_first({0, 4, 2, 1, 3});
}

TEST_F(ReaderTest, ListsTheGreatestOfAllNumbersToo) {
  const double most = std::numeric_limits<double>::max();
  TrialsQuery query;
  query.sort = TrialsQuery::Sort::objective;
  write_trials({most, 0.5, most, -most});
  EXPECT_THAT(numbers_by_pages(query), ElementsAre(0, 2, 1, 3));
}

TEST_F(ReaderTest, ListsTheLowestFirstWhenMinimizing) {
  write_trials({0.5, kNan, 0.9, 0.5, -0.1}, "minimize");
  expect_best_first({4, 0, 3, 2, 1});
}

TEST_F(ReaderTest, ListsTrialsThatViolateTheConstraintsAfterThoseThatMeetThemByTheirViolation) {
  const double violations[] = {0, 2, kInfinity, 0.1, 0.1, 0, 2, 0};
  write_trials({0.5, 0.99, 0.7, 0.4, kNan, 0.6, 0.9, std::nullopt}, "maximize",
               [&](TrialRow& trial) { trial.violation = violations[trial.id.number]; });
  expect_best_first({5, 0, 3, 1, 6, 2, 4, 7});
}

TEST_F(ReaderTest, FiltersTrialsByStateAndBracket) {
  TrialRow elsewhere = ended_trial(1, 3, TrialState::stopped, 0.4, 1);
  elsewhere.bracket = 1;
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, 0.9, 9), running_trial(1, 1),
         ended_trial(1, 2, TrialState::stopped, 0.2, 1), elsewhere, pending_trial(1, 4)});
  for (const auto sort : {TrialsQuery::Sort::number, TrialsQuery::Sort::objective}) {
    for (const int limit : {1, 100}) {
      TrialsQuery query;
      query.sort = sort;
      query.limit = limit;
      query.states = {TrialState::completed};
      EXPECT_THAT(numbers_by_pages(query), ElementsAre(0));
      query.states = {TrialState::stopped, TrialState::completed};
      EXPECT_THAT(numbers_by_pages(query), ::testing::UnorderedElementsAre(0, 2, 3));
      query.states.clear();
      query.bracket = 1;
      EXPECT_THAT(numbers_by_pages(query), ElementsAre(3));
      query.states = {TrialState::cancelled};
      EXPECT_THAT(numbers_by_pages(query), IsEmpty());
    }
  }
}

TEST_F(ReaderTest, ListsTrialsOfSeveralStatesInOneOrder) {
  TrialRow elsewhere = ended_trial(1, 5, TrialState::completed, 0.4, 9);
  elsewhere.bracket = 1;
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::stopped, 0.2, 1), ended_trial(1, 1, TrialState::completed, 0.9, 9),
         running_trial(1, 2), ended_trial(1, 3, TrialState::stopped, 0.7, 1), ended_trial(1, 4, TrialState::completed, 0.1, 9),
         elsewhere});
  for (int limit = 1; limit <= 6; ++limit) {
    TrialsQuery query;
    query.limit = limit;
    query.states = {TrialState::stopped, TrialState::completed, TrialState::stopped};
    EXPECT_THAT(numbers_by_pages(query), ElementsAre(0, 1, 3, 4, 5)) << limit;
    query.sort = TrialsQuery::Sort::objective;
    EXPECT_THAT(numbers_by_pages(query), ElementsAre(1, 3, 5, 0, 4)) << limit;
    query.bracket = 0;
    EXPECT_THAT(numbers_by_pages(query), ElementsAre(1, 3, 0, 4)) << limit;
    query.sort = TrialsQuery::Sort::number;
    EXPECT_THAT(numbers_by_pages(query), ElementsAre(0, 1, 3, 4)) << limit;
  }
}

TEST_F(ReaderTest, NamesTheBestTrialAtMaxResourceElseAtAnyRung) {
  JobRow job = running_job(1, "a");
  write({job, ended_trial(1, 0, TrialState::completed, 0.7, 9), ended_trial(1, 1, TrialState::stopped, 0.8, 3)});
  EXPECT_EQ(reader().best(kJob, no_model, kNow).error().code, ErrorCode::not_found);
  job.best_anywhere = BestRow{1, 3, 0.8};
  write({job});
  EXPECT_EQ(parsed(reader().best(kJob, no_model, kNow))["trial"]["number"], 1);
  job.best = BestRow{0, 9, 0.7};
  write({job});
  const Json best = parsed(reader().best(
      kJob, [](TrialId) { return std::optional<std::string>("/data/model.ubj"); }, kNow));
  EXPECT_EQ(best["trial"]["number"], 0);
  EXPECT_EQ(best["model"], "/data/model.ubj");
}

// ---- what users send ----------------------------------------------------------------------------------------------------------

TEST_F(ReaderTest, RefusesCursorsThatAreNotItsOwn) {
  write_trials({0.1, 0.2});
  for (const std::string cursor : {"x",
                                   "n-",
                                   "n-x",
                                   "n--1",
                                   "n-99999999999999999999",
                                   "v-7ff0000000000000-1",
                                   "v-7ff8000000000000-1",
                                   "v--1",
                                   "x-7ff8000000000000-1",
                                   "x-0-1",
                                   "x--1",
                                   "x-3ff0000000000000",
                                   "v-3ff0000000000000",
                                   "v-3ff0000000000000-",
                                   "v-3ff00000000000000000-1",
                                   "v-zz-1",
                                   "q-1",
                                   "nx1",
                                   "-",
                                   "n-1 ",
                                   "'; DROP TABLE trials; --",
                                   "\xff\xfe\xfd"}) {
    TrialsQuery query;
    query.after = cursor;
    for (const auto sort : {TrialsQuery::Sort::number, TrialsQuery::Sort::objective}) {
      query.sort = sort;
      const auto page = reader().trials(kJob, query, kNow);
      ASSERT_FALSE(page) << cursor;
      EXPECT_EQ(page.error().code, ErrorCode::invalid_argument);
      EXPECT_EQ(page.error().path, "after");
    }
    EXPECT_FALSE(reader().jobs({std::nullopt, 50, cursor})) << cursor;
  }
}

TEST_F(ReaderTest, RefusesTheCursorOfAnotherSort) {
  write_trials({0.1, 0.2});
  TrialsQuery query;
  query.limit = 1;
  query.after = parsed(reader().trials(kJob, query, kNow))["next"];
  query.sort = TrialsQuery::Sort::objective;
  EXPECT_FALSE(reader().trials(kJob, query, kNow));
}

TEST_F(ReaderTest, RefusesLimitsOutOfRange) {
  write_trials({0.1});
  for (const int limit : {0, -1, kPageMax + 1}) {
    TrialsQuery query;
    query.limit = limit;
    EXPECT_EQ(reader().trials(kJob, query, kNow).error().path, "limit");
    EXPECT_EQ(reader().jobs({std::nullopt, limit, ""}).error().path, "limit");
  }
  for (const int points : {0, -1, 3, kObservationsMax + 1}) {
    EXPECT_EQ(reader().observations({kJob, 0}, points).error().path, "points");
  }
  const std::string expected = "expected a number between 1 and " + std::to_string(kPageMax) + ", got 0";
  EXPECT_EQ(reader().jobs({std::nullopt, 0, ""}).error().message, expected);
  TrialsQuery none;
  none.limit = 0;
  EXPECT_EQ(reader().trials(kJob, none, kNow).error().message, expected);
}

TEST_F(ReaderTest, TakesTheLeastAndTheMostOfALimit) {
  write_trials({0.1});
  for (const int limit : {1, kPageMax}) {
    TrialsQuery query;
    query.limit = limit;
    EXPECT_TRUE(reader().trials(kJob, query, kNow));
    EXPECT_TRUE(reader().jobs({std::nullopt, limit, ""}));
  }
  for (const int points : {kObservationPointsMin, kObservationsMax}) EXPECT_TRUE(reader().observations({kJob, 0}, points));
}

TEST_F(ReaderTest, SaysWhatIsNotThere) {
  write_trials({0.1});
  const Timestamp now = kNow;
  const Sink ignore = [](std::string_view) {};
  const JobId none{9};
  EXPECT_EQ(reader().job(none).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().job_row(none).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().job_detail(none, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().plan(none).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().trials(none, {}, now).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().best(none, no_model, now).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().analytics_json(none, now, ignore).error().code, ErrorCode::not_found);
  EXPECT_EQ(reader().analytics_csv(none, now, ignore).error().code, ErrorCode::not_found);
  for (const TrialId trial : {TrialId{kJob, 1}, TrialId{kJob, -1}, TrialId{none, 0}}) {
    EXPECT_EQ(reader().trial(trial, now).error().code, ErrorCode::not_found);
    EXPECT_EQ(reader().trial_row(trial).error().code, ErrorCode::not_found);
    EXPECT_EQ(reader().observations(trial, std::nullopt).error().code, ErrorCode::not_found);
    EXPECT_EQ(reader().decisions(trial).error().code, ErrorCode::not_found);
  }
}

// ---- observations and decisions -----------------------------------------------------------------------------------------------

TEST_F(ReaderTest, ShowsObservationsWithTheirMetrics) {
  ObservationRow more = observation(1, 0, 2, 0.6);
  more.metrics = {{"validation-auc", 0.6}, {"train \"loss\"", kNan}};
  write({running_job(1, "a"), running_trial(1, 0), more, observation(1, 0, 1, 0.5), observation(1, 0, 3, kNan),
         observation(1, 0, 4, std::nullopt)});
  const Json json = parsed(reader().observations({kJob, 0}, std::nullopt))["observations"];
  ASSERT_THAT(json, SizeIs(4));
  EXPECT_EQ(
      json[0],
      Json::parse(R"({"resource": 1, "objective": 0.5, "metrics": {"validation-auc": 0.5}, "at": "2026-03-01T12:00:00.201Z"})"));
  EXPECT_EQ(json[1]["metrics"], Json::parse(R"({"validation-auc": 0.6, "train \"loss\"": "nan"})"));
  EXPECT_EQ(json[2]["objective"], "nan");
  EXPECT_EQ(json[3]["objective"], nullptr);
  EXPECT_EQ(json[3]["metrics"], Json::object());
}

TEST_F(ReaderTest, DecimatesObservationsAndKeepsTheExtremes) {
  std::vector<Write> writes = {running_job(1, "a"), running_trial(1, 0)};
  for (int resource = 1; resource <= 1000; ++resource) {
    const double value = resource == 333 ? 9.0 : resource == 334 ? -9.0 : 0.001 * resource;
    writes.emplace_back(observation(1, 0, resource, value));
  }
  write(writes);
  for (const int points : {4, 5, 10, 200, 999}) {
    const Json json = parsed(reader().observations({kJob, 0}, points))["observations"];
    EXPECT_LE(json.size(), static_cast<std::size_t>(points));
    EXPECT_GE(json.size(), 4U);
    std::vector<int> resources;
    for (const Json& one : json) resources.push_back(one["resource"]);
    EXPECT_TRUE(std::is_sorted(resources.begin(), resources.end()));
    EXPECT_EQ(resources.front(), 1);
    EXPECT_EQ(resources.back(), 1000);
    EXPECT_THAT(resources, ::testing::Contains(333));
    EXPECT_THAT(resources, ::testing::Contains(334));
  }
  EXPECT_THAT(parsed(reader().observations({kJob, 0}, 1000))["observations"], SizeIs(1000));
  EXPECT_THAT(parsed(reader().observations({kJob, 0}, std::nullopt))["observations"], SizeIs(1000));
}

// What the training of the rung below had told beyond it is of another training.
TEST_F(ReaderTest, WhereRungsBeginAnewTheCurveIsOfTheLatestTrainingAlone) {
  for (const char* resume : {"restart", "checkpoint"}) {
    JobRow job = running_job(1, "a");
    Json spec = Json::parse(job.spec_json);
    spec["trainer"] = {{"type", "command"}, {"argv", {"train"}}, {"resume", resume}};
    job.id = JobId{std::string_view(resume) == "restart" ? 1 : 2};
    job.name = spec["name"] = resume;
    job.spec_json = spec.dump();
    TrialRow trial = ended_trial(static_cast<int>(job.id.value), 0, TrialState::stopped, 0.5, 3);
    trial.resource = 1;
    write({job, trial});
    for (const int resource : {1, 2, 3}) write({observation(static_cast<int>(job.id.value), 0, resource, 0.1 * resource)});
    const Json shown = parsed(reader().observations({job.id, 0}, std::nullopt))["observations"];
    EXPECT_EQ(shown.size(), job.id.value == 1 ? 1u : 3u) << resume;
  }
}

TEST_F(ReaderTest, ShowsDecisionsAsDocumented) {
  DecisionRow failed = decision(1, 0, 1, std::nullopt, Verdict::stopped, 1);
  failed.cutoff = kNan;
  failed.ahead.clear();
  write({running_job(1, "a"), running_trial(1, 0), failed, decision(1, 0, 0, 0.77, Verdict::promoted, 0)});
  const Json shown = parsed(reader().decisions({kJob, 0}));
  const Json json = shown["decisions"];
  ASSERT_THAT(json, SizeIs(2));
  const std::vector<std::string> told = shown["explanation"];
  EXPECT_THAT(told,
              ElementsAre(HasSubstr("Rung 0 of bracket 0"), HasSubstr("it failed on the way"), StartsWith("It is running on ")));
  expect_names(documented("Decision"), json[0], "Decision");
  EXPECT_EQ(json[0]["verdict"], "promoted");
  EXPECT_EQ(json[0]["ahead"], Json::parse("[4, 7]"));
  EXPECT_EQ(json[1]["value"], nullptr);
  EXPECT_EQ(json[1]["cutoff"], "nan");
  EXPECT_EQ(json[1]["ahead"], Json::array());
}

// ---- analytics ----------------------------------------------------------------------------------------------------------------

class AnalyticsTest : public ReaderTest {
 protected:
  // Three trials through rungs 1, 3, 9: one completed, one stopped at 3, one failed before 1; and one running.
  void write_story(const std::string& scheduler = "hyperband") {
    JobRow job = running_job(1, "a");
    job.spec_json = spec_text("a", "maximize", scheduler);
    job.trials_created = 4;
    job.trials_completed = job.trials_stopped = job.trials_failed = 1;
    job.best = job.best_anywhere = BestRow{0, 9, 0.9};
    job.resource_spent = 9 + 3;
    job.training_ms = 1200;
    TrialRow stopped = ended_trial(1, 1, TrialState::stopped, 0.8, 3);
    stopped.rung = 1;
    stopped.attempts_in_all = 2;  // a segment for each rung
    stopped.configuration["booster"] = std::string("dart, \"quoted\"");
    ObservationRow reported = observation(1, 0, 1, 0.7);
    write({job, ended_trial(1, 0, TrialState::completed, 0.9, 9), stopped, ended_trial(1, 2, TrialState::failed, std::nullopt, 0),
           running_trial(1, 3), reported, decision(1, 0, 0, 0.7, Verdict::promoted, 0),
           decision(1, 1, 0, 0.6, Verdict::promoted, 1), decision(1, 2, 0, std::nullopt, Verdict::stopped, 2),
           decision(1, 1, 1, 0.8, Verdict::stopped, 3), decision(1, 0, 1, 0.8, Verdict::promoted, 4),
           decision(1, 0, 2, 0.9, Verdict::completed, 5)});
  }
  Json analytics() {
    std::string text;
    const auto done = reader().analytics_json(kJob, kNow, [&](std::string_view piece) { text += piece; });
    if (!done) throw std::runtime_error(describe(done.error()));
    return Json::parse(text);
  }
  std::string csv() {
    std::string text;
    const auto done = reader().analytics_csv(kJob, kNow, [&](std::string_view piece) { text += piece; });
    if (!done) throw std::runtime_error(describe(done.error()));
    return text;
  }
};

TEST_F(AnalyticsTest, HasTheDocumentedShape) {
  write_story();
  const Json json = analytics();
  expect_names(documented("Analytics"), json, "Analytics");
  expect_names(documented("Job"), json["job"], "Job");
  ASSERT_THAT(json["trials"], SizeIs(4));
  EXPECT_EQ(json["trials"][1]["parameters"]["booster"], "dart, \"quoted\"");
}

TEST_F(AnalyticsTest, FollowsTheBestInOrderOfArrival) {
  write_story();
  const Json best = analytics()["best_so_far"];
  ASSERT_THAT(best, SizeIs(3));
  EXPECT_EQ(best[0],
            Json::parse(R"({"at": "2026-03-01T12:00:00.201Z", "seconds": 0.201, "trial": 0, "value": 0.7, "resource": 1})"));
  EXPECT_EQ(best[1]["trial"], 1);  // 0.8 first came from here; trial 0 only equalled it
  EXPECT_EQ(best[2]["value"], 0.9);
  EXPECT_EQ(best[2]["seconds"], 0.505) << "of the verdict, where the value's own time is not kept";
}

TEST_F(AnalyticsTest, TheBestSoFarIsOfWhatCountsForTheBestOfTheJob) {
  write_story();
  DecisionRow without_another_objective = decision(1, 4, 0, 0.95, Verdict::stopped, 6);
  without_another_objective.more_values = {kNan};
  DecisionRow breaks_a_constraint = decision(1, 5, 1, 0.97, Verdict::stopped, 8);
  breaks_a_constraint.violation = 1;
  write({running_trial(1, 4), running_trial(1, 5), without_another_objective, decision(1, 5, 0, 0.96, Verdict::promoted, 7),
         breaks_a_constraint});
  const Json best = analytics()["best_so_far"];
  EXPECT_EQ(best.back()["value"], 0.9) << "what met its constraints before it went on and broke them is gone";
}

TEST_F(AnalyticsTest, CountsEachRungAgainstThePlan) {
  write_story();
  const Json rungs = analytics()["rungs"];
  EXPECT_EQ(rungs[0],
            Json::parse(R"({"bracket": 0, "rung": 0, "resource": 1, "planned": 9, "reached": 2, "promoted": 2, "stopped": 0,
                                      "waiting": 0, "failed": 1})"));
  EXPECT_EQ(rungs[1],
            Json::parse(R"({"bracket": 0, "rung": 1, "resource": 3, "planned": 3, "reached": 2, "promoted": 1, "stopped": 1,
                                      "waiting": 0, "failed": 0})"));
  EXPECT_EQ(rungs[2]["reached"], 1);
  EXPECT_EQ(rungs.back()["bracket"], 2);  // planned, not begun
  EXPECT_EQ(rungs.back()["reached"], 0);
}

TEST_F(AnalyticsTest, ARungStaysAtItsResourceWhereATargetWasReachedOnTheWayToIt) {
  write_story("asha_promotion");
  DecisionRow on_the_way = decision(1, 3, 1, 0.99, Verdict::waiting, 6);
  on_the_way.resource = 2;
  write({on_the_way});
  const Json rungs = analytics()["rungs"];
  EXPECT_EQ(rungs[1]["resource"], 3);
  EXPECT_EQ(rungs[1]["reached"], 3);
}

TEST_F(AnalyticsTest, CountsWhoFailedOnTheWayToARungBesideWhoReachedIt) {
  JobRow job = running_job(1, "a");
  TrialRow crashed = ended_trial(1, 0, TrialState::failed, std::nullopt, 1);
  crashed.exit_class = ExitClass::crashed;
  crashed.rung = 1;
  crashed.until_resource = 3;
  write({job, crashed});
  const Json rungs = analytics()["rungs"];
  EXPECT_EQ(rungs[0]["failed"], 0);
  EXPECT_EQ(rungs[1]["failed"], 1);
  EXPECT_EQ(rungs[1]["reached"], 0);
}

TEST_F(AnalyticsTest, PlansNoNumbersWhereTheOrderOfArrivalDecides) {
  write_story("asha_promotion");
  const Json rungs = analytics()["rungs"];
  EXPECT_EQ(rungs[0]["planned"], nullptr);
  EXPECT_EQ(rungs[0]["reached"], 2);
}

TEST_F(AnalyticsTest, PlansBracketsBeyondThePlanToo) {
  JobRow job = running_job(1, "a");
  TrialRow trial = ended_trial(1, 0, TrialState::stopped, 0.5, 1);
  trial.bracket = 3;  // the first of hyperband's second pass
  DecisionRow row = decision(1, 0, 0, 0.5, Verdict::stopped, 0);
  row.bracket = 3;
  write({job, trial, row});
  const Json rungs = analytics()["rungs"];
  for (const Json& rung : rungs) {
    if (rung["bracket"] == 3 && rung["rung"] == 0) {
      EXPECT_EQ(rung["planned"], 9);
      EXPECT_EQ(rung["reached"], 1);
      return;
    }
  }
  FAIL() << "no such rung";
}

// Job 1 of two objectives: trials at max_resource with these values.
std::vector<Write> rows_of_two_objectives(const std::vector<std::pair<double, double>>& values) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["objectives"] = Json::array({spec["objective"], {{"metric", "ms"}, {"goal", "minimize"}}});
  spec.erase("objective");
  job.spec_json = spec.dump();
  std::vector<Write> writes{job};
  for (const auto& [first, second] : values) {
    TrialRow trial = ended_trial(1, static_cast<int>(writes.size()) - 1, TrialState::completed, first, 9);
    trial.more_objectives = {second};
    writes.emplace_back(trial);
  }
  return writes;
}

TEST_F(AnalyticsTest, ShowsTheParetoFrontAtMaxResourceInOrderOfTheFirstObjective) {
  std::vector<Write> rows = rows_of_two_objectives({{0.5, 1}, {0.9, 9}, {0.8, 9}, {0.7, kNan}, {0.9, 9}, {0.6, 2}, {0.99, 0}});
  TrialRow below = std::get<TrialRow>(rows.back());
  below.objective_resource = 3;
  rows.back() = below;
  write(rows);
  const Json pareto = analytics()["pareto"];
  EXPECT_EQ(pareto, Json::parse(R"([{"trial": 1, "values": [0.9, 9]}, {"trial": 4, "values": [0.9, 9]},
                                    {"trial": 5, "values": [0.6, 2]}, {"trial": 0, "values": [0.5, 1]}])"));
  expect_names(documented("Analytics")["pareto"][0], pareto[0], "Analytics.pareto");
}

TEST_F(AnalyticsTest, OfThreeObjectivesEachHasItsOwnGoalOnTheParetoFront) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["objectives"] = {
      spec["objective"], {{"metric", "recall"}, {"goal", "maximize"}}, {{"metric", "ms"}, {"goal", "minimize"}}};
  spec.erase("objective");
  job.spec_json = spec.dump();
  std::vector<Write> rows{job};
  const std::vector<std::vector<double>> further = {{1, 1}, {2, 1}, {2, 0}, {1, 2}, {3, 3}};
  for (const std::vector<double>& values : further) {
    TrialRow trial = ended_trial(1, static_cast<int>(rows.size()) - 1, TrialState::completed, 0.5, 9);
    trial.more_objectives = values;
    rows.emplace_back(trial);
  }
  write(rows);
  EXPECT_EQ(analytics()["pareto"], Json::parse(R"([{"trial": 4, "values": [0.5, 3, 3]}, {"trial": 2, "values": [0.5, 2, 0]}])"));
}

TEST_F(AnalyticsTest, CountsNoInfeasibleResultAmongTheBest) {
  TrialRow trial = ended_trial(1, 0, TrialState::completed, 0.9, 9);
  trial.violation = 0.5;
  DecisionRow row = decision(1, 0, 2, 0.9, Verdict::completed, 0);
  row.violation = 0.5;
  write({running_job(1, "a"), trial, row});
  const Json json = analytics();
  EXPECT_EQ(json["best_so_far"], Json::array());
  EXPECT_EQ(json["trials"][0]["violation"], 0.5);
  EXPECT_EQ(json["replicas"]["non_dominated_by_training_seconds"], Json::array());
  EXPECT_EQ(json["pareto"], Json::array());
}

TEST_F(AnalyticsTest, SumsUpWhatWasSavedByStoppingAtRungsAlone) {
  write_story();
  const Json summary = analytics()["summary"];
  EXPECT_EQ(summary["resource_spent"], 12);
  EXPECT_EQ(summary["resource_saved"], 6);  // the stopped trial from 3 to 9; not the failed and not the running one
  EXPECT_EQ(summary["resource_without_stopping"], 18);
  EXPECT_EQ(summary["training_seconds_saved"], 0.6);  // 0.3 s for 3 of 9
  EXPECT_EQ(summary["training_seconds_without_stopping"], 1.8);
  EXPECT_EQ(summary["wall_seconds"], 5.0);
}

TEST_F(AnalyticsTest, CountsTheTrialsWhoseValueIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto failed_trial = [](int number, ExitClass exit) {
    TrialRow trial = ended_trial(1, number, TrialState::failed, std::nullopt, 1);
    trial.exit_class = exit;
    return trial;
  };
  const TrialRow given_up = failed_trial(3, ExitClass::nan_metric);
  const TrialRow crashed = failed_trial(4, ExitClass::crashed);
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, 0.9, 9), ended_trial(1, 1, TrialState::completed, kNan, 9),
         ended_trial(1, 2, TrialState::stopped, -infinity, 3), given_up, crashed});
  const Json summary = analytics()["summary"];
  EXPECT_EQ(summary["trials_measured"], 4) << "what crashed before its first value was not measured";
  EXPECT_EQ(summary["trials_not_finite"], 3);
  EXPECT_EQ(summary["first_not_finite"], 1);
}

TEST_F(AnalyticsTest, CountsTheMeasuredTrialsThatViolateTheConstraints) {
  TrialRow near = ended_trial(1, 1, TrialState::stopped, 0.8, 3);
  near.violation = 0.01;
  TrialRow unknown = ended_trial(1, 2, TrialState::completed, 0.8, 9);
  unknown.violation = kInfinity;
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, 0.9, 9), near, unknown,
         ended_trial(1, 3, TrialState::failed, std::nullopt, 0)});
  EXPECT_EQ(analytics()["summary"]["trials_measured"], 3);
  EXPECT_EQ(analytics()["summary"]["trials_violating"], 2);
}

TEST_F(AnalyticsTest, HasNoTrialWithoutAFiniteValueWhereAllHaveOne) {
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, 0.9, 9)});
  EXPECT_EQ(analytics()["summary"]["trials_not_finite"], 0);
  EXPECT_EQ(analytics()["summary"]["first_not_finite"], nullptr);
}

SegmentRow reached(const TrialRow& trial, std::int64_t from, std::int64_t rung, std::int64_t took_ms) {
  SegmentRow segment;
  segment.trial = trial.id;
  segment.epoch = Epoch{trial.id.number * 10 + rung + 1};
  segment.attempt = 1;
  segment.worker = trial.worker;
  segment.from_resource = from;
  segment.until_resource = segment.resource = rung;
  segment.began_at = kStart;
  segment.ended_at = kStart.plus_ms(took_ms);
  segment.outcome = "reached_rung";
  return segment;
}

// A trial of a command that takes 100 ms to begin and 10 a unit; its segments, and it as it stands after them.
std::vector<Write> slow_to_begin(int number, TrialState state, const std::vector<std::int64_t>& rungs) {
  TrialRow trial = ended_trial(1, number, state, 0.5, rungs.back());
  trial.attempts_in_all = static_cast<int>(rungs.size());
  trial.training_ms = trial.attempts_in_all * 100 + rungs.back() * 10;
  std::vector<Write> writes{trial};
  std::int64_t from = 0;
  for (const std::int64_t rung : rungs) {
    writes.emplace_back(reached(trial, from, rung, 100 + 10 * (rung - from)));
    from = rung;
  }
  return writes;
}

TEST_F(AnalyticsTest, WhatASegmentTakesToBeginIsNoPartOfWhatStoppingSaved) {
  JobRow job = running_job(1, "a");
  job.resource_spent = 1 + 3 + 9;
  job.training_ms = 6 * 100 + 13 * 10;
  std::vector<Write> writes{job};
  for (const auto& of_trial : {slow_to_begin(0, TrialState::stopped, {1}), slow_to_begin(1, TrialState::stopped, {1, 3}),
                               slow_to_begin(2, TrialState::completed, {1, 3, 9})})
    writes.insert(writes.end(), of_trial.begin(), of_trial.end());
  write(writes);
  const Json summary = analytics()["summary"];
  EXPECT_EQ(summary["resource_saved"], 8 + 6);
  EXPECT_NEAR(summary["training_seconds_saved"].get<double>(), 0.14 - 0.1 - 0.2, 1e-9)
      << "14 units, less three further beginnings";
}

// A trial of another worker than the first, whose segments came to `rungs` one after the other; each took `begin_ms` and
// `unit_ms` for each of its units. `held`: all but the first began when the one before ended.
std::vector<Write> paced(int number, TrialState state, const std::vector<std::int64_t>& rungs, std::int64_t begin_ms,
                         std::int64_t unit_ms, bool held = false) {
  TrialRow trial = ended_trial(1, number, state, 0.5, rungs.back());
  trial.attempts_in_all = static_cast<int>(rungs.size());
  std::vector<Write> writes{trial};
  std::int64_t from = 0;
  Timestamp began = kStart;
  for (const std::int64_t rung : rungs) {
    const bool begins = from == 0 || !held;
    SegmentRow segment = reached(trial, from, rung, (begins ? begin_ms : 0) + unit_ms * (rung - from));
    *segment.ended_at = began.plus_ms(*segment.ended_at - segment.began_at);
    segment.began_at = began;
    if (rung == 9) segment.outcome = "completed";
    if (held) began = *segment.ended_at;
    from = rung;
    writes.emplace_back(segment);
  }
  return writes;
}

// Trial 0, which the worker began with, which took an hour for the unit after which it was stopped, and these.
std::vector<Write> after_a_cold_one(std::int64_t training_ms, std::int64_t units, const std::vector<std::vector<Write>>& trials) {
  JobRow job = running_job(1, "a");
  job.resource_spent = units + 1;
  job.training_ms = training_ms + 3'600'000;
  std::vector<Write> writes{job};
  const auto add = [&writes](const std::vector<Write>& more) { writes.insert(writes.end(), more.begin(), more.end()); };
  add(paced(0, TrialState::stopped, {1}, 0, 3'600'000));
  for (const auto& trial : trials) add(trial);
  return writes;
}

TEST_F(AnalyticsTest, WhatWasLeftOfATrialTakesAsLongAsThatTrialDid) {
  write(after_a_cold_one(30 + 40 + 80 + 120 + 30 + 40, 9 + 1 + 3,
                         {paced(1, TrialState::completed, {1, 3, 9}, 20, 10), paced(2, TrialState::stopped, {1}, 20, 100),
                          paced(3, TrialState::stopped, {1, 3}, 20, 10)}));
  const Json summary = analytics()["summary"];
  EXPECT_EQ(summary["resource_saved"], 8 + 6 + 8);
  const double of_all = (0.8 + 0.06) * 22 / 14;
  EXPECT_NEAR(summary["training_seconds_saved"].get<double>(), of_all - 3 * 0.02, 0.0005)
      << "100 ms for each of 8 units and 10 for each of 6, less three further beginnings of 20; trial 0 is as these on average";
  EXPECT_NEAR(summary["training_seconds_without_stopping"].get<double>(), 3600.34 + of_all - 3 * 0.02, 0.0005);
}

TEST_F(AnalyticsTest, ATrialThatWentOnInMemoryBeganOnce) {
  write(after_a_cold_one(
      130 + 130 + 120, 3 + 3 + 1,
      {paced(1, TrialState::stopped, {1, 3}, 100, 10, true), paced(2, TrialState::stopped, {1, 3}, 100, 10, true),
       paced(3, TrialState::stopped, {1, 3}, 100, 10), paced(4, TrialState::stopped, {1}, 100, 20)}));
  const double of_all = (3 * 6 * 0.01 + 8 * 0.02) * 34 / 26;
  EXPECT_NEAR(analytics()["summary"]["training_seconds_saved"].get<double>(), of_all - 0.1, 0.0005)
      << "trial 3 alone began twice";
}

// Three trials that were left at a rung, and one that was not, but for what `change` does to its two segments.
std::vector<Write> one_held(const std::function<void(SegmentRow&, SegmentRow&)>& change) {
  std::vector<Write> held = paced(4, TrialState::stopped, {1, 3}, 100, 10, true);
  change(std::get<SegmentRow>(held[1]), std::get<SegmentRow>(held[2]));
  std::vector<std::vector<Write>> trials{held};
  for (int number = 1; number <= 3; ++number) trials.push_back(paced(number, TrialState::stopped, {1, 3}, 100, 10));
  return after_a_cold_one(4 * 230, 4 * 3, trials);
}

constexpr double kLeftOfThree =
    3 * 6 * 0.01;  // seconds; of 18 of the 24 units of known pace, beside which 8 are of the cold trial

TEST_F(AnalyticsTest, ATrialThatOtherWorkersOrARestartWentOnWithBeganAnew) {
  const auto saved = [this](const std::function<void(SegmentRow&, SegmentRow&)>& change) {
    write(one_held(change));
    return analytics()["summary"]["training_seconds_saved"].get<double>();
  };
  EXPECT_NEAR(saved([](SegmentRow&, SegmentRow&) {}), (kLeftOfThree + 6 * 0.01) * 32 / 24 - 3 * 0.1, 0.0005);
  const auto moved = [](SegmentRow&, SegmentRow& second) { second.worker = WorkerId{"other"}; };
  EXPECT_NEAR(saved(moved), kLeftOfThree * 32 / 18 - 4 * 0.1, 0.0005) << "the other worker began with it";
  const auto restarted = [](SegmentRow&, SegmentRow& second) { second.from_resource = 0; };
  EXPECT_NEAR(saved(restarted), (kLeftOfThree + 6 * (0.01 - 0.08) / 4) * 32 / 24 - 4 * 0.1, 0.0005);
}

void make_a_group(SegmentRow& first, SegmentRow& second) { first.peers = second.peers = {WorkerId{"peer"}}; }

TEST_F(AnalyticsTest, AGroupOfXgboostGoesOnInMemory) {
  write(one_held(make_a_group));
  EXPECT_NEAR(analytics()["summary"]["training_seconds_saved"].get<double>(), (kLeftOfThree + 6 * 0.16 / 3) * 32 / 24 - 3 * 0.1,
              0.0005);
}

TEST_F(AnalyticsTest, ACommandOfAGroupBeginsAnew) {
  std::vector<Write> writes = one_held(make_a_group);
  auto& job = std::get<JobRow>(writes.front());
  Json spec = Json::parse(job.spec_json);
  spec["trainer"] = {{"type", "command"}, {"argv", {"train"}}};
  job.spec_json = spec.dump();
  write(writes);
  EXPECT_NEAR(analytics()["summary"]["training_seconds_saved"].get<double>(),
              (kLeftOfThree + 6 * (0.12 - 0.06) / 3) * 32 / 24 - 4 * 0.1, 0.0005);
}

TEST_F(AnalyticsTest, AWorkerBeganWithTheTrialOfItsFirstEpoch) {
  JobRow job = running_job(1, "a");
  job.resource_spent = 2;
  job.training_ms = 3'600'010;
  std::vector<Write> later = paced(0, TrialState::stopped, {1}, 0, 10);
  std::vector<Write> first = paced(1, TrialState::stopped, {1}, 0, 3'600'000);
  std::get<SegmentRow>(first[1]).epoch = Epoch{1};
  write({job, later[0], later[1], first[0], first[1]});
  EXPECT_EQ(analytics()["summary"]["training_seconds_saved"], 0.16);
}

TEST_F(AnalyticsTest, ATrialThatTheUserStoppedHasItsPaceAndOneThatFailedOrTrainedNothingSavesNothing) {
  std::vector<Write> by_user = paced(1, TrialState::stopped, {2}, 0, 50);
  std::get<SegmentRow>(by_user[1]).until_resource = 3;
  std::get<SegmentRow>(by_user[1]).outcome = "stopped";
  std::vector<Write> at_once = paced(3, TrialState::stopped, {1, 3}, 0, 50);
  std::get<TrialRow>(at_once[0]).resource = std::get<SegmentRow>(at_once[2]).resource = 1;
  std::get<SegmentRow>(at_once[2]).outcome = "stopped";
  const std::vector<Write> never{ended_trial(1, 4, TrialState::stopped, std::nullopt, 0)};
  write(after_a_cold_one(100 + 999 + 150, 2 + 1 + 1, {by_user, paced(2, TrialState::failed, {1}, 0, 999), at_once, never}));
  EXPECT_EQ(analytics()["summary"]["resource_saved"], 7 + 8 + 8);
  EXPECT_DOUBLE_EQ(analytics()["summary"]["training_seconds_saved"].get<double>(), 0.05 * (7 + 8 + 8));
}

// Of 9 units, where trial 0 goes up the ladder 1, 3, 9 of trainings that restart and trial 1 is stopped at once. `from`: where
// its training to each of the rungs begins.
std::vector<Write> up_a_ladder_that_restarts(const std::vector<std::int64_t>& from) {
  constexpr std::int64_t kRungs[] = {1, 3, 9};
  Json document = Json::parse(spec_text("a"));
  document["trainer"]["fidelity"] = "shrinkage";
  JobRow job = running_job(1, "a");
  job.spec_json = document.dump();
  job.resource_spent = 1;
  const TrialRow up = ended_trial(1, 0, TrialState::completed, 0.9, 9);
  std::vector<Write> segments;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t units = kRungs[i] - from[i];
    segments.emplace_back(reached(up, from[i], kRungs[i], 100 * units));
    job.resource_spent += units;
  }
  job.training_ms = 100 * job.resource_spent;
  std::vector<Write> writes{job, up, ended_trial(1, 1, TrialState::stopped, 0.8, 1)};
  writes.insert(writes.end(), segments.begin(), segments.end());
  return writes;
}

TEST_F(AnalyticsTest, TakesOffWhatRungsThatRestartTrainedInVain) {
  write(up_a_ladder_that_restarts({0, 0, 0}));
  const Json summary = analytics()["summary"];
  EXPECT_EQ(summary["resource_saved"], 2 * 9 - (1 + 3 + 9 + 1));
  EXPECT_EQ(summary["resource_without_stopping"], 2 * 9);
  EXPECT_EQ(summary["training_seconds_saved"], 0.4);
}

TEST_F(AnalyticsTest, TakesOffNothingWhereATrainingThatRestartsWentOnInMemory) {
  write(up_a_ladder_that_restarts({0, 1, 3}));
  EXPECT_EQ(analytics()["summary"]["resource_spent"], 9 + 1);
  EXPECT_EQ(analytics()["summary"]["resource_saved"], 8);
  EXPECT_EQ(analytics()["summary"]["resource_without_stopping"], 2 * 9);
}

TEST_F(AnalyticsTest, AUnitOfWhatRungsRestartTakesAsLongAsOneThatWasTrained) {
  Json document = Json::parse(spec_text("a"));
  document["trainer"]["fidelity"] = "shrinkage";
  JobRow job = running_job(1, "a");
  job.spec_json = document.dump();
  job.resource_spent = 1;
  job.training_ms = 300;
  write({job, ended_trial(1, 0, TrialState::stopped, 0.8, 1), decision(1, 0, 0, 0.8, Verdict::stopped, 0)});
  EXPECT_EQ(analytics()["summary"]["resource_saved"], 8);
  EXPECT_EQ(analytics()["summary"]["training_seconds_saved"], 2.4);
}

TEST_F(AnalyticsTest, AClockThatWasSetBackLeavesAJobOfNoTime) {
  JobRow job = running_job(1, "a");
  job.created_at = kNow.plus_ms(1);
  write({job});
  EXPECT_EQ(analytics()["summary"]["wall_seconds"], 0);
}

TEST_F(AnalyticsTest, ComparesNumbersOfReplicasInQualityTrainingTimeAndWorkerTime) {
  const auto finished = [](int number, int replicas, double objective, std::int64_t training_ms) {
    TrialRow trial = ended_trial(1, number, TrialState::completed, objective, 9);
    for (int rank = 1; rank < replicas; ++rank) trial.peers.push_back(WorkerId{"w" + std::to_string(rank)});
    trial.training_ms = training_ms;
    return trial;
  };
  TrialRow without_another_objective = finished(5, 1, 0.97, 100);
  without_another_objective.more_objectives = {kNan};
  // By training time: 2 is fastest, 0 is better, 3 better still; 1 is both slower and worse than 0. By worker time: 0 beats 2
  // and 1.
  write({running_job(1, "a"), finished(0, 1, 0.8, 500), finished(1, 3, 0.7, 600), finished(2, 3, 0.75, 400),
         finished(3, 1, 0.9, 900), ended_trial(1, 4, TrialState::stopped, 0.95, 3), without_another_objective});
  const Json replicas = analytics()["replicas"];
  EXPECT_EQ(replicas["non_dominated_by_training_seconds"], Json::parse("[2, 0, 3]"));
  EXPECT_EQ(replicas["non_dominated_by_worker_seconds"], Json::parse("[0, 3]"));
  ASSERT_THAT(replicas["totals"], SizeIs(2));
  EXPECT_EQ(replicas["totals"][0]["trials"], 4);
  EXPECT_EQ(replicas["totals"][0]["best"]["trial"], 3);
  EXPECT_EQ(replicas["totals"][1], Json::parse(R"({"replicas": 3, "trials": 2, "training_seconds": 1.0, "worker_seconds": 3.0,
                            "seconds_per_unit": 0.05555555555555555,
                            "best": {"trial": 2, "objective": 0.75, "training_seconds": 0.4, "worker_seconds": 1.2}})"));
}

TEST_F(AnalyticsTest, OfReplicasTheBestIsTheOneThatIsKeptAtWhicheverRungWhereTrialsKeepTheirBestRound) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["trainer"] = {{"type", "xgboost"}, {"keep", "best"}};
  job.spec_json = spec.dump();
  TrialRow kept = ended_trial(1, 0, TrialState::stopped, 0.7, 3);
  kept.kept_value = 0.95;
  write({job, kept, ended_trial(1, 1, TrialState::completed, 0.9, 9)});
  const Json best = analytics()["replicas"]["totals"][0]["best"];
  EXPECT_EQ(best["trial"], 0);
  EXPECT_EQ(best["objective"], 0.95);
}

TEST_F(AnalyticsTest, OfReplicasThatCostTheSameTheBetterAndOfTwinsAllAreNonDominated) {
  const auto finished = [](int number, double objective, std::int64_t training_ms) {
    TrialRow trial = ended_trial(1, number, TrialState::completed, objective, 9);
    trial.training_ms = training_ms;
    return trial;
  };
  write({running_job(1, "a"), finished(0, 0.7, 500), finished(1, 0.8, 500), finished(2, 0.8, 500), finished(3, 0.8, 600),
         finished(4, 0.9, 600)});
  EXPECT_EQ(analytics()["replicas"]["non_dominated_by_training_seconds"], Json::parse("[1, 2, 4]"));
}

TEST_F(AnalyticsTest, CountsOfReplicasWhatIsNotFiniteAmongTheTotalsAndNotAmongTheBest) {
  TrialRow failed = ended_trial(1, 1, TrialState::failed, std::nullopt, 1);
  failed.peers = {WorkerId{"w1"}};
  TrialRow nowhere = ended_trial(1, 2, TrialState::failed, std::nullopt, 0);
  nowhere.peers = {WorkerId{"w1"}, WorkerId{"w2"}};
  write({running_job(1, "a"), ended_trial(1, 0, TrialState::completed, kInfinity, 9), failed, nowhere});
  const Json replicas = analytics()["replicas"];
  EXPECT_EQ(replicas["non_dominated_by_training_seconds"], Json::array());
  const Json& totals = replicas["totals"];
  ASSERT_THAT(totals, SizeIs(3));
  EXPECT_EQ(totals[0]["trials"], 1);
  EXPECT_EQ(totals[0]["best"], nullptr);
  EXPECT_EQ(totals[1]["seconds_per_unit"], 0.3) << "of one unit";
  EXPECT_EQ(totals[2]["seconds_per_unit"], nullptr) << "of none";
}

TEST_F(AnalyticsTest, ShowsThePlanWithWhatCameOfIt) {
  write_story();
  const Json json = parsed(reader().plan(kJob));
  EXPECT_EQ(json["ladder"], Json::parse("[1, 3, 9]"));
  EXPECT_EQ(json["trials"], 17);
  EXPECT_EQ(json["actual"][0]["reached"], 2);
}

TEST_F(AnalyticsTest, WritesARowATrialAsCsv) {
  write_story();
  EXPECT_EQ(
      csv(),
      "number,parameter.booster,parameter.eta,state,bracket,rung,objective,objective_resource,started_at,ended_at,"
      "training_seconds,queue_seconds,attempts,segments,worker,replicas,exit_class,message\r\n"
      "0,gbtree,0.1,completed,0,0,0.9,9,2026-03-01T12:00:00.100Z,2026-03-01T12:00:01.000Z,0.3,0.6,1,1,local-1-3f2a,1,,\r\n"
      "1,\"dart, \"\"quoted\"\"\",0.11,stopped,0,1,0.8,3,2026-03-01T12:00:00.100Z,2026-03-01T12:00:01.000Z,0.3,0.6,1,2,"
      "local-1-3f2a,1,,\r\n"
      "2,gbtree,0.12000000000000001,failed,0,0,,,2026-03-01T12:00:00.100Z,2026-03-01T12:00:01.000Z,0.3,0.6,1,1,local-1-3f2a,1,"
      "no_metric,no value of validation-auc\r\n"
      "3,gbtree,0.13,running,0,0,,,2026-03-01T12:00:00.100Z,,0,0.1,1,1,local-1-3f2a,1,,\r\n");
}

TEST_F(AnalyticsTest, WritesFurtherObjectivesAndWhatConstraintsBoundAsCsvWhereAJobHasThem) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  const Json first = {{"metric", "auc"}, {"goal", "maximize"}, {"constraints", {{{"metric", "ms"}, {"max", 10}}}}};
  const Json bounded = {{{"metric", "recall"}, {"min", 0.5}}};
  spec.erase("objective");
  spec["objectives"] = {first, {{"metric", "size, in MB"}, {"goal", "minimize"}, {"constraints", bounded}}};
  job.spec_json = spec.dump();
  TrialRow outside = ended_trial(1, 0, TrialState::completed, 0.9, 9);
  outside.more_objectives = {12.5};
  outside.violation = 0.25;
  TrialRow lost = ended_trial(1, 1, TrialState::completed, 0.8, 9);
  lost.more_objectives = {std::numeric_limits<double>::quiet_NaN()};
  lost.violation = kInfinity;
  TrialRow anew = outside;
  anew.id.number = 2;
  const auto report = [](int trial, const Metrics& metrics) {
    ObservationRow row = observation(1, trial, 9, 0.9);
    row.metrics = metrics;
    return row;
  };
  write({job, outside, lost, anew, ended_trial(1, 3, TrialState::failed, std::nullopt, 0),
         ended_trial(1, 4, TrialState::completed, 0.7, 9), report(0, {{"ms", 12.5}, {"recall", 0.75}}),
         report(1, {{"auc", 0.8}, {"ms", kNan}}), report(2, {{"ms", 3.0}, {"recall", 0.75}})});
  const std::string text = csv();
  EXPECT_THAT(
      text, HasSubstr(",rung,objective,\"objective.size, in MB\",constraint.ms,constraint.recall,violation,objective_resource,"));
  EXPECT_THAT(text, HasSubstr(",completed,0,0,0.9,12.5,12.5,0.75,0.25,9,"));
  EXPECT_THAT(text, HasSubstr(",completed,0,0,0.8,nan,nan,,inf,9,"));
  EXPECT_THAT(text, HasSubstr(",completed,0,0,0.9,12.5,,,0.25,9,")) << "a training that began anew has passed there since";
  EXPECT_THAT(text, HasSubstr(",failed,0,0,,,,,,,"));
  EXPECT_THAT(text, HasSubstr(",completed,0,0,0.7,,,,0,9,")) << "nothing is stored of it";
}

TEST_F(AnalyticsTest, WritesWhatTrialsKeepAsCsvWhereTheyKeepTheirBestRound) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["trainer"]["keep"] = "best";
  job.spec_json = spec.dump();
  TrialRow lower = ended_trial(1, 0, TrialState::completed, 0.8, 9);
  lower.kept_value = 0.9;
  lower.kept_resource = 2;
  lower.kept_until_resource = 3;
  TrialRow unknown = lower;
  unknown.id.number = 1;
  unknown.kept_until_resource = 0;
  write({job, lower, unknown, ended_trial(1, 2, TrialState::failed, std::nullopt, 0)});
  const std::string text = csv();
  EXPECT_THAT(text, HasSubstr(",objective_resource,kept_value,kept_resource,kept_until_resource,started_at,"));
  EXPECT_THAT(text, HasSubstr(",0.8,9,0.9,2,3,"));
  EXPECT_THAT(text, HasSubstr(",0.8,9,0.9,2,,"));
  EXPECT_THAT(text, HasSubstr(",failed,0,0,,,,,,"));
}

TEST_F(AnalyticsTest, StreamsManyTrialsInPieces) {
  std::vector<Write> writes = {running_job(1, "a")};
  constexpr int kMany = 3000;
  for (int number = 0; number < kMany; ++number) writes.emplace_back(ended_trial(1, number, TrialState::stopped, 0.5, 3));
  write(writes);
  std::string text;
  std::vector<std::size_t> sizes;
  const Sink sink = [&](std::string_view piece) {
    text += piece;
    sizes.push_back(piece.size());
  };
  const auto expect_pieces = [&] {
    ASSERT_GT(sizes.size(), 3U);
    sizes.pop_back();  // what is left
    for (const std::size_t size : sizes) {
      EXPECT_GE(size, 64U * 1024);
      EXPECT_LT(size, 100'000U);
    }
  };
  ASSERT_TRUE(reader().analytics_json(kJob, kNow, sink));
  expect_pieces();
  EXPECT_THAT(Json::parse(text)["trials"], SizeIs(kMany));
  text.clear();
  sizes.clear();
  ASSERT_TRUE(reader().analytics_csv(kJob, kNow, sink));
  expect_pieces();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kMany + 1);
}

}  // namespace
}  // namespace tuneband::testing
