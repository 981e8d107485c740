// What the rules' findings mean for a segment of a trial.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "tests/workers/recording_reporter.hpp"
#include "workers/exit_class.hpp"
#include "workers/tensor_recorder.hpp"
#include "workers/trial_log.hpp"

namespace tuneband::workers {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TellFindings : public testing::Test {
 protected:
  // A loss of 1 at step 1, 2 at step 2, and so on until step 5, all of it known at one look.
  std::optional<SegmentResult> tell(const Json& rules) {
    Diagnostics diagnostics;
    const Json json{{"save", {{"every", 1}}}, {"collections", {{"losses", Json::object()}}}, {"rules", rules}};
    const auto spec = debugger::parse_debug(json, "debug", {debugger::TrainerKind::command, 10, {"loss", false}}, diagnostics);
    EXPECT_TRUE(diagnostics.ok());
    debugger::files::Recorder recorder(spec, dir_.path(), 1, 0, -1);
    for (std::int64_t step = 1; step <= 5; ++step) {
      recorder.add(step, "losses/train", static_cast<double>(step));
      recorder.commit(step);
    }
    auto log = TrialLog::open(dir_.path());
    return tell_findings(recorder, reporter_, *log);
  }
  static Json above(const char* name, double bound, const char* action) {
    return {{"rule", "bound"}, {"name", name}, {"reduction", "mean"}, {"above", bound}, {"action", action}};
  }

  const test::TemporaryDirectory dir_;
  test::RecordingReporter reporter_;
};

TEST_F(TellFindings, ThoseAtTheStepThatEndsTheTrialAreToldAndLaterOnesNot) {
  const auto end = tell({above("first", 1.5, "note"), above("ends", 2.5, "stop_trial"), above("same", 2.75, "note"),
                         above("later", 3.5, "note"), above("ends-later", 4.5, "stop_job")});
  EXPECT_THAT(reporter_.found_by_rules(), ElementsAre("first at 2", "ends at 3", "same at 3"));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit, kExitStoppedByRule);
  EXPECT_THAT(end->message, HasSubstr("the rule `ends` stopped the trial: "));
}

TEST_F(TellFindings, WithoutAnEndAllAreTold) {
  EXPECT_FALSE(tell({above("first", 1.5, "note"), above("last", 4.5, "note")}));
  EXPECT_THAT(reporter_.found_by_rules(), ElementsAre("first at 2", "last at 5"));
}

}  // namespace
}  // namespace tuneband::workers
