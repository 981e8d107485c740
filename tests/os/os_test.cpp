#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "os/atomic_file.hpp"
#include "os/child_process.hpp"
#include "os/file_text.hpp"
#include "os/oom_kills.hpp"
#include "os/pidfd.hpp"
#include "os/process_table.hpp"
#include "os/temporary_dir.hpp"
#include "os/tree.hpp"
#include "os/wake_event.hpp"
#include "tests/no_file_handle.hpp"
#include "tests/not_root.hpp"

namespace tuneband::os {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Step = SpawnFailure::Step;

constexpr int kAmpleMs = 60'000;

class OsTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(directory_.path())) all.push_back(entry.path().filename().string());
    return all;
  }

  // What a script prints, started so.
  std::string said_by(const std::string& script, ChildCommand command) const {
    auto output = make_pipe();
    command.program = "/bin/sh";
    command.arguments = {"-c", script};
    command.stdout_fd = output->write.get();
    command.stderr_fd = output->write.get();
    const Spawned pid = try_to_spawn(command);
    output->write.reset();
    EXPECT_TRUE(pid);
    std::string said;
    char c = 0;
    while (::read(output->read.get(), &c, 1) == 1) said += c;
    if (pid) ::waitpid(*pid, nullptr, 0);
    return said;
  }

  TemporaryDir directory_{"os-test"};
};

using ChildProcess = OsTest;
using AtomicFileTest = OsTest;
using ProcessTable = OsTest;

TEST_F(ChildProcess, HasItsEnvironmentItsDirectoryAndNoDescriptorOfOurs) {
  const UniqueFd leaking(::open("/dev/null", O_RDONLY));  // not close-on-exec, as a library may do it
  EXPECT_EQ(said_by("echo $A $B; pwd; ls /proc/self/fd | wc -l; cat",
                    {.environment = {{"A=1", "B=2", "PATH=/usr/bin:/bin"}}, .working_dir = directory_.path()}),
            "1 2\n" + fs::canonical(directory_.path()).string() + "\n4\n")
      << "ls has its three and the directory that it reads";
}

TEST_F(ChildProcess, OursIsTheEnvironmentOfOneThatIsGivenNone) {
  ::setenv("TUNEBAND_OS_TEST", "ours", 1);
  EXPECT_EQ(said_by("echo $TUNEBAND_OS_TEST", {}), "ours\n");
  EXPECT_EQ(said_by("echo $TUNEBAND_OS_TEST $ADDED",
                    {.environment = environment_with({{"TUNEBAND_OS_TEST", "another"}, {"ADDED", "x"}})}),
            "another x\n");
  ::unsetenv("TUNEBAND_OS_TEST");
}

TEST_F(ChildProcess, IsInASessionOrAGroupOfItsOwn) {
  const std::string which = "set -- $(cat /proc/$$/stat); echo $(($1 == $5)) $(($1 == $6))";
  EXPECT_EQ(said_by(which, {}), "1 1\n");
  EXPECT_EQ(said_by(which, {.session = false}), "1 0\n");
}

