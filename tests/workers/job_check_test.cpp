#include "workers/job_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "tests/temporary_directory.hpp"
#include "workers/trial_probe.hpp"

namespace tuneband::workers {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The first fault, as "path: message".
std::string fault_of(const Json& trainer, const std::string& metric = "loss", const std::string& parameter = "x") {
  Diagnostics diagnostics;
  const Json job{{"name", "j"},
                 {"objective", {{"metric", metric}, {"goal", "minimize"}}},
                 {"search_space", {{parameter, 1}}},
                 {"scheduler", {{"type", "none"}, {"max_resource", 9}}},
                 {"limits", {{"max_trials", 1}}},
                 {"trainer", trainer}};
  check_job(job.dump(), this_machine(1), diagnostics);
  return diagnostics.ok() ? "" : diagnostics.errors().front().path + ": " + diagnostics.errors().front().message;
}

TEST(JobCheck, FindsNothingWrongWithACommandThatIsThere) {
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"sh", "-c", "true"}}}), "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"/bin/sh"}}, {"metrics", {{{"name", "loss"}, {"regex", "loss=(.*)"}}}}}),
            "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"./sh"}}, {"working_dir", "/bin"}}), "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"{interpreter}"}}}), "") << "differs from trial to trial";
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"sh", "-euc", "./train.sh $X"}}}), "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"python3", "-um", "json.tool"}}}), "");
}

TEST(JobCheck, FindsACommandThatIsNotThere) {
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"no-such-program"}}}),
              HasSubstr("trainer.argv[0]: the command `no-such-program`"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"./train.sh"}}}), HasSubstr("trial's own directory"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh", "-e", "train.sh"}}}), HasSubstr("trial's own directory"));
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"sh", "-Z", "train.sh"}}}), "") << "-Z may have an operand";
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"environment", {{"PATH", "/nowhere"}}}}), HasSubstr("/nowhere"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"working_dir", "/nowhere"}}), HasSubstr("trainer.working_dir"));
}

TEST(JobCheck, FindsTheProgramOfARuleThatIsNotThere) {
  const auto faults = [](const Json& argv) {
    const Json job{{"trainer", {{"type", "command"}, {"argv", {"sh", "-c", "true"}}}},
                   {"debug", {{"rules", {{{"rule", "overfit"}}, {{"rule", "process"}, {"argv", argv}}}}}}};
    Diagnostics diagnostics;
    check_job(job.dump(), {}, diagnostics);
    return diagnostics.ok() ? "" : diagnostics.errors().front().path + ": " + diagnostics.errors().front().message;
  };
  EXPECT_EQ(faults({"sh", "-c", "cat"}), "");
  EXPECT_EQ(faults({"sh", "-ec", "cat"}), "");
  EXPECT_THAT(faults({"no-such-rule"}), HasSubstr("debug.rules[1].argv[0]: the command `no-such-rule`"));
  EXPECT_THAT(faults({"/nowhere/rule", "x"}), HasSubstr("debug.rules[1].argv[0]: "));
  EXPECT_THAT(faults({"sh", "/nowhere/rule.sh"}), HasSubstr("debug.rules[1].argv[1]: "));
}

TEST(JobCheck, FindsDataThatIsNoFileAndValuesThatAreNotThere) {
  EXPECT_THAT(fault_of({{"type", "xgboost"}, {"data", {{"train", "/dev/zero"}, {"format", "csv"}, {"label", "y"}}}}),
              HasSubstr("trainer.data.train: /dev/zero is a character device"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"environment", {{"K", {{"from_environment", "NOT_THERE"}}}}}}),
              HasSubstr("trainer.environment.K: the worker has no environment variable `NOT_THERE`"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"environment", {{"K", {{"file", "/nowhere"}}}}}}),
              HasSubstr("trainer.environment.K: the file /nowhere cannot be read"));
}

TEST(JobCheck, FindsPatternsThatAreNone) {
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"metrics", {{{"name", "loss"}, {"regex", "loss=("}}}}}),
              HasSubstr("trainer.metrics[0].regex"));
}

TEST(JobCheck, RunsOneUnitOfOneTrialWhenAskedTo) {
  const auto with = [](const std::string& script) {
    return Json{{"type", "command"}, {"argv", {"sh", "-c", script}}, {"replicas", 3}, {"preflight", "local"}};
  };
  EXPECT_EQ(fault_of(with("echo '{\"loss\": 1}'")), "");
  EXPECT_THAT(fault_of(with("echo no such module >&2; exit 3")),
              AllOf(HasSubstr("trainer.preflight: the trial run on one worker"), HasSubstr("no such module")));
  EXPECT_THAT(fault_of(with("[ $WORLD_SIZE = 1 ] && echo alone")), HasSubstr("no_metric"));
}

TEST(JobCheck, TheTrialRunOfAJobKnowsNothingOfAnotherJobsData) {
  const test::TemporaryDirectory dir;
  for (const char* label : {"1", "2"}) {
    std::string data = "x,y\n";
    for (int row = 0; row < 20; ++row) data += std::to_string(row) + "," + (row % 2 == 0 ? "0" : label) + "\n";
    const std::string file = dir.write("data.csv", data);
    const Json trainer{{"type", "xgboost"}, {"data", {{"train", file}, {"label", "y"}}}, {"preflight", "local"}};
    EXPECT_EQ(fault_of(trainer, "validation-rmse", "max_depth"), "") << "label " << label;
  }
}

TEST(JobCheck, TakesTheMiddleOfTheSearchSpaceForIt) {
  const Json written = Json::parse(R"({
    "eta": {"type": "float", "min": 0.01, "max": 1, "scale": "log"}, "depth": {"type": "int", "min": 2, "max": 9},
    "booster": {"type": "categorical", "values": ["gbtree", "dart"]},
    "rate_drop": {"type": "float", "min": 0, "max": 1, "when": {"booster": ["dart"]}},
    "lambda": 3, "alpha": 4})");
  Diagnostics diagnostics;
  const Json middle = to_json(middle_configuration(SearchSpace::parse(written, "search_space", diagnostics)));
  ASSERT_TRUE(diagnostics.ok());
  EXPECT_NEAR(middle["eta"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(middle["depth"], 6);
  EXPECT_EQ(middle["booster"], "gbtree");
  EXPECT_FALSE(middle.contains("rate_drop"));
  EXPECT_EQ(middle["lambda"], 3);
  EXPECT_EQ(middle["alpha"], 4);
}

TEST(JobCheck, AnswersWhateverItIsGiven) {
  for (const char* document : {"", "[]", "{}", "3", "{\"trainer\": 3}", "{\"trainer\": {\"type\": \"dance\"}}"}) {
    Diagnostics diagnostics;
    check_job(document, this_machine(1), diagnostics);
    EXPECT_FALSE(diagnostics.ok()) << document;
    EXPECT_TRUE(parse_json(diagnostics_json(diagnostics))) << document;
  }
}

}  // namespace
}  // namespace tuneband::workers
