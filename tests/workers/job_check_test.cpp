#include "workers/job_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"

namespace tuneband::workers {
namespace {

using testing::HasSubstr;

// The first fault, as "path: message".
std::string fault_of(const Json& trainer) {
  Diagnostics diagnostics;
  const Json job{{"name", "j"}, {"objective", {{"metric", "loss"}, {"goal", "minimize"}}}, {"trainer", trainer}};
  check_job(job.dump(), diagnostics);
  return diagnostics.ok() ? "" : diagnostics.errors().front().path + ": " + diagnostics.errors().front().message;
}

TEST(JobCheck, FindsNothingWrongWithACommandThatIsThere) {
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"sh", "-c", "true"}}}), "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"/bin/sh"}}, {"metrics", {{{"name", "loss"}, {"regex", "loss=(.*)"}}}}}),
            "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"./sh"}}, {"working_dir", "/bin"}}), "");
  EXPECT_EQ(fault_of({{"type", "command"}, {"argv", {"{interpreter}"}}}), "") << "differs from trial to trial";
}

TEST(JobCheck, FindsACommandThatIsNotThere) {
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"no-such-program"}}}),
              HasSubstr("trainer.argv[0]: the command `no-such-program`"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"./train.sh"}}}), HasSubstr("trial's own directory"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"environment", {{"PATH", "/nowhere"}}}}), HasSubstr("/nowhere"));
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"working_dir", "/nowhere"}}), HasSubstr("trainer.working_dir"));
}

TEST(JobCheck, FindsPatternsThatAreNone) {
  EXPECT_THAT(fault_of({{"type", "command"}, {"argv", {"sh"}}, {"metrics", {{{"name", "loss"}, {"regex", "loss=("}}}}}),
              HasSubstr("trainer.metrics[0].regex"));
}

TEST(JobCheck, AnswersWhateverItIsGiven) {
  for (const char* document : {"", "[]", "{}", "3", "{\"trainer\": 3}", "{\"trainer\": {\"type\": \"dance\"}}"}) {
    Diagnostics diagnostics;
    check_job(document, diagnostics);
    EXPECT_FALSE(diagnostics.ok()) << document;
    EXPECT_TRUE(parse_json(diagnostics_json(diagnostics))) << document;
  }
}

}  // namespace
}  // namespace tuneband::workers
