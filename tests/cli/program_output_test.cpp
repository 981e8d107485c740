#include "cli/doctor/program_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace tuneband::cli {

namespace {

using testing::HasSubstr;
using End = ProgramOutput::End;

constexpr std::chrono::milliseconds kAmple{60'000};
constexpr std::chrono::milliseconds kShort{200};

ProgramOutput output_of_script(const std::string& script, std::chrono::milliseconds time_max) {
  return output_of({"/bin/sh", "-c", script}, time_max);
}

TEST(ProgramOutputTest, IsWhatItSaidOnBothStreamsAndHowItEnded) {
  const ProgramOutput output = output_of_script("echo one; echo two >&2; exit 3", kAmple);
  EXPECT_EQ(output.end, End::exited);
  EXPECT_EQ(output.status, 3);
  EXPECT_EQ(output.said, "one\ntwo");
  EXPECT_FALSE(output.well());
  EXPECT_TRUE(output_of_script("true", kAmple).well());
}

TEST(ProgramOutputTest, TellsASignalAndAProgramThatDoesNotStart) {
  const ProgramOutput killed = output_of_script("kill -9 $$", kAmple);
  EXPECT_EQ(killed.end, End::killed_by_signal);
  EXPECT_EQ(killed.status, SIGKILL);
  const ProgramOutput missing = output_of({"/no/such/program"}, kAmple);
  EXPECT_EQ(missing.end, End::not_started);
  EXPECT_THAT(missing.said, HasSubstr("No such file"));
}

TEST(ProgramOutputTest, OneThatHangsIsEndedWhenTheTimeIsOver) {
  ProgramOutput output;
  // A busy machine may need all of a short time to start it.
  for (auto time_max = kShort; output.said.empty() && time_max < kAmple; time_max *= 2)
    output = output_of_script("echo begun; sleep 1000", time_max);
  EXPECT_EQ(output.end, End::out_of_time);
  EXPECT_EQ(output.said, "begun");
  EXPECT_EQ(output_of_script("exec >&- 2>&-; sleep 1000", kShort).end, End::out_of_time) << "it says no more, and goes on";
  EXPECT_EQ(output_of_script("yes", kShort).end, End::out_of_time) << "it says the same for ever";
}

TEST(ProgramOutputTest, WhatAProgramLeavesBehindIsNotWaitedFor) {
  const ProgramOutput output = output_of_script("sleep 1000 & echo done", kAmple);
  EXPECT_TRUE(output.well());
  EXPECT_EQ(output.said, "done");
}

}  // namespace

}  // namespace tuneband::cli
