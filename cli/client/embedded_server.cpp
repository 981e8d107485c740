#include "cli/client/embedded_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
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

#include "cli/client/spawn.hpp"
#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr int kStartTimeoutMs = 30'000;
constexpr int kStopGraceMs = 20'000;
constexpr std::string_view kListening = "listening on ";

Failure cannot_start(const std::string& message, const std::string& hint) {
  return {{{ErrorCode::unavailable, "the private server did not start: " + message, "", hint}}, kExitUnreachable};
}

// What the server said of the directory that it was to read.
Failure cannot_read(std::string said) {
  constexpr std::string_view kProgram = "tuneband-server: ";
  if (said.starts_with(kProgram)) said.erase(0, kProgram.size());
  return {{{ErrorCode::invalid_argument, said, "", ""}}, kExitBadInput};
}

std::vector<std::string> command_of(const EmbeddedServerOptions& options) {
  std::vector<std::string> words{options.program, "--port", "0", "--end-with-parent", "--data-dir", options.data_dir};
  if (options.read_only) words.push_back("--read-only");
  if (options.workers) words.insert(words.end(), {"--workers", std::to_string(*options.workers)});
  return words;
}

}  // namespace

std::string program_beside_this(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (self.parent_path() / name).string();
}

std::string last_line(const std::string& file) {
  std::ifstream log(file);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

Outcome<std::unique_ptr<EmbeddedServer>> EmbeddedServer::start(const EmbeddedServerOptions& options) {
  std::array<int, 2> fds{-1, -1};
  std::string log_file = options.data_dir + "/server.log";
  const int log = options.read_only ? memfd_create("server.log", MFD_CLOEXEC)
                                    : open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return bad_input("cannot be written: " + std::string(std::strerror(errno)), log_file, "choose another --data-dir");
  if (pipe2(fds.data(), O_CLOEXEC) != 0) {
    close(log);
    return cannot_start(std::strerror(errno), "");
  }
  pid_t pid = 0;
  const int error = spawn(command_of(options), fds[1], log, pid);
  close(fds[1]);
  if (!options.read_only || error != 0) close(log);
  if (error != 0) {
    close(fds[0]);
    return cannot_start(options.program + ": " + std::strerror(error), "it belongs beside the program tuneband");
  }
  if (options.read_only) log_file = "/proc/self/fd/" + std::to_string(log);
  std::unique_ptr<EmbeddedServer> server(new EmbeddedServer(pid, fds[0], log_file));
  if (options.read_only) server->log_in_memory_ = log;
  if (const auto listening = server->wait_until_listening(); !listening) return listening.error();
  return server;
}

EmbeddedServer::~EmbeddedServer() {
  stop();
  close(output_);
  if (log_in_memory_ >= 0) close(log_in_memory_);
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
    if (size <= 0 && log_in_memory_ >= 0) return cannot_read(last_log_line());
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
  const std::string last = last_line(log_file_);
  return last.empty() ? "it ended at once" : last;
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
