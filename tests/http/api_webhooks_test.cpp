// Findings told to web hooks: the receiver is a real server on a loopback port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>

#include "jobs/parsed_job.hpp"
#include "server/api/webhooks.hpp"
#include "tests/http/api_fixture.hpp"
#include "tests/net/loopback_server.hpp"
#include "tests/no_file_handle.hpp"

namespace tuneband::test {
namespace {

// Notes what it is told, and answers with the statuses of a list, the last of them for ever; 0: it closes the connection.
class Receiver {
 public:
  explicit Receiver(std::vector<int> statuses = {204}) : statuses_(std::move(statuses)) {}

  std::string authority() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<LoopbackServer::Request> wait_for(std::size_t calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.size() >= calls; });
    return told_;
  }
  // Answers nobody until open().
  void close() { set_open(false); }
  void open() { set_open(true); }
  ~Receiver() { open(); }

 private:
  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::optional<LoopbackAnswer> answer(const LoopbackServer::Request& request) {
    std::unique_lock lock(mutex_);
    told_.push_back(request);
    changed_.notify_all();
    const int status = statuses_[std::min(told_.size(), statuses_.size()) - 1];
    changed_.wait(lock, [this] { return open_; });
    if (status == 0) return std::nullopt;
    if (status == 302) return LoopbackAnswer{.raw = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"};
    return LoopbackAnswer{.status = status};
  }

  std::vector<int> statuses_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LoopbackServer::Request> told_;
  bool open_ = true;
  LoopbackServer server_{[this](const LoopbackServer::Request& request) { return answer(request); }};
};

class ApiWebhooksTest : public ApiTest {
 protected:
  explicit ApiWebhooksTest(std::vector<std::int64_t> delays_ms = {1, 2})
      : ApiTest(100, {.hosts = {"127.0.0.1"}, .delays_ms = std::move(delays_ms), .timeout_ms = 60'000}) {}

  static Json document(const std::string& name, const std::string& url) {
    Json json = job_document(name);
    json["debug"] = Json::parse(R"({"rules": [{"rule": "overfit"}, {"rule": "exploding_tensor"}]})");
    json["debug"]["rules"][0]["action"] = {{"webhook", url}};
    return json;
  }

  // A worker finds something in the next trial by a rule of the job; the trial goes on.
  void find(const std::string& rule, const std::string& worker = "w1") {
    if (order_.is_null()) order_ = sync(worker).at("order");
    Json status{{"epoch", order_.at("epoch")}, {"observations", Json::array()}, {"checkpoint_resource", 0}, {"training_ms", 1}};
    status["findings"] = Json::array({{{"rule", rule},
                                       {"tensor", "metrics/x"},
                                       {"step", 3},
                                       {"value", "nan"},
                                       {"threshold", 0.1},
                                       {"message", "it is not a number"},
                                       {"remedy", "look"}}});
    sync(worker, status);
  }

  // Waits until none is pending: "delivered" or "failed" by rule, "-" for a rule without a web hook.
  std::string told(const std::string& job) {
    for (;;) {
      std::string states;
      const Json page = get_json("/v1/jobs/" + job + "/findings");
      for (const Json& finding : page.at("findings"))
        states += finding.at("webhook").is_null() ? "- " : finding.at("webhook").get<std::string>() + " ";
      if (states.find("pending") == std::string::npos) return states;
    }
  }

  Json order_;
};

TEST(AllowedWebhooks, AreHostsHoweverTheyAreWrittenWithOnePortOrAny) {
  const auto allows = [](const std::string& allowed, const std::string& url) {
    return server::may_be_called({.hosts = {allowed}}, *debugger::parse_webhook(url));
  };
  EXPECT_TRUE(allows("relay", "http://relay/x"));
  EXPECT_TRUE(allows("relay", "http://relay:8080/x"));
  EXPECT_TRUE(allows("relay:80", "http://RELAY/x"));
  EXPECT_FALSE(allows("relay:80", "http://relay:8080/x"));
  EXPECT_FALSE(allows("relay", "http://relay.example/x"));
  EXPECT_TRUE(allows("[::1]", "http://[0:0:0:0:0:0:0:1]:9/x"));
  EXPECT_TRUE(allows("[0:0::1]:9", "http://[::1]:9/x"));
  EXPECT_FALSE(allows("[::1]:9", "http://[::1]/x"));
  EXPECT_FALSE(allows("[::1]", "http://[::2]/x"));
}

TEST(WebhookConnection, WithoutAFileHandleThereIsNone) {
  if (kSanitizerWantsHandles) GTEST_SKIP();
  std::optional<NoFileHandle> none(std::in_place);
  const auto connection = server::connection_for(*debugger::parse_webhook("http://127.0.0.1:1/"));
  none.reset();
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::unavailable);
}

TEST_F(ApiWebhooksTest, AFindingIsToldOnceItIsThere) {
  Receiver receiver;
  submit(document("tells", "http://" + receiver.authority() + "/hook?a=b"));
  find("exploding_tensor");
  find("overfit");
  EXPECT_EQ(told("tells"), "- delivered ");
  const auto calls = receiver.wait_for(1);
  ASSERT_EQ(calls.size(), 1U) << "the rule without a web hook is told to nobody";
  EXPECT_EQ(calls[0].target(), "/hook?a=b");
  EXPECT_EQ(calls[0].method_string(), "POST");
  EXPECT_EQ(calls[0]["Content-Type"], "application/cloudevents+json");
  EXPECT_EQ(calls[0]["Host"], receiver.authority());
  const Json event = Json::parse(calls[0].body());
  EXPECT_EQ(event.at("specversion"), "1.0");
  EXPECT_EQ(event.at("type"), "tuneband.finding");
  EXPECT_EQ(event.at("source"), "/v1/jobs/1");
  EXPECT_EQ(event.at("subject"), "tells/trials/0");
  EXPECT_EQ(event.at("id"), std::string(calls[0]["webhook-id"]));
  EXPECT_THAT(event.at("id").get<std::string>(), testing::EndsWith("-1-1"));
  const Json& finding = event.at("data").at("finding");
  EXPECT_EQ(event.at("data").at("job_name"), "tells");
  EXPECT_EQ(finding.at("rule"), "overfit");
  EXPECT_EQ(finding.at("value"), "nan");
  EXPECT_EQ(finding.at("trial"), 0);
}

TEST_F(ApiWebhooksTest, OfAJobWithMoreFindingsThanAreHeldAllAreTold) {
  constexpr int kRules = 50;
  constexpr int kTrials = 3;
  static_assert(kRules * kTrials > server::Webhooks::kHeldOfJob);
  Receiver receiver;
  receiver.close();
  Json json = document("many", "http://" + receiver.authority());
  json["debug"]["rules"].clear();
  for (int i = 0; i < kRules; ++i) {
    json["debug"]["rules"].push_back(
        {{"rule", "overfit"}, {"name", "r" + std::to_string(i)}, {"action", {{"webhook", "http://" + receiver.authority()}}}});
  }
  submit(json);
  for (int trial = 0; trial < kTrials; ++trial) {
    order_ = Json();
    for (int i = 0; i < kRules; ++i) find("r" + std::to_string(i), "w" + std::to_string(trial));
  }
  receiver.open();
  EXPECT_EQ(receiver.wait_for(kRules * kTrials).size(), static_cast<std::size_t>(kRules * kTrials));
}

TEST_F(ApiWebhooksTest, AReceiverInTroubleIsCalledAgainWithTheSameId) {
  Receiver receiver({503, 0, 200});
  submit(document("again", "http://" + receiver.authority()));
  find("overfit");
  EXPECT_EQ(told("again"), "delivered ");
  const auto calls = receiver.wait_for(3);
  ASSERT_EQ(calls.size(), 3U);
  for (const auto& call : calls) EXPECT_EQ(call["webhook-id"], calls[0]["webhook-id"]);
}

TEST_F(ApiWebhooksTest, AReceiverThatStaysInTroubleIsGivenUp) {
  Receiver receiver({500});
  submit(document("gives-up", "http://" + receiver.authority()));
  find("overfit");
  EXPECT_EQ(told("gives-up"), "failed ");
  EXPECT_EQ(receiver.wait_for(3).size(), 3U) << "once, and after each delay";
}

TEST_F(ApiWebhooksTest, ARefusalIsFinalAndARedirectionIsNotFollowed) {
  const std::vector<std::string> rules = {"overfit", "exploding_tensor", "overtraining"};
  const int statuses[] = {302, 404, 410};
  std::vector<std::unique_ptr<Receiver>> receivers;
  Json json = document("refused", "http://127.0.0.1");
  json["debug"]["rules"].clear();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    receivers.push_back(std::make_unique<Receiver>(std::vector<int>{statuses[i], 200}));
    json["debug"]["rules"].push_back({{"rule", rules[i]}, {"action", {{"webhook", "http://" + receivers.back()->authority()}}}});
  }
  submit(json);
  for (const std::string& rule : rules) find(rule);
  EXPECT_EQ(told("refused"), "failed failed failed ");
  for (const auto& receiver : receivers) EXPECT_EQ(receiver->wait_for(1).size(), 1U);
}

TEST_F(ApiWebhooksTest, AHostThatIsNotAllowedIsRefusedWithTheDocument) {
  const RawReply refused = post("/v1/jobs", document("far", "http://elsewhere.example:81/x").dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, testing::HasSubstr("debug.rules[0].action.webhook"));
  EXPECT_THAT(refused.body, testing::HasSubstr("--allow-webhook elsewhere.example:81"));
  const Json checked = Json::parse(post("/v1/checks", document("far", "http://elsewhere.example/").dump()).body);
  EXPECT_EQ(checked.at("ok"), false);
  EXPECT_EQ(post("/v1/jobs", document("secret", "https://127.0.0.1/x").dump()).status, 400);
}

// The server before allowed it.
TEST_F(ApiWebhooksTest, AJobThatIsThereIsAnsweredAlsoWhereItsHostIsNotAllowedAnyMore) {
  const Json far = document("far", "http://elsewhere.example/");
  Diagnostics none;
  const ParsedJob parsed = parse_job(far.dump(), "", none);
  std::promise<void> there;
  on_loop([&] {
    ASSERT_TRUE(engine_->submit(JobSubmitted{parsed.spec, parsed.canonical}, [&](const auto&) { there.set_value(); }));
  });
  there.get_future().wait();
  for (const char* preflight : {"off", "on"}) {
    const RawReply again = post(std::string("/v1/jobs?preflight=") + preflight, far.dump());
    EXPECT_EQ(again.status, 200) << again.body;
  }
  EXPECT_EQ(post("/v1/jobs", document("other", "http://elsewhere.example/").dump()).status, 400);
}

// The worker's calls are answered meanwhile, and another receiver is told.
TEST_F(ApiWebhooksTest, AReceiverThatHangsHoldsNothingUp) {
  Receiver hangs;
  Receiver answers;
  hangs.close();
  Json json = document("hangs", "http://" + hangs.authority());
  json["debug"]["rules"][1]["action"] = {{"webhook", "http://" + answers.authority()}, {"also", "note"}};
  submit(json);
  find("overfit");
  hangs.wait_for(1);
  find("exploding_tensor");
  answers.wait_for(1);
  EXPECT_EQ(get_json("/v1/jobs/hangs/findings").at("findings").at(0).at("webhook"), "pending");
  hangs.open();
  EXPECT_EQ(told("hangs"), "delivered delivered ");
  EXPECT_EQ(hangs.wait_for(1).size(), 1U);
}

class CalledAgainTooLate : public ApiWebhooksTest {
 protected:
  CalledAgainTooLate() : ApiWebhooksTest({3'600'000}) {}