TEST_F(ChildProcess, HasItsLimitsAndItsPlaceInTheQueue) {
  EXPECT_EQ(said_by("ulimit -c; ulimit -St; ulimit -Ht", {.core_dumps = false, .cpu_ms_max = 1'001}), "0\n2\n3\n");
  EXPECT_EQ(said_by("ulimit -v", {.memory_bytes_max = std::int64_t{1} << 32}), "4194304\n");
  const int nicer = ::nice(0) + 3;
  EXPECT_EQ(said_by("nice", {.nice = nicer}), std::to_string(nicer) + "\n");
}

TEST_F(ChildProcess, HasNoHigherLimitThanThisProcess) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CPU, &before), 0);
  const rlimit own{3600, 3600};
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &own), 0);
  EXPECT_EQ(said_by("ulimit -St; ulimit -Ht", {.cpu_ms_max = 7'200'000}), "3600\n3600\n");
  EXPECT_EQ(said_by("ulimit -St; ulimit -Ht", {.cpu_ms_max = 60'000}), "60\n61\n");
}

TEST(FileHandles, WithoutOneAnEventIsAnErrorOfTheSystem) {
  if (test::kSanitizerWantsHandles) GTEST_SKIP();
  const test::NoFileHandle none;
  EXPECT_THROW(WakeEvent(), std::system_error);
}

class Tree : public OsTest {
 protected:
  Tree() {
    fs::permissions(path(""), fs::perms::all);
    not_root_.emplace();
    EXPECT_TRUE(*not_root_);
    fs::create_directories(path("from/closed/inner"));
    write("from/closed/inner/file", "text");
    fs::create_symlink("closed/inner/file", path("from/link"));
    fs::permissions(path("from/closed/inner"), kMayRead);
    fs::permissions(path("from/closed"), kMayRead);
  }

  static constexpr fs::perms kMayRead = fs::perms::owner_read | fs::perms::owner_exec;
  std::optional<test::NotRoot> not_root_;
  std::error_code error_;
};

TEST_F(Tree, IsCopiedWithDirectoriesInWhichNothingMayBeMade) {
  fs::create_directory(path("to"));
  copy_tree(path("from"), path("to"), error_);
  EXPECT_FALSE(error_) << error_.message();
  EXPECT_EQ(read_small_file(path("to/link")).value_or(""), "text");
  EXPECT_EQ(fs::status(path("to/closed")).permissions(), kMayRead);
  EXPECT_EQ(fs::status(path("to/closed/inner")).permissions(), kMayRead);
}

TEST_F(Tree, IsRemovedWithDirectoriesInWhichNothingMayBeRemoved) {
  remove_tree(path("from"), error_);
  EXPECT_FALSE(error_) << error_.message();
  EXPECT_FALSE(fs::exists(path("from")));
}

TEST_F(ChildProcess, WhatIsNotStartedSaysAtWhichStep) {
  write("script", "no first line\n");
  fs::permissions(path("script"), fs::perms::owner_all);
  const auto absent = try_to_spawn({.program = path("absent")});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().step, Step::execute);
  EXPECT_EQ(absent.error().error, ENOENT);
  EXPECT_EQ(try_to_spawn({.program = path("script")}).error().error, ENOEXEC);
  EXPECT_EQ(try_to_spawn({.program = "/bin/sh", .working_dir = path("absent")}).error().step, Step::working_dir);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left to be waited for";
  EXPECT_THAT(spawn({.program = path("absent")}).error().message, HasSubstr("cannot run " + path("absent") + ": No such file"));
}

TEST_F(ChildProcess, ItsEndSignalComesWhenTheThreadThatStartedItEnds) {
  Spawned pid = SpawnFailure{};
  std::thread([&pid] { pid = try_to_spawn({.program = "/bin/sleep", .arguments = {"1000"}, .end_signal = SIGTERM}); }).join();
  ASSERT_TRUE(pid);
  const auto end = reap(P_PID, static_cast<id_t>(*pid));
  ASSERT_TRUE(end);
  EXPECT_EQ(describe_exit(end->how), "was killed by signal 15 (SIGTERM)");
}

TEST_F(ChildProcess, AProcessEndsWithinATimeOrDoesNot) {
  const Spawned pid = try_to_spawn({.program = "/bin/sh", .arguments = {"-c", "read forever"}, .stdin_fd = -1});
  const Spawned sleeper = try_to_spawn({.program = "/bin/sleep", .arguments = {"1000"}});
  ASSERT_TRUE(pid && sleeper);
  const UniqueFd ended = open_pidfd(*pid);
  const UniqueFd sleeps = open_pidfd(*sleeper);
  EXPECT_TRUE(ends_within(ended.get(), kAmpleMs));
  EXPECT_FALSE(ends_within(sleeps.get(), 0));
  EXPECT_FALSE(ends_within(sleeps.get(), -1)) << "not for ever";
  send_signal(sleeps.get(), SIGTERM);
  EXPECT_TRUE(ends_within(sleeps.get(), kAmpleMs));
  siginfo_t exit{};
  ::waitid(P_PID, static_cast<id_t>(*sleeper), &exit, WEXITED);
  EXPECT_EQ(describe_exit(exit), "was killed by signal 15 (SIGTERM)");
  ::waitid(P_PID, static_cast<id_t>(*pid), &exit, WEXITED);
  EXPECT_EQ(describe_exit(exit), "ended with status 1");
}

TEST_F(AtomicFileTest, HasItsNameOnceItIsWhole) {
  write("file", "old");
  {
    AtomicFile file(path("file"));
    ASSERT_TRUE(file.write("new") && file.write("er") && file.flush());
    EXPECT_EQ(read_small_file(path("file")), "old");
    ASSERT_TRUE(file.commit());
    EXPECT_FALSE(file.commit()) << "once";
  }
  EXPECT_EQ(read_small_file(path("file")), "newer");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(AtomicFileTest, TwoOfOneNameAreEachWhole) {
  AtomicFile first(path("file"));
  ASSERT_TRUE(first.write("first"));
  AtomicFile second(path("file"));
  ASSERT_TRUE(first.commit());
  EXPECT_EQ(read_small_file(path("file")), "first") << "though another one has begun meanwhile";
  ASSERT_TRUE(second.write("second") && second.commit());
  EXPECT_EQ(read_small_file(path("file")), "second");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(AtomicFileTest, NothingStaysOfOneThatIsNotCommitted) {
  write("file", "old");
  EXPECT_TRUE(AtomicFile(path("file")).write("new"));
  EXPECT_EQ(read_small_file(path("file")), "old");
  fs::create_directories(path("taken/by this"));
  {
    AtomicFile file(path("taken"));
    EXPECT_TRUE(file.write("new"));
    EXPECT_FALSE(file.commit());
  }
  EXPECT_THAT(names(), testing::UnorderedElementsAre("file", "taken"));
}

TEST_F(AtomicFileTest, OneThatCannotBeMadeSaysWhy) {
  AtomicFile file(path("absent/file"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(file.is_open() || file.write("") || file.commit());
  EXPECT_THAT(replace_file(path("absent/file"), "x").error().message, HasSubstr("No such file"));
  EXPECT_TRUE(flush_directory(directory_.path()));
  EXPECT_FALSE(flush_directory(path("absent")));
}

TEST_F(ProcessTable, TellsOfThisProcess) {
  const auto self = read_process(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->state, 'R');
  EXPECT_GT(self->started, 0U);
  const auto stat = ProcessStat::read(::getpid());
  EXPECT_GT((*stat)[ProcessStat::kResidentPages], 100U);
  EXPECT_THAT(program_of(::getpid()), testing::EndsWith("/os_test"));
  EXPECT_FALSE(read_process(-1));
  EXPECT_EQ(program_of(-1), "");
}

TEST_F(ProcessTable, ANumberIsFoundByItsWholeName) {
  write("numbers", "Mem: 1 kB\nMemTotal: 2 kB\noom_kill 3\nword x\n");
  EXPECT_EQ(number_named(path("numbers"), "MemTotal:"), 2);
  EXPECT_EQ(number_named(path("numbers"), "oom_kill"), 3);
  EXPECT_EQ(number_named(path("numbers"), "MemFree:"), 0);
  EXPECT_EQ(number_named(path("numbers"), "word"), 0);
  EXPECT_EQ(number_named(path("absent"), "x"), 0);
}

TEST_F(ProcessTable, TheKernelsKillsForMemoryAreThoseOfTheProcesssGroup) {
  for (const char* group : {"memory/batch/17", "user.slice/a.scope"}) fs::create_directories(path(group));
  write("memory/batch/17/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  write("user.slice/a.scope/memory.events", "low 0\nmax 9\noom 4\noom_kill 2\n");
  write("vmstat", "nr_free_pages 7\noom_kill 40\n");
  const auto kills = [&](const std::string& membership) {
    const OomKills found = oom_kills(membership, directory_.path(), path("vmstat"));
    return std::to_string(found.count) + " " + found.counter.substr(directory_.path().size());
  };
  EXPECT_EQ(kills("4:memory:/batch/17\n0::/\n"), "3 /memory/batch/17/memory.oom_control");
  EXPECT_EQ(kills("0::/user.slice/a.scope\n"), "2 /user.slice/a.scope/memory.events");
  EXPECT_EQ(kills("0::/\n"), "40 /vmstat") << "the root has no count of its own";
  EXPECT_EQ(kills("4:memory:/not/seen\n0::/../outside\n"), "40 /vmstat");

  const OomKills before = oom_kills("4:memory:/batch/17\n", directory_.path(), path("vmstat"));
  EXPECT_EQ(oom_kills_since(before), 0);
  write("memory/batch/17/memory.oom_control", "oom_kill_disable 0\noom_kill 5\n");
  EXPECT_EQ(oom_kills_since(before), 2);
  fs::remove_all(path("memory"));
  EXPECT_EQ(oom_kills_since(before), 0) << "the group is gone";
  EXPECT_EQ(oom_kills_since({}), 0);
}

}  // namespace

}  // namespace tuneband::os
