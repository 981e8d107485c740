// What a list of jobs shows of each: how far it is, what it waits for, and its bests over time.
#include <gmock/gmock.h>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;

class CardsTest : public DbTest {
 protected:
  void SetUp() override { store_.emplace(Store::open(path())); }

  void write(const std::vector<Write>& writes) { store_->commit(writes); }
  Json card(const JobStanding& standing = {}) {
    return parsed(Reader::open(path()).cards({}, {{kJob, standing}})).at("jobs").at(0);
  }
  std::string waits_for(const views::Waiting& waiting, std::optional<int> queue_position = std::nullopt) {
    return card({waiting, queue_position}).at("waits_for");
  }

 private:
  std::optional<Store> store_;
};

JobRow job_of(const std::string& scheduler, const Json& limits) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(spec_text("a", "maximize", scheduler));
  spec["limits"] = limits;
  job.spec_json = spec.dump();
  return job;
}

EventRow improved(int id, double value, Timestamp at) {
  EventRow event;
  event.id = id;
  event.kind = EventKind::job_improved;
  event.job = kJob;
  event.trial = 0;
  event.resource = id;
  event.value = value;
  event.at = at;
  return event;
}

// Of jobs whose documents are more than are kept.
TEST_F(CardsTest, AListReadsADocumentOnceAndKeepsNoneOfThem) {
  write({running_job(1, "a"), running_job(2, "b")});
  Reader::Source source(path());
  const Json cards = parsed(Reader::open(source).cards({}, {}));
  const Json jobs = parsed(Reader::open(source).jobs({}));
  EXPECT_EQ(source.jobs->bytes(), 0u);
  Connection::open_to_write(path()).execute("UPDATE jobs SET spec_json = '{}'");
  EXPECT_EQ(parsed(Reader::open(source).cards({}, {})), cards);
  EXPECT_EQ(parsed(Reader::open(source).jobs({})), jobs);
  EXPECT_NE(parsed(Reader::open(path()).jobs({})), jobs) << "another process reads them";
}

TEST_F(CardsTest, WhereTheResourceIsPlannedExactlyProgressIsTheShareSpent) {
  JobRow job = running_job(1, "a");
  write({job});
  const std::int64_t total = parsed(Reader::open(path()).plan(kJob)).at("total_resource");
  job.resource_spent = total / 3;
  write({job});
  EXPECT_EQ(card().at("progress"), static_cast<double>(total / 3) / static_cast<double>(total));
  job.resource_spent = total + 1;  // of trials that were begun again
  write({job});
  EXPECT_EQ(card().at("progress"), 1);
}

TEST_F(CardsTest, WhereTheOrderOfArrivalDecidesProgressIsTheShareOfTrialsThatAreOver) {
  JobRow job = job_of("asha_promotion", {{"max_trials", 20}});
  job.resource_spent = 1;
  job.trials_created = 11;
  job.trials_completed = 1;
  job.trials_stopped = 2;
  job.trials_failed = 3;
  job.trials_cancelled = 4;
  write({job});
  EXPECT_EQ(card().at("progress"), 0.5);
}

TEST_F(CardsTest, AJobOfOneTrialHasMadeNoProgressUntilThatIsOver) {
  write({job_of("asha_promotion", {{"max_trials", 1}})});
  EXPECT_EQ(card().at("progress"), 0);
}

TEST_F(CardsTest, ProgressIsNotKnownWhereOnlyTimeEndsTheJobOrItsDocumentIsNotTaken) {
  write({job_of("asha_promotion", {{"max_runtime_seconds", 3600}})});
  EXPECT_EQ(card().at("progress"), nullptr);
  JobRow of_the_future = running_job(2, "b");
  of_the_future.spec_json = R"({"name": "b", "from": "the future"})";
  write({of_the_future});
  EXPECT_EQ(card().at("id"), 2);
  EXPECT_EQ(card().at("progress"), nullptr);
}

TEST_F(CardsTest, SayHowManyAreStillToStopAndHowManyHaveAWorkerBefore) {
  write({running_job(1, "a")});
  EXPECT_EQ(waits_for({{"being stopped", 1}}), "1 trial is still to stop");
  EXPECT_EQ(waits_for({{"being stopped", 2}}), "2 trials are still to stop");
  EXPECT_EQ(waits_for({{"no free worker", 4}}), "the next free worker is its");
  EXPECT_EQ(waits_for({{"no free worker", 4}}, 1), "the next free worker is its");
  EXPECT_EQ(waits_for({{"no free worker", 4}}, 2), "1 job has a free worker before it");
  EXPECT_EQ(waits_for({{"no free worker", 4}}, 3), "2 jobs have a free worker before it");
}

