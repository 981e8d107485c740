// The hook of clients/python in a real PyTorch network that a job trains. Where PyTorch is missing it fails, unless whoever runs
// the tests wants none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

class PytorchHook : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TUNEBAND_WITHOUT_PYTORCH") != nullptr) GTEST_SKIP() << "TUNEBAND_WITHOUT_PYTORCH is set";
    ASSERT_EQ(std::system((std::string(kPython) + " -c 'import torch'").c_str()), 0)
        << kPython << " has no PyTorch: scripts/setup --tests installs Debian's; TUNEBAND_WITHOUT_PYTORCH=1 skips this test";
  }

  // Two layers and three batches an epoch; what the hook must save is printed as metrics by the training itself.
  Json job(const std::string& name, const Json& debug) {
    const std::string path = directory_ / "network.py";
    std::ofstream(path) << "import json, os, sys\nsys.path.insert(0, '" TUNEBAND_SOURCE_DIR "/clients/python')\n"
                        << R"(import torch
import tuneband_debugger as debugger
torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
criterion = torch.nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
debugger.hook(model, loss=criterion, optimizer=optimizer)
x, y = torch.randn(30, 4), torch.randn(30, 1)
for epoch in range(1, int(os.environ['TUNEBAND_UNTIL_RESOURCE']) + 1):
    for batch in range(3):
        weight = float(model[0].weight.detach().double().norm())
        optimizer.zero_grad()
        loss = criterion(model(x[batch::3]), y[batch::3])
        loss.backward()
        gradient = float(model[0].weight.grad.detach().double().norm())
        optimizer.step()
    model.eval()
    with torch.no_grad():
        held = [float(criterion(model(x[part::2]), y[part::2])) for part in range(2)]
    model.train()
    metrics = {'loss': float(loss), 'weight': weight, 'gradient': gradient, 'held': sum(held) / 2}
    print(json.dumps(dict(metrics, resource=epoch)), flush=True)
)";
    return {{"name", name},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"unused", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 1}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 4}}},
            {"limits", {{"max_trials", 1}}},
            {"debug", debug},
            {"trainer", {{"type", "command"}, {"argv", {kPython, path, "{unused}"}}}}};
  }

  TemporaryDirectory directory_;
};

