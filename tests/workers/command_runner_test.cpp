#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tests/os/limited_group.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "tests/workers/recording_reporter.hpp"
#include "workers/command/reports_ahead.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {
namespace {

using test::read_text;
using test::RecordingReporter;
using test::TemporaryDirectory;
using test::write_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Json kLossPattern = {{{"name", "loss"}, {"regex", "loss=([0-9.]+)"}}};

// A trial whose command is a shell script; each segment runs it as a worker would.
class CommandRunnerTest : public testing::Test {
 protected:
  CommandRunnerTest() {
    order.epoch = 1;
    order.job = 7;
    order.configuration = {{"eta", 0.5}};
    order.objective_metric = "loss";
    order.until_resource = 3;
    order.max_resource = 9;
    order.trial_dir = dir / "trial";
  }

  void script(const std::string& text) { order.trainer = {{"type", "command"}, {"argv", {"/bin/sh", "-c", text}}}; }

  SegmentResult run() {
    auto log = TrialLog::open(order.trial_dir);
    return runner->run(order, reporter, *log);
  }

  SegmentResult run_until(std::int64_t until) {
    order.from_resource = reporter.checkpoint();
    order.until_resource = until;
    return run();
  }

  std::string log_text() const { return read_text(dir / "trial/log.txt"); }

  static bool no_children_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

  TemporaryDirectory dir;
  protocol::AssignmentOrder order;
  RecordingReporter reporter;
  std::unique_ptr<TrialRunner> runner = make_command_runner();
};

// Prints a report for each resource up to `max`, as JSON lines, starting after the checkpoint in $TUNEBAND_CHECKPOINT_DIR.
constexpr const char* kCountingScript = R"(
  at=0; [ -e "$TUNEBAND_CHECKPOINT_DIR/at" ] && at=$(cat "$TUNEBAND_CHECKPOINT_DIR/at")
  echo "begin $at"
  while [ $at -lt $TUNEBAND_MAX_RESOURCE ]; do
    at=$((at + 1)); echo $at > "$TUNEBAND_CHECKPOINT_DIR/at"; echo "{\"resource\": $at, \"loss\": $((10 - at))}"
  done)";

TEST_F(CommandRunnerTest, ACommandThatPrintsItsFinalMetricIsTheSimplestUse) {
  order.trainer = {{"type", "command"}, {"argv", {"/bin/sh", "-c", "echo \"{\\\"loss\\\": {eta}}\""}}};
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=0.5"));
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, TheReportOfTheRungHasTheMetricOfAConstraintThatComesAfterTheObjective) {
  order.further_metrics = {"acc"};
  script(R"(for at in 1 2 3 4; do echo "{\"resource\": $at, \"loss\": $at}"; echo "{\"resource\": $at, \"acc\": 0.$at}"; done)");
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=1 acc=0.1", "2: loss=2 acc=0.2", "3: loss=3 acc=0.3"));
  script(R"(echo "{\"loss\": 0.5}"; echo "{\"acc\": 0.9}")");
  order.epoch = 2;
  order.trial = 1;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=0.5 acc=0.9"));
}

TEST_F(CommandRunnerTest, AReportThatLacksAConstraintsMetricWhereTheCommandFailsOrIsStoppedIsNone) {
  order.further_metrics = {"acc"};
  script(R"(echo '{"resource": 3, "loss": 1}'; exit 3)");
  EXPECT_EQ(run().exit, "crashed");
  EXPECT_THAT(reporter.take_seen(), IsEmpty());
  script(R"(trap "exit 0" TERM; echo '{"resource": 1, "loss": 2, "acc": 1}'; echo '{"resource": 3, "loss": 1}'
    while :; do sleep 0.01; done)");
  order.epoch = 2;
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run().exit, "stopped");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: acc=1 loss=2"));
}

TEST_F(CommandRunnerTest, WhatGoesOnAndReportsNothingIsToldThatItsCheckpointMayBeFurther) {
  script("echo nothing is left to be done");
  order.trainer["resume"] = "checkpoint";
  EXPECT_THAT(run().message, Not(HasSubstr("go on")));
  order.from_resource = 2;
  EXPECT_THAT(run().message, HasSubstr("it was to go on from resource 2: a checkpoint may be further than what was reported"));
}

// As kCountingScript, and when it is told to end it goes on until `$last` first.
constexpr const char* kEndingLateScript = R"(
  at=0; [ -e "$TUNEBAND_CHECKPOINT_DIR/at" ] && at=$(cat "$TUNEBAND_CHECKPOINT_DIR/at")
  echo "begin $TUNEBAND_FROM_RESOURCE at $at"
  next() { at=$((at + 1)); echo $at > "$TUNEBAND_CHECKPOINT_DIR/at"; echo "{\"resource\": $at, \"loss\": $((10 - at))}"; }
  trap 'while [ $at -lt $last ]; do next; done; exit 0' TERM
  while [ $at -lt $TUNEBAND_UNTIL_RESOURCE ]; do next; done
  while :; do sleep 0.01; done)";

TEST_F(CommandRunnerTest, WhatIsReportedBeyondARungBeforeItIsEndedIsReportedOfTheNextSegmentAndNotTrainedAgain) {
  script("last=9;" + std::string(kEndingLateScript));
  order.trainer["resume"] = "checkpoint";
  EXPECT_EQ(run().exit, "completed");
  runner->release();
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=9", "2: loss=8", "3: loss=7"));
  order.files_epoch = 1;
  for (const std::int64_t until : {6, 9}) {
    ++order.epoch;
    EXPECT_EQ(run_until(until).exit, "completed");
    EXPECT_EQ(reporter.began_at(), until - 3);
    EXPECT_EQ(reporter.checkpoint(), until);
  }
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=6", "5: loss=5", "6: loss=4", "7: loss=3", "8: loss=2", "9: loss=1"));
  EXPECT_EQ(reporter.written_into(), 1) << "whose files stay the trial's";
  EXPECT_THAT(log_text(), Not(HasSubstr("begin 3"))) << "nothing was started";
}

TEST_F(CommandRunnerTest, WhereReportsBeyondARungDoNotReachTheNextTheCommandGoesOnFromThem) {
  script("last=5;" + std::string(kEndingLateScript));
  order.trainer["resume"] = "checkpoint";
  EXPECT_EQ(run().exit, "completed");
  runner->release();
  order.files_epoch = 1;
  order.epoch = 2;
  EXPECT_EQ(run_until(7).exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("begin 5 at 5"));
  EXPECT_THAT(reporter.take_seen(),
              ElementsAre("1: loss=9", "2: loss=8", "3: loss=7", "4: loss=6", "5: loss=5", "6: loss=4", "7: loss=3"));
  EXPECT_EQ(reporter.written_into(), 2);
}

