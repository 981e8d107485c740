// What a page draws of a whole job: columns, curves, decisions; and that nothing is sent again to who has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/api/job_versions.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;

class ApiViewsTest : public ApiTest {
 protected:
  void run_job() {
    submit(job_document("whole"));
    work_until_idle("worker-1");
  }
  Json columns() { return get_json("/v1/jobs/whole/columns"); }
  RawReply get_unless(const std::string& target, const std::string& etag) {
    return client().get(target, "If-None-Match: " + etag + "\r\n");
  }
};

TEST_F(ApiViewsTest, ColumnsSayOfEachTrialWhatAnalyticsSay) {
  run_job();
  const Json shown = columns();
  const Json trials = get_json("/v1/jobs/whole/analytics").at("trials");
  ASSERT_GT(trials.size(), 5U);
  EXPECT_EQ(shown.at("trials"), trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Json& trial = trials[i];
    for (const char* same : {"number", "bracket", "rung", "resource", "objective", "objective_resource", "training_seconds",
                             "attempts", "segments"}) {
      EXPECT_EQ(shown.at(same).at(i), trial.at(same)) << same;
    }
    EXPECT_EQ(shown.at("states").at(shown.at("state").at(i).get<std::size_t>()), trial.at("state"));
    EXPECT_EQ(shown.at("workers").at(shown.at("worker").at(i).get<std::size_t>()), trial.at("worker"));
    EXPECT_EQ(shown.at("parameters").at("x").at(i), trial.at("parameters").at("x"));
    EXPECT_GE(shown.at("ended").at(i), shown.at("arrived").at(i));
    EXPECT_GE(shown.at("arrived").at(i), shown.at("started").at(i));  // within a millisecond they are equal
    EXPECT_EQ(shown.at("exit_class").at(i), -1);
  }
  EXPECT_FALSE(shown.contains("violation")) << "the job has no constraints";
  EXPECT_FALSE(shown.contains("replicas")) << "each trial had one worker";
}

TEST_F(ApiViewsTest, AClientThatHasClosedItsSendingSideIsAnsweredWhateverThreadAnswers) {
  run_job();
  for (const char* route : {"", "/analytics", "/columns", "/importance", "/summary", "/trials/0/files", "/trials/0/log"}) {
    RawClient half = client();
    half.send(std::string("GET /v1/jobs/whole") + route + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    half.close_sending();
    EXPECT_EQ(half.receive().status, 200) << route;
  }
}

TEST_F(ApiViewsTest, ATrialThatWaitsAtItsRungHasArrivedAndOneThatRunsHasNot) {
  submit(job_document("whole"));
  const Json order = sync("worker-1").at("order");
  EXPECT_EQ(columns().at("arrived"), Json::array({nullptr}));
  sync("worker-1", reached(order, 0.5));
  const Json shown = columns();
  EXPECT_TRUE(shown.at("arrived").at(0).is_number());
  EXPECT_TRUE(shown.at("ended").at(0).is_null());
}

TEST_F(ApiViewsTest, AJobWithoutTrialsHasEmptyColumns) {
  submit(job_document("whole"));
  const Json shown = columns();
  EXPECT_EQ(shown.at("trials"), 0);
  EXPECT_EQ(shown.at("number"), Json::array());
  EXPECT_EQ(shown.at("parameters").at("x"), Json::array());
  EXPECT_EQ(get_json("/v1/jobs/whole/curves").at("begin"), Json::array({0}));
  EXPECT_EQ(get_json("/v1/jobs/whole/decisions").at("decisions"), 0);
}

TEST_F(ApiViewsTest, CurvesAreOfAllTrialsOrOfThoseThatAreNamed) {
  run_job();
  const Json all = get_json("/v1/jobs/whole/curves");
  ASSERT_EQ(all.at("trial").size(), columns().at("number").size());
  EXPECT_EQ(all.at("begin").size(), all.at("trial").size() + 1);
  EXPECT_EQ(all.at("begin").back(), all.at("value").size());
  EXPECT_EQ(all.at("left_out"), 0);
  const Json two = get_json("/v1/jobs/whole/curves?trials=2,0&points=4");
  EXPECT_EQ(two.at("trial"), Json::array({2, 0}));
  const Json points = get_json("/v1/jobs/whole/trials/2/observations").at("observations");
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(two.at("resource").at(i), points[i].at("resource"));
    EXPECT_NEAR(two.at("value").at(i).get<double>(), points[i].at("objective").get<double>(), 1e-6);
  }
}

