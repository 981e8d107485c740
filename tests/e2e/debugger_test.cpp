// The debugger on real trainings: what its rules find, what their actions do, and that kill -9 changes nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "core/random.hpp"
#include "core/text.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/python_script.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/net/loopback_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

class DebuggerTest : public testing::Test {
 protected:
  // Trains so deep on so few rows that every trial overfits, sooner or later.
  Json job(const std::string& name, const Json& debug) {
    const std::string path = directory_ / "table.csv";
    std::ofstream file(path);
    file << "a,b,c,label\n";
    for (std::uint64_t row = 0; row < 400; ++row) {
      for (std::uint64_t column = 0; column < 3; ++column) file << format_number(random_unit(11, {row, column})) << ',';
      file << (random_unit(11, {row, 0}) + random_unit(11, {row, 99}) > 1 ? 1 : 0) << '\n';
    }
    return {{"name", name},
            {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
            {"search_space", {{"eta", {{"type", "float"}, {"min", 0.05}, {"max", 1}, {"scale", "log"}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 200}}},
            {"limits", {{"max_trials", 6}, {"max_attempts", 100}, {"max_failures_in_a_row", 2}}},
            {"debug", debug},
            {"trainer",
             {{"type", "xgboost"},
              {"parameters", {{"objective", "binary:logistic"}, {"max_depth", 8}}},
              {"eval_metric", {"logloss"}},
              {"eval_train", true},
              {"data", {{"train", path}, {"label", "label"}, {"validation", {{"fraction", 0.5}, {"seed", 1}}}}}}}};
  }

  // Of one trial, which is this Python program.
  static Json command_job(const std::string& path, const std::string& debug) {
    return {{"name", "command"},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"unused", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 1}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 8}}},
            {"limits", {{"max_trials", 1}}},
            {"debug", Json::parse(debug)},
            {"trainer", {{"type", "command"}, {"argv", {"/usr/bin/python3", path, "{unused}"}}}}};
  }

  // Without times.
  static std::vector<std::string> findings(RunningServer& server, const std::string& job) {
    std::vector<std::string> rows;
    for (const Json& found : server.get("/v1/jobs/" + job + "/findings").value("findings", Json::array())) {
      Json row = found;
      row.erase("at");
      rows.push_back(row.dump());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  // What a script prints that knows the Python file as `d`.
  std::string python(const std::string& script) const {
    return run_python(directory_ / "script.py", "import tuneband_debugger as d\n" + script);
  }

  TemporaryDirectory directory_;
};

const char* const kStopsOverfit =
    R"({"rules": [{"rule": "overfit", "parameters": {"ratio_threshold": 1}, "action": "stop_trial"}]})";

TEST_F(DebuggerTest, ARuleEndsTrialsAndTheJobSaysSo) {
  RunningServer server(directory_ / "data", 1);
  const std::string job_id = submit(server, job("ends", Json::parse(kStopsOverfit)));
  const Json ended = server.wait_for_end(job_id);
  EXPECT_EQ(ended.at("state"), "failed") << "no trial came to the end";
  const Json trial = server.get("/v1/jobs/" + job_id + "/trials/0");
  EXPECT_EQ(trial.at("state"), "failed");
  EXPECT_EQ(trial.at("exit_class"), "stopped_by_rule");
  EXPECT_THAT(trial.at("message").get<std::string>(), testing::HasSubstr("the rule `overfit` stopped the trial"));
  EXPECT_EQ(findings(server, job_id).size(), 6) << "one a trial, none of which counts as a failure in a row";
  const Json series = server.get("/v1/jobs/" + job_id + "/trials/0/tensors/series?name=metrics/validation-logloss");
  EXPECT_EQ(series.at("steps").back().at("step"), trial.at("resource"));
}

TEST_F(DebuggerTest, ARuleStopsTheJob) {
  RunningServer server(directory_ / "data", 1);
  Json debug = Json::parse(kStopsOverfit);
  debug["rules"][0]["action"] = "stop_job";
  const std::string job_id = submit(server, job("stops", debug));
  const Json ended = server.wait_for_end(job_id);
  EXPECT_THAT(ended.at("reason").get<std::string>(), testing::HasSubstr("the rule `overfit` stopped the job"));
  EXPECT_EQ(findings(server, job_id).size(), 1);
}

TEST_F(DebuggerTest, KilledAtAnyMomentItFindsTheSame) {
  const Json document = job("killed", Json::parse(R"({"rules": [{"rule": "overfit", "parameters": {"ratio_threshold": 1}},
    {"rule": "loss_not_decreasing"}, {"rule": "overtraining"}]})"));
  std::vector<std::string> undisturbed;
  {
    RunningServer server(directory_ / "calm", 1);
    const std::string job_id = submit(server, document);
    server.wait_for_end(job_id);
    undisturbed = findings(server, job_id);
  }
  EXPECT_GT(undisturbed.size(), 6);
  std::string job_id;
  for (const std::int64_t spent : {100, 250, 500, 700}) {
    RunningServer server(directory_ / "wild", 1);
    if (job_id.empty()) job_id = submit(server, document);
    if (!follow_until_spent(server, job_id, spent)) break;
    ::kill(static_cast<pid_t>(server.worker_pid(0)), SIGKILL);
    server.kill();
  }
  RunningServer server(directory_ / "wild", 1);
  server.wait_for_end(job_id);
  EXPECT_EQ(findings(server, job_id), undisturbed);
}

