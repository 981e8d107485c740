// tuneband-worker: executes trials for a server, one after the other.
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

#include "command_line/checks.hpp"
#include "command_line/fault.hpp"
#include "command_line/help_layout.hpp"
#include "jobs/trainer_spec.hpp"
#include "os/child_process.hpp"
#include "os/host_name.hpp"
#include "os/random_hex.hpp"
#include "os/token.hpp"
#include "workers/check_process.hpp"
#include "workers/command/orphan_reaper.hpp"
#include "workers/ensemble.hpp"
#include "workers/guardian.hpp"
#include "workers/job_check.hpp"
#include "workers/prediction.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/sync_loop.hpp"

namespace {

using tuneband::Diagnostics;
using tuneband::command_line::kExitUsage;
using tuneband::command_line::whole_number_between;
using tuneband::net::HttpClient;
using tuneband::workers::RunnerOptions;
using tuneband::workers::Worker;
using tuneband::workers::WorkerOptions;

constexpr int kExitGaveUp = 3;
constexpr int kNice = 5;                  // the server, which decides for many workers, goes first
constexpr std::size_t kNameSizeMax = 80;  // its id, which the server takes up to 100 of, has 17 more
constexpr std::size_t kAddressSizeMax = 255;
constexpr const char* kStartedAgain = "TUNEBAND_WORKER_STARTED_AGAIN";
constexpr const char* kIdOfReplaced = "TUNEBAND_WORKER_ID";
constexpr const char* kParentOfReplaced = "TUNEBAND_WORKER_PARENT";

struct Arguments {
  std::string server = "http://127.0.0.1:7070";
  std::string token_file;
  std::string token;  // of the server; "": it has none
  std::string name;
  int threads = 1;
  bool end_with_parent = false;
  bool no_guardian = false;
  std::int64_t give_up_after_s = 0;
  bool check_job = false;
  bool predict = false;
  bool ensemble = false;
  int check_workers = 1;
  std::string advertise_address;
  std::int64_t group_grace_s = 5;
  int group_silence_s = 120;
  std::int64_t stall_s = 300;
};

bool name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; }

std::string check_name(const std::string& name) {
  if (!std::all_of(name.begin(), name.end(), name_character)) return "a name is made of letters, digits, '-', '_' and '.'";
  return name.empty() || name.size() > kNameSizeMax ? "a name has 1 to " + std::to_string(kNameSizeMax) + " characters" : "";
}

std::string check_server(const std::string& url) {
  const auto client = HttpClient::create(url);
  return client ? "" : client.error().message;
}

std::string check_address(const std::string& address) {
  const bool fits = !address.empty() && address.size() <= kAddressSizeMax && address.find_first_of(" \t") == std::string::npos;
  return fits ? "" : "expected an address or a host's name";
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "tuneband-worker " TUNEBAND_VERSION);
  app.add_option("--server", arguments.server, "URL of the server")->capture_default_str()->check(check_server);
  app.add_option("--token-file", arguments.token_file,
                 "A file with the server's token, where it has one; without it, TUNEBAND_TOKEN may have the token itself")
      ->type_name("FILE");
  app.add_option("--name", arguments.name, "Name shown to people (default: the host's name)")->check(check_name);
  app.add_option("--threads", arguments.threads, "Threads for one trial")
      ->capture_default_str()
      ->check(whole_number_between(1, tuneband::kTrialThreadsMax));
  app.add_flag("--end-with-parent", arguments.end_with_parent, "End when the process that started this one ends");
  app.add_flag("--no-guardian", arguments.no_guardian,
               "Start no process above the worker that says how a killed one ended and starts it again");
  app.add_option("--give-up-after", arguments.give_up_after_s,
                 "End after so many seconds without an answer from the server; 0: never")
      ->capture_default_str()
      ->check(whole_number_between(0, 365 * 24 * 3600));
  app.add_option("--advertise-address", arguments.advertise_address,
                 "Where the other ranks of a distributed trial reach this machine (default: its address towards the server)")
      ->check(check_address);
  app.add_option("--group-grace", arguments.group_grace_s,
                 "Seconds for a rank of a distributed trial to stop; then its process starts anew")
      ->capture_default_str()
      ->check(whole_number_between(1, 24 * 3600));
  app.add_option("--group-silence", arguments.group_silence_s,
                 "Seconds for which a rank waits for another that says nothing; then their group is broken")
      ->capture_default_str()
      ->check(whole_number_between(1, 24 * 3600));
  app.add_option(
         "--stall-seconds", arguments.stall_s,
         "Seconds for which a call to a file may not come back; then the trial fails and the process starts anew. 0: for ever")
      ->capture_default_str()
      ->check(whole_number_between(0, 24 * 3600));
  app.add_flag("--check-job", arguments.check_job,
               "Read a job document from standard input, print what is wrong with it, and end");
  app.add_flag("--predict", arguments.predict,
               "Read what is to be predicted from standard input, print the predictions, and end: what `tuneband predict` calls");
  app.add_flag("--ensemble", arguments.ensemble,
               "Read which models are to be joined from standard input, print what came of it, and end: for the server");
  app.add_option("--check-workers", arguments.check_workers, "For --check-job: workers that share this machine")
      ->capture_default_str()
      ->check(whole_number_between(1, tuneband::protocol::kMachineWorkersMax));
}

