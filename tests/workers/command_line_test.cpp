#include "workers/command/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace tuneband::workers {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

protocol::AssignmentOrder some_order() {
  protocol::AssignmentOrder order;
  order.job = 7;
  order.trial = 3;
  order.attempt = 2;
  order.configuration = {{"eta", 0.1}, {"depth", 6}, {"dart", true}, {"booster", "gb tree"}, {"drop-rate.x", 0.5}};
  order.from_resource = 3;
  order.until_resource = 9;
  order.max_resource = 27;
  order.seed = 18446744073709551615ULL;
  order.trial_dir = "/t";
  order.epoch = 12;
  return order;
}

TEST(CommandLine, FillsParametersAndBuiltInNames) {
  EXPECT_THAT(fill_argv({"train", "--eta={eta}", "{depth}/{dart}", "{booster}",
                         "{from_resource}-{until_resource}-{max_resource}-{resource}", "{seed}"},
                        template_values(some_order())),
              ElementsAre("train", "--eta=0.1", "6/true", "gb tree", "3-9-27-9", "18446744073709551615"));
  EXPECT_THAT(fill_argv({"{checkpoint_dir}", "{parameters_file}", "{trial_dir}", "{job}.{trial}.{attempt}"},
                        template_values(some_order())),
              ElementsAre("/t/epochs/12/checkpoint", "/t/parameters.json", "/t", "7.3.2"));
}

TEST(CommandLine, KeepsBracesThatAreNoPlaceholder) {
  EXPECT_THAT(fill_argv({"{{eta}}", "{ print $1; }", "{}", "{eta", "eta}", "a{{b}}c{eta}"}, template_values(some_order())),
              ElementsAre("{eta}", "{ print $1; }", "{}", "{eta", "eta}", "a{b}c0.1"));
}

TEST(CommandLine, LeavesOutAnArgumentWhoseParameterIsInactive) {
  EXPECT_THAT(fill_argv({"train", "--rate={rate_drop}", "--eta={eta}"}, template_values(some_order())),
              ElementsAre("train", "--eta=0.1"));
}

TEST(CommandLine, AParameterOfTheSameNameWinsOverABuiltInOne) {
  protocol::AssignmentOrder order = some_order();
  order.configuration["seed"] = 5;
  EXPECT_THAT(fill_argv({"{seed}"}, template_values(order)), ElementsAre("5"));
}

TEST(CommandLine, GivesTheSegmentAsEnvironmentAndLetsTheJobsOwnWin) {
  ::setenv("TUNEBAND_TRIAL", "of an outer trial", 1);
  ::setenv("TUNEBAND_LEFT_OVER", "x", 1);
  CommandSpec spec;
  spec.environment = {{"OMP_NUM_THREADS", "4"}, {"PATH", "/only"}};
  const auto environment = command_environment(some_order(), spec);
  ::unsetenv("TUNEBAND_TRIAL");
  ::unsetenv("TUNEBAND_LEFT_OVER");
  for (const char* entry :
       {"TUNEBAND_JOB=7", "TUNEBAND_TRIAL=3", "TUNEBAND_ATTEMPT=2", "TUNEBAND_FROM_RESOURCE=3", "TUNEBAND_UNTIL_RESOURCE=9",
        "TUNEBAND_MAX_RESOURCE=27", "TUNEBAND_TRIAL_DIR=/t", "TUNEBAND_CHECKPOINT_DIR=/t/epochs/12/checkpoint",
        "TUNEBAND_PARAMETERS_FILE=/t/parameters.json", "TUNEBAND_SEED=18446744073709551615", "TUNEBAND_PARAMETER_ETA=0.1",
        "TUNEBAND_PARAMETER_BOOSTER=gb tree", "TUNEBAND_PARAMETER_DROP_RATE_X=0.5", "OMP_NUM_THREADS=4", "PATH=/only",
        "PYTHONUNBUFFERED=1"}) {
    EXPECT_THAT(environment, Contains(entry));
  }
  EXPECT_THAT(environment, Not(Contains(StartsWith("TUNEBAND_LEFT_OVER"))));
  EXPECT_EQ(environment_value(environment, "PATH"), "/only");
  EXPECT_EQ(environment_value(environment, "PAT"), "");
}

TEST(CommandLine, OfTheWorkersEnvironmentOnlyWhatIsNeededOrNamedPassesThrough) {
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DATABASE_URL", "PATHS", "HOMER", "XLC_ALL"})
    ::setenv(name, "key", 1);
  for (const char* name : {"LC_ALL", "TZ", "OMP_PLACES", "NAMED"}) ::setenv(name, "C", 1);
  CommandSpec spec;
  spec.pass_environment = {"NAMED", "NOT_THERE"};
  const auto environment = command_environment(some_order(), spec);
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "DATABASE_URL", "PATHS", "HOMER", "XLC_ALL", "NOT_THERE"}) {
    EXPECT_THAT(environment, Not(Contains(StartsWith(std::string(name) + "=")))) << name;
    ::unsetenv(name);
  }
  for (const char* name : {"LC_ALL", "TZ", "OMP_PLACES", "NAMED"}) {
    EXPECT_EQ(environment_value(environment, name), "C") << name;
    ::unsetenv(name);
  }
  EXPECT_EQ(environment_value(environment, "PATH"), ::getenv("PATH"));
}

TEST(CommandLine, ReferencesAreReadWhereTheCommandRuns) {
  using Source = EnvironmentReference::Source;
  const std::string file = testing::TempDir() + "command_line_key_" + std::to_string(::getpid());
  std::ofstream(file) << "of a file\n";
  ::setenv("TOKEN_OF_THE_WORKER", "of the worker", 1);
  CommandSpec spec;
  spec.environment = {{"A", "a"}};
  spec.environment_references = {{"B", Source::worker_variable, "TOKEN_OF_THE_WORKER"}, {"C", Source::file, file}};
  const auto read = with_references_read(spec);
  ::unsetenv("TOKEN_OF_THE_WORKER");
  ASSERT_TRUE(read);
  const auto environment = command_environment(some_order(), *read);
  for (const char* entry : {"A=a", "B=of the worker", "C=of a file"}) EXPECT_THAT(environment, Contains(entry));
  EXPECT_EQ(with_references_read(spec).error().path, "trainer.environment.B");
  spec.environment_references = {{"C", Source::file, "/dev/zero"}};
  EXPECT_EQ(
      describe(with_references_read(spec).error()),
      "trainer.environment.C: the file /dev/zero cannot be read (expected a file of text, of at most 64 KiB, that the worker's "
      "user may read)");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace tuneband::workers
