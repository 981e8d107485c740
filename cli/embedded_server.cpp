#include "cli/embedded_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cli/format.hpp"

extern char** environ;

namespace tuneband::cli {

namespace {

constexpr int kStartTimeoutMs = 30'000;
constexpr int kStopGraceMs = 20'000;
constexpr std::string_view kListening = "listening on ";

Failure cannot_start(const std::string& message, const std::string& hint) {
  return {{{ErrorCode::unavailable, "the private server did not start: " + message, "", hint}}, kExitUnreachable};
}

// In a session of its own, so that a Ctrl-C at the terminal is this program's to handle.
std::optional<pid_t> spawn_server(const EmbeddedServerOptions& options, int output, int log) {
  std::vector<std::string> words{options.program, "--port", "0", "--end-with-parent", "--data-dir", options.data_dir};
  if (options.workers) words.insert(words.end(), {"--workers", std::to_string(*options.workers)});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, log, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, options.program.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? std::optional(pid) : std::nullopt;
}

}  // namespace

std::string program_beside_this(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (self.parent_path() / name).string();
}

Outcome<std::unique_ptr<EmbeddedServer>> EmbeddedServer::start(const EmbeddedServerOptions& options) {
  const std::string log_file = options.data_dir + "/server.log";
  std::array<int, 2> fds{-1, -1};
  const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return bad_input("cannot be written: " + std::string(std::strerror(errno)), log_file, "choose another --data-dir");
  if (pipe2(fds.data(), O_CLOEXEC) != 0) {
    close(log);
    return cannot_start(std::strerror(errno), "");
  }
  const auto pid = spawn_server(options, fds[1], log);
  const std::string reason = std::strerror(errno);
  close(log);
  close(fds[1]);
  if (!pid) {
    close(fds[0]);
    return cannot_start(options.program + ": " + reason, "it belongs beside the program tuneband");
  }
  std::unique_ptr<EmbeddedServer> server(new EmbeddedServer(*pid, fds[0], log_file));
  if (const auto listening = server->wait_until_listening(); !listening) return listening.error();
  return server;
}

EmbeddedServer::~EmbeddedServer() {
  stop();
  close(output_);
}

Outcome<void> EmbeddedServer::wait_until_listening() {
  std::string said;
  const std::int64_t deadline = now_ms() + kStartTimeoutMs;
  while (true) {
    pollfd readable{output_, POLLIN, 0};
    const std::int64_t left = deadline - now_ms();
    if (left <= 0) return cannot_start("it does not say that it listens", "see " + log_file_);
    if (poll(&readable, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[1024];
    const ssize_t size = read(output_, buffer, sizeof buffer);
    if (size <= 0) return cannot_start(last_log_line(), "see " + log_file_);
    said.append(buffer, static_cast<std::size_t>(size));
    const auto begin = said.find(kListening);
    const auto end = begin == std::string::npos ? begin : said.find('\n', begin);
    if (end == std::string::npos) continue;
    url_ = said.substr(begin + kListening.size(), end - begin - kListening.size());
    return {};
  }
}

std::string EmbeddedServer::last_log_line() const {
  std::ifstream log(log_file_);
  std::string last = "it ended at once";
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

bool EmbeddedServer::wait_for_end(int timeout_ms) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (process >= 0) {
    pollfd ended{process, POLLIN, 0};
    const std::int64_t deadline = now_ms() + timeout_ms;
    while (poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(0, deadline - now_ms()))) < 0 && errno == EINTR) {
    }
    close(process);
  }
  return waitpid(pid_, nullptr, WNOHANG) == pid_;
}

void EmbeddedServer::stop() {
  if (pid_ == 0) return;
  kill(pid_, SIGTERM);
  if (!wait_for_end(kStopGraceMs)) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = 0;
}

}  // namespace tuneband::cli
