// Notes on jobs and trials, and the cards of jobs, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

class ApiNotesTest : public ApiTest {
 protected:
  RawReply put(const std::string& target, const std::string& body) { return send("PUT", target, body); }
  RawReply put_note(const std::string& target, const std::string& note) { return put(target, Json({{"note", note}}).dump()); }
  Json card(const std::string& job) { return get_json("/v1/jobs?view=cards&ids=" + job).at("jobs").at(0); }
};

TEST_F(ApiNotesTest, OfAJobAreKeptShownAndTakenAway) {
  submit(job_document("noted"));
  EXPECT_EQ(get_json("/v1/jobs/noted/note"), Json::parse(R"({"note": "", "at": null})"));
  const std::string text = "läuft \u2713 <b>\n\"zweite\" Zeile";
  const RawReply reply = put_note("/v1/jobs/noted/note", text);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(Json::parse(reply.body).at("note"), text);
  EXPECT_TRUE(Json::parse(reply.body).at("at").is_string());
  EXPECT_EQ(get_json("/v1/jobs/noted").at("note"), text);
  EXPECT_EQ(get_json("/v1/jobs").at("jobs").at(0).at("note"), text);
  work_until_idle("worker-1");
  EXPECT_EQ(get_json("/v1/jobs/noted").at("state"), "completed");
  EXPECT_EQ(get_json("/v1/jobs/noted").at("note"), text) << "the core writes the row without it";
  EXPECT_EQ(put_note("/v1/jobs/noted/note", "").status, 200);
  EXPECT_EQ(get_json("/v1/jobs/noted/note"), Json::parse(R"({"note": "", "at": null})")) << "also of one that has ended";
}

TEST_F(ApiNotesTest, OfATrialOutliveItsChangesAndChangeTheColumns) {
  submit(job_document("noted"));
  sync("worker-1");
  const std::string before = get("/v1/jobs/noted/columns").header("etag");
  EXPECT_EQ(put_note("/v1/jobs/noted/trials/0/note", "odd").status, 200);
  const RawReply columns = get("/v1/jobs/noted/columns");
  EXPECT_NE(columns.header("etag"), before);
  EXPECT_EQ(Json::parse(columns.body).at("notes"), Json::parse(R"({"0": "odd"})"));
  work_until_idle("worker-1");
  EXPECT_EQ(get_json("/v1/jobs/noted/trials/0").at("note"), "odd");
  EXPECT_EQ(get_json("/v1/jobs/noted/trials").at("trials").at(0).at("note"), "odd");
  EXPECT_EQ(get_json("/v1/jobs/noted/trials").at("trials").at(1).at("note"), "");
  EXPECT_EQ(get_json("/v1/jobs/noted/trials/0/note").at("note"), "odd");
}

TEST_F(ApiNotesTest, RefusesWhatIsNoNote) {
  submit(job_document("noted"));
  EXPECT_EQ(put_note("/v1/jobs/nobody/note", "x").status, 404);
  EXPECT_EQ(put_note("/v1/jobs/noted/trials/0/note", "x").status, 404) << "it is not there yet";
  EXPECT_EQ(get("/v1/jobs/noted/trials/0/note").status, 404);
  for (const std::string& body :
       {std::string("{}"), std::string("[]"), std::string("{\"note\": 3}"), std::string("\"x\""), std::string("{"),
        std::string("{\"note\": \"\xff\"}"), std::string("{\"note\": \"x\", \"more\": 1}")}) {
    EXPECT_EQ(put("/v1/jobs/noted/note", body).status, 400) << body;
  }
  EXPECT_EQ(put_note("/v1/jobs/noted/note", std::string(16 * 1024 + 1, 'x')).status, 400);
  const RawReply many = put("/v1/jobs/noted/note", Json({{"note", std::vector<int>(100)}}).dump());
  EXPECT_NE(many.body.find("more than 16 values"), std::string::npos) << many.body;
  EXPECT_EQ(put_note("/v1/jobs/noted/note", std::string(16 * 1024, 'x')).status, 200);
}

TEST_F(ApiNotesTest, ACardShowsWhatTheListNeeds) {
  const std::string id = submit(job_document("carded"));
  const Json waiting = card(id);
  EXPECT_EQ(waiting.at("waits_for"), "there is no worker");
  EXPECT_EQ(waiting.at("progress"), 0);
  EXPECT_EQ(waiting.at("sparkline"), Json::parse(R"({"seconds": [], "value": []})"));
  work_until_idle("worker-1");
  const Json done = card(id);
  EXPECT_EQ(done.at("waits_for"), "");
  EXPECT_EQ(done.at("progress"), 1);
  const Json best_so_far = get_json("/v1/jobs/carded/analytics").at("best_so_far");
  ASSERT_FALSE(best_so_far.empty());
  Json values = Json::array();
  for (const Json& point : best_so_far) values.push_back(point.at("value"));
  EXPECT_EQ(done.at("sparkline").at("value"), values);
  EXPECT_EQ(done.at("sparkline").at("seconds").size(), values.size());
  EXPECT_EQ(get_json("/v1/jobs?view=cards").at("event"), get_json("/v1/events").at("newest"));
}

TEST_F(ApiNotesTest, ACardSaysThatAJobIsWiderThanTheWorkers) {
  Json wide = job_document("wide");
  wide["trainer"]["replicas"] = 3;
  const std::string id = submit(wide);
  sync("worker-1");
  EXPECT_EQ(card(id).at("waits_for"), "there are fewer workers than a trial of it takes");
  sync("worker-2");
  sync("worker-3");
  EXPECT_EQ(card(id).at("waits_for"), "the next free worker is its") << "its first trial has them all";
}

TEST_F(ApiNotesTest, CardsThatDidNotChangeAreNotSentAgain) {
  submit(job_document("carded"));
  const RawReply first = get("/v1/jobs?view=cards");
  ASSERT_EQ(first.status, 200);
  const auto again = [&] {
    RawClient connection = client();
    connection.send("GET /v1/jobs?view=cards HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " + std::string(first.header("etag")) +
                    "\r\n\r\n");
    return connection.receive();
  };
  EXPECT_EQ(again().status, 304);
  sync("worker-1");
  EXPECT_EQ(again().status, 200);
}

TEST_F(ApiNotesTest, CardsRefuseWhatIsNoList) {
  for (const char* query : {"?view=x", "?view=cards&ids=x", "?view=cards&ids=1,,2", "?view=cards&ids=0",
                            "?ids=", "?ids=1&state=running", "?ids=1&limit=3", "?ids=1&after=x"})
    EXPECT_EQ(get("/v1/jobs" + std::string(query)).status, 400) << query;
  EXPECT_EQ(get_json("/v1/jobs?view=cards&ids=99").at("jobs"), Json::array());
}

}  // namespace
}  // namespace tuneband::test
