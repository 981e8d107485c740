// Workers that lie, flood or talk nonsense over the real API: each gets a clear answer, and the job goes on to the result that
// honest workers bring it to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/http/api_fixture.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;

constexpr int kFlood = 2'000;
constexpr std::size_t kErrorBytesMax = 100'000;  // of a reply, whatever it was that was asked
constexpr auto kHeldMost = std::chrono::seconds(60);

class HostileWorkerTest : public ApiTest {
 protected:
  void SetUp() override { job_ = submit(job_document("attacked")); }

  static Json observation(const Json& resource, const Json& value) {
    return {{"resource", resource}, {"metrics", {{"x", value}}}};
  }

  static Json status_of(const Json& epoch, const Json& observations) {
    return {{"epoch", epoch}, {"observations", observations}};
  }

  RawReply say(const std::string& worker, const std::string& body) { return post("/v1/workers/" + worker + "/sync", body); }

  std::string trial_path(int number) const { return "/v1/jobs/" + job_ + "/trials/" + std::to_string(number); }

  // To the end, with the values that the configurations have: the best trial is the one with the largest x.
  void expect_the_job_ends_well() {
    work_until_idle("honest");
    const Json job = get_json("/v1/jobs/" + job_);
    EXPECT_EQ(job.at("state"), "completed") << job;
    EXPECT_EQ(job.at("trials").at("failed"), 0);
    const Json page = get_json("/v1/jobs/" + job_ + "/trials?limit=1000");
    for (const Json& trial : page.at("trials")) EXPECT_EQ(trial.at("objective"), trial.at("configuration").at("x")) << trial;
  }

  std::string job_;
};

TEST_F(HostileWorkerTest, AWorkerOfAnotherVersionIsToldToEndWhateverItSays) {
  for (const char* message : {R"({"name": "w", "version": "0.0.1"})", R"({"name": "w", "version": "99.0.0", "colour": "blue"})",
                              R"({"version": "99.0.0", "assignment": {"epoch": "new style"}})"}) {
    const RawReply reply = say("newer", message);
    EXPECT_EQ(reply.status, 200) << message;
    EXPECT_EQ(Json::parse(reply.body).at("desired"), "drain") << message;
  }
  EXPECT_EQ(say("same", R"({"name": "w", "version": ")" TUNEBAND_VERSION R"(", "colour": "blue"})").status, 400);
  EXPECT_EQ(say("same", R"({"name": "w", "version": 7})").status, 400);
  expect_the_job_ends_well();
}

// Of a server that holds calls for longer than the test takes.
class HeldWorkerTest : public ApiTest {
 protected:
  HeldWorkerTest() : ApiTest(std::chrono::milliseconds(2 * kHeldMost).count()) {}

  // Soon.
  bool there_are_workers(std::size_t count) {
    const auto give_up = std::chrono::steady_clock::now() + kHeldMost;
    while (get_json("/v1/workers").at("workers").size() != count) {
      if (std::chrono::steady_clock::now() > give_up) return false;
    }
    return true;
  }
};

TEST_F(HeldWorkerTest, AnIdleWorkerThatGoesIsForgottenAtOnce) {
  RawClient leaves = hold("leaves");
  ASSERT_TRUE(there_are_workers(1));
  leaves.close();
  ASSERT_TRUE(there_are_workers(0));
  const std::string id = submit(job_document("later"));
  const Json order = sync("honest").at("order");
  EXPECT_EQ(order.at("job"), std::stoi(id));
  EXPECT_EQ(order.at("trial"), 0) << "the one that went has none";
}

TEST_F(HeldWorkerTest, OneThatSendsNoMoreIsAnsweredAtOnceAndGivenNothing) {
  RawClient sends_no_more = hold("half");
  ASSERT_TRUE(there_are_workers(1));
  sends_no_more.close_sending();
  const RawReply reply = sends_no_more.receive();
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(Json::parse(reply.body).contains("order")) << reply.body;
  EXPECT_TRUE(there_are_workers(0));
}

