#include "workers/command/tensor_inbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "debugger/files/array_formats.hpp"
#include "debugger/files/tensor_reader.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "workers/command/printed_json.hpp"

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::int64_t kAnyStep = 1'000'000;

class TensorInboxTest : public ::testing::Test {
 protected:
  TensorInboxTest() : spec_(parsed()), recorder_(spec_, trial_.path(), 1, 0, -1), inbox_(inbox(), spec_.collections) {}

  static debugger::DebugSpec parsed() {
    Diagnostics diagnostics;
    return debugger::parse_debug(Json::object(), "debug", {debugger::TrainerKind::command, 50, {"loss", false}}, diagnostics);
  }

  std::string inbox() const { return trial_.path() + "/in"; }
  void write(const std::string& name, const std::string& bytes) const { std::ofstream(inbox() + "/" + name) << bytes; }
  static std::string npy(const std::vector<double>& values) {
    return debugger::files::write_npy(
        debugger::view_of(std::span<const double>(values), {static_cast<std::int64_t>(values.size())}));
  }
  // The sums of a tensor by step, as they are on disk.
  std::map<std::int64_t, double> sums(const std::string& name) const {
    const auto reader = debugger::files::TensorReader::open(trial_.path(), 0);
    std::map<std::int64_t, double> sums;
    for (const auto& [step, tensor] : reader->series(name, 0, kAnyStep)) sums[step] = tensor.summary.sum;
    return sums;
  }

  test::TemporaryDirectory trial_;
  debugger::DebugSpec spec_;
  debugger::files::Recorder recorder_;
  TensorInbox inbox_;
};

using Sums = std::map<std::int64_t, double>;

}  // namespace

TEST_F(TensorInboxTest, LinesAndFilesMaySayTheirMode) {
  using debugger::Mode;
  inbox_.feed("{\"step\": 3, \"mode\": \"validation\", \"tensors\": {\"losses/ce\": 4, \"losses/train\": 5}}\n");
  inbox_.feed("{\"step\": 3, \"mode\": null, \"tensors\": {\"losses/ce\": 2, \"losses/val\": 6}}\n");
  inbox_.feed("{\"step\": 3, \"tensors\": {\"losses/x\": 9}, \"mode\": \"train\"}\n");
  write("outputs/fc1@3.predict.npy", npy({1, 2}));
  write("outputs/fc1.predict@3.npy", npy({3, 4}));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(inbox_.take_refusals(), "");
  const auto reader = debugger::files::TensorReader::open(trial_.path(), 0);
  std::map<std::pair<std::string, Mode>, double> sums;
  reader->for_each_step(3, 3, [&](std::int64_t, const std::vector<debugger::files::StoredTensor>& tensors) {
    for (const auto& tensor : tensors) sums[{tensor.name, tensor.mode}] = tensor.summary.sum;
    return true;
  });
  const std::map<std::pair<std::string, Mode>, double> expected{
      {{"losses/ce", Mode::validation}, 4},    {{"losses/train", Mode::validation}, 5}, {{"losses/ce", Mode::none}, 2},
      {{"losses/val", Mode::validation}, 6},   {{"losses/x", Mode::train}, 9},          {{"outputs/fc1", Mode::predict}, 3},
      {{"outputs/fc1.predict", Mode::none}, 7}};
  EXPECT_EQ(sums, expected);
}

TEST_F(TensorInboxTest, LinesBehindAProgressBarAreReadAndTextsWithBracesAreNot) {
  inbox_.feed("\r 10%|#   | 1/10 [00:01<00:09]{\"step\": 1, \"tensors\": {\"losses/a\": 1}}\n");
  inbox_.feed("\r 20%|##  | 2/10\r{\"step\": 1, \"tensors\": {\"losses/b\": 2}}\r\n");
  inbox_.feed("saved {\"tensors\" of {1}}\n");
  inbox_.finish();
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("losses/a"), (Sums{{1, 1}}));
  EXPECT_EQ(sums("losses/b"), (Sums{{1, 2}}));
  EXPECT_EQ(inbox_.take_refusals(), "");
}

TEST_F(TensorInboxTest, TheLastLineOfACommandThatHasEndedIsOneWithoutItsEndToo) {
  inbox_.feed(R"({"step": 3, "tensors": {"losses/train": 4}})");
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_TRUE(sums("losses/train").empty()) << "the command is held: more of the line may come";
  inbox_.finish();
  inbox_.finish();
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("losses/train"), (Sums{{3, 4}}));
  EXPECT_EQ(inbox_.take_refusals(), "");
}