  // One of which has ended, and is told of; the other's finding waits behind it.
  void two_jobs_tell(Receiver& receiver) {
    const std::string url = "http://" + receiver.authority();
    submit(document("gone", url));
    find("overfit");
    receiver.wait_for(1);
    order_ = Json();
    work_until_idle("w1");
    submit(document("stays", url));
    find("overfit");
  }
};

TEST_F(CalledAgainTooLate, WhatAJobThatIsDeletedHadToTellHoldsNothingUp) {
  Receiver receiver({500, 204});
  two_jobs_tell(receiver);
  EXPECT_EQ(get_json("/v1/jobs/stays/findings").at("findings").at(0).at("webhook"), "pending");
  EXPECT_EQ(remove("/v1/jobs/gone").status, 204);
  EXPECT_EQ(told("stays"), "delivered ");
}

TEST_F(CalledAgainTooLate, AnAddressInTroubleHoldsUpNoOtherOfItsHost) {
  Receiver receiver({500, 204});
  Json json = document("both", "http://" + receiver.authority() + "/in-trouble");
  json["debug"]["rules"][1]["action"] = {{"webhook", "http://" + receiver.authority() + "/well"}, {"also", "note"}};
  submit(json);
  find("overfit");
  receiver.wait_for(1);
  find("exploding_tensor");
  receiver.wait_for(2);
  EXPECT_EQ(get_json("/v1/jobs/both/findings").at("findings").at(0).at("webhook"), "pending");
}

TEST_F(CalledAgainTooLate, ACallUnderWayForAJobThatIsDeletedIsNotMadeAgain) {
  Receiver receiver({500, 204});
  receiver.close();
  two_jobs_tell(receiver);
  EXPECT_EQ(remove("/v1/jobs/gone").status, 204);
  receiver.open();
  EXPECT_EQ(told("stays"), "delivered ");
  EXPECT_EQ(receiver.wait_for(2).size(), 2U);
}

// By web hooks of the test's own, whose read is refused at first: too many others wait.
TEST_F(ApiWebhooksTest, WhatCannotBeReadIsReadAgain) {
  Receiver receiver;
  receiver.close();
  submit(document("read-again", "http://" + receiver.authority()));
  find("overfit");
  receiver.wait_for(1);  // the server's own call, which is not answered: the finding is still to be told
  std::promise<void> may_read;
  std::optional<server::ReadThread> reads;
  std::optional<server::Webhooks> hooks;
  on_loop([&] {
    const auto nothing_more = [](const Result<bool>&) {};
    reads.emplace(loop_, data_dir_.database_file());
    reads->run(
        [may = may_read.get_future().share()](Reader&) -> Result<bool> {
          may.wait();
          return true;
        },
        nothing_more);
    while (reads->waiting() < server::ReadThread::kWaitingMax)
      reads->run([](Reader&) -> Result<bool> { return true; }, nothing_more);
    hooks.emplace(loop_, *reads, *engine_, server::WebhookOptions{.hosts = {"127.0.0.1"}, .delays_ms = {1}});
    hooks->restore();
  });
  may_read.set_value();
  EXPECT_EQ(receiver.wait_for(2).size(), 2U);
  receiver.open();
  EXPECT_EQ(told("read-again"), "delivered ");
  for (std::size_t waiting = 1; waiting > 0;) on_loop([&] { waiting = reads->waiting(); });
  on_loop([&] {
    hooks.reset();
    reads.reset();
  });
}

}  // namespace
}  // namespace tuneband::test