TEST_F(ApiViewsTest, BadQueriesOfCurvesAreNamed) {
  run_job();
  for (const char* query : {"?points=3", "?points=1001", "?points=x", "?trials=", "?trials=1,", "?trials=-1", "?trials=1;2",
                            "?trials_max=0", "?trials_max=2001"})
    EXPECT_EQ(get("/v1/jobs/whole/curves" + std::string(query)).status, 400) << query;
  std::string many = "0";
  for (int i = 0; i < kCurvesMax; ++i) many += ",0";
  EXPECT_THAT(get("/v1/jobs/whole/curves?trials=" + many).body, HasSubstr("at most 2000"));
  EXPECT_EQ(get("/v1/jobs/whole/curves?trials=0,900").status, 404) << "there is no such trial";
  EXPECT_EQ(get("/v1/jobs/nobody/columns").status, 404);
  for (const char* query : {"?trials_max=0", "?trials_max=x", "?digits=0", "?digits=18"})
    EXPECT_EQ(get("/v1/jobs/whole/columns" + std::string(query)).status, 400) << query;
}

TEST_F(ApiViewsTest, DecisionsAreThoseOfEachTrial) {
  run_job();
  const Json all = get_json("/v1/jobs/whole/decisions");
  const std::size_t count = all.at("trial").size();
  EXPECT_EQ(all.at("decisions"), count);
  EXPECT_EQ(all.at("left_out"), 0);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Json its = get_json("/v1/jobs/whole/trials/" + all.at("trial").at(i).dump() + "/decisions").at("decisions");
    for (const Json& one : its) {
      if (one.at("rung") != all.at("rung").at(i)) continue;
      ++seen;
      for (const char* same : {"bracket", "resource", "value", "rank", "filled", "slots", "keep", "cutoff"})
        EXPECT_EQ(all.at(same).at(i), one.at(same)) << same;
      EXPECT_EQ(all.at("verdicts").at(all.at("verdict").at(i).get<std::size_t>()), one.at("verdict"));
    }
  }
  EXPECT_EQ(seen, count);
}

TEST_F(ApiViewsTest, AViewIsSentAgainOnlyAfterItsJobHasChanged) {
  submit(job_document("whole"));
  submit(job_document("other"));
  const std::vector<std::string> views = {"/columns", "/curves", "/decisions", "/timeline"};
  std::map<std::string, std::string> etags;
  for (const std::string& view : views) etags[view] = get("/v1/jobs/whole" + view).header("etag");
  for (const auto& [view, etag] : etags) {
    const RawReply again = get_unless("/v1/jobs/whole" + view, etag);
    EXPECT_EQ(again.status, 304) << view;
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(again.header("etag"), etag);
    EXPECT_EQ(get_unless("/v1/jobs/other" + view, etag).status, 200) << "that is another job";
  }
  const Json order = sync("worker-1").at("order");
  ASSERT_EQ(order.at("trial"), 0);
  for (const auto& [view, etag] : etags) EXPECT_EQ(get_unless("/v1/jobs/whole" + view, etag).status, 200) << "a trial has begun";
  for (auto& [view, etag] : etags) etag = get("/v1/jobs/whole" + view).header("etag");
  sync("worker-1", reached(order, 0.5));
  for (const auto& [view, etag] : etags) EXPECT_EQ(get_unless("/v1/jobs/whole" + view, etag).status, 200) << "it has a result";
}

TEST_F(ApiViewsTest, TheTagOfOneViewHidesNoFaultOfAnother) {
  submit(job_document("whole"));
  const std::string etag(get("/v1/jobs/whole/columns").header("etag"));
  EXPECT_EQ(get_unless("/v1/jobs/whole/columns", etag).status, 304);
  EXPECT_EQ(get_unless("/v1/jobs/whole/surface?x=bogus&y=x", etag).status, 400);
  EXPECT_EQ(get_unless("/v1/jobs/whole/trials/9999/segments", etag).status, 404);
  EXPECT_EQ(get_unless("/v1/jobs/whole/curves?trials=9999", etag).status, 404);
}

