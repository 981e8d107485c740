// A server with a token, and all that talks to it: its own workers, others, the command line, Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "os/child_process.hpp"
#include "os/random_hex.hpp"
#include "tests/e2e/python_script.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TokenTest : public testing::Test {
 protected:
  // Its trial prints the variables that are like the token, and how many there are.
  TokenTest() {
    std::ofstream(file_) << token_ << '\n';
    std::filesystem::permissions(file_, std::filesystem::perms::owner_read);
    std::ofstream(directory_ / "job.json") << R"({
      "name": "guarded", "objective": {"metric": "loss", "goal": "minimize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}},
      "trainer": {"type": "command", "argv": ["sh", "-c", "echo seen: $(env | grep -c TOKEN); echo '{\"loss\": 1}'"]},
      "scheduler": {"type": "none", "max_resource": 1}, "limits": {"max_trials": 1}})";
  }

  // In a shell whose environment has a token only as `before` says; what it says on both streams.
  Ran run(const std::string& arguments, const std::string& before = "") const {
    return run_program("exec 2>&1; cd " + directory_.path() + "; unset TUNEBAND_TOKEN; " + before +
                       " " TUNEBAND_BIN_DIR "/tuneband " + arguments);
  }
  Ran ask(const RunningServer& server, const std::string& command, const std::string& before = "") const {
    return run("--server " + server.url() + " " + command, before);
  }
  std::string in_environment() const { return "TUNEBAND_TOKEN=" + token_; }
  std::string in_file() const { return "--token-file " + file_ + " "; }

  TemporaryDirectory directory_;
  const std::string token_ = os::random_hex(4);
  const std::string file_ = directory_ / "token";
};

TEST_F(TokenTest, TheServersOwnWorkersTrainForItAndTheCommandLineIsAnsweredWithTheTokenAlone) {
  RunningServer server(directory_ / "data", 1, {"--token-file", file_});
  const Ran refused = ask(server, "list");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("this server wants its token"));
  EXPECT_THAT(refused.output, HasSubstr("--token-file FILE"));
  EXPECT_EQ(ask(server, "list", "TUNEBAND_TOKEN=" + token_ + "x").status, 2);
  const Ran submitted = ask(server, in_file() + "submit --wait job.json");
  EXPECT_EQ(submitted.status, 0) << submitted.output;
  EXPECT_THAT(ask(server, "list", in_environment()).output, HasSubstr("guarded"));
  EXPECT_THAT(ask(server, "logs guarded 0", in_environment()).output, HasSubstr("seen: 0"));
  EXPECT_EQ(ask(server, in_file() + "report guarded").status, 0);
  EXPECT_EQ(ask(server, in_file() + "check job.json").status, 0);
  const Ran diagnosed = ask(server, "doctor --workers 1");
  EXPECT_THAT(diagnosed.output, HasSubstr("does not let this program ask: this server wants its token"));
  EXPECT_THAT(ask(server, "doctor --workers 1", in_environment()).output, HasSubstr("one of this version answers"));
}

TEST_F(TokenTest, IsNeitherInTheProcessListNorInALogNorInWhatIsKept) {
  RunningServer server(directory_ / "data", 1, {"--token-file", file_});
  ASSERT_EQ(ask(server, "submit --wait job.json", in_environment()).status, 0);
  ASSERT_EQ(ask(server, "list", "TUNEBAND_TOKEN=" + token_ + "x").status, 2);
  for (const std::int64_t pid : {std::int64_t{server.pid()}, server.worker_pid(0)}) {
    const std::string command_line = read_text("/proc/" + std::to_string(pid) + "/cmdline");
    EXPECT_THAT(command_line, HasSubstr(file_));
    EXPECT_THAT(command_line, Not(HasSubstr(token_)));
  }
  EXPECT_EQ(run_program("grep -rl " + token_ + " " + directory_.path()).output, file_ + "\n");
}