TEST_F(CommandRunnerTest, WhatWasHeldAndWhoseReportsNeverCameToTheServerIsReportedFromWhereTheServerKnowsOf) {
  script("trap '' TERM;" + std::string(kCountingScript));
  order.trainer["resume"] = "checkpoint";
  EXPECT_EQ(run().exit, "completed");
  order.from_resource = 3;
  order.until_resource = 6;
  EXPECT_EQ(run().exit, "completed");  // and is lost
  runner->release();
  reporter.take_seen();
  order.files_epoch = 1;
  order.epoch = 2;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=6", "5: loss=5", "6: loss=4")) << "and not 7 for 6";
}

TEST_F(CommandRunnerTest, ReportsThatAreKeptAreThoseAfterWhatTheServerKnowsAndAllOfThem) {
  const std::string trial = dir / "trial";
  std::filesystem::create_directories(trial + "/epochs/1/checkpoint");
  const auto kept_after = [&](std::int64_t from) {
    std::string found;
    for (const protocol::Observation& report : reports_ahead(trial, 1, from)) found += std::to_string(report.resource) + " ";
    return found;
  };
  keep_reports_ahead(trial, 1, {3, {{4, {{"loss", std::nan("")}}}, {6, {{"loss", 1}}}}});
  EXPECT_EQ(kept_after(2), "") << "one of 3 may be missing";
  EXPECT_EQ(kept_after(3), "4 6 ");
  EXPECT_EQ(kept_after(4), "6 ");
  EXPECT_TRUE(std::isnan(reports_ahead(trial, 1, 3).front().metrics.front().second));
  EXPECT_TRUE(reports_ahead(trial, 2, 3).empty());
  write_text(trial + "/epochs/1/reports_ahead.json",
             R"({"after": 3, "reports": [{"resource": "x"}, 5, {"resource": 9, "metrics": {}}]})");
  EXPECT_EQ(kept_after(3), "9 ") << "a trial may write there";
  for (const char* text : {"", "[]", R"({"reports": [{"resource": 9, "metrics": {}}]})", R"({"after": 0, "reports": 3})"}) {
    write_text(trial + "/epochs/1/reports_ahead.json", text);
    EXPECT_EQ(kept_after(3), "") << text;
  }
  keep_reports_ahead(trial, 1, {});
  EXPECT_FALSE(std::filesystem::exists(trial + "/epochs/1/reports_ahead.json"));
}

TEST_F(CommandRunnerTest, ReportsBeyondARungAreOfNoUseWithoutTheirCheckpoint) {
  script("last=9;" + std::string(kEndingLateScript));
  order.trainer["resume"] = "checkpoint";
  EXPECT_EQ(run().exit, "completed");
  runner->release();
  std::filesystem::remove_all(dir / "trial/epochs/1/checkpoint");
  order.files_epoch = 1;
  order.epoch = 2;
  reporter.take_seen();
  EXPECT_EQ(run_until(5).exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("begin 0 at 0"));
  EXPECT_EQ(reporter.take_seen().size(), 5U) << "all of it is trained again";
}

