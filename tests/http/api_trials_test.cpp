// A job from its first call to its end, as workers and users see it; trials, curves, logs, models, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/text.hpp"
#include "tests/http/api_fixture.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;

class ApiTrialsTest : public ApiTest {
 protected:
  void write_file(int trial, const std::string& name, const std::string& text, bool append = false) {
    std::filesystem::create_directories(trial_dir(job_, trial));
    std::ofstream(trial_dir(job_, trial) + "/" + name, append ? std::ios::app : std::ios::trunc) << text;
  }
  std::string trial(int number) const { return "/v1/jobs/" + job_ + "/trials/" + std::to_string(number); }
  RawReply log_of(int number, const std::string& query, const std::string& headers = "") {
    return client().get(trial(number) + "/log" + query, headers);
  }
  void run_job() {
    job_ = submit(job_document("whole"));
    work_until_idle("worker-1");
  }

  std::string job_;
};

TEST_F(ApiTrialsTest, AWorkerPlaysAWholeJobAndEverythingAboutItCanBeRead) {
  run_job();
  const Json job = get_json("/v1/jobs/whole");
  ASSERT_EQ(job.at("state"), "completed") << job;
  const int trials = job.at("trials").at("created").get<int>();
  EXPECT_EQ(job.at("trials").at("created"), job.at("trials").at("planned"));

  const Json best = get_json("/v1/jobs/whole/best");
  EXPECT_EQ(best.at("trial").at("objective"), job.at("best").at("value"));
  EXPECT_TRUE(best.at("model").is_null());

  const Json ranked = get_json("/v1/jobs/whole/trials?sort=objective&limit=1000").at("trials");
  ASSERT_EQ(static_cast<int>(ranked.size()), trials);
  for (std::size_t i = 1; i < ranked.size(); ++i)
    EXPECT_GE(ranked[i - 1].at("objective").get<double>(), ranked[i].at("objective").get<double>());
  const Json completed = get_json("/v1/jobs/whole/trials?state=completed&limit=1000").at("trials");
  EXPECT_EQ(completed.size(), job.at("trials").at("completed").get<std::size_t>());
  EXPECT_EQ(get_json("/v1/jobs/whole/trials?state=completed,stopped&limit=1000").at("trials").size(), ranked.size());

  const std::string one = "/v1/jobs/whole/trials/" + best.at("trial").at("number").dump();
  EXPECT_EQ(get_json(one), best.at("trial"));
  EXPECT_EQ(get_json(one + "/observations").at("observations").back().at("resource"), 9);
  EXPECT_EQ(get_json(one + "/decisions").at("decisions").back().at("verdict"), "completed");

  const Json analytics = get_json("/v1/jobs/whole/analytics");
  EXPECT_EQ(static_cast<int>(analytics.at("trials").size()), trials);
  EXPECT_GT(analytics.at("summary").at("resource_saved").get<int>(), 0);
  EXPECT_EQ(get_json("/v1/jobs/whole/plan").at("actual"), analytics.at("rungs"));
}

TEST_F(ApiTrialsTest, ATrialIsStoppedAndItsJobGoesOn) {
  job_ = submit(job_document("whole"));
  const Json order = sync("worker-1").at("order");
  const Json going_on = {{"epoch", order.at("epoch")}, {"observations", Json::array()}};
  EXPECT_EQ(sync("worker-1", going_on).at("desired"), "execute");
  const RawReply stopped = post(trial(0) + "/stop");
  ASSERT_EQ(stopped.status, 202) << stopped.body;
  EXPECT_EQ(Json::parse(stopped.body).at("state"), "stopped");
  EXPECT_EQ(Json::parse(stopped.body).at("number"), 0);
  EXPECT_EQ(sync("worker-1", going_on).at("desired"), "idle") << "its worker ends it";
  Json ended = going_on;
  ended["exit"] = "stopped";
  EXPECT_EQ(sync("worker-1", ended).at("order").at("trial"), 1);
  work_until_idle("worker-1");
  EXPECT_EQ(get_json("/v1/jobs/whole").at("state"), "completed") << "no bracket waits for it";
  const Json decisions = get_json(trial(0) + "/decisions").at("decisions");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_THAT(decisions[0].at("rule").get<std::string>(), HasSubstr("stopped by the user"));
}

