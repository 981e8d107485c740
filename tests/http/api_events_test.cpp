// Live updates over real sockets: what is sent, when it ends, and clients that go or do not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>

#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

struct SeenEvent {
  std::string type;
  Json data;
  std::string id;
};

class ApiEventsTest : public ApiTest {
 protected:
  static std::string watched_path(const std::string& query) { return "/v1/jobs/watched/events" + query; }
  // A connection that watches; its head has come.
  RawClient watch(const std::string& job, int receive_buffer_bytes = 0, const std::string& more_headers = "") {
    const std::string more = more_headers.substr(0, more_headers.find('\r'));
    return watch_at("/v1/jobs/" + job + "/events HTTP/1.1" + (more.empty() ? "" : "\r\n" + more), receive_buffer_bytes);
  }
  // `target_and_headers`: what stands after GET.
  RawClient watch_at(const std::string& target_and_headers, int receive_buffer_bytes = 0) {
    RawClient watcher(port_, receive_buffer_bytes);
    watcher.send("GET " + target_and_headers + "\r\nHost: localhost\r\n\r\n");
    const RawReply head = watcher.receive_head();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("content-type"), "text/event-stream");
    return watcher;
  }

  // Events until the stream ends, or `enough` of them.
  static std::vector<SeenEvent> read(RawClient& watcher, std::size_t enough = SIZE_MAX) {
    std::vector<SeenEvent> events;
    std::string text;
    while (events.size() < enough) {
      const auto chunk = watcher.receive_chunk();
      if (!chunk || chunk->empty()) break;
      text += *chunk;
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = text.find("\n\n", begin)) != std::string::npos; begin = end + 2) {
        const std::string event = text.substr(begin, end - begin);
        if (event.starts_with(':')) continue;
        const std::size_t type = event.find("event: ") + 7;
        const std::size_t line = event.find("\ndata: ");
        const std::string id = event.starts_with("id: ") ? event.substr(4, event.find('\n') - 4) : "";
        events.push_back({event.substr(type, line - type), Json::parse(event.substr(line + 7)), id});
      }
      text.erase(0, begin);
    }
    return events;
  }
};

TEST_F(ApiEventsTest, AWatcherThatComesBackIsToldWhatItMissed) {
  submit(job_document("watched"));
  const Json order = sync("worker-1").at("order");
  std::string last_id;
  {
    RawClient first = watch("watched");
    const auto seen = read(first, 1);
    ASSERT_EQ(seen.at(0).type, "job");
    last_id = seen.at(0).id;
  }
  EXPECT_NE(last_id, "");
  const Json next = sync("worker-1", reached(order, 0.5)).at("order");
  for (const std::string& back :
       {watched_path("") + " HTTP/1.1\r\nLast-Event-ID: " + last_id, watched_path("?after=" + last_id) + " HTTP/1.1"}) {
    RawClient watcher = watch_at(back);
    std::map<std::string, std::vector<Json>> told;
    for (const SeenEvent& event : read(watcher, 5)) told[event.type].push_back(event.data);
    ASSERT_EQ(told["trial"].size(), 2u) << back;
    Json now = get_json("/v1/jobs/watched/trials/" + order.at("trial").dump());
    now["queue_seconds"] = told["trial"].at(0).at("queue_seconds");  // it waits on
    EXPECT_EQ(told["trial"].at(0), now);
    EXPECT_EQ(told["trial"].at(1).at("number"), next.at("trial"));
    EXPECT_EQ(told["trial"].at(1).at("state"), "running");
    ASSERT_EQ(told["observation"].size(), 1u);
    EXPECT_EQ(told["observation"].at(0).at("objective"), 0.5);
    EXPECT_EQ(told["observation"].at(0).at("trial"), order.at("trial"));
    ASSERT_EQ(told["decision"].size(), 1u);
    EXPECT_EQ(told["decision"].at(0).at("trial"), order.at("trial"));
    EXPECT_EQ(told["job"].size(), 1u);
  }
}

TEST_F(ApiEventsTest, AWatcherThatComesBackIsToldTheNotesOfTrialsThatItMissed) {
  submit(job_document("watched"));
  sync("worker-1");
  std::string last_id;
  {
    RawClient first = watch("watched");
    last_id = read(first, 1).at(0).id;
  }
  ASSERT_EQ(send("PUT", "/v1/jobs/watched/trials/0/note", R"({"note": "look at this"})").status, 200);
  RawClient back = watch("watched", 0, "Last-Event-ID: " + last_id + "\r\n");
  const auto events = read(back, 3);
  EXPECT_EQ(events.at(0).type, "trial");
  EXPECT_EQ(events.at(1).type, "note");
  EXPECT_EQ(events.at(1).data, Json({{"trial", 0}, {"note", "look at this"}}));
}

TEST_F(ApiEventsTest, OnlyTheLastOfACommitHasAnIdSoThatNoneIsPassedOver) {
  submit(job_document("watched"));
  const Json order = sync("worker-1").at("order");
  RawClient watcher = watch("watched");
  EXPECT_NE(read(watcher, 1).at(0).id, "");
  sync("worker-1", reached(order, 0.5));
  const auto told = read(watcher, 5);
  const char* expected[] = {"trial", "trial", "observation", "decision", "job"};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(told.at(i).type, expected[i]);
    EXPECT_EQ(told.at(i).id.empty(), i < 3) << i;
  }
  const std::string id = told.at(3).id;
  EXPECT_EQ(id.substr(0, id.find('-')), get_json("/v1/events").at("newest").dump());
}