TEST_F(ApiViewsTest, TheTimelineHasASegmentForEachAssignment) {
  submit(job_document("whole"));
  const Json order = sync("worker-1").at("order");
  Json shown = get_json("/v1/jobs/whole/timeline");
  EXPECT_EQ(shown.at("ended"), Json::array({nullptr})) << "it runs";
  EXPECT_EQ(shown.at("outcome"), Json::array({-1}));
  EXPECT_EQ(shown.at("workers"), Json::array({"worker-1"}));
  sync("worker-1", reached(order, 0.5));
  work_until_idle("worker-1");
  shown = get_json("/v1/jobs/whole/timeline");
  std::size_t started = 0;
  const Json trials = columns();
  for (const Json& segments : trials.at("segments")) started += segments.get<std::size_t>();
  ASSERT_EQ(shown.at("trial").size(), started);
  for (std::size_t i = 0; i < started; ++i) {
    EXPECT_EQ(shown.at("resource").at(i), shown.at("until_resource").at(i));
    EXPECT_GE(shown.at("ended").at(i), shown.at("began").at(i));
    const bool last = shown.at("until_resource").at(i) == 9;
    EXPECT_EQ(shown.at("outcomes").at(shown.at("outcome").at(i).get<std::size_t>()), last ? "completed" : "reached_rung");
  }
  const Json one = get_json("/v1/jobs/whole/trials/0/segments");
  EXPECT_EQ(one.at("trial").size(), columns().at("segments").at(0));
  EXPECT_EQ(get("/v1/jobs/whole/trials/900/segments").status, 404);
}

TEST_F(ApiViewsTest, ATimelineIsOfTheTimeThatIsAskedFor) {
  submit(job_document("whole"));
  work_until_idle("worker-1");
  const Json all = get_json("/v1/jobs/whole/timeline");
  const std::string begin = all.at("created_at").get<std::string>();
  EXPECT_EQ(get_json("/v1/jobs/whole/timeline?from=" + begin).at("trial"), all.at("trial"));
  EXPECT_EQ(get_json("/v1/jobs/whole/timeline?from=2999-01-01T00:00:00Z").at("trial"), Json::array());
  EXPECT_EQ(get_json("/v1/jobs/whole/timeline?until=2001-01-01T00:00:00Z").at("trial"), Json::array());
  for (const char* query : {"?from=noon", "?until=2026-02-30T00:00:00Z", "?from=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z",
                            "?segments_max=29", "?segments_max=20001"}) {
    EXPECT_EQ(get("/v1/jobs/whole/timeline" + std::string(query)).status, 400) << query;
    EXPECT_EQ(get("/v1/workers/timeline" + std::string(query)).status, 400) << query;
  }
}

TEST_F(ApiViewsTest, ATimelineEndsAfterItBegins) {
  const auto error = [&](const std::string& query) {
    return Json::parse(get("/v1/workers/timeline" + query).body).at("error").at("details").at(0);
  };
  const Json order = error("?from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z");
  EXPECT_EQ(order.at("path"), "until");
  EXPECT_EQ(order.at("message"), "expected a time after `from`");
  const Json future = error("?from=2999-01-01T00:00:00Z");
  EXPECT_EQ(future.at("path"), "from") << "it ends now where nothing else is asked for";
  EXPECT_EQ(future.at("message"), "expected a time that is over");
}

