// Live updates over real sockets: what is sent, when it ends, and clients that go or do not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  // A connection that watches; its head has come.
  RawClient watch(const std::string& job, int receive_buffer_bytes = 0, const std::string& more_headers = "") {
    RawClient watcher(port_, receive_buffer_bytes);
    watcher.send("GET /v1/jobs/" + job + "/events HTTP/1.1\r\nHost: localhost\r\n" + more_headers + "\r\n");
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
      for (std::size_t end = 0; (end = text.find("\n\n")) != std::string::npos;) {
        const std::string event = text.substr(0, end);
        text.erase(0, end + 2);
        if (event.starts_with(':')) continue;
        const std::size_t type = event.find("event: ") + 7;
        const std::size_t line = event.find("\ndata: ");
        const std::string id = event.starts_with("id: ") ? event.substr(4, event.find('\n') - 4) : "";
        events.push_back({event.substr(type, line - type), Json::parse(event.substr(line + 7)), id});
      }
    }
    return events;
  }
};

TEST_F(ApiEventsTest, AWatcherThatComesBackIsToldWhatItMissed) {
  submit(job_document("watched"));
  RawClient all = watch("watched");
  const Json order = sync("worker-1").at("order");
  std::vector<SeenEvent> seen;
  {
    RawClient first = watch("watched");
    sync("worker-1", reached(order, 0.5));
    for (bool decided = false; !decided;) {
      seen.push_back(read(first, 1).at(0));
      decided = seen.back().type == "decision";
    }
  }
  std::string last_id;
  for (const SeenEvent& event : seen) {
    if (!event.id.empty() && last_id.empty()) last_id = event.id;
  }
  RawClient back = watch("watched", 0, "Last-Event-ID: " + last_id + "\r\n");
  std::vector<std::string> expected;
  for (const SeenEvent& event : seen) {
    if (!event.id.empty() && event.id != last_id) expected.push_back(event.id);
  }
  ASSERT_FALSE(expected.empty());
  const auto events = read(back, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(events.at(i).id, expected[i]);
}

TEST_F(ApiEventsTest, AWatcherThatComesBackTooLateIsToldOfTheGap) {
  submit(job_document("watched"));
  for (const char* id : {"1-1", "x", "-", "99999999999999999999999999", "1700000000000-18446744073709551616"}) {
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
  const std::string filler(150, 'm');
  std::int64_t resource = 0;
  bool lagged = false;
  for (int call = 0; call < 14; ++call) {
    Json observations = Json::array();
    for (int i = 0; i < 5'000; ++i) observations.push_back({{"resource", ++resource}, {"metrics", {{"x", 0.5}, {filler, 1}}}});
    sync("worker-1", {{"epoch", order.at("epoch")}, {"observations", observations}});
    EXPECT_EQ(read(quick, 5'000).size() >= 5'000, true);
  }
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