std::string host_as_name() {
  const std::string name = tuneband::os::host_name();
  return check_name(name).empty() ? name : "worker";
}

std::string new_id(const Arguments& arguments) { return arguments.name + "-" + tuneband::os::random_hex(2); }

// OpenMP reads its environment when it is loaded, before main: without these, XGBoost's idle threads burn the other workers'
// time.
void start_again_with_openmp_settings(const Arguments& arguments, char** argv) {
  const std::string threads = std::to_string(arguments.threads);
  const auto is = [](const char* name, const std::string& value) {
    const char* text = std::getenv(name);
    return text != nullptr && value == text;
  };
  if (std::getenv(kStartedAgain) != nullptr || (is("OMP_NUM_THREADS", threads) && is("OMP_WAIT_POLICY", "passive"))) return;
  ::setenv("OMP_NUM_THREADS", threads.c_str(), 1);
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::setenv(kStartedAgain, "1", 1);
  std::array<char, 4096> path{};
  if (::readlink("/proc/self/exe", path.data(), path.size() - 1) > 0) ::execv(path.data(), argv);
  std::fprintf(stderr, "tuneband-worker: cannot set up OpenMP; training may be slow\n");
}

void go_behind_the_server() {
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const sched_param parameters{};
  ::sched_setscheduler(0, SCHED_BATCH, &parameters);
}

std::string all_of_stdin() { return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()}; }

