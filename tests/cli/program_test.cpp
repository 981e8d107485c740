// The program itself: arguments and exit status.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace tuneband::cli {

namespace {

struct Ran {
  int status = -1;
  std::string output;  // both streams
};

Ran run_tuneband(const std::string& arguments) {
  const std::string command = std::string(TUNEBAND_BIN_DIR) + "/tuneband " + arguments + " 2>&1 </dev/null";
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  for (std::size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ran.output.append(buffer.data(), size);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace

TEST(Program, HelpAndVersionSucceed) {
  EXPECT_EQ(run_tuneband("--help").status, 0);
  const Ran version = run_tuneband("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.output, "tuneband " TUNEBAND_VERSION "\n");
}

TEST(Program, EveryCommandHasHelp) {
  for (const char* command : {"submit", "list", "describe", "best", "trials", "explain", "logs", "stop", "delete", "export",
                              "plan", "simulate", "workers", "run", "backup", "doctor"}) {
    EXPECT_EQ(run_tuneband(std::string(command) + " --help").status, 0) << command;
  }
}

TEST(Program, WrongUsageIsOneLineAndStatusTwo) {
  for (const char* arguments : {"", "lst", "describe", "explain job", "explain job x", "run x.json --workers 0",
                                "list --state odd", "trials job --sort colour", "list --no-such-flag"}) {
    const Ran ran = run_tuneband(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_EQ(ran.output.find("tuneband: "), 0u) << ran.output;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
  EXPECT_EQ(run_tuneband("lst").output, "tuneband: there is no command `lst` (did you mean `list`?)\n");
}

TEST(Program, NoServerIsStatusThree) {
  const Ran ran = run_tuneband("--server http://127.0.0.1:1 list");
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.output.find("start one with tuneband-server"), std::string::npos) << ran.output;
  EXPECT_EQ(run_tuneband("list --server http://127.0.0.1:1").status, 3) << "global options may follow the command";
}

TEST(Program, ABadJobFileIsStatusTwo) {
  EXPECT_EQ(run_tuneband("run /no/such/job.json").status, 2);
  EXPECT_EQ(run_tuneband("plan /dev/null").status, 2);
}

}  // namespace tuneband::cli
