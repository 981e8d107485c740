// What the tests of the command line take for a server's replies (tests/cli/replies) is what the server replies: the API over a
// real store that a real engine filled, whose workers are played here. TUNEBAND_UPDATE_GOLDEN=1 rewrites the files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/http/api_fixture.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;

const fs::path kReplies = fs::path(TUNEBAND_SOURCE_DIR) / "tests/cli/replies";

// What differs from run to run is always the same: times, what only the clock decides, and where the data is.
constexpr const char* kWhen = "2026-03-01T12:00:00.000Z";
const std::set<std::string> kSecondsOfTheClock = {"wall_seconds", "queue_seconds", "training_seconds_saved",
                                                  "training_seconds_without_stopping"};
constexpr double kSomeSeconds = 0.25;

class RecordedReplies : public ApiTest {
 protected:
  void record(const std::string& name, const RawReply& reply, int status = 200) {
    ASSERT_EQ(reply.status, status) << name << ": " << reply.body;
    Json json = Json::parse(reply.body);
    make_timeless(json);
    const std::string text = json.dump(1) + "\n";
    const fs::path golden = kReplies / (name + ".json");
    if (std::getenv("TUNEBAND_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
    EXPECT_EQ(text, read_text(golden)) << "TUNEBAND_UPDATE_GOLDEN=1 rewrites " << golden;
  }

  // A job of XGBoost over data that nobody opens: its workers are played.
  static Json document() {
    return Json::parse(R"({
      "name": "direct-marketing",
      "objective": {"metric": "validation-auc", "goal": "maximize"},
      "search_space": {"eta": {"type": "float", "min": 0.05, "max": 0.5, "scale": "log"},
                       "max_depth": {"type": "int", "min": 2, "max": 8}},
      "sampler": {"type": "random", "seed": 7},
      "trainer": {"type": "xgboost", "data": {"train": "/data/bank.csv", "label": "y"},
                  "parameters": {"objective": "binary:logistic"}, "eval_metric": "auc", "fidelity": "prefix"},
      "scheduler": {"type": "hyperband", "min_resource": 3, "max_resource": 27, "eta": 3}})");
  }

  // A trial's value: another for each, and a little better with each round.
  static double value_of(int trial, int rounds) { return (7000 + trial * 11 % 29 * 20 + rounds * 4) / 10000.0; }

  // Two workers in turns, until the job is like that.
  void play_until(const std::function<bool(const Json&)>& holds, const std::string& job = "7") {
    constexpr int kTurnsMax = 200;
    for (int turn = 0; !holds(get_json("/v1/jobs/" + job)); ++turn) {
      ASSERT_LT(turn, kTurnsMax);
      for (const std::string worker : {"local-1", "local-2"}) {
        const auto order = orders_.find(worker);
        const Json reply = order == orders_.end() ? sync(worker) : sync(worker, end_of(order->second));
        if (order != orders_.end()) orders_.erase(order);
        if (reply.value("desired", "") == "execute") orders_[worker] = reply.at("order");
      }
    }
  }

  // The status of a worker whose trial got to the end of its order, or failed on the way.
  Json end_of(const Json& order) const {
    const int trial = order.at("trial");
    const int rounds = order.at("until_resource");
    Json status = {{"epoch", order.at("epoch")}, {"training_ms", 40 * rounds}, {"exit", "completed"}, {"message", ""}};
    if (fails_ || trial == 4 || trial == 9) {
      status["exit"] = "out_of_memory";
      status["message"] = "the memory limit of 1 GB was reached";
      return status;
    }
    status["checkpoint_resource"] = rounds;
    for (int round = order.at("from_resource").get<int>() + 1; round <= rounds; ++round) {
      status["observations"].push_back({{"resource", round}, {"metrics", {{"validation-auc", value_of(trial, round)}}}});
    }
    return status;
  }

  bool fails_ = false;                  // every trial
  std::map<std::string, Json> orders_;  // what each worker does

 private:
  void make_timeless(Json& json) const {
    static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
    if (json.is_string()) {
      std::string text = std::regex_replace(json.get<std::string>(), kTime, kWhen);
      const std::string here = directory_ / "";
      for (auto at = text.find(here); at != std::string::npos; at = text.find(here)) text.replace(at, here.size(), "/");
      json = text;
    }
    if (!json.is_structured()) return;
    for (auto& [name, value] : json.items()) {
      if (kSecondsOfTheClock.contains(name) && value.is_number()) value = kSomeSeconds;
      make_timeless(value);
    }
  }
};

TEST_F(RecordedReplies, AreWhatTheServerRepliesToday) {
  for (int earlier = 1; earlier <= 6; ++earlier) submit(job_document("earlier-" + std::to_string(earlier)));
  for (int earlier = 1; earlier <= 6; ++earlier) post("/v1/jobs/" + std::to_string(earlier) + "/stop");
  sync("local-1");
  sync("local-2");
  Json faulty = document();
  faulty["search_space"]["max_depth"]["max"] = 1;
  faulty["limits"]["max_trial"] = 5;
  record("refused", post("/v1/jobs", faulty.dump()), 400);
  record("not_found", get("/v1/jobs/nobody"), 404);
  record("created", post("/v1/jobs", document().dump()), 201);
  record("created_before", post("/v1/jobs", document().dump()));
  record("job_new", get("/v1/jobs/7"));
  record("best_of_none", get("/v1/jobs/7/best"), 404);
  play_until([](const Json& job) { return job["trials"]["completed"] == 1; });
  const fs::path files = trial_dir("7", get_json("/v1/jobs/7")["best"]["trial"]);
  fs::create_directories(files);
  std::ofstream(files / "model.ubj") << "a model";
  record("job", get("/v1/jobs/7"));
  const RawReply page = get("/v1/jobs?limit=6");
  record("jobs", page);
  record("jobs_next", get("/v1/jobs?limit=6&after=" + Json::parse(page.body).at("next").get<std::string>()));
  for (const char* name : {"plan", "summary", "best"}) record(name, get("/v1/jobs/7/" + std::string(name)));
  record("trials", get("/v1/jobs/7/trials?limit=1000"));
  record("trials_failed", get("/v1/jobs/7/trials?state=failed&limit=1000"));
  record("trials_running", get("/v1/jobs/7/trials?state=running&limit=8"));
  record("trials_best", get("/v1/jobs/7/trials?sort=objective&state=stopped,completed&limit=2"));
  record("observations", get("/v1/jobs/7/trials/0/observations"));
  play_until([](const Json& job) { return job["trials"]["running"] > 0; });
  const Json running = get_json("/v1/jobs/7/trials?state=running&limit=1").at("trials").at(0);
  const std::string stop = "/v1/jobs/7/trials/" + running.at("number").dump() + "/stop";
  record("trial_stopped", post(stop), 202);
  record("trial_has_ended", post(stop), 409);
  record("changed", send("PATCH", "/v1/jobs/7", R"({"held": true, "weight": 2, "limits": {"max_parallel_trials": 4}})"));
  record("stopping", post("/v1/jobs/7/stop"), 202);
}

TEST_F(RecordedReplies, AreThoseOfAJobThatFailed) {
  Json failing = document();
  failing["limits"] = {{"max_failures_in_a_row", 2}};
  submit(failing);
  fails_ = true;
  play_until([](const Json& job) { return job["state"] == "failed"; }, "1");
  record("job_failed", get("/v1/jobs/1"));
  record("summary_failed", get("/v1/jobs/1/summary"));
}

}  // namespace
}  // namespace tuneband::test