TEST_F(CommandRunnerTest, AReportBeyondARungThatHasNoneOfItsOwnCountsForItAfterTheCommandIsEndedToo) {
  script(R"(trap 'echo "{\"resource\": 8, \"loss\": 2}"; exit 0' TERM
    echo "{\"resource\": 3, \"loss\": 7}"; while :; do sleep 0.01; done)");
  order.trainer["resume"] = "checkpoint";
  EXPECT_EQ(run().exit, "completed");
  runner->release();
  order.files_epoch = 1;
  for (const std::int64_t until : {6, 8}) {
    ++order.epoch;
    EXPECT_EQ(run_until(until).exit, "completed");
  }
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=7", "6: loss=2", "8: loss=2"));
}

TEST_F(CommandRunnerTest, WithoutTheObjectiveItSaysWhichMetricsCame) {
  script(R"(echo "{\"los\": 0.5, \"acc\": 1}"; echo "{\"los\": 0.4}")");
  EXPECT_THAT(run().message, HasSubstr("without a value of `loss`; it gave values of `acc` and `los`"));
}

TEST_F(CommandRunnerTest, OfALineThatIsNoJsonItSaysWhatIsRead) {
  script("echo loss=0.5");
  EXPECT_THAT(run().message, AllOf(HasSubstr("lines that name it but do not fit: loss=0.5"),
                                   HasSubstr(R"(expected is a line like {"resource": 1, "loss": 0.5}, or a pattern for it)")));
}

TEST_F(CommandRunnerTest, OfALineThatDoesNotFitItGivesAPatternThatFits) {
  const auto fitting = [this](const std::string& line) {
    script("printf '%s\\n' " + line);
    const std::string message = run().message;
    const std::size_t start = message.find(R"("metrics": [)");
    return start == std::string::npos ? "" : message.substr(start + 11, message.find("}]", start) - start - 9);
  };
  for (const char* line :
       {R"("{'loss': 0.25, 'epoch': 1.0}")", R"("my_loss: 3 - loss: 0.25 - acc: 0.5")", R"('{"loss": "0.25"}')",
        R"('loss = +2.5e-1%')", R"('| loss 0.25 |')", R"('{"log": {"loss": 0.25}}')"}) {
    const std::string metrics = fitting(line);
    ASSERT_NE(metrics, "") << line;
    order.trainer = {{"type", "command"},
                     {"argv", {"/bin/sh", "-c", std::string("printf '%s\\n' ") + line}},
                     {"metrics", Json::parse(metrics)}};
    EXPECT_EQ(run().exit, "completed") << line << " by " << metrics;
    EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=0.25")) << line << " by " << metrics;
  }
  for (const char* line : {"'the loss is low'", "'loss: none'", "'my_loss: 0.5'"}) EXPECT_EQ(fitting(line), "") << line;
}

TEST_F(CommandRunnerTest, OfAReportOnTooLongALineItNamesTheLimit) {
  constexpr const char* kSays = "it printed a line of more than 64 KiB";
  const std::string spaces = R"(head -c 65536 /dev/zero | tr '\0' ' '; )";
  script(spaces + R"(echo "{\"loss\": 0.5}")");
  EXPECT_THAT(run().message, HasSubstr(kSays));
  script(R"(echo "{\"resource\": 1, \"loss\": 0.5}"; )" + spaces + R"(echo "{\"resource\": 3, \"loss\": 0.5}")");
  EXPECT_THAT(run().message, AllOf(HasSubstr("ended by itself at resource 1"), HasSubstr(kSays)));
  script(spaces + R"(echo; echo "no loss")");
  EXPECT_THAT(run().message, Not(HasSubstr("KiB"))) << "nothing of it was left out";
}

TEST_F(CommandRunnerTest, ASimpleCommandIsStartedAgainForEachSegment) {
  script("echo \"{\\\"loss\\\": $TUNEBAND_UNTIL_RESOURCE}\"");
  for (const int until : {1, 3, 9}) {
    ASSERT_EQ(run_until(until).exit, "completed");
    EXPECT_THAT(reporter.take_seen(), ElementsAre(std::to_string(until) + ": loss=" + std::to_string(until)));
    EXPECT_EQ(reporter.began_at(), 0);
  }
}

TEST_F(CommandRunnerTest, PatternsFindTheMetricsInOrdinaryOutput) {
  order.trainer = {{"type", "command"},
                   {"argv", {"/bin/sh", "-c", "for i in 1 2 3; do echo \"epoch $i acc 0.$i\" >&2; echo \"loss: $i.5\"; done"}},
                   {"metrics", {{{"name", "loss"}, {"regex", "loss: (.*)"}}, {{"name", "acc"}, {"regex", "acc (\\S+)"}}}},
                   {"resource_regex", "epoch ([0-9]+)"}};
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: acc=0.1 loss=1.5", "2: acc=0.2 loss=2.5", "3: acc=0.3 loss=3.5"));
}

TEST_F(CommandRunnerTest, RulesHoldWhatACommandReportsAgainstWhatItSavesAtThatStep) {
  order.debug = Json::parse(R"({"rules": [{"rule": "overfit", "action": "stop_trial"}]})");
  script(R"(echo '{"step": 3, "tensors": {"losses/train-loss": 0.5} }'
            echo '{"resource": 3, "loss": 1, "validation-loss": 2}')");
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "stopped_by_rule");
  EXPECT_THAT(result.message, HasSubstr("`metrics/validation-loss` is 2 at step 3 where the training data has 0.5"));
}

TEST_F(CommandRunnerTest, WhatACommandSavesAfterItsLastReportIsTakenAndJudged) {
  order.debug = Json::parse(R"({"rules": [{"rule": "exploding_tensor", "action": "stop_trial"}]})");
  order.max_resource = order.until_resource;
  const std::string heard = dir / "heard";
  ASSERT_EQ(::mkfifo(heard.c_str(), 0600), 0);
  script("echo '{\"resource\": 3, \"loss\": 1}'; read word <'" + heard +
         R"('; echo '{"step": 3, "tensors": {"losses/validation": NaN} }')");
  reporter.on_observation = [&heard](std::int64_t) { std::ofstream(heard) << "go\n"; };
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "stopped_by_rule");
  EXPECT_THAT(result.message, HasSubstr("losses/validation"));
}

TEST_F(CommandRunnerTest, WhatACommandWritesAtItsRungItCanGoOnWriting) {
  order.debug = Json::parse(R"({"collections": [{"name": "weights"}]})");
  const std::string heard = dir / "heard";
  ASSERT_EQ(::mkfifo(heard.c_str(), 0600), 0);
  const os::UniqueFd word(::open(heard.c_str(), O_RDWR | O_CLOEXEC));
  script("cd \"$TUNEBAND_TENSORS/weights\"; echo half > .w@3.tmp; echo '{\"resource\": 3, \"loss\": 1}'; read word <'" + heard +
         R"('; mv .w@3.tmp .v@3.tmp || exit 3; echo '{"resource": 9, "loss": 0.5}')");
  ASSERT_EQ(run_until(3).exit, "completed");
  ASSERT_EQ(::write(word.get(), "go\n", 3), 3);
  const SegmentResult result = run_until(9);
  EXPECT_EQ(result.exit, "completed") << result.message;
  EXPECT_THAT(log_text(), Not(HasSubstr("started again")));
}

TEST_F(CommandRunnerTest, ALastLineWithoutItsEndIsSavedUnlessTheCommandWasKilled) {
  order.debug = Json::parse(R"({"rules": [{"rule": "exploding_tensor", "action": "stop_trial"}]})");
  order.max_resource = order.until_resource;
  const std::string saves = R"(echo '{"resource": 3, "loss": 1}'; printf '{"step": 3, "tensors": {"losses/validation": NaN} }')";
  script(saves);
  EXPECT_EQ(run().exit, "stopped_by_rule");
  order.epoch = 2;
  script(saves + "; kill -9 $$");
  EXPECT_EQ(run().exit, "completed");
}

TEST_F(CommandRunnerTest, IsHeldAtTheRungAndGoesOnWhereItStood) {
  script(kCountingScript);
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=9", "2: loss=8", "3: loss=7"));
  ASSERT_EQ(run_until(9).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=6", "5: loss=5", "6: loss=4", "7: loss=3", "8: loss=2", "9: loss=1"));
  EXPECT_EQ(reporter.began_at(), 3);
  EXPECT_THAT(log_text(), Not(HasSubstr("begin 3")));
  EXPECT_THAT(log_text(), HasSubstr("begin 0"));
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, GoesOnFromItsCheckpointWhenItWasLetGoOf) {
  // Each step waits for a word, so that it has not run ahead of the rung when it is ended.
  script(R"(at=0; [ -e "$TUNEBAND_CHECKPOINT_DIR/at" ] && at=$(cat "$TUNEBAND_CHECKPOINT_DIR/at")
    echo "begin $at from $TUNEBAND_FROM_RESOURCE"
    while [ $at -lt $TUNEBAND_UNTIL_RESOURCE ]; do
      at=$((at + 1)); echo $at > "$TUNEBAND_CHECKPOINT_DIR/at"; echo "{\"resource\": $at, \"loss\": $at}"
    done; while :; do sleep 100; done)");
  order.trainer["resume"] = "checkpoint";
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_EQ(reporter.checkpoint(), 3);
  runner->release();
  EXPECT_TRUE(no_children_left());
  reporter.take_seen();
  order.files_epoch = std::exchange(order.epoch, order.epoch + 1);
  ASSERT_EQ(run_until(5).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=4", "5: loss=5"));
  EXPECT_THAT(log_text(), HasSubstr("begin 3 from 3"));
  EXPECT_THAT(log_text(), Not(HasSubstr("nothing was saved")));
}

TEST_F(CommandRunnerTest, WhereNoCheckpointWasSavedTheLogSaysWhatToDo) {
  script("for at in $(seq 5); do echo \"{\\\"loss\\\": $at}\"; done");
  order.trainer["resume"] = "checkpoint";
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_THAT(log_text(), Not(HasSubstr("nothing was saved")));
  runner->release();
  order.files_epoch = std::exchange(order.epoch, order.epoch + 1);
  order.from_resource = 3;
  ASSERT_EQ(run_until(7).exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("nothing was saved in the checkpoint directory: unless the command has saved at resource 3 "
                                    "elsewhere, \"resume\" in `trainer` has to be \"restart\"\n"));
}

TEST_F(CommandRunnerTest, WhereTheCheckpointIsGoneItBeginsFromNothingAndIsToldSo) {
  script("echo from {from_resource}, $TUNEBAND_FROM_RESOURCE; for at in 1 2 3; do echo \"{{\\\"loss\\\": $at}}\"; done");
  order.trainer["resume"] = "checkpoint";
  order.from_resource = 2;
  order.files_epoch = 11;
  order.epoch = 12;
  ASSERT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("the checkpoint of resource 2 is not there any more\n"));
  EXPECT_THAT(log_text(), HasSubstr("from 0, 0\n"));
  EXPECT_EQ(reporter.began_at(), 0);
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=1", "2: loss=2", "3: loss=3"));
}

TEST_F(CommandRunnerTest, ASegmentThatIsBegunAgainGoesOnFromWhatItSavedMeanwhile) {
  script("echo from $TUNEBAND_FROM_RESOURCE; echo '{\"resource\": 3, \"loss\": 1}'");
  reporter.written_by_this_segment = 2;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("from 0")) << "resume: restart";
  order.trainer["resume"] = "checkpoint";
  order.epoch = 2;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("from 2"));
}

TEST_F(CommandRunnerTest, ACommandThatStartsFromNothingIsToldSo) {
  script("echo from $TUNEBAND_FROM_RESOURCE; echo '{\"resource\": 3, \"loss\": 1}'");
  order.from_resource = 1;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("from 0"));
  EXPECT_EQ(reporter.checkpoint(), 0);
}

