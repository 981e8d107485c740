#include "workers/rule_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "os/unique_fd.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/command/process.hpp"

namespace tuneband::workers {
namespace {

using testing::HasSubstr;

constexpr int kPatienceMs = 60'000;  // of tests that wait for an answer

class RuleProcessTest : public testing::Test {
 protected:
  RuleProcessTest() { std::signal(SIGPIPE, SIG_IGN); }

  RuleProcess started(std::vector<std::string> argv) {
    debugger::RuleSpec rule;
    rule.name = "mine";
    rule.type = "process";
    rule.argv = std::move(argv);
    return RuleProcess(rule, {"PATH=/usr/bin:/bin"}, dir_.path());
  }
  RuleProcess shell(const std::string& script) { return started({"sh", "-c", script}); }

  static debugger::TensorAtStep value(const std::string& name, double number, debugger::Mode mode = debugger::Mode::none) {
    return {name, debugger::summarise(number), nullptr, mode, true};
  }
  static debugger::StepTensors step(std::int64_t number, double loss = 0.5) {
    return {number, {value("losses/train", loss)}, {}};
  }

  const test::TemporaryDirectory dir_;
};

TEST_F(RuleProcessTest, ReadsALineAStepAndAnswersOnce) {
  RuleProcess rule = shell(R"(while read -r line; do case $line in *'"step":3,'*)
    echo "debug: $line"
    echo '{"step": 3, "tensor": "losses/train", "value": 0.25, "threshold": "nan", "mode": "predict", "message": "it is three"}';;
    esac; done)");
  for (std::int64_t number = 1; number <= 5; ++number) rule.tell(step(number));
  rule.finish(kPatienceMs);
  const auto finding = rule.take_finding();
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->rule, "mine");
  EXPECT_EQ(finding->step, 3);
  EXPECT_EQ(finding->tensor, "losses/train");
  EXPECT_EQ(finding->mode, debugger::Mode::predict);
  EXPECT_EQ(finding->value, 0.25);
  EXPECT_EQ(finding->message, "it is three");
  EXPECT_EQ(rule.take_fault(), "");
  EXPECT_FALSE(rule.take_finding());
  EXPECT_EQ(rule.pid(), 0) << "it is over";
}

TEST_F(RuleProcessTest, ItsLastAnswerNeedsNoEndOfLine) {
  RuleProcess rule = shell(R"(cat > /dev/null; printf '{"step": 3, "message": "it is three"}')");
  rule.finish(kPatienceMs);
  const auto finding = rule.take_finding();
  ASSERT_TRUE(finding) << rule.take_fault();
  EXPECT_EQ(finding->step, 3);

  RuleProcess torn = shell(R"(cat > /dev/null; printf '{"step": 3, "mess')");
  torn.finish(kPatienceMs);
  EXPECT_FALSE(torn.take_finding());
  EXPECT_EQ(torn.take_fault(), R"(answered what is no JSON: {"step": 3, "mess)");
}

TEST_F(RuleProcessTest, OfOneThatPrintsMuchNoMoreIsReadAtALookThanAPipeHolds) {
  ASSERT_EQ(::mkfifo((dir_ / "printed").c_str(), 0600), 0);
  const os::UniqueFd printed(::open((dir_ / "printed").c_str(), O_RDONLY | O_NONBLOCK));
  RuleProcess rule = started({"/usr/bin/python3", "-c", R"(import fcntl, sys
fcntl.fcntl(1, 1031, 1 << 20)  # F_SETPIPE_SZ: all of it is there at once
sys.stdout.write("debug\n" * 100000 + '{"step": 3}\n')
sys.stdout.flush()
open("printed", "w").write("x")
sys.stdin.read())"});
  pollfd wait{printed.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, kPatienceMs), 1);
  EXPECT_FALSE(rule.take_finding()) << "the training goes on meanwhile";
  rule.finish(kPatienceMs);
  const auto finding = rule.take_finding();
  ASSERT_TRUE(finding) << rule.take_fault();
  EXPECT_EQ(finding->step, 3);
}

TEST_F(RuleProcessTest, ReadsNumbersAsPythonWritesThem) {
  RuleProcess rule = shell(R"(echo '{"step": 3, "value": NaN, "threshold": -Infinity, "message": "NaN"}'; cat > /dev/null)");
  rule.finish(kPatienceMs);
  const auto finding = rule.take_finding();
  ASSERT_TRUE(finding) << rule.take_fault();
  EXPECT_TRUE(std::isnan(finding->value));
  EXPECT_EQ(finding->threshold, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(finding->message, "NaN");
}

TEST_F(RuleProcessTest, ReadsNumbersAndReductions) {
  RuleProcess rule = shell(R"(read -r line; read -r more; printf '%s\n%s\n' "$line" "$more" > lines; echo '{"step": 1}')");
  rule.tell(step(1, std::numeric_limits<double>::quiet_NaN()));
  const std::vector<double> values{1, 3};
  const auto view = debugger::view_of(std::span<const double>(values), {2});
  rule.tell({2, {{"weights/w", debugger::summarise(view), &view}}, {}});
  rule.finish(kPatienceMs);
  const std::string lines = test::read_text(dir_ / "lines");
  EXPECT_THAT(lines, HasSubstr(R"({"step":1,"tensors":{"losses/train":"nan"}})"));
  EXPECT_THAT(lines, HasSubstr(R"("mean":2.0)"));
  EXPECT_THAT(rule.take_finding()->message, HasSubstr("found something at step 1"));
}

TEST_F(RuleProcessTest, AnArrayOfOneElementIsToldByItsReductionsWhetherItIsAtHandOrNot) {
  RuleProcess rule = shell(R"(cat > lines)");
  const double element = 3;
  const auto view = debugger::view_of(std::span<const double>(&element, 1), {1});
  for (const debugger::ArrayView* at_hand : {&view, static_cast<const debugger::ArrayView*>(nullptr)})
    rule.tell({1, {{"weights/bias", debugger::summarise(view), at_hand}}, {}});
  rule.finish(kPatienceMs);
  const std::string lines = test::read_text(dir_ / "lines");
  const std::size_t end = lines.find('\n') + 1;
  EXPECT_THAT(lines, HasSubstr(R"("mean":3.0)"));
  EXPECT_EQ(lines.substr(0, end), lines.substr(end));
}

TEST_F(RuleProcessTest, AStepHasALineForEachModeThatNoNameSays) {
  using debugger::Mode;
  RuleProcess rule = shell(R"(cat > lines)");
  rule.tell({4,
             {value("losses/ce", 3, Mode::validation), value("losses/ce", 2, Mode::train),
              value("losses/val", 5, Mode::validation), value("losses/train", 4, Mode::train)},
             {}});
  rule.finish(kPatienceMs);
  EXPECT_EQ(test::read_text(dir_ / "lines"), R"({"step":4,"tensors":{"losses/train":4.0,"losses/val":5.0}}
{"mode":"train","step":4,"tensors":{"losses/ce":2.0}}
{"mode":"validation","step":4,"tensors":{"losses/ce":3.0}}
)");
}

TEST_F(RuleProcessTest, TheClassOfThePythonFileIsOne) {
  test::write_text(dir_ / "rule.py", R"(import sys
sys.path.insert(0, sys.argv[1])
import tuneband_debugger

class Rises(tuneband_debugger.Rule):
    def invoke_at_step(self, step):
        losses = self.trial.tensor("losses/train").values()
        before = self.trial.tensor("losses/train").previous_steps(step, 1)
        self.finding = {"tensor": "losses/train", "value": losses[step], "message": "it rises"}
        return bool(before) and losses[step] > 2 * losses[before[0]]

Rises.serve()
)");
  RuleProcess rule = started({"/usr/bin/python3", "rule.py", TUNEBAND_SOURCE_DIR "/clients/python"});
  for (const auto& [number, loss] : {std::pair{1, 0.5}, {2, 0.9}, {3, 1.9}, {4, 9.0}}) rule.tell(step(number, loss));
  rule.finish(kPatienceMs);
  const auto finding = rule.take_finding();
  ASSERT_TRUE(finding) << rule.take_fault();
  EXPECT_EQ(finding->step, 3);
  EXPECT_EQ(finding->value, 1.9);
  EXPECT_EQ(finding->message, "it rises");
}

TEST_F(RuleProcessTest, OneThatFindsNothingEndsWithItsInput) {
  RuleProcess rule = shell("cat > /dev/null");
  rule.tell(step(1));
  rule.finish(kPatienceMs);
  EXPECT_FALSE(rule.take_finding());
  EXPECT_EQ(rule.take_fault(), "");
  EXPECT_EQ(rule.pid(), 0);
}

TEST_F(RuleProcessTest, OneThatIsNotThereOrCrashesOrAnswersNonsenseIsSaidAndOver) {
  RuleProcess absent = started({"no-such-program"});
  absent.tell(step(1));
  EXPECT_FALSE(absent.take_finding());
  EXPECT_THAT(absent.take_fault(), HasSubstr("cannot be started: the command `no-such-program` is on no folder of PATH"));

  RuleProcess nonsense = shell("echo '{nonsense'; cat > /dev/null");
  nonsense.finish(kPatienceMs);
  EXPECT_FALSE(nonsense.take_finding());
  EXPECT_THAT(nonsense.take_fault(), HasSubstr("answered what is no JSON: {nonsense"));

  for (const char* answer : {"{}", R"({"verdict": 1})", R"({"step": 1, "tensors": {"losses/train": 0.5}})"}) {
    RuleProcess echoing = shell("echo '" + std::string(answer) + "'; cat > /dev/null");
    echoing.finish(kPatienceMs);
    EXPECT_FALSE(echoing.take_finding());
    EXPECT_EQ(echoing.take_fault(), "answered what is no finding: " + std::string(answer));
  }

  for (const char* step : {"-1", "1e30", "99999999999999999999", "2.5", "\"2\""}) {
    RuleProcess odd = shell("echo '{\"step\": " + std::string(step) + ", \"message\": \"odd\"}'; cat > /dev/null");
    odd.finish(kPatienceMs);
    EXPECT_FALSE(odd.take_finding()) << step;
    EXPECT_THAT(odd.take_fault(), HasSubstr("answered a step that no training has: ")) << step;
  }

  RuleProcess talker = shell("head -c 100000 /dev/zero | tr '\\0' x; cat > /dev/null");
  talker.finish(kPatienceMs);
  EXPECT_THAT(talker.take_fault(), HasSubstr("answered more than"));
}

TEST_F(RuleProcessTest, HowOneEndedIsSaidWithItsLastComplaint) {
  const auto fault_of = [&](const std::string& script) {
    RuleProcess rule = shell(script);
    rule.tell(step(1));
    rule.finish(kPatienceMs);
    EXPECT_FALSE(rule.take_finding()) << script;
    return rule.take_fault();
  };
  EXPECT_EQ(fault_of("cat > /dev/null; echo first >&2; echo 'NameError: x' >&2; exit 3"), "ended with status 3: NameError: x");
  EXPECT_EQ(fault_of("cat > /dev/null; echo only a warning >&2"), "");
  EXPECT_EQ(fault_of("cat > /dev/null; exit 1"), "") << "as grep does that found nothing";
  EXPECT_THAT(fault_of("read -r line; kill -9 $$"), HasSubstr("was killed by signal 9 (SIGKILL)"));

  RuleProcess early = shell("exit 0");
  for (int i = 0; i < kPatienceMs && early.pid() != 0; ++i) {
    EXPECT_FALSE(early.take_finding());
    ::poll(nullptr, 0, 1);
  }
  EXPECT_EQ(early.take_fault(), "ended while the training went on, without an answer");
  EXPECT_EQ(fault_of("exec >&-; exec sleep 1000"), "closed its output while the training went on, without an answer");
}

TEST_F(RuleProcessTest, OneThatTakesItsTimeHoldsUpNoOther) {
  ASSERT_EQ(::mkfifo((dir_ / "other").c_str(), 0600), 0);
  RuleProcess first = shell("cat > /dev/null; read -r line < other; echo \"$line\"");  // once the other is at its end
  RuleProcess second = shell("cat > /dev/null; echo '{\"step\": 7}' > other");
  RuleProcess::finish({&first, &second}, kPatienceMs);
  EXPECT_EQ(second.take_fault(), "");
  const auto finding = first.take_finding();
  ASSERT_TRUE(finding) << first.take_fault();
  EXPECT_EQ(finding->step, 7);
}

TEST_F(RuleProcessTest, OneThatHangsHoldsNothingUpAndIsToldWhatItMissed) {
  RuleProcess rule = shell("exec sleep 1000");
  debugger::StepTensors large = step(1);
  for (int i = 0; i < 10'000; ++i) large.tensors.push_back(value("losses/" + std::to_string(i), 0.5));
  for (int i = 0; i < 30; ++i) rule.tell(large);
  EXPECT_FALSE(rule.take_finding());
  EXPECT_THAT(rule.take_fault(), testing::ContainsRegex("was too slow for [0-9]+ steps, which it was not told"));
  rule.finish(50);
  EXPECT_THAT(rule.take_fault(), HasSubstr("did not come to an end within 50 ms"));
  EXPECT_EQ(rule.pid(), 0);
}

TEST_F(RuleProcessTest, TheEndOfACommandIsNotItsEnd) {
  RuleProcess rule = shell("cat > /dev/null; echo '{\"step\": 7}'");
  ProcessSpec command;
  command.executable = "/bin/sh";
  command.argv = {"sh", "-c", "sleep 1000 & sleep 1000"};
  command.working_dir = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  {
    auto process = Process::start(command);
    ASSERT_TRUE(process);
    process->kill_tree();
  }
  EXPECT_EQ(::kill(rule.pid(), 0), 0);
  rule.finish(kPatienceMs);
  EXPECT_EQ(rule.take_finding()->step, 7);
}

}  // namespace
}  // namespace tuneband::workers