TEST_F(TensorInboxTest, AModeThatThereIsNotIsRefusedAndSaid) {
  for (const char* mode : {"\"eval\"", "1", "[]", "\"\""}) {
    inbox_.feed(std::string("{\"step\": 3, \"mode\": ") + mode + ", \"tensors\": {\"losses/ce\": 4}}\n");
    EXPECT_THAT(inbox_.take_refusals(), HasSubstr("expected the mode none, train, validation or predict, got ")) << mode;
  }
  write("outputs/fc1@3.eval.npy", npy({1, 2}));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_THAT(inbox_.take_refusals(), HasSubstr("outputs/fc1@3.eval.npy: expected NAME@STEP.npy"));
  EXPECT_TRUE(sums("losses/ce").empty());
}

TEST_F(TensorInboxTest, FilesAreTakenAndGone) {
  write("gradients/fc1@3.npy", npy({1, 2, 3}));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("gradients/fc1"), (Sums{{3, 6}}));
  EXPECT_FALSE(fs::exists(inbox() + "/gradients/fc1@3.npy"));
  EXPECT_EQ(inbox_.take_refusals(), "");
}

TEST_F(TensorInboxTest, WhatAFileNameCannotHoldIsInItAsPercentsAndDigits) {
  write("weights/a%2fb%2Fkernel:0@3.npy", npy({1, 2}));
  write("weights/a_b@3.npy", npy({4}));
  write("weights/Schicht \xc3\xa4%C3%A4@3.npy", npy({5}));
  write("weights/100%252F@3.npy", npy({6}));
  write("weights/50%@3.npy", npy({7}));
  write("weights/5%0 %+1%2@3.npy", npy({8}));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("weights/a/b/kernel:0"), (Sums{{3, 3}}));
  EXPECT_EQ(sums("weights/a_b"), (Sums{{3, 4}}));
  EXPECT_EQ(sums("weights/Schicht \xc3\xa4\xc3\xa4"), (Sums{{3, 5}}));
  EXPECT_EQ(sums("weights/100%2F"), (Sums{{3, 6}})) << "decoded once";
  EXPECT_EQ(sums("weights/50%"), (Sums{{3, 7}}));
  EXPECT_EQ(sums("weights/5%0 %+1%2"), (Sums{{3, 8}}));
  EXPECT_EQ(inbox_.take_refusals(), "");
}

TEST_F(TensorInboxTest, ADecodedNameIsRefusedAsThatOfANumberIs) {
  const std::vector<std::string> encoded{"%2E%2E",    "..%2F..%2Fx", "%2Fetc", "x%2F", "x%2F%2Fy",
                                         "x%2F.%2Fy", "%00",         "x%0Ay",  "%FF"};
  for (const std::string& name : encoded) {
    write("weights/" + name + "@3.npy", npy({1}));
    inbox_.take(recorder_, TensorInbox::Take::rest);
    EXPECT_THAT(inbox_.take_refusals(), HasSubstr("its name is none that a tensor may have")) << name;
  }
  EXPECT_TRUE(fs::is_empty(inbox() + "/weights"));
  EXPECT_TRUE(debugger::files::TensorReader::open(trial_.path(), 0)->tensors().empty());
}

// With the pause between two looks before it and after it: within a second (the header says so).
TEST_F(TensorInboxTest, AStepIsJudgedOnceNothingMoreComesOrItHasWaitedHalfASecond) {
  using std::chrono::milliseconds;
  const TensorInbox::Clock::time_point begin{};
  const auto print_at = [&](int ms, int step) {
    inbox_.feed(R"({"step": )" + std::to_string(step) + R"(, "tensors": {"losses/train": 1}})" + "\n", begin + milliseconds(ms));
  };
  const auto judged_at = [&](int ms) {
    inbox_.take(recorder_, TensorInbox::Take::what_is_due, begin + milliseconds(ms));
    return sums("losses/train").size();
  };
  print_at(0, 1);
  EXPECT_EQ(judged_at(299), 0U);
  EXPECT_EQ(judged_at(300), 1U) << "nothing more has come";
  print_at(1000, 2);
  print_at(1290, 2);
  EXPECT_EQ(judged_at(1499), 1U);
  EXPECT_EQ(judged_at(1500), 2U) << "more keeps coming";
  print_at(2000, 3);
  print_at(2400, 4);
  EXPECT_EQ(judged_at(2550), 3U) << "a later one has come, which has waited for less";
  EXPECT_EQ(judged_at(2700), 4U);
}

