// `tuneband doctor`: what each check says of what it finds, and the command on this installation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "cli/client/api_client.hpp"
#include "cli/client/embedded_server.hpp"
#include "cli/doctor/doctor_checks.hpp"
#include "cli/doctor/port_check.hpp"
#include "db/connection.hpp"
#include "os/control_group.hpp"
#include "tests/file_size_limit.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::cli {

namespace {

using testing::HasSubstr;
using testing::Not;
using Level = CheckResult::Level;

class Doctor : public testing::Test {
 protected:
  std::string program(const std::string& script) { return directory_.write_script("tuneband-worker", script); }

  test::TemporaryDirectory directory_;
};

TEST_F(Doctor, AProgramOfThisVersionIsWell) {
  EXPECT_EQ(check_program(TUNEBAND_BIN_DIR "/tuneband-worker").level, Level::ok);
  EXPECT_EQ(check_program(TUNEBAND_BIN_DIR "/tuneband-server").level, Level::ok);
}

TEST_F(Doctor, AProgramThatIsMissingBrokenOrOfAnotherVersionIsNamed) {
  const CheckResult missing = check_program(directory_ / "nowhere");
  EXPECT_EQ(missing.level, Level::problem);
  EXPECT_THAT(missing.found, HasSubstr("No such file"));
  const CheckResult broken = check_program(program("echo 'libxgboost.so.0: cannot open' >&2; exit 127\n"));
  EXPECT_EQ(broken.level, Level::problem);
  EXPECT_THAT(broken.found, HasSubstr("libxgboost.so.0"));
  const CheckResult old = check_program(program("echo tuneband-worker 0.0.1\n"));
  EXPECT_EQ(old.level, Level::problem);
  EXPECT_THAT(old.found, HasSubstr("0.0.1"));
}

TEST_F(Doctor, AProgramThatMayNotBeRunOrHangsIsNotToBeInstalled) {
  const std::string hanging = program("sleep 1000\n");
  const CheckResult hangs = check_program(hanging);
  EXPECT_EQ(hangs.level, Level::problem);
  EXPECT_THAT(hangs.found, HasSubstr("did not end within"));
  ::chmod(hanging.c_str(), 0600);
  const CheckResult forbidden = check_program(hanging);
  EXPECT_EQ(forbidden.level, Level::problem);
  EXPECT_THAT(forbidden.found, HasSubstr("Permission denied"));
  EXPECT_THAT(forbidden.advice, HasSubstr("chmod +x"));
}

TEST_F(Doctor, MoreWorkersThanTheMachineCarriesAreNoted) {
  EXPECT_EQ(check_machine({4, 8000}, 4, 1).level, Level::ok);
  EXPECT_EQ(check_machine({4, 8000}, 2, 2).level, Level::ok);
  const CheckResult threads = check_machine({4, 8000}, 4, 2);
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
}

TEST_F(Doctor, AFileSystemOnWhichSqliteMayNotWorkIsNotJustWell) {
  using Kind = FileSystem::Kind;
  EXPECT_EQ(file_system_of(0x6969).kind, Kind::network);
  EXPECT_EQ(file_system_of(0xFF534D42).kind, Kind::network);
  EXPECT_EQ(file_system_of(0x01021994).kind, Kind::memory);
  EXPECT_EQ(file_system_of(0xEF53).kind, Kind::local);
  EXPECT_EQ(file_system_of(0x0BD00BD0).kind, Kind::unsure) << "lustre";
  EXPECT_EQ(file_system_of(0x00C36400).kind, Kind::unsure) << "ceph";
  EXPECT_EQ(file_system_of(0x12345).kind, Kind::unsure);
  const Room ample{1e12, 1e9};
  const auto level = [](Kind kind, const Room& room) { return check_room("/data", {"it", kind}, room).level; };
  EXPECT_EQ(level(Kind::local, ample), Level::ok);
  EXPECT_EQ(level(Kind::memory, ample), Level::note);
  EXPECT_EQ(level(Kind::unsure, ample), Level::note);
  EXPECT_EQ(level(Kind::network, ample), Level::problem);
}

TEST_F(Doctor, LittleRoomForBytesOrFilesIsNoted) {
  const FileSystem disk{"ext4", FileSystem::Kind::local};
  EXPECT_THAT(check_room("/data", disk, {1e6, 1e9}).advice, HasSubstr("make room"));
  EXPECT_THAT(check_room("/data", disk, {1e12, 50}).found, HasSubstr("only for 50 files"));
  EXPECT_EQ(check_room("/data", disk, {1e12, std::nullopt}).level, Level::ok) << "btrfs has no such bound";
}

TEST_F(Doctor, ADatabaseIsCheckedAsTheServerWould) {
  const std::string server = TUNEBAND_BIN_DIR "/tuneband-server";
  const std::string database = directory_ / "tuneband.db";
  EXPECT_EQ(check_database(server, directory_ / "not/there/yet").level, Level::ok);
  EmbeddedServer::start({server, directory_.path(), 0});
  const CheckResult sound = check_database(server, directory_.path());
  EXPECT_EQ(sound.level, Level::ok) << sound.found;
  EXPECT_THAT(sound.found, HasSubstr("sound"));

  const auto set_version = [&](int version) {
    Connection::open_to_write(database).execute("PRAGMA user_version = " + std::to_string(version));
  };
  set_version(99);
  const CheckResult newer = check_database(server, directory_.path());
  EXPECT_EQ(newer.level, Level::problem);
  EXPECT_THAT(newer.found, HasSubstr("newer version"));
  set_version(1);
  EXPECT_EQ(check_database(server, directory_.path()).level, Level::note) << "the server migrates it";
  std::ofstream(database) << "no database at all, but a text that is long enough to be taken for one";
  const CheckResult damaged = check_database(server, directory_.path());
  EXPECT_EQ(damaged.level, Level::problem);
  EXPECT_THAT(damaged.found, Not(HasSubstr("\n")));
}

TEST_F(Doctor, ADatabaseThatNothingCanBeWrittenBesideIsNotCalledBroken) {
  const std::string server = TUNEBAND_BIN_DIR "/tuneband-server";
  EmbeddedServer::start({server, directory_.path(), 0});
  ASSERT_EQ(check_database(server, directory_.path()).level, Level::ok);
  const test::FileSizeLimit limit(1024);
  const CheckResult unread = check_database(server, directory_.path());
  EXPECT_EQ(unread.level, Level::problem);
  EXPECT_THAT(unread.found, HasSubstr("no room on the disk"));
  EXPECT_THAT(unread.advice, AllOf(HasSubstr("make room"), Not(HasSubstr("backup"))));
}

TEST_F(Doctor, ADatabaseThatIsLostIsAProblemWhoseAdviceDestroysNothing) {
  const std::string server = TUNEBAND_BIN_DIR "/tuneband-server";
  const std::string database = directory_ / "tuneband.db";
  std::filesystem::create_directory(directory_ / "empty");
  EXPECT_EQ(check_database(server, directory_ / "empty").level, Level::ok) << "no server has run there";
  EmbeddedServer::start({server, directory_.path(), 0});
  for (const auto& damage : {std::function<void()>([&] { std::filesystem::resize_file(database, 0); }),
                             std::function<void()>([&] { std::filesystem::remove(database); })}) {
    damage();
    const CheckResult lost = check_database(server, directory_.path());
    EXPECT_EQ(lost.level, Level::problem);
    EXPECT_THAT(lost.found, HasSubstr("the database is lost"));
    EXPECT_THAT(lost.advice, HasSubstr("restore a backup"));
  }
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

// Listens on a free port of the loopback, and says nothing to anyone.
class SilentListener {
 public:
  SilentListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~SilentListener() { ::close(fd_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;
  const std::string& port() const { return port_; }

 private:
  int fd_;
  std::string port_;
};

TEST_F(Doctor, APortThatAcceptsAndSaysNothingIsAProblemWithinSeconds) {
  const SilentListener listener;
  const auto began = std::chrono::steady_clock::now();
  const CheckResult silent = check_server("http://127.0.0.1:" + listener.port());
  EXPECT_EQ(silent.level, Level::problem);
  EXPECT_THAT(silent.found, HasSubstr("does not answer in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST_F(Doctor, APortIsLookedAtByNameAndByAddress) {
  using Kind = PortState::Kind;
  std::string port;
  {
    const SilentListener listener;
    port = listener.port();
    EXPECT_EQ(look_at_port("http://127.0.0.1:" + port).kind, Kind::taken);
    EXPECT_EQ(look_at_port("http://localhost:" + port).kind, Kind::taken);
    EXPECT_EQ(look_at_port("http://127.0.0.1:" + port + "/").kind, Kind::taken);
  }
  EXPECT_EQ(look_at_port("http://localhost:" + port).kind, Kind::free);
  EXPECT_EQ(look_at_port("http://192.0.2.1:7070").kind, Kind::not_ours) << "an address of nobody (RFC 5737)";
  EXPECT_THAT(look_at_port("http://[::1]:" + port).kind, testing::AnyOf(Kind::free, Kind::not_ours)) << "where there is IPv6";
  EXPECT_NE(look_at_port("http://127.0.0.1").kind, Kind::not_ours) << "the port of http is 80";
}

TEST_F(Doctor, LimitsOfControlGroupsAreThoseOfTheGroupThatTheProcessIsIn) {
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(directory_ / path).parent_path());
    std::ofstream(directory_ / path) << text << '\n';
  };
  write("user.slice/memory.max", "8000000000");
  write("user.slice/memory.peak", "7000000000");
  write("user.slice/session.scope/memory.peak", "1");
  write("user.slice/cpu.max", "max 100000");
  write("user.slice/session.scope/memory.max", "max");
  write("user.slice/session.scope/cpu.max", "150000 100000");
  write("other.slice/memory.max", "1000");
  const auto second = os::control_group_limits("0::/user.slice/session.scope\n", directory_.path());
  EXPECT_EQ(second.cores, 1.5);
  EXPECT_EQ(second.memory_bytes, 8e9) << "the limit of the group that it is in counts as well";
  EXPECT_EQ(second.memory_peak_bytes, 7e9) << "of the group that has the limit";

  write("memory/batch/17/memory.limit_in_bytes", "2000000000");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("cpu,cpuacct/cpu.cfs_quota_us", "200000");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000");
  const auto first =
      os::control_group_limits("5:memory:/batch/17\n4:cpu,cpuacct:/not/seen/here\n1:name=systemd:/x\n", directory_.path());
  EXPECT_EQ(first.memory_bytes, 2e9);
  EXPECT_FALSE(first.memory_peak_bytes) << "the kernel does not say it";
  EXPECT_EQ(first.cores, 2);

  const auto none = os::control_group_limits("0::/../outside\nnonsense\n", directory_.path());
  EXPECT_FALSE(none.cores);
  EXPECT_FALSE(none.memory_bytes);
}

TEST_F(Doctor, TrainsASmallJobFromFileToModel) {
  const CheckResult trained = check_training(TUNEBAND_BIN_DIR "/tuneband-server");
  EXPECT_EQ(trained.level, Level::ok) << trained.found;
  EXPECT_EQ(check_training(directory_ / "nowhere").level, Level::problem);
}

TEST_F(Doctor, ChecksThatNeedAProgramWhichIsNotWellAreNotMade) {
  for (const char* name : {"tuneband", "tuneband-server"}) {
    std::filesystem::copy_file(std::string(TUNEBAND_BIN_DIR "/") + name, directory_ / name);
  }
  const test::Ran ran =
      test::run_program((directory_ / "tuneband") + " doctor --server http://127.0.0.1:1 --data-dir " + (directory_ / "data"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("tuneband-worker: No such file"));
  EXPECT_THAT(ran.output, HasSubstr("not looked at: it needs tuneband-worker"));
}

TEST_F(Doctor, ItsReportIsJsonWhenAskedAndItsStatusSaysWhetherAllIsWell) {
  const std::string command = TUNEBAND_BIN_DIR "/tuneband --json doctor --server http://127.0.0.1:1 --data-dir ";
  const auto run = [&](const std::string& data_dir) {
    const test::Ran ran = test::run_program(command + data_dir);
    return std::pair(ran.status, Json::parse(ran.output));
  };
  const auto [well, findings] = run(directory_.path());
  EXPECT_EQ(well, 0) << findings;
  EXPECT_GE(findings.at("findings").size(), 8U);
  EXPECT_EQ(run("/proc/tuneband-data").first, 1);
}

}  // namespace

}  // namespace tuneband::cli
