// The program itself: arguments and exit status.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/run_program.hpp"

namespace tuneband::cli {

namespace {

using test::Ran;

// Its output is that of both streams. `before`: what the shell does first.
Ran run_program(const std::string& program, const std::string& arguments, const std::string& before = "") {
  return test::run_program("exec 2>&1 </dev/null; " + before + "exec " + TUNEBAND_BIN_DIR "/" + program + " " + arguments);
}

Ran run_tuneband(const std::string& arguments) { return run_program("tuneband", arguments); }

}  // namespace

TEST(Program, HelpAndVersionSucceed) {
  EXPECT_EQ(run_tuneband("--help").status, 0);
  const Ran version = run_tuneband("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.output, "tuneband " TUNEBAND_VERSION "\n");
}

TEST(Program, EveryCommandHasHelp) {
  for (const char* command : {"submit",  "list",  "describe",   "best",   "trials", "explain", "logs",   "stop",
                              "delete",  "watch", "importance", "export", "open",   "report",  "plan",   "simulate",
                              "workers", "run",   "backup",     "doctor", "hold",   "release", "change", "compare"}) {
    EXPECT_EQ(run_tuneband(std::string(command) + " --help").status, 0) << command;
  }
}

TEST(Program, WrongUsageIsOneLineAndStatusTwo) {
  for (const char* arguments : {"", "lst", "describe", "explain job", "explain job x", "run x.json --workers 0",
                                "list --state odd", "trials job --sort colour", "list --no-such-flag", "compare one"}) {
    const Ran ran = run_tuneband(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_EQ(ran.output.find("tuneband: "), 0u) << ran.output;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
  EXPECT_EQ(run_tuneband("lst").output, "tuneband: there is no command `lst` (did you mean `list`?)\n");
}

TEST(Program, AValueThatIsNoneSaysWhatWasExpected) {
  const auto fault = [](const std::string& arguments) { return run_tuneband(arguments).output; };
  EXPECT_EQ(fault("list --limit -1"),
            "tuneband: --limit: expected a whole number from 0 to 1000000, got -1 (see tuneband list --help)\n");
  EXPECT_EQ(fault("explain JOB abc"),
            "tuneband: TRIAL: expected a whole number from 0 to 1000000, got abc (see tuneband explain --help)\n");
  EXPECT_EQ(fault("stop JOB abc"),
            "tuneband: TRIAL: expected a whole number from 0 to 1000000, got abc (see tuneband stop --help)\n");
  EXPECT_EQ(fault("describe ''"), "tuneband: JOB: expected a text, got none (see tuneband describe --help)\n");
  EXPECT_EQ(fault("change JOB"), "tuneband: What to change is required (see tuneband change --help)\n");
  EXPECT_EQ(fault("change JOB --weight 0"),
            "tuneband: --weight: expected a number from 0.001 to 1000, got 0 (see tuneband change --help)\n");
  EXPECT_EQ(fault("run x.json --workers 0"),
            "tuneband: --workers: expected a whole number from 1 to 1000, got 0 (see tuneband run --help)\n");
  EXPECT_EQ(fault("trials job --sort colour"),
            "tuneband: --sort: expected number or objective, got colour (see tuneband trials --help)\n");
  EXPECT_EQ(fault("simulate --table a --job b --budget nan"),
            "tuneband: --budget: expected a number from 0.01 to 1e+06, got nan (see tuneband simulate --help)\n");
  EXPECT_EQ(run_program("tuneband-server", "--port 70000").output,
            "tuneband-server: --port: expected a whole number from 0 to 65535, got 70000 (see tuneband-server --help)\n");
  EXPECT_EQ(run_program("tuneband-worker", "--threads x").output,
            "tuneband-worker: --threads: expected a whole number from 1 to 1024, got x (see tuneband-worker --help)\n");
}

TEST(Program, JsonIsRefusedWhereACommandPrintsNone) {
  for (const auto& [command, output] :
       {std::pair("logs job 3", "a log as it is"), {"predict job /dev/null", "CSV"}, {"completion bash", "words of a shell"}}) {
    const Ran ran = run_tuneband(std::string("--json --server http://127.0.0.1:1 ") + command);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_EQ(ran.output, std::string("tuneband: --json: is not for this command, which prints ") + output + " (leave it out)\n");
  }
}

// A variable of a script that was not set would have another server's jobs shown.
TEST(Program, ADirectoryWithoutANameIsRefused) {
  for (const char* arguments : {"--data-dir '' list", "--data-dir '' run x.json", "run x.json --data-dir ''",
                                "backup copy --data-dir ''", "doctor --data-dir ''"}) {
    const Ran ran = run_tuneband(std::string("--server http://127.0.0.1:1 ") + arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_EQ(ran.output.find("tuneband: --data-dir: expected a text, got none (see tuneband "), 0u) << ran.output;
  }
  EXPECT_EQ(run_tuneband("backup ''").output, "tuneband: DIR: expected a text, got none (see tuneband backup --help)\n");
}

TEST(Program, TheHelpFitsEightyColumns) {
  const auto check = [](const std::string& program, const std::string& arguments) {
    const Ran ran = run_program(program, arguments);
    std::istringstream lines(ran.output);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << program << " " << arguments << ": " << line;
  };
  for (const char* program : {"tuneband", "tuneband-server", "tuneband-worker"}) check(program, "--help");
  for (const char* command : {"submit", "simulate", "run", "trials", "doctor"})
    check("tuneband", std::string(command) + " --help");
}

TEST(Program, AnAddressOfAnotherMachineIsNotMendedByAnotherPort) {
  const std::string directory = ::testing::TempDir() + "tuneband-other-address-" + std::to_string(::getpid());
  const Ran ran = run_program("tuneband-server", "--listen 192.0.2.1 --workers 0 --log-level off --data-dir " + directory);
  std::filesystem::remove_all(directory);
  EXPECT_NE(ran.status, 0);
  EXPECT_NE(ran.output.find("--listen takes an address of this machine"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("tracker-port"), std::string::npos) << ran.output;
}

TEST(Program, WithoutAFileHandleItSaysWhatGivesMore) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer looks at objects through a pipe, for which there is no handle either";
#endif
  const std::string directory = ::testing::TempDir() + "tuneband-few-handles-" + std::to_string(::getpid());
  // What whoever runs the tests has open is open in their programs, too.
  const auto with_handles = [](int most) {
    return "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n " + std::to_string(most) + "; ";
  };
  int told = 0;
  for (int handles = 5; handles <= 14; ++handles) {  // the last is too few for a server still
    const Ran ran =
        run_program("tuneband-server", "--workers 0 --port 0 --log-level off --data-dir " + directory, with_handles(handles));
    EXPECT_EQ(ran.status, 1) << handles << ran.output;
    EXPECT_EQ(ran.output.find("tuneband-server: "), 0u) << handles << ran.output;
    if (ran.output.find("no file handle is left (raise the limit: ulimit -n)") != std::string::npos) ++told;
  }
  EXPECT_GT(told, 0);
  std::filesystem::remove_all(directory);
  const Ran client = run_program("tuneband", "--server http://127.0.0.1:1 list", with_handles(4));
  EXPECT_EQ(client.status, 2);
  EXPECT_EQ(client.output, "tuneband: no file handle is left (raise the limit: ulimit -n)\n");
}

TEST(Program, NoServerIsStatusThree) {
  const Ran ran = run_tuneband("--server http://127.0.0.1:1 list");
  EXPECT_EQ(ran.status, 3);
  EXPECT_NE(ran.output.find("start one with tuneband-server"), std::string::npos) << ran.output;
  EXPECT_EQ(run_tuneband("list --server http://127.0.0.1:1").status, 3) << "global options may follow the command";
}

TEST(Program, WhatStandsBehindAChangeIsTheDocument) {
  for (const char* command : {"plan", "run", "check"}) {  // submit asks for a server first
    const Ran ran = run_tuneband(std::string(command) + " --set weight=2 --set name=x /no/such/job.json");
    EXPECT_EQ(ran.output.find("tuneband: /no/such/job.json: cannot be read"), 0u) << ran.output;
  }
}

TEST(Program, ABadJobFileIsStatusTwo) {
  EXPECT_EQ(run_tuneband("run /no/such/job.json").status, 2);
  EXPECT_EQ(run_tuneband("plan /dev/null").status, 2);
}

TEST(Program, AFileThatIsNoDocumentIsNamed) {
  const std::string path = ::testing::TempDir() + "list-" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << "[1]";
  for (const char* command : {"plan", "run", "check"}) {
    const Ran ran = run_tuneband(std::string(command) + " --set weight=2 " + path);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.output.find("tuneband: " + path + ": expected an object, got [1]"), 0u) << ran.output;
  }
  ::unlink(path.c_str());
}

}  // namespace tuneband::cli