// A line, a report and a file of one step, each between two looks: the rules see one step.
TEST_F(TensorInboxTest, WhatAStepBringsInDifferentWaysIsOneStep) {
  using std::chrono::milliseconds;
  const TensorInbox::Clock::time_point begin{};
  const auto look_at = [&](int ms) { inbox_.take(recorder_, TensorInbox::Take::what_is_due, begin + milliseconds(ms)); };
  inbox_.feed("{\"step\": 3, \"tensors\": {\"losses/train\": 1}}\n", begin);
  look_at(0);
  inbox_.report(3, {{"validation-loss", 2}, {"no/../name", 1}}, begin + milliseconds(200));
  look_at(250);
  EXPECT_TRUE(sums("losses/train").empty()) << "it waits for more";
  EXPECT_TRUE(sums("metrics/validation-loss").empty()) << "it waits too";
  write("gradients/fc1@3.npy", npy({1, 2}));
  inbox_.report(4, {{"validation-loss", 2}}, begin + milliseconds(400));
  look_at(400);
  EXPECT_EQ(recorder_.standings().front().saved, 1) << "one step, the fourth waits";
  EXPECT_EQ(sums("losses/train"), (Sums{{3, 1}}));
  EXPECT_EQ(sums("gradients/fc1"), (Sums{{3, 3}}));
  EXPECT_EQ(sums("metrics/validation-loss"), (Sums{{3, 2}}));
  const auto reader = debugger::files::TensorReader::open(trial_.path(), 0);
  int blocks = 0;
  reader->for_each_step(0, kAnyStep, [&](std::int64_t, const auto& tensors) {
    EXPECT_EQ(tensors.size(), 3U);
    return ++blocks > 0;
  });
  EXPECT_EQ(blocks, 1) << "judged together";
  EXPECT_EQ(inbox_.take_refusals(), "");
}

// {"mine": {"patterns": ["^gradients/"]}} alone: what it finds is made as gradients are.
TEST_F(TensorInboxTest, WhatPatternsFindHasADirectoryOfItsOwnCollection) {
  Diagnostics diagnostics;
  const Json debug =
      Json::parse(R"({"collections": {"mine": {"patterns": ["^gradients/"], "save": {"every": 1}}}, "rules": []})");
  const auto spec = debugger::parse_debug(debug, "debug", {debugger::TrainerKind::command, 50, {"loss", false}}, diagnostics);
  ASSERT_TRUE(diagnostics.ok());
  fs::remove_all(inbox());
  TensorInbox of_patterns(inbox(), spec.collections);
  debugger::files::Recorder recorder(spec, trial_.path(), 2, 0, -1);
  write("gradients/fc1@3.npy", npy({1, 2, 3}));
  write("weights/fc1@3.npy", npy({1, 2, 3}));
  of_patterns.take(recorder, TensorInbox::Take::rest);
  EXPECT_EQ(sums("gradients/fc1"), (Sums{{3, 6}}));
  EXPECT_TRUE(sums("weights/fc1").empty());
  EXPECT_FALSE(fs::exists(inbox() + "/weights/fc1@3.npy")) << "taken away all the same";
}

TEST_F(TensorInboxTest, AFileThatIsNotWholeWaitsForTheRest) {
  const std::string whole = npy({1, 2, 3});
  write("gradients/fc1@3.npy", whole.substr(0, whole.size() - 1));
  inbox_.take(recorder_, TensorInbox::Take::what_is_due);
  EXPECT_TRUE(fs::exists(inbox() + "/gradients/fc1@3.npy"));
  EXPECT_EQ(inbox_.take_refusals(), "");
  write("gradients/fc1@3.npy", whole);
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("gradients/fc1"), (Sums{{3, 6}}));
}

TEST_F(TensorInboxTest, WhatIsHeldGoesOnWithTheFilesThatItHasBegun) {
  const std::string whole = npy({1, 2, 3});
  write("gradients/fc1@3.npy", whole.substr(0, whole.size() - 1));
  write("gradients/.fc2@3.tmp", whole);
  write("gradients/fc3@3.npy", npy({4}));
  inbox_.take(recorder_, TensorInbox::Take::all_steps);
  EXPECT_EQ(sums("gradients/fc3"), (Sums{{3, 4}}));
  EXPECT_TRUE(fs::exists(inbox() + "/gradients/fc1@3.npy"));
  EXPECT_TRUE(fs::exists(inbox() + "/gradients/.fc2@3.tmp"));
  EXPECT_EQ(inbox_.take_refusals(), "");
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_FALSE(fs::exists(inbox() + "/gradients/fc1@3.npy"));
  EXPECT_THAT(inbox_.take_refusals(), HasSubstr("gradients/.fc2@3.tmp"));
}

