// Who trained what and when: the window, what stands together where there is much, and what is left out.
#include <gmock/gmock.h>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;

class TimelineTest : public DbTest {
 protected:
  void SetUp() override {
    store_.emplace(Store::open(path()));
    write({running_job(1, "a"), ended_trial(1, 0, TrialState::stopped, 0.5, 9), ended_trial(1, 1, TrialState::stopped, 0.5, 9)});
  }

  void write(const std::vector<Write>& writes) { store_->commit(writes); }
  // Milliseconds since the job was created; without an end it is under way.
  SegmentRow segment(const std::string& worker, std::int64_t began, std::optional<std::int64_t> ended, int trial = 0) {
    SegmentRow row;
    row.trial = {kJob, trial};
    row.epoch = Epoch{++epochs_};
    row.attempt = 1;
    row.worker = WorkerId{worker};
    row.until_resource = 9;
    row.began_at = kStart.plus_ms(began);
    if (ended) row.ended_at = kStart.plus_ms(*ended);
    if (ended) row.outcome = "reached_rung";
    return row;
  }
  Json timeline(int segments_max, const TimelineQuery& window = {}, std::optional<int> trial = std::nullopt) {
    TimelineQuery query = window;
    query.segments_max = segments_max;
    return parsed(Reader::open(path()).timeline(kJob, query, trial));
  }
  static Json of_workers(const Json& shown) {
    Json workers = Json::array();
    for (const Json& index : shown.at("worker")) workers.push_back(shown.at("workers").at(index.get<std::size_t>()));
    return workers;
  }

 private:
  std::optional<Store> store_;
  std::int64_t epochs_ = 0;
};

TEST_F(TimelineTest, ASegmentHasACellForEachOfItsWorkersByTheirRank) {
  SegmentRow row = segment("w0", 500, 1500, 1);
  row.peers = {WorkerId{"w1"}, WorkerId{"w2"}};
  row.from_resource = 1;
  row.resource = 3;
  row.attempt = 2;
  write({row, segment("w0", 2000, std::nullopt, 1)});
  const Json shown = timeline(100);
  EXPECT_EQ(of_workers(shown), Json({"w0", "w1", "w2", "w0"}));
  EXPECT_EQ(shown.at("rank"), Json({0, 1, 2, 0}));
  EXPECT_EQ(shown.at("began"), Json({0.5, 0.5, 0.5, 2.0}));
  EXPECT_EQ(shown.at("ended"), Json({1.5, 1.5, 1.5, nullptr}));
  const Json expected = {{"trial", 1},         {"epoch", 1},          {"attempt", 2},
                         {"from_resource", 1}, {"until_resource", 9}, {"resource", 3}};
  for (const auto& [name, cell] : expected.items()) EXPECT_EQ(shown.at(name).at(0), cell) << name;
  EXPECT_EQ(shown.at("outcome"), Json({0, 0, 0, -1}));
  EXPECT_EQ(shown.at("outcomes"), Json::array({"reached_rung"}));
  EXPECT_FALSE(shown.contains("losses"));
}

// The one before it may have been before the window.
TEST_F(TimelineTest, ASegmentWentStraightOnWhereItsWorkersHadTheTrialInMemory) {
  const auto next = [this](const SegmentRow& before, std::int64_t began) {
    SegmentRow row = segment(before.worker.value, began, began + 100, before.trial.number);
    row.peers = before.peers;
    row.from_resource = before.resource;
    row.resource = before.resource + 1;
    return row;
  };
  SegmentRow first = segment("w", 0, 100);
  first.resource = 1;
  const SegmentRow straight = next(first, 100);
  const SegmentRow later = next(straight, 250);
  SegmentRow lost = next(later, 350);
  lost.outcome = "worker_lost";
  const SegmentRow again = next(lost, 450);
  SegmentRow group = segment("w", 0, 100, 1);
  group.peers = {WorkerId{"v"}};
  group.resource = 1;
  write({first, straight, later, lost, again, group, next(group, 100)});
  EXPECT_EQ(timeline(100).at("straight_on"), Json({0, 1, 0, 1, 0, 0, 0, 1, 1}));
  TimelineQuery window;
  window.from = kStart.plus_ms(150);
  EXPECT_EQ(timeline(100, window).at("straight_on").at(0), 1);
}

TEST_F(TimelineTest, AWindowHasWhatEndedAfterItsBeginAndBeganBeforeItsEnd) {
  write({segment("w", 0, 1000), segment("w", 0, 1001), segment("w", 1999, 3000, 1), segment("w", 2000, 3000),
         segment("w", 1500, std::nullopt), segment("w", 2000, std::nullopt)});
  TimelineQuery window;
  window.from = kStart.plus_ms(1000);
  window.until = kStart.plus_ms(2000);
  EXPECT_EQ(timeline(100, window).at("epoch"), Json({2, 5, 3})) << "by trial";
  EXPECT_EQ(timeline(100, window, 1).at("epoch"), Json::array({3}));
}

