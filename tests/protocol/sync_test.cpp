#include "workers/protocol/sync.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuneband::protocol {
namespace {

AssignmentOrder some_order() {
  AssignmentOrder order;
  order.epoch = 9;
  order.job = 7;
  order.job_name = "direct-marketing";
  order.trial = 11;
  order.configuration = {{"eta", 0.1}, {"booster", "gbtree"}, {"depth", 6}};
  order.trainer = {{"type", "command"}, {"argv", {"true"}}};
  order.objective_metric = "val_loss";
  order.maximize = true;
  order.further_metrics = {"latency_ms", "size"};
  order.kept_value = 0.1;
  order.best_value = 0.7;
  order.from_resource = 3;
  order.until_resource = 9;
  order.max_resource = 27;
  order.attempt = 2;
  order.seed = std::numeric_limits<std::uint64_t>::max();
  order.files_epoch = 8;
  order.trial_dir = "/var/lib/tuneband/jobs/7/trials/11";
  order.group = GroupPlace{2, 3, 5, "10.0.0.7", 4711, "10.0.0.1", 4712};
  order.look_first = true;
  return order;
}

SyncRequest some_request() {
  SyncRequest request;
  request.name = "local-1";
  request.host = "host";
  request.pid = 42;
  request.version = "0.1.0";
  request.data_keys = {"a", "b"};
  request.draining = true;
  request.address = "10.0.0.7";
  request.free_port = 4711;
  AssignmentStatus status;
  status.epoch = 9;
  status.observations = {{1, {{"auc", 0.5}}}, {2, {{"auc", 0.75}, {"loss", 1e-300}}}};
  status.began_resource = 1;
  status.kept = Observation{2, {{"auc", 0.6}}};
  status.test_value = 0.1 + 0.2;
  status.rules = {{"overfit", 3, 2, 10, ""}, {"mine", 3, 3, 10, "was too slow"}};
  status.checkpoint_resource = 2;
  status.training_ms = 1234;
  status.exit = "crashed";
  status.message = "the command ended with exit status 3";
  status.crash = "exit status 3";
  status.files_epoch = 8;
  request.assignment = status;
  request.lacks = {{0, "the server's data directory on a worker's machine", "it is not mounted"}, {7, "data", "no a.csv"}};
  request.checks_jobs = true;
  request.check_result.emplace().id = 12;
  request.check_result->found.error("trainer.argv[0]", "no such program", "look");
  request.check_result->found.warning("", "slow");
  request.ended = WorkerEnd{"it was killed", "signal 11", true};
  return request;
}

SyncRequest reread(const Json& json, Diagnostics& diagnostics) {
  return sync_request_from_json(*parse_json(json.dump()), diagnostics);
}

TEST(Sync, ARequestReadsBackAsItWas) {
  Diagnostics diagnostics;
  const SyncRequest request = reread(to_json(some_request()), diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << describe(diagnostics.errors().front());
  EXPECT_EQ(to_json(request), to_json(some_request()));
  EXPECT_EQ(request.assignment->observations[1].metrics[1].second, 1e-300);
}

TEST(Sync, AReplyReadsBackAsItWasWithAllBitsOfTheSeed) {
  const SyncReply reply{.desired = "execute", .order = some_order(), .sync_within_ms = 250};
  Diagnostics diagnostics;
  const SyncReply read = sync_reply_from_json(*parse_json(to_json(reply).dump()), diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << describe(diagnostics.errors().front());
  EXPECT_EQ(to_json(read), to_json(reply));
  EXPECT_EQ(read.order->seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(Sync, NanAndInfinityTravelAsTexts) {
  SyncRequest request = some_request();
  const double inf = std::numeric_limits<double>::infinity();
  request.assignment->observations = {{1, {{"a", std::nan("")}, {"b", inf}, {"c", -inf}}}};
  const Json json = to_json(request);
  EXPECT_EQ(json["assignment"]["observations"][0]["metrics"]["a"], "nan");
  Diagnostics diagnostics;
  const auto metrics = reread(json, diagnostics).assignment->observations.at(0).metrics;
  ASSERT_TRUE(diagnostics.ok());
  EXPECT_TRUE(std::isnan(metrics.at(0).second));
  EXPECT_EQ(metrics.at(1).second, inf);
  EXPECT_EQ(metrics.at(2).second, -inf);
}

struct BadRequest {
  const char* what;
  const char* patch;  // a JSON merge patch on a good request
  const char* path;   // of the fault
};

class SyncRefuses : public testing::TestWithParam<BadRequest> {};

TEST_P(SyncRefuses, AFaultyRequestAtItsPath) {
  Json json = to_json(some_request());
  json.merge_patch(*parse_json(GetParam().patch));
  Diagnostics diagnostics;
  reread(json, diagnostics);
  ASSERT_FALSE(diagnostics.ok());
  EXPECT_EQ(diagnostics.errors().front().path, GetParam().path);
}

INSTANTIATE_TEST_SUITE_P(
    Requests, SyncRefuses,
    testing::Values(BadRequest{"NoName", R"({"name": null})", "name"}, BadRequest{"NumberAsName", R"({"name": 3})", "name"},
                    BadRequest{"UnknownField", R"({"nmae": "x"})", "nmae"},
                    BadRequest{"EpochZero", R"({"assignment": {"epoch": 0}})", "assignment.epoch"},
                    BadRequest{"NoEpoch", R"({"assignment": {"epoch": null}})", "assignment.epoch"},
                    BadRequest{"AssignmentIsText", R"({"assignment": "x"})", "assignment"},
                    BadRequest{"ObservationsIsObject", R"({"assignment": {"observations": {}}})", "assignment.observations"},
                    BadRequest{"NegativeResource", R"({"assignment": {"observations": [{"resource": -1, "metrics": {}}]}})",
                               "assignment.observations[0].resource"},
                    BadRequest{"FractionalResource", R"({"assignment": {"observations": [{"resource": 1.5, "metrics": {}}]}})",
                               "assignment.observations[0].resource"},
                    BadRequest{"MetricIsText", R"({"assignment": {"observations": [{"resource": 1, "metrics": {"a": "high"}}]}})",
                               "assignment.observations[0].metrics.a"},
                    BadRequest{"EndWithoutMessage", R"({"ended": {"message": null}})", "ended.message"},
                    BadRequest{"LackOfANegativeJob", R"({"lacks": [{"job": -1, "what": "a", "message": "b"}]})", "lacks[0].job"},
                    BadRequest{"LackOfNothing", R"({"lacks": [{"job": 1, "what": "", "message": "b"}]})", "lacks[0].what"},
                    BadRequest{"LackWithoutMessage", R"({"lacks": [{"job": 1, "what": "a"}]})", "lacks[0].message"},
                    BadRequest{"DataKeyIsNumber", R"({"data_keys": [1]})", "data_keys[0]"}),
    [](const auto& test) { return test.param.what; });

TEST(Sync, TooManyObservationsAreRefused) {
  SyncRequest request = some_request();
  request.assignment->observations.assign(kObservationsPerSyncMax + 1, {1, {{"a", 1.0}}});
  Diagnostics diagnostics;
  reread(to_json(request), diagnostics);
  ASSERT_FALSE(diagnostics.ok());
  EXPECT_EQ(diagnostics.errors().front().path, "assignment.observations");
}

TEST(Sync, AMessageFullOfFaultsIsAnsweredWithSomeOfThem) {
  Json json = to_json(some_request());
  Json metrics;
  for (std::size_t i = 0; i < kMetricsPerObservationMax; ++i) metrics["m" + std::to_string(i)] = "high";
  json["assignment"]["observations"] = Json::array_t(1'000, {{"resource", -1}, {"metrics", metrics}, {"surprise", 1}});
  Diagnostics diagnostics;
  reread(json, diagnostics);
  EXPECT_EQ(diagnostics.errors().size(), kFaultsMax + 1);
}

// The longest that a worker sends: its observations, their metrics by the longest names, as many data sets as it may have.
TEST(Sync, TheLargestMessageOfAWorkerFits) {
  constexpr std::int64_t kFar = 1'000'000'000'000'000'000;
  SyncRequest request = some_request();
  request.assignment->observations.clear();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kObservationsPerSyncMax); ++i) {
    request.assignment->observations.push_back({kFar + i, {{std::string(kMetricNameSizeMax, 'm'), -1.2345678901234567e-300}}});
  }
  request.assignment->message = std::string(kMessageSizeMax, 'm');
  request.data_keys.assign(kDataKeysMax, std::string(500, 'd'));
  const std::string body = to_json(request).dump();
  EXPECT_LE(body.size(), kSyncBodyBytesMax);
  EXPECT_TRUE(parse_json(body, {.values_max = kSyncValuesMax / 2}));
}

TEST(Sync, AReplyToExecuteNothingIsRefused) {
  Diagnostics diagnostics;
  sync_reply_from_json(*parse_json(R"({"desired": "execute", "sync_within_ms": 100})"), diagnostics);
  EXPECT_FALSE(diagnostics.ok());
}

TEST(Sync, AnUnknownWordOfTheServerIsRefused) {
  Diagnostics diagnostics;
  sync_reply_from_json(*parse_json(R"({"desired": "dance"})"), diagnostics);
  EXPECT_FALSE(diagnostics.ok());
}

}  // namespace
}  // namespace tuneband::protocol
