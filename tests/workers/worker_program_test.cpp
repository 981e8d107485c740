// tuneband-worker as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>

#include "core/json.hpp"
#include "os/pidfd.hpp"
#include "os/process_table.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "tests/workers/sync_server.hpp"
#include "workers/command/process.hpp"

extern char** environ;

namespace tuneband::workers {
namespace {

using protocol::AssignmentOrder;
using protocol::SyncRequest;
using test::read_text;
using test::SyncServer;
using test::TemporaryDirectory;
using testing::HasSubstr;

const std::string kWorkerProgram = TUNEBAND_BIN_DIR "/tuneband-worker";

struct Finished {
  std::string output;
  ExitStatus status;
};

Finished finish(Process& process) {
  Finished finished;
  pollfd wait{process.output_fd(), POLLIN, 0};
  char buffer[4096];
  for (ssize_t count = 1; count != 0;) {
    ::poll(&wait, 1, -1);
    count = ::read(process.output_fd(), buffer, sizeof buffer);
    if (count > 0) finished.output.append(buffer, static_cast<std::size_t>(count));
  }
  pollfd ended{process.exit_fd(), POLLIN, 0};
  ::poll(&ended, 1, -1);
  finished.status = *process.poll_exit();
  return finished;
}

class WorkerProgramTest : public testing::Test {
 protected:
  // `$WORKER` is the program.
  Process shell(const std::string& script) {
    ProcessSpec spec{.executable = "/bin/sh", .argv = {"sh", "-c", script}, .environment = {}, .working_dir = dir.path()};
    for (char** entry = environ; *entry != nullptr; ++entry) spec.environment.emplace_back(*entry);
    spec.environment.push_back("WORKER=" + kWorkerProgram);
    auto process = Process::start(spec);
    EXPECT_TRUE(process);
    return std::move(*process);
  }

  AssignmentOrder order_of(const std::string& script) {
    AssignmentOrder order;
    order.epoch = 1;
    order.job = 1;
    order.job_name = "job";
    order.configuration = {{"eta", 0.5}};
    order.trainer = {{"type", "command"}, {"argv", {"sh", "-c", script}}};
    order.objective_metric = "loss";
    order.until_resource = 3;
    order.max_resource = 3;
    order.trial_dir = dir / "trial";
    return order;
  }

