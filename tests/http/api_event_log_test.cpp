// The log of events over real sockets: pages of it, and following it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ApiEventLogTest : public ApiTest {
 protected:
  static std::vector<std::string> kinds(const Json& page) {
    std::vector<std::string> kinds;
    for (const Json& event : page.at("events")) kinds.push_back(event.at("kind").get<std::string>());
    return kinds;
  }
  static std::vector<std::int64_t> ids(const Json& page) {
    std::vector<std::int64_t> ids;
    for (const Json& event : page.at("events")) ids.push_back(event.at("id").get<std::int64_t>());
    return ids;
  }
  void keep(std::int64_t events) {
    while (store_.tidy({.events_max = events})) {
    }
  }

  RawClient follow(const std::string& query, const std::string& last_event_id = "") {
    RawClient follower(port_);
    follower.send("GET /v1/events/stream" + query + " HTTP/1.1\r\nHost: localhost\r\n" +
                  (last_event_id.empty() ? "" : "Last-Event-ID: " + last_event_id + "\r\n") + "\r\n");
    const RawReply head = follower.receive_head();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("content-type"), "text/event-stream");
    EXPECT_EQ(head.header("x-accel-buffering"), "no") << "else nginx would keep back what is told";
    return follower;
  }
  // Blocks of the stream, without heartbeats, until there are `enough` of them.
  static std::vector<std::string> read(RawClient& follower, std::size_t enough) {
    std::vector<std::string> blocks;
    std::string text;
    while (blocks.size() < enough) {
      const auto chunk = follower.receive_chunk();
      if (!chunk || chunk->empty()) break;
      text += *chunk;
      for (std::size_t end = 0; (end = text.find("\n\n")) != std::string::npos; text.erase(0, end + 2)) {
        if (!text.starts_with(':')) blocks.push_back(text.substr(0, end));
      }
    }
    return blocks;
  }
  static Json data_of(const std::string& block) { return Json::parse(block.substr(block.find("\ndata: ") + 7)); }
};