TEST_F(TokenTest, WorkersOfOtherMachinesHaveItOrAreToldWhatToDo) {
  RunningServer server(directory_ / "data", 0, {"--token-file", file_});
  const std::string worker =
      TUNEBAND_BIN_DIR "/tuneband-worker --server " + server.url() + " --no-guardian --give-up-after 1 2>&1";
  const Ran refused = run_program(worker);
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.output, HasSubstr("this server wants its token"));
  const Result<pid_t> started = os::spawn({.program = TUNEBAND_BIN_DIR "/tuneband-worker",
                                           .arguments = {"--server", server.url(), "--no-guardian"},
                                           .environment = os::environment_with({{"TUNEBAND_TOKEN", token_}})});
  ASSERT_TRUE(started);
  EXPECT_EQ(ask(server, in_file() + "submit --wait job.json").status, 0);
  EXPECT_THAT(ask(server, in_file() + "logs guarded 0").output, HasSubstr("seen: 0"));
  ::kill(*started, SIGTERM);
  EXPECT_TRUE(os::reap(P_PID, static_cast<id_t>(*started)));
}

TEST_F(TokenTest, PythonShowsItAndNeverToWhereARedirectionLeads) {
  RunningServer server(directory_ / "data", 1, {"--token-file", file_});
  ASSERT_EQ(ask(server, in_file() + "submit --wait job.json").status, 0);
  EXPECT_EQ(run_python(directory_ / "script.py", "url, token = '" + server.url() + "', '" + token_ + "'\n" + R"(
import os, threading, http.server
os.environ.pop('TUNEBAND_TOKEN', None)
import tuneband, tuneband_debugger
try:
    tuneband.Server(url).jobs()
except tuneband.Refused as error:
    print(error.status, error.code)
try:
    tuneband_debugger.Trial(url, 'guarded', 0).names()
except RuntimeError as error:
    print('wants its token' in str(error))
print(tuneband.Server(url, token=token).job('guarded').info()['state'])
print(tuneband_debugger.Trial(url, 'guarded', 0, token=token).names())
os.environ['TUNEBAND_TOKEN'] = token
server = tuneband.Server(url)
print(server.job('guarded').wait()['state'], tuneband_debugger.Trial(url, 'guarded', 0).names())

shown = []
class Redirecting(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        shown.append(self.headers['Authorization'])
        self.send_response(302 if self.path == '/v1/jobs' else 200)
        self.send_header('Location', '/elsewhere')
        self.end_headers()
    def log_message(self, *ignored):
        pass
other = http.server.HTTPServer(('127.0.0.1', 0), Redirecting)
threading.Thread(target=other.serve_forever, daemon=True).start()
tuneband.Server('http://127.0.0.1:%d' % other.server_port).read('GET', '/v1/jobs')
print(shown == ['Bearer ' + token, None])
)"),
            "401 unauthorized\nTrue\ncompleted\n[]\ncompleted []\nTrue\n");
}

TEST_F(TokenTest, OneThatOnlyReadsWantsItTooAndBeginsSessions) {
  { RunningServer once(directory_ / "data", 0); }
  RunningServer server(directory_ / "data", 0, {"--token-file", file_, "--read-only"});
  EXPECT_EQ(server.raw("GET", "/v1/jobs", "").status, 401);
  auto client = net::HttpClient::create(server.url(), token_);
  EXPECT_EQ(client->request("GET", "/v1/jobs", "", 60'000)->status, 200);
  EXPECT_EQ(client->request("POST", "/v1/session", "", 60'000)->status, 204);
  EXPECT_EQ(client->request("POST", "/v1/jobs", "{}", 60'000)->status, 403);
}

TEST_F(TokenTest, APrivateServerNeedsNoneAndItsTrialsAreNotGivenTheClients) {
  const Ran ran = run("run job.json --workers 1 --no-ensemble --data-dir private", in_environment());
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(run("--data-dir private logs guarded 0", in_environment()).output, HasSubstr("seen: 0"));
}

TEST_F(TokenTest, AServerThatOthersReachWithoutOneWarnsAtItsStart) {
  const std::string warning = "whoever reaches this address can run commands here";
  { RunningServer server(directory_ / "open", 0, {"--listen", "0.0.0.0"}); }
  EXPECT_THAT(read_text(directory_ / "open.log"), HasSubstr(warning));
  { RunningServer server(directory_ / "guarded", 0, {"--listen", "0.0.0.0", "--token-file", file_}); }
  EXPECT_THAT(read_text(directory_ / "guarded.log"), Not(HasSubstr(warning)));
  { RunningServer server(directory_ / "loopback", 0); }
  EXPECT_THAT(read_text(directory_ / "loopback.log"), Not(HasSubstr(warning)));
}

}  // namespace
}  // namespace tuneband::test