int check_job_on_stdin(int workers) {
  Diagnostics diagnostics;
  tuneband::workers::check_job(all_of_stdin(), tuneband::workers::this_machine(workers), diagnostics);
  std::cout << tuneband::workers::diagnostics_json(diagnostics) << '\n';
  return diagnostics.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int predict_on_stdin() {
  const auto read = tuneband::workers::read_prediction_order(all_of_stdin());
  const auto done =
      read ? tuneband::workers::predict(
                 *read, [](std::string_view piece) { return std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size(); })
           : tuneband::Result<std::vector<std::string>>(read.error());
  if (done && std::fflush(stdout) == 0) {
    for (const std::string& doubt : *done) std::fprintf(stderr, "warning: %s\n", doubt.c_str());
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "%s\n", done ? "the predictions cannot be written" : describe(done.error()).c_str());
  return EXIT_FAILURE;
}

int join_on_stdin() {
  const auto order = tuneband::workers::read_ensemble_order(all_of_stdin());
  const auto joined = order ? tuneband::workers::join_trials(*order) : tuneband::Result<tuneband::Json>(order.error());
  tuneband::Json reply = joined ? *joined : tuneband::Json::object();
  if (!joined)
    reply["error"] = {{"message", joined.error().message}, {"path", joined.error().path}, {"hint", joined.error().hint}};
  std::cout << tuneband::json_line(reply) << std::endl;
  return joined && std::cout ? EXIT_SUCCESS : EXIT_FAILURE;
}

// The same worker anew, in this process: threads that hang in a call end no other way.
[[noreturn]] void start_anew(const Arguments& arguments, const std::string& id, pid_t parent, char** argv) {
  if (arguments.token_file.empty()) ::setenv(tuneband::os::kTokenVariable, arguments.token.c_str(), 1);
  ::setenv(kIdOfReplaced, id.c_str(), 1);
  ::setenv(kParentOfReplaced, std::to_string(parent).c_str(), 1);
  std::fflush(nullptr);
  // Closed by exec and not before: a thread that wakes up over a closed socket would end the process.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv("/proc/self/exe", argv);
  ::_exit(EXIT_FAILURE);  // who started it starts another
}

// Of the worker that was here before; "": none was.
std::string id_of_replaced() {
  const char* before = std::getenv(kIdOfReplaced);
  const std::string kept = before == nullptr ? "" : before;
  ::unsetenv(kIdOfReplaced);
  return std::all_of(kept.begin(), kept.end(), name_character) ? kept : "";
}

// Of a worker started anew it is the one of before, which may have ended meanwhile.
pid_t parent_of_worker() {
  const char* before = std::getenv(kParentOfReplaced);
  return before == nullptr ? ::getppid() : static_cast<pid_t>(std::atoi(before));
}

void log(const Arguments& arguments, const std::string& line) {
  std::fprintf(stderr, "%s: %s\n", arguments.name.c_str(), line.c_str());
}

int work(const Arguments& arguments, const std::string& id, const sigset_t& end_signals, char** argv) {
  go_behind_the_server();
  auto client = HttpClient::create(arguments.server, arguments.token);
  if (!client) {
    std::fprintf(stderr, "tuneband-worker: %s\n", describe(client.error()).c_str());
    return kExitUsage;
  }
  WorkerOptions options;
  options.name = arguments.name;
  options.id = id;
  options.advertise_address = arguments.advertise_address;
  options.group_grace_ms = arguments.group_grace_s * 1000;
  options.stall_ms = arguments.stall_s * 1000;
  options.replace_process = [&arguments, id = options.id, parent = ::getppid(), argv](bool for_good) {
    if (for_good) ::_exit(EXIT_SUCCESS);
    if (!arguments.no_guardian) ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it is a thread's, and this one's goes on
    start_anew(arguments, id, parent, argv);
  };
  options.check_job = [](const std::string& document, int workers, const std::function<bool()>& should_stop) {
    return tuneband::workers::check_in_process(document, {.workers = workers, .should_stop = should_stop});
  };
  options.give_up_after_ms = arguments.give_up_after_s * 1000;
  options.log = [&arguments](const std::string& line) { log(arguments, line); };
  options.log("worker " + options.id + ", server " + arguments.server);
  if (const int ended = tuneband::workers::end_orphans(); ended > 0)
    options.log("ended " + std::to_string(ended) + " processes that a killed worker had left");

  RunnerOptions runner_options;
  runner_options.threads = arguments.threads;
  runner_options.tracker_host = client->host();
  runner_options.group_silence_s_max = arguments.group_silence_s;
  const auto runner = tuneband::workers::make_trial_runner(runner_options);
  Worker worker(options, std::move(*client), *runner);
  std::thread([&worker, end_signals] {
    while (true) {
      int signal = 0;
      if (::sigwait(&end_signals, &signal) == 0) worker.drain();
    }
  }).detach();
  const Worker::End end = worker.run();
  if (end == Worker::End::gave_up) options.log("no answer from the server for too long; ending");
  std::fflush(nullptr);
  // The signal's thread may still use the worker; nothing is left to be torn down.
  ::_exit(end == Worker::End::gave_up ? kExitGaveUp : EXIT_SUCCESS);
}

// Whether the server has taken it, or refused to.
bool tell_end(const Arguments& arguments, const std::string& id, const tuneband::protocol::WorkerEnd& end) {
  constexpr std::int64_t kTimeoutMs = 10'000;
  auto client = HttpClient::create(arguments.server, arguments.token);
  tuneband::protocol::SyncRequest request;
  request.name = arguments.name;
  request.version = TUNEBAND_VERSION;
  request.draining = true;
  request.ended = end;
  const std::string body = tuneband::json_line(to_json(request));
  if (!client) return false;
  const auto answer = client->request("POST", "/v1/workers/" + id + "/sync", body, kTimeoutMs);
  return answer && answer->status < 500;
}

// From now on it is in no environment: what runs for trials could be given it by name.
bool take_token(Arguments& arguments) {
  const auto token = tuneband::os::token_for_client(arguments.token_file);
  ::unsetenv(tuneband::os::kTokenVariable);
  if (token) arguments.token = *token;
  if (!token) std::fprintf(stderr, "tuneband-worker: %s\n", describe(token.error()).c_str());
  return token.has_value();
}

int work_guarded(const Arguments& arguments, const sigset_t& end_signals, char** argv) {
  tuneband::workers::GuardianOptions options;
  options.name = arguments.name;
  options.next_id = [&arguments] { return new_id(arguments); };
  options.work = [&](const std::string& id) { return work(arguments, id, end_signals, argv); };
  options.tell = [&arguments](const std::string& id, const auto& end) { return tell_end(arguments, id, end); };
  options.log = [&arguments](const std::string& line) { log(arguments, line); };
  return tuneband::workers::guard_worker(options);
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t parent = parent_of_worker();
  CLI::App app{"Executes trials for a Tuneband server, one after the other, until it is told to end.", "tuneband-worker"};
  Arguments arguments;
  app.formatter(tuneband::command_line::help_layout());
  add_options(app, arguments);
  if (const auto status = tuneband::command_line::read_arguments(app, argc, argv)) return *status;
  start_again_with_openmp_settings(arguments, argv);
  for (const char* told : {kStartedAgain, kParentOfReplaced}) ::unsetenv(told);
  ::signal(SIGPIPE, SIG_IGN);

  const bool asked = arguments.check_job || arguments.predict || arguments.ensemble;
  if (asked && arguments.end_with_parent) tuneband::os::end_with_parent(parent);
  if (arguments.check_job) return check_job_on_stdin(arguments.check_workers);
  if (arguments.predict) return predict_on_stdin();
  if (arguments.ensemble) return join_on_stdin();
  if (!take_token(arguments)) return kExitUsage;

  // Blocked in every thread, so that only the one that waits for them gets them.
  sigset_t end_signals;
  ::sigemptyset(&end_signals);
  for (const int signal : tuneband::os::end_signals()) ::sigaddset(&end_signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &end_signals, nullptr);
  if (arguments.end_with_parent) tuneband::os::end_with_parent(parent);
  if (arguments.name.empty()) arguments.name = host_as_name();
  const std::string replaced = id_of_replaced();  // its guardian, if any, is above this process still
  if (replaced.empty() && !arguments.no_guardian) return work_guarded(arguments, end_signals, argv);
  return work(arguments, replaced.empty() ? new_id(arguments) : replaced, end_signals, argv);
}