TEST_F(HostileWorkerTest, ReportsForATrialThatIsNotItsOwnChangeNothing) {
  const Json order = sync("honest").at("order");
  const Json before = get_json(trial_path(0));
  Json theft = reached(order, 1e9);
  const Json reply = sync("thief", theft);
  EXPECT_NE(reply.value("order", Json({{"epoch", 0}})).at("epoch"), order.at("epoch")) << "it is told to let go of it";
  theft["exit"] = "crashed";
  sync("thief", theft);
  const Json after = get_json(trial_path(0));
  for (const char* field : {"state", "worker", "objective", "resource", "attempts"}) EXPECT_EQ(after.at(field), before.at(field));
  sync("honest", reached(order, order.at("configuration").at("x").get<double>()));
  // Whatever it was given meanwhile, it goes without having begun.
  EXPECT_EQ(say("thief", R"({"name": "thief", "draining": true})").status, 200);
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, ObservationsOutOfOrderAndPastTheTargetAreLeftOut) {
  const Json order = sync("honest").at("order");
  const double x = order.at("configuration").at("x").get<double>();
  const std::int64_t until = order.at("until_resource").get<std::int64_t>();
  Json observations = Json::array();
  for (const std::int64_t resource : {until + 100, until, until - 1, until, until + 1}) {
    observations.push_back(observation(resource, resource == until ? x : 1e6));
  }
  sync("honest", status_of(order.at("epoch"), observations));
  sync("honest", reached(order, 1e6));  // the first report for a resource counts
  const Json curve = get_json(trial_path(0) + "/observations").at("observations");
  ASSERT_FALSE(curve.empty());
  EXPECT_EQ(curve.back().at("resource"), until);
  EXPECT_EQ(curve.back().at("objective"), x);
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, NumbersThatAreNoneAreNamedAndTheConnectionLives) {
  const Json order = sync("honest").at("order");
  const std::string epoch = order.at("epoch").dump();
  const auto body = [&](const std::string& resource, const std::string& value) {
    return R"({"name": "w", "assignment": {"epoch": )" + epoch + R"(, "observations": [{"resource": )" + resource +
           R"(, "metrics": {"x": )" + value + "}}]}}";
  };
  for (const auto& [resource, value] : std::vector<std::pair<std::string, std::string>>{{"1", "NaN"},
                                                                                        {"1", "Infinity"},
                                                                                        {"1", "1e999"},
                                                                                        {"-1", "0.5"},
                                                                                        {"1.5", "0.5"},
                                                                                        {"1e300", "0.5"},
                                                                                        {"99999999999999999999", "0.5"},
                                                                                        {"1", "\"many\""},
                                                                                        {"1", "[[[[1]]]]"},
                                                                                        {"null", "0.5"}}) {
    const RawReply reply = say("honest", body(resource, value));
    EXPECT_EQ(reply.status, 400) << resource << " " << value << ": " << reply.body;
    EXPECT_EQ(code_of(reply), "invalid_argument");
  }
  EXPECT_EQ(say("honest", std::string(100'000, '[')).status, 400);
  EXPECT_EQ(say("honest", "{\"name\": \"\xff\xfe\"}").status, 400);
  EXPECT_EQ(say("honest", "").status, 400);
  sync("honest", reached(order, order.at("configuration").at("x").get<double>()));
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, AFloodOfCallsIsAnsweredAndDelaysNobodyForLong) {
  const Json order = sync("honest").at("order");
  RawClient flood = client();
  const std::string body = Json({{"name", "flood"}, {"assignment", status_of(12345, Json::array({observation(1, 0.5)}))}}).dump();
  const std::string call =
      "POST /v1/workers/flood/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  for (int i = 0; i < kFlood; ++i) {
    flood.send(call);
    if (i % 10 == 9) {
      for (int reply = 0; reply < 10; ++reply) ASSERT_EQ(flood.receive().status, 200);
    }
  }
  Json observations = Json::array();
  for (std::size_t i = 0; i <= protocol::kObservationsPerSyncMax; ++i) observations.push_back(observation(1, 0.5));
  EXPECT_EQ(say("honest", Json({{"name", "w"}, {"assignment", status_of(order.at("epoch"), observations)}}).dump()).status, 400);
  sync("honest", reached(order, order.at("configuration").at("x").get<double>()));
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, NegativeAndHugeCountersOfAWorkerAreBounded) {
  const Json order = sync("honest").at("order");
  const double x = order.at("configuration").at("x").get<double>();
  Json status = reached(order, x);
  status["training_ms"] = -5;
  EXPECT_EQ(say("honest", Json({{"name", "w"}, {"assignment", status}}).dump()).status, 400);
  status["training_ms"] = 10;
  status["checkpoint_resource"] = -1;
  EXPECT_EQ(say("honest", Json({{"name", "w"}, {"assignment", status}}).dump()).status, 400);
  status["checkpoint_resource"] = 1'000'000'000'000;  // past its target: not believed
  sync("honest", status);
  EXPECT_LE(get_json(trial_path(0)).at("resource"), order.at("until_resource"));
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, AMessageWithoutMeasureIsRefusedOrCut) {
  const Json order = sync("honest").at("order");
  Json status = reached(order, order.at("configuration").at("x").get<double>());
  status["message"] = std::string(protocol::kMessageSizeMax + 1, 'm');
  EXPECT_EQ(say("honest", Json({{"name", "w"}, {"assignment", status}}).dump()).status, 400);
  EXPECT_EQ(say("honest", Json({{"name", "w"}, {"data_keys", Json::array_t(protocol::kDataKeysMax + 1, "k")}}).dump()).status,
            400);
  EXPECT_THAT(say("honest", R"({"name": "w", "surprise": 1})").body, HasSubstr("surprise"));
  status["message"] = "";
  sync("honest", status);
  expect_the_job_ends_well();
}

TEST_F(HostileWorkerTest, AMessageThatNoWorkerSendsIsRefusedWithFewWords) {
  std::string many_keys = "{";
  for (int i = 0; i < 300'000; ++i) many_keys += "\"k" + std::to_string(i) + "\":1,";
  many_keys.back() = '}';
  std::string many_values = "{\"data_keys\":[1";
  for (int i = 0; i < 1'000'000; ++i) many_values += ",1";
  many_values += "]}";
  Json bad_metrics;
  for (std::size_t i = 0; i < protocol::kMetricsPerObservationMax; ++i) bad_metrics["m" + std::to_string(i)] = "high";
  const Json bad_observations =
      Json::array_t(protocol::kSyncValuesMax / 200, {{"resource", -1}, {"metrics", std::move(bad_metrics)}});
  for (const std::string& body :
       {many_keys, many_values, "{\"pid\":" + std::string(3'000'000, '9') + "}", "{\"" + std::string(3'000'000, 'k') + "\":1}",
        Json({{"name", "w"}, {"assignment", status_of(1, bad_observations)}}).dump()}) {
    const RawReply reply = say("w", body);
    EXPECT_EQ(reply.status, 400);
    EXPECT_LT(reply.body.size(), kErrorBytesMax) << reply.body.substr(0, 1'000);
  }
  const RawReply too_large = say("w", "\"" + std::string(protocol::kSyncBodyBytesMax, 'x') + "\"");
  EXPECT_EQ(too_large.status, 413);
  EXPECT_EQ(code_of(too_large), "too_large");
  expect_the_job_ends_well();
}

}  // namespace
}  // namespace tuneband::test