TEST_F(CommandRunnerTest, AHeldCommandWhoseDirectoryCannotBeLookedAtEndsAndHarmsNoOther) {
  const std::string lost = dir / "trial";
  script("mv '" + lost + "' '" + lost + "-gone'; ln -s trial '" + lost + R"('; echo '{"resource": 3, "loss": 1}'; sleep 1000)");
  ASSERT_EQ(run_until(3).exit, "completed");
  order.trial = 1;
  order.trial_dir = dir / "another";
  order.from_resource = 0;
  script("echo '{\"resource\": 3, \"loss\": 2}'");
  const SegmentResult another = run();
  EXPECT_EQ(another.exit, "completed") << another.message;
  runner->release();
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, AnotherTrialEndsTheOneThatIsHeld) {
  script("echo '{\"resource\": 3, \"loss\": 1}'; trap 'echo saved; exit 0' TERM; while :; do sleep 0.01; done");
  ASSERT_EQ(run().exit, "completed");
  order.trial = 1;
  order.trial_dir = dir / "other";
  script("echo '{\"loss\": 1}'");
  ASSERT_EQ(run().exit, "completed");
  runner->release();
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, ACommandThatEndsByItselfAtItsRungIsStartedAgainUnharmed) {
  // Below a launcher, so that it is seen to end only after it was held.
  script(R"(sh -c 'at=$TUNEBAND_FROM_RESOURCE
    while [ $at -lt $TUNEBAND_UNTIL_RESOURCE ]; do at=$((at + 1)); echo "{\"resource\": $at, \"loss\": $at}"; done'
    exit 0)");
  order.trainer["resume"] = "checkpoint";
  for (const int until : {1, 3, 5, 7, 9}) {
    const SegmentResult result = run_until(until);
    ASSERT_EQ(result.exit, "completed") << "until " << until << ": " << result.message;
  }
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, OversteppingTheRungCountsForItAndIsNotLost) {
  script("for i in 2 4 6; do echo \"{\\\"resource\\\": $i, \\\"loss\\\": $i}\"; done");
  order.trainer["resume"] = "checkpoint";
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("2: loss=2", "3: loss=4"));
  ASSERT_EQ(run_until(6).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=4", "6: loss=6")) << "it was not started again";
}

// A trial whose worker was thought lost: it is stopped, its command is not.
TEST_F(CommandRunnerTest, AnotherAttemptHasADirectoryOfItsOwnAndEndsWhatStillRunsForTheOneBefore) {
  script(kCountingScript);
  order.trainer["resume"] = "checkpoint";
  order.epoch = 11;
  ASSERT_EQ(run_until(3).exit, "completed");
  runner->release();
  const std::string first = dir / "trial/epochs/11/checkpoint/at";
  const std::string kept = read_text(first);
  int until_exec[2];
  ASSERT_EQ(::pipe2(until_exec, O_CLOEXEC), 0);
  const pid_t still_runs = ::fork();
  if (still_runs == 0) {
    ::setenv("TUNEBAND_TRIAL_DIR", order.trial_dir.c_str(), 1);
    ::setenv("TUNEBAND_EPOCH", "11", 1);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  ::close(until_exec[1]);
  char byte = 0;
  EXPECT_EQ(::read(until_exec[0], &byte, 1), 0);
  ::close(until_exec[0]);
  order.epoch = 12;
  order.files_epoch = 11;
  order.attempt = 2;
  script("cat \"$TUNEBAND_CHECKPOINT_DIR/at\"; echo 7 > \"$TUNEBAND_CHECKPOINT_DIR/at\"; echo '{\"resource\": 9, \"loss\": 1}'");
  ASSERT_EQ(run_until(9).exit, "completed");
  int status = 0;
  EXPECT_EQ(::waitpid(still_runs, &status, 0), -1) << "it is ended, and reaped with all that is below this process";
  EXPECT_THAT(log_text(), HasSubstr("still ran for an earlier attempt"));
  EXPECT_EQ(read_text(first), kept) << "what the first left is as it was";
  EXPECT_EQ(read_text(dir / "trial/epochs/12/checkpoint/at"), "7\n");
}

TEST_F(CommandRunnerTest, APipeInPlaceOfTheLogOrTheParametersIsSaidAtOnce) {
  std::filesystem::create_directories(order.trial_dir);
  ASSERT_EQ(::mkfifo((dir / "trial/parameters.json").c_str(), 0600), 0);
  script("echo '{\"loss\": 1}'");
  EXPECT_THAT(run().message, HasSubstr("cannot write"));
  std::filesystem::remove(dir / "trial/log.txt");
  ASSERT_EQ(::mkfifo((dir / "trial/log.txt").c_str(), 0600), 0);
  const auto log = TrialLog::open(order.trial_dir);
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().message, HasSubstr("no regular file"));
}