TEST_F(ApiEventsTest, WhatIsPrunedIsAGapToAWatcherThatComesBack) {
  submit(job_document("watched"));
  std::string last_id;
  {
    RawClient first = watch("watched");
    last_id = read(first, 1).at(0).id;
  }
  work_until_idle("worker-1");
  while (store_.tidy({.events_max = 1})) {
  }
  RawClient back = watch("watched", 0, "Last-Event-ID: " + last_id + "\r\n");
  const auto events = read(back);
  EXPECT_EQ(events.at(0).type, "gap");
  EXPECT_EQ(events.back().data.at("state"), "completed");
}

TEST_F(ApiEventsTest, AWatcherThatComesBackTooLateIsToldOfTheGap) {
  submit(job_document("watched"));
  for (const char* id :
       {"12", "x", "-", "1-", "-5-1", "99999999999999999999999999-1", "1-18446744073709551616", "1700000000000-7"}) {
    RawClient back = watch("watched", 0, std::string("Last-Event-ID: ") + id + "\r\n");
    const auto events = read(back, 2);
    ASSERT_EQ(events.size(), 2u) << id;
    EXPECT_EQ(events[0].type, "gap") << id;
    EXPECT_EQ(events[1].type, "job") << id;
  }
}

TEST_F(ApiEventsTest, AWatcherSeesTheJobFirstThenEverythingAndTheEnd) {
  submit(job_document("watched"));
  RawClient watcher = watch("watched");
  const auto first = read(watcher, 1);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].type, "job");
  EXPECT_EQ(first[0].data.at("name"), "watched");
  work_until_idle("worker-1");
  const auto events = read(watcher);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().type, "job");
  EXPECT_EQ(events.back().data.at("state"), "completed");
  std::map<std::string, int> counts;
  for (const SeenEvent& event : events) ++counts[event.type];
  const Json trials = get_json("/v1/jobs/watched/trials?limit=1000").at("trials");
  std::size_t decisions = 0;
  std::size_t observations = 0;
  for (const Json& trial : trials) {
    const std::string one = "/v1/jobs/watched/trials/" + trial.at("number").dump();
    decisions += get_json(one + "/decisions").at("decisions").size();
    observations += get_json(one + "/observations").at("observations").size();
  }
  EXPECT_EQ(static_cast<std::size_t>(counts["observation"]), observations);
  EXPECT_GE(static_cast<std::size_t>(counts["decision"]), decisions) << "a verdict that was waited for is told twice";
  EXPECT_GE(static_cast<std::size_t>(counts["trial"]), trials.size());
}

TEST_F(ApiEventsTest, OfAnEndedJobThereIsOnlyTheJob) {
  submit(job_document("over"));
  work_until_idle("worker-1");
  RawClient watcher = watch("over");
  const auto events = read(watcher);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data.at("state"), "completed");
}

TEST_F(ApiEventsTest, WatchersOfOneJobDoNotSeeAnother) {
  submit(job_document("mine"));
  RawClient watcher = watch("mine");
  read(watcher, 1);
  const std::string other = submit(job_document("other"));
  post("/v1/jobs/other/stop");
  post("/v1/jobs/mine/stop");
  for (const SeenEvent& event : read(watcher)) {
    EXPECT_NE(event.data.value("job", Json()).dump(), other);
    if (event.type == "job") {
      EXPECT_EQ(event.data.at("name"), "mine");
    }
  }
}

TEST_F(ApiEventsTest, AWatcherThatGoesIsForgotten) {
  submit(job_document("watched"));
  {
    RawClient leaving = watch("watched");
    read(leaving, 1);
  }
  RawClient staying = watch("watched");
  work_until_idle("worker-1");
  EXPECT_EQ(read(staying).back().data.at("state"), "completed");
}

TEST_F(ApiEventsTest, AWatcherThatDoesNotReadIsToldSoAndLetGo) {
  Json document = job_document("chatty");
  document["scheduler"] = {{"type", "none"}, {"max_resource", 10'000'000}};
  document["limits"] = {{"max_trials", 1}};
  submit(document);
  RawClient slow = watch("chatty", 4'096);
  RawClient quick = watch("chatty");
  read(quick, 1);
  const Json order = sync("worker-1").at("order");
  // Few of many bytes: more than a queue and the kernel hold, before the client that does not read is given up.
  constexpr int kObservations = 500;
  Json metrics{{"x", 0.5}};
  for (char letter = 'a'; letter < 'q'; ++letter) metrics[std::string(180, letter)] = 1;
  std::int64_t resource = 0;
  bool lagged = false;
  for (int call = 0; call < 14; ++call) {
    Json observations = Json::array();
    for (int i = 0; i < kObservations; ++i) observations.push_back({{"resource", ++resource}, {"metrics", metrics}});
    sync("worker-1", {{"epoch", order.at("epoch")}, {"observations", observations}});
    EXPECT_GE(read(quick, kObservations).size(), kObservations);
  }
  slow.take_more(1'000'000);
  for (const SeenEvent& event : read(slow)) lagged = lagged || event.type == "lagged";
  EXPECT_TRUE(lagged);
}

TEST_F(ApiEventsTest, StreamsEndWhenTheServerDoes) {
  submit(job_document("watched"));
  RawClient watcher = watch("watched");
  read(watcher, 1);
  on_loop([this] { api_->close_streams(); });
  EXPECT_EQ(read(watcher).size(), 0u);
}

}  // namespace
}  // namespace tuneband::test