TEST_F(DebuggerTest, EveryFindingIsToldToItsWebhookThroughAKill) {
  std::mutex mutex;
  std::condition_variable changed;
  bool in_trouble = true;
  std::set<std::string> seen;
  std::map<std::string, Json> taken;  // by id
  LoopbackServer receiver([&](const LoopbackServer::Request& request) {
    const std::lock_guard lock(mutex);
    seen.insert(std::string(request["webhook-id"]));
    changed.notify_all();
    if (in_trouble) return LoopbackAnswer{.status = 503};
    taken[std::string(request["webhook-id"])] = Json::parse(request.body()).at("data").at("finding");
    return LoopbackAnswer{.status = 200};
  });
  Json debug = Json::parse(kStopsOverfit);
  debug["rules"][0]["action"] = {{"webhook", receiver.url() + "/found"}, {"also", "stop_trial"}};
  const std::vector<std::string> allowed = {"--allow-webhook", "127.0.0.1"};
  std::string job_id;
  {
    RunningServer server(directory_ / "data", 1, allowed);
    job_id = submit(server, job("told", debug));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !seen.empty(); });
    server.kill();
    in_trouble = false;
  }
  RunningServer server(directory_ / "data", 1, allowed);
  server.wait_for_end(job_id);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return taken.size() == 6; });
  for (const std::string& id : seen) EXPECT_TRUE(taken.contains(id)) << "what was not taken before the kill is told again";
  std::set<int> trials;
  for (const auto& [id, finding] : taken) trials.insert(finding.at("trial").get<int>());
  EXPECT_EQ(trials.size(), 6U);
}

// Of one loss a value in training and one in validation, told by lines and files of any language; read by name, step and mode.
TEST_F(DebuggerTest, OfOneNameEachModeIsSavedJudgedAndRead) {
  const std::string path = directory_ / "train.py";
  std::ofstream(path) << "import sys\nsys.path.insert(0, '" TUNEBAND_SOURCE_DIR R"(/clients/python')
import numpy, tuneband_debugger as d
for step in range(1, 9):
    print('{"step": %d, "mode": "train", "tensors": {"losses/ce": %g}}' % (step, 1 / step))
    d.save(step, {"outputs/o": numpy.full(2, float(step))})
    if step % 4 == 0:
        d.save(step, {"losses/ce": 0.5, "outputs/o": numpy.full(2, -float(step))}, mode="validation")
    print('{"resource": %d, "loss": %g}' % (step, 1 / step), flush=True)
)";
  const Json document = command_job(path, R"({"save": {"every": 1}, "collections": {"losses": {}, "outputs": {"raw": true}},
      "rules": [{"rule": "overfit", "parameters": {"ratio_threshold": 2}},
        {"rule": "bound", "name": "gap", "reduction": "mean", "above": 3, "collections": ["losses"], "mode": "validation",
         "relative_to_mode": "train"}]})");
  RunningServer server(directory_ / "data", 1);
  const std::string job_id = submit(server, document);
  ASSERT_EQ(server.wait_for_end(job_id).at("state"), "completed");
  const std::string read = python("trial = d.Trial('" + server.url() + "', '" + job_id + R"(', 0)
loss, outputs = trial.tensor("losses/ce"), trial.tensor("outputs/o")
print(trial.modes(), loss.modes(), trial.names(mode="validation"), trial.names("losses"))
print(trial.steps(mode="validation"), loss.steps(mode="train") == list(range(1, 9)))
print(loss.values(mode="validation"), loss.value(4, mode="train"))
print(outputs.value(4, mode="validation"), outputs.value(4, mode="none"), outputs.value(3))
print(outputs.reduction(8, "sum", mode="validation"))
for wrong in (lambda: loss.values(), lambda: loss.value(4), lambda: loss.reduction(4)):
    try: wrong()
    except ValueError as why: print(why)
print([(f["rule"], f["step"]) for f in trial.findings()])
print(trial.check([{"rule": "bound", "reduction": "max", "above": 0.9, "mode": "train", "tensors": ["^losses/"]}])[0]["message"])
)");
  const std::string which = "losses/ce was saved in the modes train and validation: say which with `mode`\n";
  EXPECT_EQ(read,
            "[None, 'train', 'validation'] ['train', 'validation'] ['losses/ce', 'outputs/o'] ['losses/ce']\n"
            "[4, 8] True\n{4: 0.5, 8: 0.5} 0.25\n[-4. -4.] [4. 4.] [3. 3.]\n-16\n" +
                which + which + which +
                "[('overfit', 8), ('gap', 8)]\nmax of `losses/ce` (train) is 1 at step 1, not at most 0.9\n");
}