TEST_F(CommandRunnerTest, StopsByAWordAndReportsWhatItHad) {
  script(
      "echo '{\"resource\": 1, \"loss\": 1}'; trap 'echo {\\\"resource\\\": 2, \\\"loss\\\": 2}; exit 7' TERM; while :; do sleep "
      "0.01; done");
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "stopped");
  EXPECT_THAT(reporter.take_seen(), testing::Contains("1: loss=1"));
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, KillsACommandThatIgnoresSigtermWithAllItsChildren) {
  script(R"(trap '' TERM
    setsid sh -c "trap '' TERM; echo \$\$ > stray.new; mv stray.new stray; while :; do sleep 100; done" &
    while [ ! -e stray ]; do :; done; echo '{"resource": 1, "loss": 1}'; while :; do sleep 100; done)");
  order.trainer["grace_seconds"] = 0.05;
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run().exit, "stopped");
  const pid_t stray = std::stoi(read_text(dir / "trial/stray"));
  EXPECT_TRUE(::kill(stray, 0) != 0 && errno == ESRCH);
  EXPECT_TRUE(no_children_left());
  EXPECT_THAT(log_text(), HasSubstr("is killed"));
}

TEST_F(CommandRunnerTest, KillsACommandThatIgnoresSigtermAndPrintsWithoutPause) {
  script(R"(trap '' TERM; yes '{"resource": 1, "loss": 1}')");
  order.trainer["grace_seconds"] = 0.3;
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run().exit, "stopped");
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, KeepsNotAllThatACommandPrintsWhileItEnds) {
  script(R"(trap "yes '{\"resource\": 1, \"loss\": 1}' | head -n 400000; exit" TERM
    echo '{"resource": 1, "loss": 1}'; while :; do sleep 0.01; done)");
  order.trainer["grace_seconds"] = 60;
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run().exit, "stopped");
  const std::size_t seen = reporter.take_seen().size();
  EXPECT_GT(seen, 10'000U);
  EXPECT_LT(seen, 200'000U) << "of 400,000";
}

// Ends once the kernel has killed a process of the group for its memory.
void have_one_killed_for_memory(const test::LimitedGroup& group) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    [[maybe_unused]] const ssize_t count = ::read(ends[0], &byte, 1);
    constexpr std::size_t kBytes = std::size_t{400} << 20;
    void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) std::memset(memory, 1, kBytes);
    ::_exit(0);
  }
  EXPECT_TRUE(group.take(child));
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const int end : ends) ::close(end);
}

TEST_F(CommandRunnerTest, WhatTheKernelKillsForMemoryElsewhereExplainsNoEndOfACommand) {
  const test::LimitedGroup group(std::int64_t{40} << 20);
  if (!group.made()) GTEST_SKIP() << "no memory control group can be made here: that takes root, and /sys/fs/cgroup writable";
  const std::string heard = dir / "heard";
  ASSERT_EQ(::mkfifo(heard.c_str(), 0600), 0);
  script("echo '{\"resource\": 1, \"loss\": 1}'; read word <'" + heard + "'; kill -9 $$");
  reporter.on_observation = [&](std::int64_t) {
    have_one_killed_for_memory(group);
    std::ofstream(heard) << "go\n";
  };
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "crashed");
  EXPECT_THAT(result.message, HasSubstr("was ended by signal 9"));
}

TEST_F(CommandRunnerTest, AKilledCommandsUnfinishedLineIsNoReport) {
  script("echo loss=0.25; printf loss=0.12; kill -9 $$");
  order.trainer["metrics"] = kLossPattern;
  order.until_resource = 2;
  EXPECT_EQ(run().exit, "crashed");
  EXPECT_THAT(reporter.take_seen(), IsEmpty()) << "nor is the lone value before it told";

  script("echo loss=0.25; printf loss=0.125");
  order.trainer["metrics"] = kLossPattern;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=0.25", "2: loss=0.125")) << "it ended by itself";
}

TEST_F(CommandRunnerTest, ALineThatIsCutWhereTooMuchIsPrintedIsNoReport) {
  script(R"(trap "echo loss=0.5; printf loss=0.; yes 1 | tr -d '\n' | head -c 4000000; exit" TERM
    echo loss=0.25; echo loss=0.25; while :; do sleep 0.01; done)");
  order.trainer["metrics"] = kLossPattern;
  order.until_resource = 9;
  order.trainer["grace_seconds"] = 60;
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "stopped") << result.message;
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=0.25", "2: loss=0.25", "3: loss=0.5"));
}

TEST_F(CommandRunnerTest, LetsACommandFinishByItselfAtTheEnd) {
  script("echo '{\"resource\": 9, \"loss\": 1}'; echo saving; echo done > model");
  ASSERT_EQ(run_until(9).exit, "completed");
  EXPECT_EQ(read_text(dir / "trial/model"), "done\n");
}

TEST_F(CommandRunnerTest, ACommandWhoseResourceIsReachedAlreadyNeedNotReportItAgain) {
  script(kCountingScript);
  order.trainer["resume"] = "checkpoint";
  ASSERT_EQ(run_until(9).exit, "completed");
  ASSERT_EQ(reporter.checkpoint(), 9);
  // The worker was lost before it said so, and the server has the value: another begins where the checkpoint is.
  reporter.take_seen();
  order.files_epoch = order.epoch;
  order.epoch = 2;
  const SegmentResult result = run_until(9);
  EXPECT_EQ(result.exit, "completed") << result.message;
  EXPECT_THAT(reporter.take_seen(), IsEmpty());
  order.from_resource = 8;
  EXPECT_EQ(run().exit, "no_metric") << "what it lacks is to be reported";
}

TEST_F(CommandRunnerTest, SaysHowACommandCrashed) {
  script("echo going; echo 'Traceback: boom' >&2; exit 3");
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "crashed");
  EXPECT_THAT(result.message, HasSubstr("exit status 3"));
  EXPECT_THAT(result.message, HasSubstr("going | Traceback: boom"));
  EXPECT_EQ(result.crash, "exit status 3");
  script("kill -SEGV $$");
  EXPECT_THAT(run().message, HasSubstr("signal 11"));
  EXPECT_EQ(run().exit, "crashed");
  EXPECT_EQ(run().crash, "signal 11");
}

TEST_F(CommandRunnerTest, ACrashFromOutsideOrOfTheMachineIsNoneThatComesAgain) {
  for (const char* end :
       {"kill -TERM $$", "kill -KILL $$", "exit 143", "echo 'OSError: [Errno 28] No space left on device'; exit 1"}) {
    script(end);
    const SegmentResult result = run();
    EXPECT_EQ(result.exit, "crashed") << end;
    EXPECT_EQ(result.crash, "") << end;
  }
}