  TemporaryDirectory dir;
  SyncServer server;
};

// Waits until the process that wrote its number into `file` has ended.
void wait_until_gone(const std::string& file) {
  const os::UniqueFd process = os::open_pidfd(std::stoi(read_text(file)));
  EXPECT_TRUE(!process || os::ends_within(process.get(), std::numeric_limits<int>::max()));
}

TEST_F(WorkerProgramTest, TellsItsVersionAndItsFlags) {
  Process version = shell("$WORKER --version");
  EXPECT_EQ(finish(version).output, "tuneband-worker " TUNEBAND_VERSION "\n");
  Process help = shell("$WORKER --help");
  const Finished finished = finish(help);
  EXPECT_EQ(finished.status.code, 0);
  for (const char* flag : {"--server", "--name", "--threads", "--end-with-parent", "--give-up-after", "--check-job",
                           "--advertise-address", "--group-grace", "--group-silence", "--no-guardian", "--token-file"}) {
    EXPECT_THAT(finished.output, HasSubstr(flag));
  }
}

TEST_F(WorkerProgramTest, RefusesFlagsThatMakeNoSense) {
  for (const char* flags :
       {"--threads 0", "--server https://a", "--server nonsense", "--name 'a b'", "--name ''", "--give-up-after -1",
        "--group-grace 0", "--advertise-address 'a b'", "--nmae x", "--token-file /no/such/file"}) {
    Process process = shell(std::string("$WORKER ") + flags);
    const Finished finished = finish(process);
    EXPECT_EQ(finished.status.code, 2) << flags;
    EXPECT_NE(finished.output, "") << flags;
  }
}

TEST_F(WorkerProgramTest, ShowsTheTokenOfItsFileElseOfItsEnvironment) {
  server.start();
  server.desire_drain();
  const auto shown = [&](const std::string& script) {
    Process worker = shell(script + " --no-guardian --name w --server " + server.url());
    EXPECT_EQ(finish(worker).status.code, 0);
    return server.shown();
  };
  EXPECT_EQ(
      shown("(umask 077; echo token-of-the-file >file); TUNEBAND_TOKEN=one-of-the-environment exec $WORKER --token-file file"),
      "Bearer token-of-the-file");
  EXPECT_EQ(shown("TUNEBAND_TOKEN=one-of-the-environment exec $WORKER"), "Bearer one-of-the-environment");
  EXPECT_EQ(shown("exec $WORKER"), "");
}

TEST_F(WorkerProgramTest, NoTrialIsGivenTheTokenNotEvenByItsName) {
  server.start();
  AssignmentOrder order = order_of("env | grep -c one-of-the-environment; echo '{\"loss\": 1}'");
  server.desire(order);
  Process worker = shell("TUNEBAND_TOKEN=one-of-the-environment exec $WORKER --name w --server " + server.url());
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "completed");
  EXPECT_THAT(read_text(dir / "trial/log.txt"), HasSubstr("\n0\n"));
  order.epoch = 2;
  order.trainer["environment"] = {{"MINE", {{"from_environment", "TUNEBAND_TOKEN"}}}};
  server.desire(order);
  const SyncRequest refused = server.wait_for_exit(2);
  EXPECT_THAT(refused.assignment->message, HasSubstr("the worker has no environment variable `TUNEBAND_TOKEN`"));
  order.epoch = 3;
  order.trainer["environment"] = Json::object();
  order.trainer["pass_environment"] = {"TUNEBAND_TOKEN"};
  server.desire(order);
  EXPECT_THAT(server.wait_for_exit(3).assignment->message, HasSubstr("is not passed on"));
  EXPECT_EQ(server.shown(), "Bearer one-of-the-environment");
  worker.signal_group(SIGTERM);
  finish(worker);
}

TEST_F(WorkerProgramTest, ChecksAJobFromStandardInput) {
  const auto check_with = [this](const std::string& argv) {
    Process process = shell(R"(echo '{"name": "j", "objective": {"metric": "loss", "goal": "minimize"}, "search_space": {"x": 1},
      "scheduler": {"type": "none", "max_resource": 1}, "limits": {"max_trials": 1},
      "trainer": {"type": "command", "argv": [")" +
                            argv + R"("]}}' | $WORKER --check-job --check-workers 10000)");
    return finish(process);
  };
  const Finished fine = check_with("sh");
  EXPECT_EQ(fine.status.code, 0);
  EXPECT_EQ(*parse_json(fine.output), *parse_json(R"({"errors": [], "warnings": []})"));
  const Finished faulty = check_with("nothing-like-it");
  EXPECT_EQ(faulty.status.code, 1);
  EXPECT_EQ((*parse_json(faulty.output))["errors"][0]["path"], "trainer.argv[0]");
}

TEST_F(WorkerProgramTest, RunsATrialWithOpenMpSetUpAndEndsCleanlyOnSigterm) {
  server.start();
  server.desire(order_of("echo omp $OMP_WAIT_POLICY $OMP_NUM_THREADS; echo '{\"loss\": {eta}}'"));
  Process worker = shell("exec $WORKER --name w --threads 2 --server " + server.url());
  // It may come before the exit.
  const SyncRequest told =
      server.wait_for([](const SyncRequest& r) { return r.assignment && !r.assignment->observations.empty(); });
  EXPECT_EQ(told.assignment->observations.at(0).resource, 3);
  const SyncRequest exit = server.wait_for_exit(1);
  EXPECT_EQ(exit.assignment->exit, "completed") << exit.assignment->message;
  EXPECT_EQ(exit.name, "w");
  EXPECT_THAT(read_text(dir / "trial/log.txt"), HasSubstr("omp passive 2"));
  worker.signal_group(SIGTERM);
  EXPECT_EQ(finish(worker).status.code, 0);
  // Not the last one that is kept: a held call that the worker broke off may be read after it, from a connection of its own.
  server.wait_for([](const SyncRequest& r) { return r.draining; });
}

class ToldToEnd : public WorkerProgramTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(, ToldToEnd, testing::Values(SIGTERM, SIGHUP));

TEST_P(ToldToEnd, AWorkerStopsTheCommandAndTellsTheServer) {
  server.start();
  server.desire(
      order_of("echo $$ > pid.new; mv pid.new pid; echo '{\"resource\": 1, \"loss\": 1}'; while :; do sleep 100; done"));
  Process worker = shell("exec $WORKER --name w --server " + server.url());
  server.wait_for([](const SyncRequest& r) { return r.assignment && !r.assignment->observations.empty(); });
  worker.signal_group(GetParam());
  EXPECT_EQ(finish(worker).status.code, 0);
  const SyncRequest exit = server.wait_for_exit(1);
  EXPECT_EQ(exit.assignment->exit, "stopped");
  EXPECT_TRUE(exit.draining);
  wait_until_gone(dir / "trial/pid");
}

TEST_F(WorkerProgramTest, ItsCommandDoesNotOutliveAWorkerThatIsKilled) {
  server.start();
  server.desire(
      order_of("echo $$ > pid.new; mv pid.new pid; echo '{\"resource\": 1, \"loss\": 1}'; while :; do sleep 100; done"));
  Process worker = shell("exec $WORKER --name w --server " + server.url());
  server.wait_for([](const SyncRequest& r) { return r.assignment && !r.assignment->observations.empty(); });
  worker.signal_group(SIGKILL);
  wait_until_gone(dir / "trial/pid");
}

TEST_F(WorkerProgramTest, OneThatIsKilledIsToldOfAndStartedAgainUnderAnotherId) {
  server.start();
  server.desire(order_of("while :; do sleep 100; done"));
  Process worker = shell("echo $$ > guardian; exec $WORKER --name w --server " + server.url());
  const SyncRequest training = server.wait_for([](const SyncRequest& r) { return r.assignment.has_value(); });
  EXPECT_EQ(os::read_process(static_cast<pid_t>(training.pid))->parent, std::stoi(read_text(dir / "guardian")));
  ::kill(static_cast<pid_t>(training.pid), SIGKILL);
  const SyncRequest told = server.wait_for([](const SyncRequest& r) { return r.ended.has_value(); });
  EXPECT_EQ(told.ended->message, "the worker process w was killed by signal 9 (SIGKILL), perhaps out of memory");
  EXPECT_FALSE(told.ended->out_of_memory);
  server.wait_for([&](const SyncRequest& r) { return !r.ended && !r.draining && r.pid != training.pid; });
  worker.signal_group(SIGTERM);
  EXPECT_EQ(finish(worker).status.code, 0);
}

TEST_F(WorkerProgramTest, WithoutAGuardianItIsTheProcessThatWasStarted) {
  server.start();
  Process worker = shell("echo $$ > worker; exec $WORKER --name w --no-guardian --server " + server.url());
  const SyncRequest idle = server.wait_for([](const SyncRequest& r) { return !r.assignment; });
  EXPECT_EQ(idle.pid, std::stoi(read_text(dir / "worker")));
}

TEST_F(WorkerProgramTest, OneWhoseGuardianIsKilledEndsToo) {
  server.start();
  Process worker = shell("echo $$ > guardian; exec $WORKER --name w --server " + server.url());
  const SyncRequest idle = server.wait_for([](const SyncRequest& r) { return !r.assignment; });
  const os::UniqueFd process = os::open_pidfd(static_cast<pid_t>(idle.pid));
  ::kill(std::stoi(read_text(dir / "guardian")), SIGKILL);
  EXPECT_TRUE(!process || os::ends_within(process.get(), std::numeric_limits<int>::max()));
}

TEST_F(WorkerProgramTest, EndsWithItsParentWhenToldTo) {
  server.start();
  Process parent = shell("$WORKER --name w --end-with-parent --server " + server.url() + " & echo $! > worker; wait");
  server.wait_for([](const SyncRequest& r) { return !r.assignment; });
  const pid_t worker_pid = std::stoi(read_text(dir / "worker"));
  ::kill(::getpgid(worker_pid), SIGKILL);  // the group's leader alone: the shell
  server.wait_for([](const SyncRequest& r) { return r.draining; });
  wait_until_gone(dir / "worker");
}

// The process that it has for a parent now is another one.
TEST_F(WorkerProgramTest, OneStartedAnewEndsWhereItsParentHasEndedMeanwhile) {
  server.start();
  Process parent =
      shell("TUNEBAND_WORKER_ID=w-1 TUNEBAND_WORKER_PARENT=1 $WORKER --name w --no-guardian --end-with-parent --server " +
            server.url() + "; echo ended");
  server.wait_for([](const SyncRequest& r) { return r.draining; });
  EXPECT_THAT(finish(parent).output, HasSubstr("ended"));
}

TEST_F(WorkerProgramTest, ACheckEndsWithItsParentAndSoDoesItsCommand) {
  const Json job = {
      {"name", "checked"},
      {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
      {"search_space", {{"x", 1}}},
      {"scheduler", {{"type", "hyperband"}, {"max_resource", 3}}},
      {"trainer",
       {{"type", "command"},
        {"argv", {"sh", "-c", "echo $$ > " + (dir / "command") + "; echo > " + (dir / "started") + "; exec sleep 1000"}},
        {"preflight", "local"}}}};
  ASSERT_EQ(::mkfifo((dir / "started").c_str(), 0600), 0);
  std::ofstream(dir / "job.json") << job.dump();
  Process parent = shell("$WORKER --check-job --end-with-parent < job.json & echo $! > worker; wait");
  read_text(dir / "started");
  ::kill(::getpgid(std::stoi(read_text(dir / "worker"))), SIGKILL);  // the group's leader alone: the shell
  wait_until_gone(dir / "worker");
  wait_until_gone(dir / "command");
}

TEST_F(WorkerProgramTest, GivesUpOnAServerThatIsNotThere) {
  server.start();
  const std::string url = server.url();
  server.stop();
  Process worker = shell("exec $WORKER --give-up-after 1 --server " + url);
  const Finished finished = finish(worker);
  EXPECT_EQ(finished.status.code, 3);
  EXPECT_THAT(finished.output, HasSubstr("cannot reach the server"));
}

}  // namespace
}  // namespace tuneband::workers