// Of one worker as many times as there may be cells, less one for what began before the window and one for what is under way.
TEST_F(TimelineTest, MoreSegmentsThanAreAskedForStandTogetherByWhenTheyBegan) {
  for (std::int64_t i = 0; i < 7; ++i) write({segment("w", 100 * i, 100 * i + 100)});
  SegmentRow lost = segment("w", 700, 800, 1);
  lost.outcome = "worker_lost";
  write({lost});
  const Json each = timeline(8);
  EXPECT_EQ(each.at("trial").size(), 8U);
  EXPECT_EQ(each.at("merged"), 0);
  const Json shown = timeline(6);
  // Four times of 201 ms.
  EXPECT_EQ(shown.at("segments"), Json({3, 2, 2, 1}));
  EXPECT_EQ(shown.at("began"), Json({0.0, 0.3, 0.5, 0.7}));
  EXPECT_EQ(shown.at("ended"), Json({0.3, 0.5, 0.7, 0.8}));
  EXPECT_EQ(shown.at("losses"), Json({0, 0, 0, 1}));
  EXPECT_EQ(shown.at("merged"), 7);
  EXPECT_EQ(timeline(3).at("segments"), Json::array({8})) << "one time at least";
}

TEST_F(TimelineTest, WhatStandsTogetherHasTheTrialOfTheLongestAndTheOutcomeOfTheFirstLoss) {
  std::vector<Write> writes;
  const std::vector<std::string> outcomes = {"completed", "crashed", "worker_lost", "stopped", "cancelled", "given_back"};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto at = static_cast<std::int64_t>(10 * i);
    SegmentRow row = segment("w", at, at + (i == 3 ? 9 : 5), i == 3 ? 1 : 0);
    row.outcome = outcomes[i];
    writes.emplace_back(row);
  }
  SegmentRow as_long = segment("w", 60, 69);
  as_long.outcome = "completed";
  writes.emplace_back(as_long);
  write(writes);
  const Json shown = timeline(3);
  EXPECT_EQ(shown.at("segments"), Json::array({7}));
  EXPECT_EQ(shown.at("trial"), Json::array({0}));
  EXPECT_EQ(shown.at("epoch"), Json::array({7})) << "of two that are as long the first, in the order of trials";
  EXPECT_EQ(shown.at("losses"), Json::array({2}));
  EXPECT_EQ(shown.at("outcomes"), Json::array({"crashed"}));
  EXPECT_EQ(shown.at("began"), Json::array({0.0}));
  EXPECT_EQ(shown.at("ended"), Json::array({0.069}));
  EXPECT_EQ(shown.at("merged"), 7);
}

TEST_F(TimelineTest, OneLossAmongThoseThatStandTogetherIsTheirOutcome) {
  SegmentRow lost = segment("w", 20, 25);
  lost.outcome = "worker_lost";
  write({segment("w", 0, 9), segment("w", 10, 15), lost, segment("w", 30, 39)});
  const Json shown = timeline(3);
  EXPECT_EQ(shown.at("epoch"), Json::array({2})) << "of the first that lasted longest";
  EXPECT_EQ(shown.at("losses"), Json::array({1}));
  EXPECT_EQ(shown.at("outcomes"), Json::array({"worker_lost"}));
}

TEST_F(TimelineTest, NoTimeIsShorterThanAMillisecond) {
  std::vector<Write> writes;
  for (const std::int64_t began : {0, 0, 0, 0, 1, 1, 2, 3, 3, 3})
    writes.emplace_back(segment("w", began, began == 0 ? 5 - writes.size() : 3));
  write(writes);
  const Json shown = timeline(9);
  EXPECT_EQ(shown.at("segments"), Json({4, 2, 1, 3}));
  EXPECT_EQ(shown.at("epoch"), Json({1, 5, 7, 8})) << "the first is the longest, and the last to end";
  EXPECT_EQ(shown.at("ended"), Json({0.005, 0.003, 0.003, 0.003}));
  EXPECT_EQ(shown.at("outcome"), Json({0, 0, 0, 0}));
}

TEST_F(TimelineTest, WorkersShareTheTimesThatThereMayBe) {
  std::vector<Write> writes;
  for (const std::int64_t began : {0, 100, 200, 300, 400}) {
    for (const char* worker : {"a", "b"}) writes.emplace_back(segment(worker, began, began + 50));
  }
  write(writes);
  EXPECT_EQ(timeline(8).at("segments"), Json({3, 2, 3, 2})) << "two times of 226 ms";
}