TEST_F(CommandRunnerTest, KnowsAnAllocationThatFailed) {
  order.trainer = {{"type", "command"}, {"argv", {"/bin/sh", "-c", "tail /dev/zero"}}, {"memory_mb", 64}};
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "out_of_memory") << result.message;
  EXPECT_THAT(result.message, HasSubstr("its limit is 64 MB of address space"));
  script("echo 'numpy._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,)' >&2; exit 1");
  EXPECT_THAT(run().message, HasSubstr("; it asked for 7.45 GiB;"));
  script("echo \"RuntimeError: can't allocate memory: you tried to allocate 4096 bytes. Cannot allocate memory\" >&2; exit 1");
  EXPECT_THAT(run().message, HasSubstr("; it asked for 4096 bytes;"));
  script("echo 'MemoryError' >&2; exit 1");
  EXPECT_EQ(run().exit, "out_of_memory");
}

TEST_F(CommandRunnerTest, EndsAtItsTimeLimitsOfBothKinds) {
  script("while :; do sleep 100; done");
  order.trainer["timeout_seconds"] = 0.05;
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "timed_out");
  EXPECT_THAT(result.message, HasSubstr("trainer.timeout_seconds, 0.05 s"));
  script("while :; do :; done");
  order.trainer["cpu_seconds"] = 1;
  const SegmentResult busy = run();
  EXPECT_EQ(busy.exit, "timed_out");
  EXPECT_THAT(busy.message, HasSubstr("trainer.cpu_seconds, 1 s"));
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, AKillFromOutsideIsNotTakenForTheLimitOfCpuTime) {
  script("kill -KILL $$");
  order.trainer["cpu_seconds"] = 1;
  const SegmentResult killed = run();
  EXPECT_EQ(killed.exit, "crashed") << killed.message;
  EXPECT_EQ(killed.crash, "") << "it may be tried again";
  for (const char* busy : {"trap '' XCPU; while :; do :; done", "trap '' XCPU; sh -c 'while :; do :; done'; exit $?"}) {
    script(busy);
    order.trainer["cpu_seconds"] = 1;
    const SegmentResult of_its_own = run();
    EXPECT_EQ(of_its_own.exit, "timed_out") << busy << ": " << of_its_own.message;
  }
}

TEST_F(CommandRunnerTest, WhatItsProcessesUseTogetherIsNotTakenForTheLimitOfCpuTimeOfEach) {
  const std::string uses_a_second = "(ulimit -t 1; while :; do :; done) & ";
  const std::string use_two = uses_a_second + uses_a_second;
  for (const std::string& end : {use_two + "wait; kill -KILL $$", use_two + uses_a_second + "wait; exit 137"}) {
    script(end);
    order.trainer["cpu_seconds"] = 1;
    const SegmentResult killed = run();
    EXPECT_EQ(killed.exit, "crashed") << end << ": " << killed.message;
    EXPECT_EQ(killed.crash, "") << end;
  }
}

TEST_F(CommandRunnerTest, ALimitOfCpuTimeThatIsNotTheJobsIsNotToldAsTheJobs) {
  script("kill -XCPU $$");
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "timed_out");
  EXPECT_THAT(result.message, HasSubstr("a limit that is not the job's"));
}

TEST_F(CommandRunnerTest, ShowsTheLinesThatAlmostFit) {
  script("echo 'valid loss 0.5'; echo other");
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "no_metric");
  EXPECT_THAT(result.message, HasSubstr("valid loss 0.5"));
  EXPECT_THAT(result.message, Not(HasSubstr("other")));
  script("true");
  EXPECT_THAT(run().message, HasSubstr(R"({"resource": 1, "loss": 0.5})"));
}

TEST_F(CommandRunnerTest, SaysWhenACommandEndsBeforeItsResource) {
  script("for i in 0 1 2; do echo \"{\\\"resource\\\": $i, \\\"loss\\\": $i}\"; done");
  const SegmentResult result = run();
  EXPECT_EQ(result.exit, "no_metric");
  EXPECT_THAT(result.message, HasSubstr("resource 2, before 3"));
  EXPECT_THAT(result.message, HasSubstr("counts from 0"));
  EXPECT_THAT(result.message, HasSubstr("or do not name the resource, and each value of the objective is a unit"));
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=1", "2: loss=2"));
}

TEST_F(CommandRunnerTest, APatternThatCountsFromZeroMayBeLeftOut) {
  script("for i in 0 1 2; do echo \"epoch $i loss $i.5\"; done");
  order.trainer["metrics"] = {{{"name", "loss"}, {"regex", "loss (\\S+)"}}};
  order.trainer["resource_regex"] = "epoch ([0-9]+)";
  EXPECT_THAT(run().message, HasSubstr("or leave out trainer.resource_regex, and each value of the objective is a unit"));
  reporter.take_seen();
  order.trainer.erase("resource_regex");
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=0.5", "2: loss=1.5", "3: loss=2.5"));
}