TEST_F(ApiEventLogTest, TellsWhatHappenedInItsOrder) {
  submit(job_document("told"));
  const Json order = sync("worker-1").at("order");
  sync("worker-1", reached(order, 0.25));
  const Json page = get_json("/v1/events");
  EXPECT_THAT(kinds(page), ElementsAre("job_submitted", "worker_connected", "trial_created", "trial_started", "job_improved",
                                       "trial_paused", "trial_created", "trial_started"));
  EXPECT_THAT(ids(page), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(page.at("next"), nullptr);
  EXPECT_EQ(page.at("oldest"), 1);
  EXPECT_EQ(page.at("newest"), 8);
  EXPECT_EQ(page.at("gap"), false);
  Json improved = page.at("events").at(4);
  EXPECT_TRUE(improved.at("at").is_string());
  improved.erase("at");
  EXPECT_EQ(improved, Json::parse(R"({"id": 5, "kind": "job_improved", "job": 1, "job_name": "told", "trial": 0,
                                      "worker": "worker-1", "resource": 1, "value": 0.25, "exit_class": null, "message": ""})"));
  const Json connected = page.at("events").at(1);
  EXPECT_EQ(connected.at("job"), nullptr);
  EXPECT_EQ(connected.at("job_name"), nullptr);
  EXPECT_EQ(connected.at("trial"), nullptr);
}

TEST_F(ApiEventLogTest, ComesInPagesThatFollowOneAnother) {
  submit(job_document("paged"));
  work_until_idle("worker-1");
  const Json all = get_json("/v1/events?limit=1000");
  std::vector<std::int64_t> read;
  Json after = 0;
  while (!after.is_null()) {
    const Json page = get_json("/v1/events?limit=7&after=" + after.dump());
    EXPECT_LE(page.at("events").size(), 7u);
    for (const std::int64_t id : ids(page)) read.push_back(id);
    after = page.at("next");
  }
  EXPECT_EQ(read, ids(all));
  EXPECT_EQ(read.back(), all.at("newest"));
  EXPECT_THAT(kinds(get_json("/v1/events?after=" + std::to_string(read.back()))), IsEmpty());
}

TEST_F(ApiEventLogTest, OfOneJobAloneAlsoWhenItIsDeleted) {
  submit(job_document("kept"));
  submit(job_document("other"));
  EXPECT_THAT(kinds(get_json("/v1/events?job=other")), ElementsAre("job_submitted"));
  EXPECT_EQ(post("/v1/jobs/other/stop").status, 202);
  EXPECT_EQ(remove("/v1/jobs/other").status, 204);
  const Json page = get_json("/v1/events?job=2");
  EXPECT_THAT(kinds(page), ElementsAre("job_submitted", "job_stopping", "job_stopped", "job_deleted"));
  EXPECT_EQ(page.at("events").at(1).at("message"), "stopped by the user");
  EXPECT_EQ(page.at("events").at(3).at("message"), "other");
  EXPECT_EQ(page.at("events").at(3).at("job_name"), nullptr);
  EXPECT_EQ(code_of(get("/v1/events?job=other")), "not_found");
}

TEST_F(ApiEventLogTest, SaysWhereSomeAreNotKeptAnyMore) {
  submit(job_document("pruned"));
  work_until_idle("worker-1");
  const std::int64_t newest = get_json("/v1/events").at("newest").get<std::int64_t>();
  keep(3);
  const Json from_the_start = get_json("/v1/events");
  EXPECT_THAT(ids(from_the_start), ElementsAre(newest - 2, newest - 1, newest));
  EXPECT_EQ(from_the_start.at("gap"), true);
  EXPECT_EQ(from_the_start.at("oldest"), newest - 2);
  EXPECT_EQ(get_json("/v1/events?after=" + std::to_string(newest - 3)).at("gap"), false);
  EXPECT_EQ(get_json("/v1/events?after=" + std::to_string(newest - 4)).at("gap"), true);
  EXPECT_EQ(get_json("/v1/events?after=" + std::to_string(newest)).at("gap"), false);
  EXPECT_EQ(get_json("/v1/events?after=" + std::to_string(newest + 1)).at("gap"), true) << "it is of another database";
}

TEST_F(ApiEventLogTest, RefusesWhatIsNoPlaceInIt) {
  for (const char* query : {"?after=-1", "?after=x", "?limit=0", "?limit=1001", "?after=99999999999999999999"}) {
    const RawReply reply = get("/v1/events" + std::string(query));
    EXPECT_EQ(reply.status, 400) << query;
    EXPECT_EQ(code_of(reply), "invalid_argument") << query;
  }
  EXPECT_EQ(get("/v1/events/stream?after=x").status, 400);
  EXPECT_EQ(get("/v1/events?job=nobody").status, 404);
}

TEST_F(ApiEventLogTest, IsFollowedFromNowOn) {
  submit(job_document("before"));
  RawClient follower = follow("");
  EXPECT_THAT(read(follower, 1), ElementsAre("id: 1")) << "so that it knows where to go on";
  submit(job_document("after"));
  const auto blocks = read(follower, 1);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks[0].starts_with("id: 2\nevent: event\ndata: ")) << blocks[0];
  EXPECT_EQ(data_of(blocks[0]).at("job_name"), "after");
}

TEST_F(ApiEventLogTest, TellsOfNotesAlsoOnJobsThatHaveEnded) {
  const std::string id = submit(job_document("noted"));
  submit(job_document("other"));
  work_until_idle("worker-1");
  ASSERT_EQ(get_json("/v1/jobs/noted").at("state"), "completed");
  RawClient all = follow("");
  RawClient of_job = follow("?job=noted");
  RawClient of_other = follow("?job=other");
  for (RawClient* follower : {&all, &of_job, &of_other}) ASSERT_EQ(read(*follower, 1).size(), 1u);  // where it begins
  send("PUT", "/v1/jobs/noted/note", R"({"note": "läuft"})");
  send("PUT", "/v1/jobs/noted/trials/0/note", R"({"note": "odd"})");
  send("PUT", "/v1/jobs/other/note", R"({"note": "its own"})");
  const std::string begin = R"({"job": )" + id;
  for (RawClient* follower : {&all, &of_job}) {
    const auto blocks = read(*follower, 2);
    ASSERT_GE(blocks.size(), 2u);
    EXPECT_TRUE(blocks[0].starts_with("event: note\ndata: ")) << "it has no id: " << blocks[0];
    EXPECT_EQ(data_of(blocks[0]), Json::parse(begin + R"(, "trial": null, "note": "läuft"})"));
    EXPECT_EQ(data_of(blocks[1]), Json::parse(begin + R"(, "trial": 0, "note": "odd"})"));
  }
  EXPECT_EQ(data_of(read(of_other, 1).at(0)).at("note"), "its own");
}