TEST_F(ApiViewsTest, ALongTimelineStandsTogetherAndLosesNothing) {
  Json document = job_document("whole");
  document["scheduler"]["max_resource"] = 81;
  submit(document);
  for (const char* worker : {"worker-1", "worker-2"}) sync(worker);
  sync("worker-2", {{"epoch", sync("worker-2").at("order").at("epoch")}, {"exit", "crashed"}, {"message", "as it was said"}});
  work_until_idle("worker-1");
  const Json all = get_json("/v1/jobs/whole/timeline?segments_max=20000");
  EXPECT_EQ(all.at("merged"), 0);
  EXPECT_FALSE(all.contains("segments"));
  ASSERT_GT(all.at("trial").size(), 60U);
  const Json few = get_json("/v1/jobs/whole/timeline?segments_max=30");
  EXPECT_LE(few.at("trial").size(), 30U);
  std::size_t segments = 0;
  std::size_t merged = 0;
  std::size_t losses = 0;
  for (std::size_t i = 0; i < few.at("trial").size(); ++i) {
    const auto count = few.at("segments").at(i).get<std::size_t>();
    segments += count;
    if (count > 1) merged += count;
    losses += few.at("losses").at(i).get<std::size_t>();
    if (few.at("losses").at(i) == 0) continue;
    EXPECT_EQ(few.at("outcomes").at(few.at("outcome").at(i).get<std::size_t>()), "crashed");
  }
  EXPECT_EQ(segments, all.at("trial").size());
  EXPECT_EQ(few.at("merged"), merged);
  EXPECT_EQ(losses, 1U);
  const auto ends = [](const Json& shown) {
    double last = 0;
    for (const Json& end : shown.at("ended")) last = std::max(last, end.is_null() ? 0.0 : end.get<double>());
    return last;
  };
  EXPECT_EQ(ends(few), ends(all));
}

TEST_F(ApiViewsTest, TheWorkersTimelineIsOfAllJobsAndSaysWhoWasThere) {
  const std::string first = submit(job_document("first"));
  work_until_idle("worker-1");
  const std::string second = submit(job_document("second"));
  const Json order = sync("worker-1").at("order");
  const Json shown = get_json("/v1/workers/timeline");
  std::set<std::string> jobs;
  for (const Json& job : shown.at("job")) jobs.insert(job.dump());
  EXPECT_EQ(jobs, (std::set<std::string>{first, second}));
  ASSERT_EQ(shown.at("jobs").size(), 2U);
  EXPECT_EQ(shown.at("jobs").at(0).at("name"), "second");
  EXPECT_TRUE(shown.at("jobs").at(0).at("ended_at").is_null());
  EXPECT_TRUE(shown.at("jobs").at(1).at("ended_at").is_string());
  EXPECT_EQ(shown.at("events").at(0).at("kind"), "worker_connected");
  EXPECT_EQ(shown.at("events").at(0).at("worker"), "worker-1");
  EXPECT_EQ(shown.at("created_at"), shown.at("from"));
  const std::string past = "?from=2001-01-01T00:00:00Z&until=2001-01-01T01:00:00Z";
  const Json before = get_json("/v1/workers/timeline" + past);
  for (const char* empty : {"trial", "jobs", "events", "server_starts"}) EXPECT_EQ(before.at(empty), Json::array()) << empty;
  const std::string etag(get("/v1/workers/timeline" + past).header("etag"));
  EXPECT_EQ(get_unless("/v1/workers/timeline" + past, etag).status, 304);
  sync("worker-1", reached(order, 0.5));
  EXPECT_EQ(get_unless("/v1/workers/timeline" + past, etag).status, 200);
  EXPECT_EQ(get("/v1/workers/timeline").header("etag"), "") << "what is of the last hour is so for a moment";
}

TEST_F(ApiViewsTest, ALargeViewIsCompressed) {
  Json document = job_document("whole");
  document["scheduler"]["max_resource"] = 81;
  submit(document);
  work_until_idle("worker-1");
  const RawReply reply = client().get("/v1/jobs/whole/columns", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(reply.header("content-encoding"), "gzip");
}

TEST(JobVersions, AClientMayNameSeveralTagsOrAny) {
  EXPECT_TRUE(server::has_already(R"(W/"1-7-2")", R"(W/"1-7-2")"));
  EXPECT_TRUE(server::has_already(R"("0", "1-7-2")", R"(W/"1-7-2")"));
  EXPECT_TRUE(server::has_already("*", R"(W/"1-7-2")"));
  EXPECT_FALSE(server::has_already("", R"(W/"1-7-2")"));
  EXPECT_FALSE(server::has_already(R"(W/"1-7-20")", R"(W/"1-7-2")"));
  EXPECT_FALSE(server::has_already(R"(W/"11-7-2")", R"(W/"1-7-2")"));
}

}  // namespace
}  // namespace tuneband::test