TEST_F(TensorInboxTest, WhatCannotBeTakenAwayIsRefusedOnce) {
  fs::create_directories(inbox() + "/weights/fc1@3.npy");
  inbox_.take(recorder_, TensorInbox::Take::what_is_due);
  EXPECT_THAT(inbox_.take_refusals(), HasSubstr("weights/fc1@3.npy"));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(inbox_.take_refusals(), "");
}

TEST_F(TensorInboxTest, LinesAreReadWhereverTheyAreCut) {
  const std::string output =
      "epoch 1\n{\"step\": 1, \"tensors\": {\"losses/train\": 0.5, \"grad\": NaN}}\n"
      "{\"step\": 2, \"tensors\": {\"losses/train\": -Infinity}}\n{\"loss\": 3}\n";
  for (const char c : output) inbox_.feed(std::string_view(&c, 1));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_EQ(sums("losses/train"), (Sums{{1, 0.5}, {2, -std::numeric_limits<double>::infinity()}}));
  EXPECT_TRUE(std::isnan(sums("metrics/grad").at(1)));
  const auto findings = recorder_.take_findings();
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings.front().rule, "exploding_tensor");
  EXPECT_EQ(findings.front().step, 1);
}

TEST_F(TensorInboxTest, NumbersWithoutANameInJsonAreFoundOutsideOfTexts) {
  EXPECT_EQ(with_named_numbers(R"({"NaN": NaN, "a\"NaN": -Infinity, "b": Infinity})"),
            R"({"NaN": "nan", "a\"NaN": "-inf", "b": "inf"})");
}

TEST_F(TensorInboxTest, LinksPipesAndOtherNamesAreRefusedAndTakenAway) {
  write("elsewhere", npy({1}));
  fs::create_symlink(inbox() + "/elsewhere", inbox() + "/weights/a@1.npy");
  fs::create_hard_link(inbox() + "/elsewhere", inbox() + "/weights/b@1.npy");
  ::mkfifo((inbox() + "/weights/c@1.npy").c_str(), 0600);
  write("weights/d.npy", npy({1}));
  write("weights/e@1.npy", "something else, and long enough to be a header");
  write("weights/..@1.npy", npy({1}));
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_THAT(inbox_.take_refusals(), HasSubstr("6 tensors were refused"));
  EXPECT_TRUE(fs::is_empty(inbox() + "/weights"));
  EXPECT_TRUE(fs::exists(inbox() + "/elsewhere"));
  const auto reader = debugger::files::TensorReader::open(trial_.path(), 0);
  EXPECT_TRUE(reader->tensors().empty());
}

TEST_F(TensorInboxTest, ACollectionThatIsALinkIsNotLookedInto) {
  fs::remove(inbox() + "/weights");
  fs::create_directory(inbox() + "/other");
  write("other/a@1.npy", npy({1}));
  fs::create_directory_symlink(inbox() + "/other", inbox() + "/weights");
  inbox_.take(recorder_, TensorInbox::Take::rest);
  EXPECT_TRUE(sums("weights/a").empty());
  EXPECT_TRUE(fs::exists(inbox() + "/other/a@1.npy"));
}

TEST_F(TensorInboxTest, AStepThatIsNotDueIsTakenAwayAndNotKept) {
  Diagnostics diagnostics;
  const Json json{{"save", {{"every", 10}}}};
  const auto spec = debugger::parse_debug(json, "debug", {debugger::TrainerKind::command, 50, {"loss", false}}, diagnostics);
  debugger::files::Recorder recorder(spec, trial_.path(), 2, 0, -1);
  write("weights/a@9.npy", npy({1, 2}));
  write("weights/a@10.npy", npy({1, 2}));
  inbox_.take(recorder, TensorInbox::Take::rest);
  EXPECT_EQ(sums("weights/a"), (Sums{{10, 3}}));
  EXPECT_TRUE(fs::is_empty(inbox() + "/weights"));
}

}  // namespace tuneband::workers