TEST_F(ApiEventLogTest, AFollowerThatComesBackGoesOnWhereItWas) {
  submit(job_document("followed"));
  work_until_idle("worker-1");
  const Json all = get_json("/v1/events?limit=1000").at("events");
  ASSERT_GT(all.size(), 20u);
  std::vector<Json> told;
  {
    RawClient first = follow("?after=0");
    for (const std::string& block : read(first, 5)) told.push_back(data_of(block));
    told.resize(5);
  }
  RawClient second = follow("?after=0", "5");
  for (const std::string& block : read(second, all.size() - 5)) told.push_back(data_of(block));
  EXPECT_EQ(Json(told), all);
}

TEST_F(ApiEventLogTest, OfOneJobIsFollowedWithoutTheOthers) {
  submit(job_document("mine"));
  RawClient follower = follow("?after=1&job=mine");
  submit(job_document("other"));
  EXPECT_EQ(post("/v1/jobs/mine/stop").status, 202);
  const auto blocks = read(follower, 2);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(data_of(blocks[0]).at("kind"), "job_stopping");
  EXPECT_EQ(data_of(blocks[1]).at("kind"), "job_stopped");
}

TEST_F(ApiEventLogTest, AFollowerIsToldOfAGap) {
  submit(job_document("pruned"));
  work_until_idle("worker-1");
  keep(1);
  const std::string newest = get_json("/v1/events").at("newest").dump();
  RawClient follower = follow("?after=1");
  const auto blocks = read(follower, 2);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0], "event: gap\ndata: {}");
  EXPECT_TRUE(blocks[1].starts_with("id: " + newest + "\n"));
}

TEST_F(ApiEventLogTest, AFollowerOfAQuietJobHasNoGapWhileOnlyOthersArePruned) {
  submit(job_document("quiet"));
  RawClient quiet = follow("?after=1&job=quiet");
  RawClient all = follow("?after=1");  // reads after the other one
  for (const char* name : {"second", "third"}) {
    submit(job_document(name));
    ASSERT_EQ(read(all, 1).size(), 1u);
  }
  keep(1);
  submit(job_document("fourth"));
  EXPECT_EQ(post("/v1/jobs/quiet/stop").status, 202);
  const auto blocks = read(quiet, 1);
  ASSERT_FALSE(blocks.empty());
  EXPECT_NE(blocks[0].find("job_stopping"), std::string::npos) << blocks[0];
}

TEST_F(ApiEventLogTest, ManyFollowersAreToldOfEachEventAlthoughFewAreReadForAtOnce) {
  std::vector<RawClient> followers;
  for (int i = 0; i < 100; ++i) followers.push_back(follow(""));
  for (RawClient& follower : followers) ASSERT_EQ(read(follower, 1).size(), 1u);  // where it begins
  for (const char* name : {"first", "second"}) {
    submit(job_document(name));
    for (RawClient& follower : followers) {
      const auto blocks = read(follower, 1);
      ASSERT_EQ(blocks.size(), 1u);
      EXPECT_EQ(data_of(blocks[0]).at("job_name"), name);
    }
  }
}

TEST_F(ApiEventLogTest, FollowersAreLetGoWhenTheServerEnds) {
  RawClient follower = follow("");
  read(follower, 1);
  on_loop([this] { api_->close_streams(); });
  EXPECT_THAT(read(follower, 1), IsEmpty());
}

}  // namespace
}  // namespace tuneband::test