TEST_F(ApiTrialsTest, ATrialThatHasEndedOrIsNotThereIsNotStopped) {
  job_ = submit(job_document("whole"));
  sync("worker-1");
  ASSERT_EQ(post(trial(0) + "/stop").status, 202);
  const RawReply again = post(trial(0) + "/stop");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(code_of(again), "conflict");
  EXPECT_THAT(again.body, HasSubstr("trial 0 has ended: its state is stopped"));
  for (const std::string& target :
       {trial(7), trial(2'000'000), "/v1/jobs/" + job_ + "/trials/x", std::string("/v1/jobs/no/trials/0")})
    EXPECT_EQ(post(target + "/stop").body, get(target).body) << target;
  EXPECT_EQ(post(trial(7) + "/stop").status, 404);
  post("/v1/jobs/whole/stop");
  EXPECT_EQ(post(trial(0) + "/stop").status, 409) << "of a job that has ended too";
  EXPECT_EQ(post(trial(7) + "/stop").status, 404);
}

TEST_F(ApiTrialsTest, AnalyticsComeAsCsvWithARowATrial) {
  run_job();
  const RawReply csv = get("/v1/jobs/whole/analytics?format=csv");
  EXPECT_EQ(csv.status, 200);
  EXPECT_THAT(csv.header("content-type"), HasSubstr("text/csv"));
  const auto lines = std::count(csv.body.begin(), csv.body.end(), '\n');
  EXPECT_EQ(lines, 1 + get_json("/v1/jobs/whole").at("trials").at("created").get<int>());
  EXPECT_EQ(get("/v1/jobs/whole/analytics?format=xml").status, 400);
}

TEST_F(ApiTrialsTest, BadFiltersOfTrialsAreNamed) {
  run_job();
  for (const char* query :
       {"?state=asleep", "?state=", "?state=completed,", "?bracket=-1", "?bracket=x", "?sort=size", "?limit=0", "?after=zz"}) {
    EXPECT_EQ(get("/v1/jobs/whole/trials" + std::string(query)).status, 400) << query;
  }
  for (const char* query : {"?points=3", "?points=x", "?points=100001"})
    EXPECT_EQ(get(trial(0) + "/observations" + query).status, 400) << query;
}

// ---- logs and models
// ------------------------------------------------------------------------------------------------------------

