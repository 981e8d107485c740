// `tuneband doctor`: what each check says of what it finds, and the command on this installation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "cli/api_client.hpp"
#include "cli/doctor_checks.hpp"
#include "cli/embedded_server.hpp"
#include "tests/server/temporary_directory.hpp"

namespace tuneband::cli {

namespace {

using testing::HasSubstr;
using Level = Finding::Level;

class Doctor : public testing::Test {
 protected:
  std::string program(const std::string& script) {
    const std::string path = directory_ / "tuneband-worker";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    ::chmod(path.c_str(), 0700);
    return path;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Doctor, AProgramOfThisVersionIsWell) {
  EXPECT_EQ(check_program(TUNEBAND_BIN_DIR "/tuneband-worker").level, Level::ok);
  EXPECT_EQ(check_program(TUNEBAND_BIN_DIR "/tuneband-server").level, Level::ok);
}

TEST_F(Doctor, AProgramThatIsMissingBrokenOrOfAnotherVersionIsNamed) {
  const Finding missing = check_program(directory_ / "nowhere");
  EXPECT_EQ(missing.level, Level::problem);
  EXPECT_THAT(missing.found, HasSubstr("No such file"));
  const Finding broken = check_program(program("echo 'libxgboost.so.0: cannot open' >&2; exit 127\n"));
  EXPECT_EQ(broken.level, Level::problem);
  EXPECT_THAT(broken.found, HasSubstr("libxgboost.so.0"));
  const Finding old = check_program(program("echo tuneband-worker 0.0.1\n"));
  EXPECT_EQ(old.level, Level::problem);
  EXPECT_THAT(old.found, HasSubstr("0.0.1"));
}

TEST_F(Doctor, MoreWorkersThanTheMachineCarriesAreNoted) {
  EXPECT_EQ(check_machine({4, 8000}, 4, 1).level, Level::ok);
  EXPECT_EQ(check_machine({4, 8000}, 2, 2).level, Level::ok);
  const Finding threads = check_machine({4, 8000}, 4, 2);
  EXPECT_EQ(threads.level, Level::note);
  EXPECT_THAT(threads.advice, HasSubstr("--workers 2"));
  EXPECT_THAT(check_machine({64, 2000}, 64, 1).advice, HasSubstr("memory"));
  EXPECT_EQ(check_machine({4, 0}, 4, 1).level, Level::ok) << "an unknown amount of memory is no fault";
  const Machine machine = this_machine();
  EXPECT_GT(machine.cores, 0);
  EXPECT_GT(machine.memory_mb, 0);
}

TEST_F(Doctor, VariablesOfOpenMpThatStandInTheWayAreNoted) {
  ::unsetenv("OMP_THREAD_LIMIT");
  ::unsetenv("OMP_WAIT_POLICY");
  ::setenv("OMP_NUM_THREADS", "64", 1);
  EXPECT_THAT(check_openmp({4, 0}).advice, HasSubstr("unset OMP_NUM_THREADS"));
  ::setenv("OMP_NUM_THREADS", "2", 1);
  EXPECT_EQ(check_openmp({4, 0}).level, Level::ok);
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(check_openmp({4, 0}).level, Level::note);
  ::unsetenv("OMP_WAIT_POLICY");
  ::unsetenv("OMP_NUM_THREADS");
}

TEST_F(Doctor, ADataDirectoryIsWritableAndOnALocalFileSystem) {
  EXPECT_NE(check_data_dir(directory_ / "not/there/yet").level, Level::problem);
  std::ofstream(directory_ / "file") << "x";
  EXPECT_EQ(check_data_dir(directory_ / "file").level, Level::problem);
  EXPECT_EQ(check_data_dir("/proc/tuneband-data").level, Level::problem) << "nobody makes a file there";
  EXPECT_TRUE(file_system_of(0x6969).network);
  EXPECT_TRUE(file_system_of(0xFF534D42).network);
  EXPECT_TRUE(file_system_of(0x01021994).in_memory);
  EXPECT_FALSE(file_system_of(0xEF53).network);
}

TEST_F(Doctor, TellsAServerOfOursFromAFreePortAndFromAStranger) {
  auto server = EmbeddedServer::start({TUNEBAND_BIN_DIR "/tuneband-server", directory_.path(), 0});
  ASSERT_TRUE(server);
  const std::string url = (*server)->url();
  EXPECT_EQ(check_server(url).level, Level::ok);
  (*server)->stop();
  EXPECT_EQ(check_server(url).level, Level::note);
  EXPECT_EQ(check_server("ftp://nowhere").level, Level::problem);
}

TEST_F(Doctor, TrainsASmallJobFromFileToModel) {
  const Finding trained = check_training(TUNEBAND_BIN_DIR "/tuneband-server");
  EXPECT_EQ(trained.level, Level::ok) << trained.found;
  EXPECT_EQ(check_training(directory_ / "nowhere").level, Level::problem);
}

TEST_F(Doctor, ItsReportIsJsonWhenAskedAndItsStatusSaysWhetherAllIsWell) {
  const std::string command = TUNEBAND_BIN_DIR "/tuneband --json doctor --server http://127.0.0.1:1 --data-dir ";
  const auto run = [&](const std::string& data_dir) {
    FILE* pipe = popen((command + data_dir).c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    const int status = pclose(pipe);
    return std::pair(WEXITSTATUS(status), Json::parse(text));
  };
  const auto [well, findings] = run(directory_.path());
  EXPECT_EQ(well, 0) << findings;
  EXPECT_GE(findings.at("findings").size(), 8U);
  EXPECT_EQ(run("/proc/tuneband-data").first, 1);
}

}  // namespace

}  // namespace tuneband::cli