TEST_F(PytorchHook, SavesWhatTheNetworkItselfSays) {
  RunningServer server(directory_ / "data", 1);
  const std::string id = submit(server, job("saves", Json::parse(R"({"save": {"every": 1}, "rules": []})")));
  ASSERT_EQ(server.wait_for_end(id).at("state"), "completed");
  const std::string trial = "/v1/jobs/" + id + "/trials/0/";
  const Json page = server.get(trial + "tensors");
  std::vector<std::string> names;
  for (const Json& tensor : page.at("tensors")) {
    names.push_back(tensor.at("name"));
    if (tensor.at("name") == "weights/0.weight") {
      EXPECT_EQ(tensor.at("shape"), Json::parse("[8, 4]"));
      EXPECT_EQ(tensor.at("steps"), 12) << "a step is a forward pass in training; the one in evaluation is none";
    }
  }
  for (const char* name : {"weights/0.weight", "biases/0.bias", "weights/2.weight", "gradients/0.weight", "gradients/2.bias",
                           "inputs/0.linear_input", "outputs/1.relu_output", "outputs/2.linear_output", "losses/MSELoss",
                           "optimizer_state/lr0", "optimizer_state/0.weight.exp_avg", "metrics/loss"}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
  const auto saved = [&](const std::string& name, int step, const std::string& mode = "none") {
    const std::string at = std::to_string(step);
    const Json series = server.get(trial + "tensors/series?name=" + name + "&mode=" + mode + "&from=" + at + "&until=" + at);
    if (series.at("steps").empty()) {
      ADD_FAILURE() << name << ' ' << mode << " was not saved at step " << step << ": " << server.get(trial + "tensors").dump();
      return 0.0;
    }
    const Json& row = series.at("steps").at(0);
    return row.contains("value") ? row.at("value").get<double>() : row.at("reductions").at("l2_norm").get<double>();
  };
  const Json observations = server.get(trial + "observations");
  for (const Json& seen : observations.at("observations")) {
    const int step = 3 * seen.at("resource").get<int>();
    const Json& metrics = seen.at("metrics");
    EXPECT_NEAR(saved("losses/MSELoss", step, "train"), metrics.at("loss").get<double>(), 1e-7);
    EXPECT_NEAR(saved("losses/MSELoss", step, "validation"), metrics.at("held").get<double>(), 1e-6) << "the mean of its batches";
    EXPECT_NEAR(saved("weights/0.weight", step), metrics.at("weight").get<double>(), 1e-6) << "as the step began";
    EXPECT_NEAR(saved("gradients/0.weight", step), metrics.at("gradient").get<double>(), 1e-6);
  }
}

TEST_F(PytorchHook, HonoursTheJobsCollections) {
  RunningServer server(directory_ / "data", 1);
  const Json debug = Json::parse(R"({"collections": {"mine": {"patterns": ["^gradients/2"], "save": {"every": 5}},
                                     "losses": {"save": {"steps": [1, 7]}}}, "rules": []})");
  const std::string id = submit(server, job("honours", debug));
  ASSERT_EQ(server.wait_for_end(id).at("state"), "completed");
  std::map<std::string, int> steps;
  const Json page = server.get("/v1/jobs/" + id + "/trials/0/tensors");
  for (const Json& tensor : page.at("tensors")) {
    const std::string mode = tensor.at("mode").is_null() ? "" : " " + tensor.at("mode").get<std::string>();
    steps[tensor.at("name").get<std::string>() + mode] = tensor.at("steps").get<int>();
  }
  EXPECT_EQ(steps["losses/MSELoss train"], 2);
  EXPECT_EQ(steps["losses/MSELoss validation"], 2) << "after 3 and 9: the first at or after 1 and 7";
  EXPECT_EQ(steps["gradients/2.weight"], 2) << "5 and 10";
  EXPECT_EQ(steps.count("gradients/0.weight"), 0U);
  EXPECT_EQ(steps.count("weights/0.weight"), 0U);
}

// The script ends with an error where something does not hold.
TEST_F(PytorchHook, ARestCountsEveryStepAndEndsAgain) {
  std::filesystem::create_directories(directory_ / "saved/weights");
  const std::string path = directory_.write("rest.py", R"(import os, sys, time
sys.path.insert(0, ')" TUNEBAND_SOURCE_DIR R"(/clients/python')
os.environ['TUNEBAND_TENSORS'] = sys.argv[1]
os.environ['TUNEBAND_COLLECTIONS'] = '{"weights": {"from": 0, "until": null, "every": 1, "steps": [], "derived": true}}'
import torch
import tuneband_debugger as debugger
model = debugger.hook(torch.nn.Linear(2, 1))
hook = model._tuneband_hook
def steps(count):
    for _ in range(count):
        model(torch.zeros(1, 2))
def saved():
    return sorted(int(name.split('@')[1].split('.')[0]) for name in os.listdir(os.path.join(sys.argv[1], 'weights')))
hook.SHARE = 1e-9  # of the time: the first save is the last
steps(100)
assert (hook.step, saved()) == (100, [1]), (hook.step, saved())
model.eval()
steps(3)
model.train()
steps(1)
assert hook.step == 101, hook.step
hook.rests_until = time.perf_counter()
steps(hook.STEPS_BETWEEN_LOOKS)
assert hook.step == 101 + hook.STEPS_BETWEEN_LOOKS, hook.step
assert len(saved()) == 2 and 101 < saved()[1] <= hook.step, saved()
)");
  EXPECT_EQ(std::system((kPython + (' ' + path) + ' ' + (directory_ / "saved") + " > /dev/null").c_str()), 0);
}

}  // namespace
}  // namespace tuneband::test