TEST_F(TimelineTest, WhatIsUnderWayAndWhatBeganBeforeTheWindowStandApart) {
  write({segment("w", 0, 1500), segment("w", 500, 1600), segment("w", 1000, 1100), segment("w", 1100, 1200),
         segment("w", 1900, std::nullopt)});
  TimelineQuery window;
  window.from = kStart.plus_ms(1000);
  window.until = kStart.plus_ms(2000);
  const Json shown = timeline(3, window);
  EXPECT_EQ(shown.at("began"), Json({1.9, 0.0, 1.0}));
  EXPECT_EQ(shown.at("ended"), Json({nullptr, 1.6, 1.2}));
  EXPECT_EQ(shown.at("segments"), Json({1, 2, 2}));
  EXPECT_EQ(shown.at("losses"), Json({0, 0, 0}));
  EXPECT_EQ(shown.at("merged"), 4);
  write({segment("w", 1600, 2500)});
  const Json two_times = timeline(4, window);
  EXPECT_EQ(two_times.at("began"), Json({1.9, 0.0, 1.0, 1.6})) << "what began before is in none of them";
  EXPECT_EQ(two_times.at("segments"), Json({1, 2, 2, 1}));
  const Timestamp now = kStart.plus_ms(kTimelineMs + 1000);
  TimelineQuery last_hour;
  last_hour.segments_max = 3;
  const Json of_all = parsed(Reader::open(path()).workers_timeline(last_hour, now));
  EXPECT_EQ(of_all.at("segments"), Json({1, 2, 3})) << "its window is that of the query or the last hour";
}

TEST_F(TimelineTest, OfTooManyWorkersThoseThatWereThereLastStay) {
  write(
      {segment("a", 0, 50), segment("a", 60, 300), segment("a", 70, 80), segment("b", 0, 100), segment("c", 150, std::nullopt)});
  const Json two = timeline(6);  // a third of the cells
  EXPECT_EQ(two.at("workers_left_out"), 1);
  EXPECT_EQ(of_workers(two), Json({"a", "a", "a", "c"}));
  const Json three = timeline(9);
  EXPECT_EQ(three.at("workers_left_out"), 0);
  EXPECT_EQ(three.at("workers").size(), 3U);
  write({segment("d", 0, 150)});
  const Json equals = timeline(6);
  EXPECT_EQ(equals.at("workers_left_out"), 2);
  EXPECT_EQ(of_workers(equals), Json({"a", "a", "a", "d"})) << "c was there until the same moment, and only one of them has room";
}

TEST_F(TimelineTest, NoMoreThanFiveHundredWorkersAreShown) {
  std::vector<Write> writes;
  constexpr int kMany = 503;
  for (int i = 0; i < kMany; ++i) writes.emplace_back(segment("w" + std::to_string(i), 0, 1 + i * 37 % kMany));
  write(writes);
  const Json shown = timeline(5000);
  EXPECT_EQ(shown.at("workers_left_out"), 3);
  EXPECT_EQ(shown.at("workers").size(), 500U);
  for (const Json& ended : shown.at("ended")) EXPECT_GT(ended, 0.003);
}

TEST_F(TimelineTest, OfAllWorkersTheLastHourIsShownWithItsJobsAndNoMoreThanTwoHundredOfThem) {
  const Timestamp now = kStart.plus_ms(kTimelineMs + 100);
  write({segment("w", 0, 100), segment("w", 0, 101)});
  const auto shown_now = [&] { return parsed(Reader::open(path()).workers_timeline({}, now)); };
  EXPECT_EQ(shown_now().at("epoch"), Json::array({2}));
  EXPECT_EQ(shown_now().at("job"), Json::array({1}));
  for (int id = 2; id <= 200; ++id) write({running_job(id, "job-" + std::to_string(id))});
  EXPECT_EQ(shown_now().at("jobs").size(), 200U);
  EXPECT_EQ(shown_now().at("more_jobs"), false);
  write({running_job(201, "one-more")});
  EXPECT_EQ(shown_now().at("jobs").size(), 200U);
  EXPECT_EQ(shown_now().at("jobs").at(0).at("id"), 201);
  EXPECT_EQ(shown_now().at("more_jobs"), true);
}

TEST_F(TimelineTest, EventsOfWorkersAndWhenNoServerWasThereStandBesideTheirSegments) {
  const Timestamp now = kStart.plus_ms(5000);
  std::int64_t id = 0;
  const auto happened = [&](EventKind kind, std::int64_t at) {
    EventRow event;
    event.id = ++id;
    event.kind = kind;
    event.at = kStart.plus_ms(at);
    return event;
  };
  const auto shown_now = [&] { return parsed(Reader::open(path()).workers_timeline({}, now)); };
  write({happened(EventKind::server_started, 0)});
  EXPECT_EQ(shown_now().at("server_starts"), Json::array()) << "nothing was before";
  write({happened(EventKind::worker_connected, 100), happened(EventKind::server_started, 2000)});
  EXPECT_EQ(shown_now().at("server_starts"),
            Json::parse(R"([{"at": "2026-03-01T12:00:02.000Z", "silent_since": "2026-03-01T12:00:00.100Z"}])"));
  std::vector<Write> writes;
  while (id < 1000) writes.emplace_back(happened(EventKind::worker_connected, 3000));
  write(writes);
  EXPECT_EQ(shown_now().at("events").size(), 1000U);
  EXPECT_EQ(shown_now().at("more_events"), false);
  write({happened(EventKind::worker_connected, 3000)});
  EXPECT_EQ(shown_now().at("events").size(), 1000U);
  EXPECT_EQ(shown_now().at("more_events"), true);
}

}  // namespace
}  // namespace tuneband::testing