TEST_F(ApiTrialsTest, ALogIsServedWholeInPartAndFromItsEnd) {
  run_job();
  EXPECT_EQ(log_of(0, "").status, 200) << "not written yet";
  EXPECT_EQ(log_of(0, "").body, "");
  write_file(0, protocol::kLogFile, "0123456789");
  const RawReply whole = log_of(0, "");
  EXPECT_EQ(whole.body, "0123456789");
  EXPECT_THAT(whole.header("content-type"), HasSubstr("text/plain"));
  EXPECT_EQ(log_of(0, "?tail=3").body, "789");
  EXPECT_EQ(log_of(0, "?rank=0&tail=3").body, "789");
  write_file(0, "log-2.txt", "of rank 2");
  EXPECT_EQ(log_of(0, "?rank=2").body, "of rank 2");
  const RawReply never = log_of(0, "?rank=1");
  EXPECT_EQ(never.status, 404) << "no such worker trained it";
  EXPECT_THAT(never.body, HasSubstr("has no log of rank 1"));
  for (const char* odd : {"?rank=-1", "?rank=1000", "?rank=../x"}) EXPECT_EQ(log_of(0, odd).status, 400) << odd;
  EXPECT_EQ(log_of(0, "?tail=100").body, "0123456789");
  EXPECT_EQ(log_of(0, "?tail=0").body, "");

  const RawReply part = log_of(0, "", "Range: bytes=2-4\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.header("content-range"), "bytes 2-4/10");
  EXPECT_EQ(log_of(0, "", "Range: bytes=8-\r\n").body, "89");
  EXPECT_EQ(log_of(0, "", "Range: bytes=8-100\r\n").body, "89");
  EXPECT_EQ(log_of(0, "", "Range: bytes=-2\r\n").body, "89");
  const RawReply beyond = log_of(0, "", "Range: bytes=10-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.header("content-range"), "bytes */10");
  for (const char* odd :
       {"bytes=4-2", "bytes=a-b", "lines=1-2", "bytes=1-2,4-5", "bytes=", "bytes=-", "bytes=99999999999999999999-"}) {
    EXPECT_EQ(log_of(0, "", "Range: " + std::string(odd) + "\r\n").body, "0123456789") << odd << ": not understood, so ignored";
  }
}

TEST_F(ApiTrialsTest, ALargeLogIsServedWhole) {
  run_job();
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "line " + std::to_string(i) + "\n";
  write_file(1, protocol::kLogFile, text);
  EXPECT_EQ(log_of(1, "").body, text);
  EXPECT_EQ(log_of(1, "?follow=true").body, text) << "its trial has ended";
}

TEST_F(ApiTrialsTest, AFollowedLogGoesOnUntilItsTrialEnds) {
  Json document = job_document("followed");
  document["scheduler"] = {{"type", "none"}, {"max_resource", 1}};
  document["limits"] = {{"max_trials", 1}};
  job_ = submit(document);
  const Json order = sync("worker-1").at("order");
  RawClient reader = client();
  reader.send("GET " + trial(0) + "/log?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawReply head = reader.receive_head();
  EXPECT_EQ(head.header("transfer-encoding"), "chunked") << "before there is a file";
  EXPECT_EQ(head.header("x-accel-buffering"), "no") << "else nginx would keep back what is told";
  write_file(0, protocol::kLogFile, "first\n");
  EXPECT_EQ(reader.receive_chunk(), "first\n");
  write_file(0, protocol::kLogFile, "second\n", true);
  EXPECT_EQ(reader.receive_chunk(), "second\n");
  write_file(0, protocol::kLogFile, "last\n", true);
  sync("worker-1", reached(order, 0.5));
  EXPECT_EQ(reader.receive_chunk(), "last\n");
  EXPECT_EQ(reader.receive_chunk(), "");
}

TEST_F(ApiTrialsTest, OnlyRegularFilesOfTheTrialAreServed) {
  run_job();
  write_file(0, "secret", "do not show");
  const std::string log = trial_dir(job_, 0) + "/" + protocol::kLogFile;
  ASSERT_EQ(::symlink((trial_dir(job_, 0) + "/secret").c_str(), log.c_str()), 0);
  EXPECT_EQ(log_of(0, "").body, "");
  std::filesystem::create_directories(trial_dir(job_, 1) + "/" + protocol::kLogFile);
  EXPECT_EQ(log_of(1, "").body, "") << "a directory";
}

TEST_F(ApiTrialsTest, AModelIsServedAsItIs) {
  run_job();
  EXPECT_EQ(get(trial(0) + "/model").status, 404);
  const std::string bytes = std::string("binary\0\xff", 8) + std::string(500'000, 'm');
  write_file(0, protocol::kModelFile, bytes);
  const RawReply model = client().get(trial(0) + "/model", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(model.header("content-type"), "application/octet-stream");
  EXPECT_EQ(model.header("content-length"), std::to_string(bytes.size()));
  EXPECT_EQ(model.body, bytes);
  const RawReply part = client().get(trial(0) + "/model", "Range: bytes=1-2\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, bytes.substr(1, 2));
  EXPECT_EQ(part.header("content-range"), "bytes 1-2/" + std::to_string(bytes.size()));
  EXPECT_EQ(client().get(trial(0) + "/model", "Range: bytes=1-2\r\nIf-Range: \"x\"\r\n").body, bytes)
      << "it may be another by now";
  EXPECT_EQ(client().get(trial(0) + "/model", "Range: bytes=" + std::to_string(bytes.size()) + "-\r\n").status, 416);

  const int best = get_json("/v1/jobs/whole").at("best").at("trial").get<int>();
  write_file(best, protocol::kModelFile, bytes);
  EXPECT_EQ(get_json("/v1/jobs/whole/best").at("model"), trial_dir(job_, best) + "/" + protocol::kModelFile);
}

// ---- workers
// --------------------------------------------------------------------------------------------------------------------

TEST_F(ApiTrialsTest, AnIdleWorkersCallIsHeldUntilThereIsWork) {
  std::vector<RawClient> workers;
  for (int i = 0; i < 5; ++i) workers.push_back(hold("worker-" + std::to_string(i)));
  job_ = submit(job_document("awaited"));
  int executing = 0;
  for (int i = 0; i < 5; ++i) {
    Json reply = Json::parse(workers[static_cast<std::size_t>(i)].receive().body);
    // A short hold may have ended before the job came; the next call then has the work.
    if (reply.at("desired") == "idle") reply = sync("worker-" + std::to_string(i));
    if (reply.at("desired") == "execute") ++executing;
  }
  EXPECT_EQ(executing, 5);
  EXPECT_EQ(get_json("/v1/jobs/awaited").at("trials").at("running"), 5);
  const Json listed = get_json("/v1/workers").at("workers");
  ASSERT_EQ(listed.size(), 5u);
  for (const Json& worker : listed) EXPECT_EQ(worker.at("state"), "executing") << worker;
}

TEST_F(ApiTrialsTest, WhatAWorkersMachineLacksIsShownWithItAndWithTheJobThatWaitsForIt) {
  job_ = submit(job_document("lacked"));
  const Json lack{
      {"job", get_json("/v1/jobs/lacked").at("id")}, {"what", "data that a worker cannot read"}, {"message", "no a.csv"}};
  Json of_all = lack;
  of_all["job"] = 0;
  const Json said{{"name", "w"}, {"lacks", {lack, of_all}}};
  EXPECT_EQ(Json::parse(post("/v1/workers/w/sync", said.dump()).body).at("desired"), "idle");
  Json shown = get_json("/v1/workers").at("workers").at(0).at("lacks");
  EXPECT_EQ(shown.at(0), lack);
  EXPECT_EQ(shown.at(1).at("job"), nullptr);
  EXPECT_EQ(get_json("/v1/jobs/lacked").at("waiting"), Json({{"data that a worker cannot read", 1}}));
  EXPECT_EQ(get_json("/v1/jobs?view=cards").at("jobs").at(0).at("waits_for"), "it waits for data that a worker cannot read");
}

TEST_F(ApiTrialsTest, AWorkerThatHasEndedIsLostAndItsTrialFailsForWhatItIsSaidToHaveEndedOf) {
  Json document = job_document("ended");
  document["limits"] = {{"max_trials", 1}};
  document["scheduler"] = {{"type", "none"}, {"max_resource", 3}};
  job_ = submit(document);
  const auto say_ended = [this](bool out_of_memory) {
    const Json said{{"name", "w"}, {"ended", {{"message", "it was killed"}, {"out_of_memory", out_of_memory}}}};
    const RawReply reply = post("/v1/workers/w/sync", said.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(Json::parse(reply.body).at("desired"), "drain");
    EXPECT_TRUE(get_json("/v1/workers").at("workers").empty()) << "it is known no more";
  };
  sync("w");
  say_ended(false);
  EXPECT_EQ(get_json(trial(0)).at("state"), "pending") << "another worker may have it";
  sync("w");
  say_ended(true);
  EXPECT_EQ(get_json(trial(0)).at("exit_class"), "out_of_memory");
  EXPECT_EQ(get_json(trial(0)).at("message"), "it was killed");
  EXPECT_EQ(get_json("/v1/jobs/ended").at("state"), "failed");
  say_ended(true);
}

TEST_F(ApiTrialsTest, AWorkersFaultsAreNamed) {
  EXPECT_THAT(post("/v1/workers/w/sync", "{\"name\": 1}").body, HasSubstr("\"path\":\"name\""));
  EXPECT_EQ(post("/v1/workers/has%20space/sync", "{\"name\": \"w\"}").status, 400);
  EXPECT_EQ(post("/v1/workers/" + std::string(300, 'w') + "/sync", "{\"name\": \"w\"}").status, 400);
  const RawReply unknown = post("/v1/workers/w/sync", R"({"name": "w", "assignment": {"epoch": 1, "exit": "bored"}})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("assignment.exit"));
}

TEST_F(ApiTrialsTest, ALogThatShrinksWhileItIsSentBreaksOff) {
  constexpr std::size_t kLogBytes = 20'000'000;  // more than the sockets hold
  const std::string id = submit(job_document("shrinking"));
  sync("w");
  const std::filesystem::path log = std::filesystem::path(trial_dir(id, 0)) / "log.txt";
  std::filesystem::create_directories(log.parent_path());
  std::ofstream(log) << std::string(kLogBytes, 'x');
  RawClient client(port_, 4'096);
  const std::string request = "GET /v1/jobs/" + id + "/trials/0/log HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(request + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive_head().header("content-length"), std::to_string(kLogBytes));
  std::filesystem::resize_file(log, 1);
  const std::string rest = client.receive_rest();
  EXPECT_LT(rest.size(), kLogBytes);
  EXPECT_EQ(rest.find("HTTP/1.1"), std::string::npos) << "the next reply would be taken for the rest of the log";
}

// ---- the server itself
// ----------------------------------------------------------------------------------------------------------

TEST_F(ApiTrialsTest, MetricsAreLinesOfThePrometheusFormat) {
  run_job();
  const RawReply page = get("/metrics");
  EXPECT_EQ(page.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  std::size_t begin = 0;
  while (begin < page.body.size()) {
    const std::size_t end = page.body.find('\n', begin);
    ASSERT_NE(end, std::string::npos) << "the last line ends";
    const std::string line = page.body.substr(begin, end - begin);
    EXPECT_THAT(line, testing::AnyOf(testing::StartsWith("# HELP tuneband_"), testing::StartsWith("# TYPE tuneband_"),
                                     testing::StartsWith("tuneband_")));
    if (line[0] != '#') {
      EXPECT_TRUE(parse_number(line.substr(line.rfind(' ') + 1))) << line;
    }
    begin = end + 1;
  }
  EXPECT_THAT(page.body, HasSubstr("tuneband_jobs{state=\"completed\"} 1\n"));
  EXPECT_THAT(page.body, HasSubstr("tuneband_requests_total{method=\"POST\",route=\"/v1/jobs\",status=\"201\"} 1\n"));
  EXPECT_THAT(page.body, HasSubstr("tuneband_workers{state=\"idle\"} 1\n"));
}

TEST_F(ApiTrialsTest, AWorkerThatStillEndsWhatWasTakenFromItIsNotIdle) {
  sync("w", {{"epoch", 999}});
  EXPECT_EQ(get_json("/v1/workers").at("workers").at(0).at("state"), "ending");
  const std::string page = get("/metrics").body;
  EXPECT_THAT(page, HasSubstr("tuneband_workers{state=\"ending\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("tuneband_workers{state=\"idle\"} 0\n"));
}

TEST_F(ApiTrialsTest, MetricsTellWorkersThatAreKeptForAGroup) {
  Json narrow = job_document("narrow");
  narrow["limits"] = {{"max_parallel_trials", 1}};
  submit(narrow);
  EXPECT_EQ(sync("first").at("desired"), "execute");
  sync("second");
  EXPECT_THAT(get("/metrics").body, HasSubstr("tuneband_workers_gathered 0\n"));
  Json wide = job_document("wide");
  wide["trainer"]["replicas"] = 2;
  submit(wide);
  const std::string page = get("/metrics").body;
  EXPECT_THAT(page, HasSubstr("tuneband_workers_gathered 1\n"));
  EXPECT_THAT(page, HasSubstr("tuneband_workers{state=\"idle\"} 1\n"));
}

TEST_F(ApiTrialsTest, MetricsTellWhatTheServerHasBeforeIt) {
  on_loop([this] { api_->set_local_workers_down([] { return std::size_t{3}; }); });
  const std::string page = get("/metrics").body;
  for (const char* line :
       {"tuneband_reads_waiting 0\n", "tuneband_exports 0\n", "tuneband_preflights 0\n", "tuneband_local_workers_down 3\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST_F(ApiTrialsTest, TheServerSaysThatItIsWell) { EXPECT_EQ(get_json("/healthz"), Json({{"status", "ok"}})); }

}  // namespace
}  // namespace tuneband::test