// As those of numbers are: such as Keras has, and two that differ in what a file's name cannot hold.
TEST_F(DebuggerTest, AnArrayIsReadByTheNameThatItWasSavedBy) {
  const std::string path = directory_ / "train.py";
  std::ofstream(path) << "import sys\nsys.path.insert(0, '" TUNEBAND_SOURCE_DIR R"(/clients/python')
import numpy, tuneband_debugger as d
names = ["dense/kernel:0", "a/b", "a_b", "a%2Fb", "100 %", "Schicht ä", "a@1.validation", "../x", "line\nfeed"]
d.save(1, {"weights/" + name: numpy.full(2, float(at)) for at, name in enumerate(names)})
d.save(1, {"weights/" + name: at for at, name in enumerate(names)}, mode="train")
print('{"resource": 8, "loss": 1}', flush=True)
)";
  RunningServer server(directory_ / "data", 1);
  const std::string job_id =
      submit(server, command_job(path, R"({"save": {"every": 1}, "collections": {"weights": {"raw": true}}, "rules": []})"));
  ASSERT_EQ(server.wait_for_end(job_id).at("state"), "completed");
  EXPECT_EQ(python("trial = d.Trial('" + server.url() + "', '" + job_id + R"(', 0)
print(trial.names("weights", mode="none") == trial.names("weights", mode="train"))
for name in trial.names("weights"): print(ascii(name), trial.tensor(name).value(1, mode="none"))
)"),
            "True\n'weights/100 %' [4. 4.]\n'weights/Schicht \\xe4' [5. 5.]\n'weights/a%2Fb' [3. 3.]\n'weights/a/b' [1. 1.]\n"
            "'weights/a@1.validation' [6. 6.]\n'weights/a_b' [2. 2.]\n'weights/dense/kernel:0' [0. 0.]\n");
}

// The example of docs/debugger.md: inputs scaled by 1e11, found at once, and by name where the scaling is.
TEST_F(DebuggerTest, AnExplodingTrainingIsStoppedAndExploredByName) {
  const std::string examples = std::string(TUNEBAND_SOURCE_DIR) + "/examples/debugger";
  std::ifstream file(examples + "/job.json");
  Json document = Json::parse(file);
  document["trainer"]["working_dir"] = examples;
  document["trainer"]["argv"][0] = "/usr/bin/python3";  // Debian's NumPy is its own
  RunningServer server(directory_ / "data", 1);
  const std::string job_id = submit(server, document);
  server.wait_for_end(job_id);
  const std::string trial = "/v1/jobs/" + job_id + "/trials/0";
  EXPECT_EQ(server.get(trial).at("exit_class"), "stopped_by_rule") << server.get(trial).dump();
  const Json found = server.get(trial + "/findings").at("findings").at(0);
  EXPECT_EQ(found.at("rule"), "exploding_tensor");
  EXPECT_LE(found.at("step").get<int>(), 20);
  const auto largest = [&](const std::string& name) {
    const Json series = server.get(trial + "/tensors/series?name=" + name + "&from=1&until=1");
    return series.at("steps").at(0).at("reductions").at("abs_max").get<double>();
  };
  EXPECT_LT(largest("inputs/raw"), 10);
  EXPECT_GT(largest("inputs/scaled"), 1e10) << "the multiplication between these two";
  EXPECT_EQ(python("trial = d.Trial('" + server.url() + "', '" + job_id + R"(', 0)
class Large(d.Rule):
    def invoke_at_step(self, step):
        return self.trial.tensor('weights/weights').reduction(step, 'abs_max') > self.parameters['above']
print(trial.collections(), Large(trial, above=1e20).run(), Large(trial, above=float('inf')).run() or 'never')
print([f['rule'] for f in trial.findings()], trial.check([{'rule': 'vanishing_gradient'}]))
print(sorted(trial.names('weights')), trial.tensor('losses/train').previous_steps(3, 2))
import sys
sys.modules['numpy'] = None  # as where there is none
try: trial.tensor('weights/weights').value(1)
except d.NotSaved as why: print(str(why).startswith('`weights/weights` at step 1 was kept as reductions alone'))
try: d.Trial('http://127.0.0.1:1', 'exploding', 0).names()
except ConnectionError as why: print(str(why).startswith('cannot reach the server at http://127.0.0.1:1: '))
)"),
            "['gradients', 'inputs', 'losses', 'metrics', 'outputs', 'weights'] 2 never\n"
            "['exploding_tensor'] []\n['weights/weights'] [1, 2]\nTrue\nTrue\n");
}

}  // namespace
}  // namespace tuneband::test