TEST_F(CardsTest, TrialsThatWaitAtARungKeepNothingAndHideNothing) {
  write({running_job(1, "a")});
  EXPECT_EQ(waits_for({{"rung not full", 2}}), "");
  EXPECT_EQ(waits_for({{"not among the best yet", 2}}), "");
  EXPECT_EQ(waits_for({{"rung not full", 2}, {"not among the best yet", 1}, {"no worker", 1}}), "there is no worker");
}

TEST_F(CardsTest, ASparklineHasTheFirstTheLastAndEvenlySomeOfManyBests) {
  constexpr int kMany = 4 * static_cast<int>(kSparklinePoints) - 3;  // every fourth
  std::vector<Write> writes = {running_job(1, "a"), running_trial(1, 0)};
  for (int i = 0; i < kMany; ++i) writes.emplace_back(improved(i + 1, i, kStart.plus_ms(500 * i)));
  write(writes);
  std::vector<double> values;
  std::vector<double> seconds;
  for (int i = 0; i < kMany; i += 4) {
    values.push_back(i);
    seconds.push_back(0.5 * i);
  }
  EXPECT_EQ(card().at("sparkline"), Json({{"value", values}, {"seconds", seconds}}));
}

TEST_F(CardsTest, ASparklineOfOneBestIsThat) {
  write({running_job(1, "a"), running_trial(1, 0), improved(1, 0.5, kStart.plus_ms(2000))});
  EXPECT_EQ(card().at("sparkline"), Json::parse(R"({"value": [0.5], "seconds": [2.0]})"));
}

TEST_F(CardsTest, ASparklineLeavesOutWhatBrokeTheConstraintsAfterIt) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["objective"]["constraints"] = Json::array({{{"metric", "ms"}, {"max", 5}}});
  job.spec_json = spec.dump();
  job.best_anywhere = {1, 1, 0.5};
  DecisionRow breaks = decision(1, 0, 1, 0.95, Verdict::stopped, 0);
  breaks.violation = 0.5;
  write({job, running_trial(1, 0), running_trial(1, 1), improved(1, 0.9, kStart), decision(1, 0, 0, 0.9, Verdict::promoted, 1),
         decision(1, 1, 0, 0.5, Verdict::stopped, 2), breaks});
  EXPECT_THAT(card().at("sparkline").at("value"), ElementsAre(0.5));
}

TEST_F(CardsTest, ASparklineIsOfFullTrainingsAloneWhereLowerRungsHaveFewerFoldsOnceThereIsOne) {
  JobRow job = running_job(1, "a");
  Json spec = Json::parse(job.spec_json);
  spec["trainer"]["data"]["folds"] = {{"count", 5}, {"early", 2}};
  job.spec_json = spec.dump();
  job.best_anywhere = {0, 1, 0.9};
  const auto full = [](int trial, double value, std::int64_t sequence) {
    DecisionRow row = decision(1, trial, 2, value, Verdict::completed, sequence);
    row.resource = 9;
    return row;
  };
  DecisionRow breaks = full(3, 0.95, 4);
  breaks.violation = 1;
  std::vector<Write> writes = {job, improved(1, 0.9, kStart), decision(1, 0, 0, 0.9, Verdict::promoted, 0)};
  for (int trial = 0; trial < 4; ++trial) writes.emplace_back(running_trial(1, trial));
  write(writes);
  EXPECT_THAT(card().at("sparkline").at("value"), ElementsAre(0.9));
  job.best = {2, 9, 0.8};
  write({job, full(0, 0.7, 1), full(1, 0.6, 2), full(2, 0.8, 3), breaks});
  EXPECT_THAT(card().at("sparkline").at("value"), ElementsAre(0.7, 0.8));
}

TEST_F(CardsTest, OfBestsOfOneMomentTheBetterComesLater) {
  write({running_job(1, "a"), running_trial(1, 0), improved(1, 0.7, kStart), improved(2, 0.5, kStart)});
  EXPECT_THAT(card().at("sparkline").at("value"), ElementsAre(0.5, 0.7));
  JobRow minimized = running_job(2, "b");
  minimized.spec_json = spec_text("b", "minimize");
  EventRow worse = improved(3, 0.7, kStart);
  EventRow better = improved(4, 0.5, kStart);
  worse.job = better.job = JobId{2};
  write({minimized, running_trial(2, 0), better, worse});
  EXPECT_THAT(card().at("sparkline").at("value"), ElementsAre(0.7, 0.5));
}

}  // namespace
}  // namespace tuneband::testing