TEST_F(CommandRunnerTest, TheLastValueOfACommandThatMayEndEarlyCountsWhereItWasToEnd) {
  script(R"(for i in 1 2; do echo "{\"resource\": $i, \"loss\": $i.5}"; done)");
  EXPECT_THAT(run().message, HasSubstr("\"may_end_early\": true in `trainer` lets its last value count"));
  reporter.take_seen();
  order.trainer["may_end_early"] = true;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=1.5", "2: loss=2.5", "3: loss=2.5"));
  EXPECT_THAT(log_text(), HasSubstr("the command ended by itself at resource 2; its last value counts for 3"));
}

TEST_F(CommandRunnerTest, ACommandThatMayEndEarlyMustHaveReportedAndEndedWithStatusZero) {
  script("exit 0");
  order.trainer["may_end_early"] = true;
  EXPECT_EQ(run().exit, "no_metric");
  script(R"(echo '{"resource": 1, "loss": 1}'; exit 3)");
  order.trainer["may_end_early"] = true;
  EXPECT_EQ(run().exit, "crashed");
}

TEST_F(CommandRunnerTest, ACommandThatWasHeldMayEndEarlyToo) {
  script(R"(for i in 1 2 3 4 5; do echo "{\"resource\": $i, \"loss\": $i.5}"; done)");
  order.trainer["may_end_early"] = true;
  ASSERT_EQ(run().exit, "completed");
  reporter.take_seen();
  ASSERT_EQ(run_until(9).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("4: loss=4.5", "5: loss=5.5", "9: loss=5.5"));
}

TEST_F(CommandRunnerTest, OneThatEndsAtItsRungIsStartedAgainAlsoWhereItMayEndEarly) {
  script(R"(for i in $(seq $TUNEBAND_UNTIL_RESOURCE); do echo "{\"resource\": $i, \"loss\": $i}"; done)");
  order.trainer["may_end_early"] = true;
  ASSERT_EQ(run().exit, "completed");
  reporter.take_seen();
  ASSERT_EQ(run_until(4).exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("1: loss=1", "2: loss=2", "3: loss=3", "4: loss=4"));
}

TEST_F(CommandRunnerTest, OneThatOverstepsItsRungAndEndsThereIsStartedAgainAlsoWhereItMayEndEarly) {
  script(R"(i=0; while [ $i -lt $TUNEBAND_UNTIL_RESOURCE ]; do i=$((i + 2)); echo "{\"resource\": $i, \"loss\": $i}"; done)");
  order.trainer["may_end_early"] = true;
  ASSERT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("2: loss=2", "3: loss=4"));
  ASSERT_EQ(run_until(9).exit, "completed");
  EXPECT_EQ(reporter.take_seen().back(), "9: loss=10");
}

TEST_F(CommandRunnerTest, OneThatNamesNoResourceAndPrintsOnceMoreIsStartedAgainAlsoWhereItMayEndEarly) {
  script(R"(for i in $(seq $TUNEBAND_UNTIL_RESOURCE); do echo "{\"loss\": $i}"; done; echo '{"loss": 0}')");
  order.trainer["may_end_early"] = true;
  ASSERT_EQ(run().exit, "completed");
  reporter.take_seen();
  ASSERT_EQ(run_until(9).exit, "completed");
  EXPECT_EQ(reporter.take_seen().back(), "9: loss=9");
}

TEST_F(CommandRunnerTest, OneThatCountsFromZeroHasNotEndedEarly) {
  script(R"(for i in 0 1 2; do echo "{\"resource\": $i, \"loss\": $i}"; done)");
  order.trainer["may_end_early"] = true;
  EXPECT_THAT(run().message, HasSubstr("counts from 0"));
}

TEST_F(CommandRunnerTest, ANanObjectiveIsAValue) {
  script("echo '{\"resource\": 3, \"loss\": NaN}'");
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=nan"));
}

TEST_F(CommandRunnerTest, RefusesACommandThatCannotBeStarted) {
  const auto message_of = [&](const Json& trainer) {
    order.trainer = trainer;
    const SegmentResult result = run();
    EXPECT_EQ(result.exit, "invalid_parameters");
    return result.message;
  };
  EXPECT_THAT(message_of({{"type", "command"}, {"argv", {"no-such-program-anywhere"}}}), HasSubstr("on no folder of PATH"));
  EXPECT_THAT(message_of({{"type", "command"}, {"argv", {"/no/such/program"}}}), HasSubstr("not there"));
  EXPECT_THAT(message_of({{"type", "command"}, {"argv", {"/etc/passwd"}}}), HasSubstr("not executable"));
  EXPECT_THAT(message_of({{"type", "command"}, {"argv", {"true"}}, {"working_dir", "/no/such/dir"}}),
              HasSubstr("working directory"));
  EXPECT_THAT(message_of({{"type", "command"}, {"argv", {"true"}}, {"resource_regex", "("}}), HasSubstr("regular expression"));
  EXPECT_THAT(message_of({{"type", "command"}}), HasSubstr("argv"));
}

TEST_F(CommandRunnerTest, SurvivesOutputWithoutMeasure) {
  script(R"(head -c 3000000 /dev/urandom; echo; head -c 3000000 /dev/zero | tr '\0' x; echo; echo '{"resource": 3, "loss": 1}')");
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=1"));
  EXPECT_GT(log_text().size(), 6'000'000U);
}

TEST_F(CommandRunnerTest, ACommandThatPrintsForEverCanBeStopped) {
  script("echo '{\"resource\": 1, \"loss\": 1}'; yes");
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run().exit, "stopped");
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, GivesTheParametersAsAFile) {
  script("cat \"$TUNEBAND_PARAMETERS_FILE\"; echo '{\"loss\": 1}'");
  order.configuration = {{"eta", 0.5}, {"name", "a \"b\""}};
  EXPECT_EQ(run().exit, "completed");
  EXPECT_EQ(*parse_json(read_text(dir / "trial/parameters.json")), order.configuration);
  EXPECT_THAT(log_text(), HasSubstr("\"eta\": 0.5"));
}

TEST_F(CommandRunnerTest, AHeldCommandThatDiedMeanwhileIsStartedAgain) {
  script(R"([ -e pid ] && echo '{"resource": 9, "loss": 2}' && exit
    echo $$ > pid; echo '{"resource": 3, "loss": 1}'; while :; do sleep 100; done)");
  ASSERT_EQ(run_until(3).exit, "completed");
  ::kill(std::stoi(read_text(dir / "trial/pid")), SIGKILL);
  EXPECT_EQ(run_until(9).exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("ended after its value at resource 3 and is started again: "));
  EXPECT_TRUE(no_children_left());
}

TEST_F(CommandRunnerTest, ACommandThatFailsAfterItsValueAtTheRungIsStartedAgainAndThatStartCounts) {
  script(R"(for i in $(seq $TUNEBAND_UNTIL_RESOURCE); do echo "{\"resource\": $i, \"loss\": $i}"; done
    [ $TUNEBAND_UNTIL_RESOURCE = 9 ] || exit 7)");
  ASSERT_EQ(run_until(3).exit, "completed");
  ASSERT_EQ(run_until(4).exit, "completed");
  EXPECT_EQ(run_until(9).exit, "completed");
  script("echo '{\"resource\": 3, \"loss\": 1}'; exit 7");
  order.epoch = 2;
  order.trial = 1;
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_EQ(run_until(9).exit, "crashed");
  EXPECT_THAT(log_text(), HasSubstr("started, resource 0 to 9"));
}

TEST_F(CommandRunnerTest, AHeldCommandThatGoesOnAndThenFailsHasFailed) {
  script(R"(echo '{"resource": 3, "loss": 1}'; echo '{"resource": 4, "loss": 1}'; exit 7)");
  ASSERT_EQ(run_until(3).exit, "completed");
  EXPECT_EQ(run_until(9).exit, "crashed");
}

// Held at 3; when it is told to end, it saves, wherever that is.
constexpr const char* kSavingScript = R"(
  trap 'mkdir -p "$TUNEBAND_CHECKPOINT_DIR"; echo 3 > "$TUNEBAND_CHECKPOINT_DIR/at"; exit 0' TERM
  echo '{"resource": 3, "loss": 1}'; while :; do sleep 0.01; done)";

TEST_F(CommandRunnerTest, WhatAHeldCommandSavesAsItEndsStays) {
  script(kSavingScript);
  ASSERT_EQ(run_until(3).exit, "completed");
  runner->release();
  EXPECT_EQ(read_text(dir / "trial/epochs/1/checkpoint/at"), "3\n");
}

TEST_F(CommandRunnerTest, WhatAHeldCommandSavesForATrialThatWasCutGoes) {
  script(kSavingScript);
  ASSERT_EQ(run_until(3).exit, "completed");
  write_text(dir / "trial/" + protocol::kReleasedFile, "");
  std::filesystem::remove_all(dir / "trial/epochs/1/checkpoint");
  runner->release();
  EXPECT_FALSE(std::filesystem::exists(dir / "trial/epochs/1/checkpoint"));
  EXPECT_TRUE(std::filesystem::exists(dir / "trial/log.txt"));
}

TEST_F(CommandRunnerTest, WhatAHeldCommandSavesForAJobThatIsDeletedMeanwhileGoes) {
  order.trial_dir = dir / "7/trials/0";
  script(R"(
    trap 'rm -r "${TUNEBAND_TRIAL_DIR%/trials/0}"; mkdir -p "$TUNEBAND_CHECKPOINT_DIR"; exit 0' TERM
    echo '{"resource": 3, "loss": 1}'; while :; do sleep 0.01; done)");
  ASSERT_EQ(run_until(3).exit, "completed");
  runner->release();
  EXPECT_FALSE(std::filesystem::exists(dir / "7"));
}

TEST_F(CommandRunnerTest, WhatACommandSavesAsItIsStoppedForAJobThatIsDeletedMeanwhileGoes) {
  order.trial_dir = dir / "7/trials/0";
  script(R"(
    trap 'rm -r "${TUNEBAND_TRIAL_DIR%/trials/0}"; mkdir -p "$TUNEBAND_CHECKPOINT_DIR"; exit 0' TERM
    echo '{"resource": 1, "loss": 1}'; while :; do sleep 0.01; done)");
  reporter.on_observation = [&](std::int64_t) { reporter.stop(); };
  EXPECT_EQ(run_until(3).exit, "stopped");
  EXPECT_FALSE(std::filesystem::exists(dir / "7"));
}

// ---- ranks -------------------------------------------------------------------------------------------------------------------

protocol::GroupPlace rank_of_three(int rank) {
  protocol::GroupPlace place;
  place.rank = rank;
  place.world_size = 3;
  place.session = 12;
  place.master_address = "10.0.0.1";
  place.master_port = 29500;
  place.tracker_port = 7071;
  return place;
}

TEST_F(CommandRunnerTest, ARankIsToldWhereItStandsInItsGroup) {
  runner = make_command_runner({.threads = 1, .tracker_host = "10.0.0.9", .group_silence_s_max = 1});
  order.group = rank_of_three(2);
  script(
      "echo \"$RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR:$MASTER_PORT {rank}/{world_size} {replicas}\"; "
      "echo \"$DMLC_ROLE $DMLC_TRACKER_URI:$DMLC_TRACKER_PORT $DMLC_TASK_ID $DMLC_NUM_WORKER\"; "
      "basename {parameters_file}; echo '{{\"loss\": 1}}'");
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("2/3 0 10.0.0.1:29500 2/3 3\n"));
  EXPECT_THAT(log_text(), HasSubstr("worker 10.0.0.9:7071 1:2 3\n"));
  EXPECT_THAT(log_text(), HasSubstr("parameters-2.json"));
}

TEST_F(CommandRunnerTest, AllRanksBeginFromNothingWhereTheFirstFoundNoCheckpoint) {
  script(
      "echo from $TUNEBAND_FROM_RESOURCE; echo kept > \"$TUNEBAND_CHECKPOINT_DIR/$RANK\"; echo '{\"resource\": 3, \"loss\": 1}'");
  order.trainer["resume"] = "checkpoint";
  order.from_resource = 2;
  order.files_epoch = 11;
  order.epoch = 12;
  for (const int rank : {1, 0, 2}) {
    order.group = rank_of_three(rank);
    ASSERT_EQ(run().exit, "completed");
    std::filesystem::create_directories(dir / "trial/epochs/11/checkpoint");  // as one whose file system shows it late
  }
  EXPECT_THAT(log_text(), Not(HasSubstr("from 2")));
  order.from_resource = 3;
  order.files_epoch = 12;
  order.epoch = 13;
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("from 3")) << "what was saved since is there";
}

TEST_F(CommandRunnerTest, ATrialOnOneWorkerOfAJobWithReplicasIsAGroupOfOne) {
  script("echo \"$RANK/$WORLD_SIZE $MASTER_ADDR [$DMLC_TASK_ID]\"; echo '{\"loss\": 1}'");
  order.trainer["replicas"] = {1, 2};
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(log_text(), HasSubstr("0/1 127.0.0.1 []\n"));
}

TEST_F(CommandRunnerTest, OnlyTheRankWhoseMetricCountsMustReportIt) {
  script("echo nothing to say");
  order.group = rank_of_three(1);
  EXPECT_EQ(run().exit, "completed");
  order.group = rank_of_three(0);
  EXPECT_EQ(run().exit, "no_metric");
  order.trainer["metric_rank"] = 2;
  EXPECT_EQ(run().exit, "completed");
  order.group = rank_of_three(2);
  EXPECT_EQ(run().exit, "no_metric");
  script("exit 3");
  order.group = rank_of_three(1);
  EXPECT_EQ(run().exit, "crashed");
}

TEST_F(CommandRunnerTest, WhatAnotherRankPrintsIsNotTheEndOfItAndItsStatusCounts) {
  script("echo '{\"resource\": 3, \"loss\": 1}'; echo and so on; exit 9");
  order.trainer["grace_seconds"] = 0;
  order.group = rank_of_three(1);
  EXPECT_EQ(run().exit, "crashed");
  EXPECT_THAT(reporter.take_seen(), IsEmpty());
  EXPECT_THAT(log_text(), HasSubstr("and so on"));
}

TEST_F(CommandRunnerTest, RulesJudgeTheMetricsOfTheRankWhoseMetricsCount) {
  script(
      "echo '{\"resource\": 1, \"loss\": 0.5}'; echo '{\"resource\": 2, \"loss\": 0.4}'; echo '{\"resource\": 3, \"loss\": "
      "0.3}'");
  order.debug = Json::parse(R"({"rules": [{"rule": "bound", "name": "low", "reduction": "mean", "below": 0.45,
                                           "tensors": ["metrics/loss"], "action": "stop_trial"}]})");
  order.trainer["metric_rank"] = 1;
  order.group = rank_of_three(1);
  EXPECT_THAT(run().message, HasSubstr("`low` stopped the trial"));
  order.group = rank_of_three(2);
  EXPECT_EQ(run().exit, "completed");
}

TEST_F(CommandRunnerTest, ARankIsNotHeldWhileTheOthersMayNeedItButEndsByItself) {
  script("echo '{\"resource\": 3, \"loss\": 1}'; echo and so on");
  order.group = rank_of_three(0);
  EXPECT_EQ(run().exit, "completed");
  EXPECT_THAT(reporter.take_seen(), ElementsAre("3: loss=1"));
  EXPECT_THAT(log_text(), HasSubstr("and so on"));
  EXPECT_TRUE(no_children_left());
}

}  // namespace
}  // namespace tuneband::workers
