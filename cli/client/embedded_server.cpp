#include "cli/client/embedded_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "cli/format.hpp"
#include "os/child_process.hpp"
#include "os/pidfd.hpp"

namespace tuneband::cli {

namespace {

constexpr int kStartTimeoutMs = 30'000;
constexpr int kStopGraceMs = 3'660'000;  // a command may have an hour to save; a second Ctrl-C does not wait
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

std::vector<std::string> arguments_of(const EmbeddedServerOptions& options) {
  std::vector<std::string> words{"--port", "0", "--end-with-parent", "--data-dir", options.data_dir};
  if (options.read_only) words.push_back("--read-only");
  for (const std::string& host : options.allowed_webhooks) words.insert(words.end(), {"--allow-webhook", host});
  if (options.workers) words.insert(words.end(), {"--workers", std::to_string(*options.workers)});
  return words;
}

}  // namespace

std::string last_line(const std::string& file) {
  std::ifstream log(file);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

Outcome<std::unique_ptr<EmbeddedServer>> EmbeddedServer::start(const EmbeddedServerOptions& options) {
  std::string log_file = options.data_dir + "/server.log";
  os::UniqueFd log(options.read_only ? memfd_create("server.log", MFD_CLOEXEC)
                                     : open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return bad_input("cannot be written: " + std::string(std::strerror(errno)), log_file, "choose another --data-dir");
  auto output = os::make_pipe();
  if (!output) return cannot_start(std::strerror(errno), "");
  const Result<pid_t> pid = os::spawn({.program = options.program,
                                       .arguments = arguments_of(options),
                                       .stdout_fd = output->write.get(),
                                       .stderr_fd = log.get(),
                                       .end_signal = SIGTERM});
  if (!pid) return cannot_start(pid.error().message, "it belongs beside the program tuneband");
  output->write.reset();
  if (options.read_only) log_file = "/proc/self/fd/" + std::to_string(log.get());
  std::unique_ptr<EmbeddedServer> server(new EmbeddedServer(*pid, std::move(output->read), log_file));
  if (options.read_only) server->log_in_memory_ = std::move(log);
  if (const auto listening = server->wait_until_listening(); !listening) return listening.error();
  return server;
}

EmbeddedServer::~EmbeddedServer() { stop(); }

Outcome<void> EmbeddedServer::wait_until_listening() {
  std::string said;
  const std::int64_t deadline = steady_ms() + kStartTimeoutMs;
  while (true) {
    pollfd readable{output_.get(), POLLIN, 0};
    const std::int64_t left = deadline - steady_ms();
    if (left <= 0) return cannot_start("it does not say that it listens", "see " + log_file_);
    if (poll(&readable, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[1024];
    const ssize_t size = read(output_.get(), buffer, sizeof buffer);
    if (size <= 0 && log_in_memory_) return cannot_read(last_log_line());
    if (size <= 0) return cannot_start(last_log_line(), "see " + log_file_);
    said.append(buffer, static_cast<std::size_t>(size));
    const auto begin = said.find(kListening);
    const auto end = begin == std::string::npos ? begin : said.find('\n', begin);
    if (end == std::string::npos) continue;
    url_ = said.substr(begin + kListening.size(), end - begin - kListening.size());
    return {};
  }
}

// Its last message, which may have several lines: the server's own begin with its name, those of its log with a date.
std::string EmbeddedServer::last_log_line() const {
  std::ifstream log(log_file_);
  std::string message;
  for (std::string line; std::getline(log, line);) {
    if (line.empty()) continue;
    const bool begins = line.starts_with("tuneband-server: ") || std::isdigit(static_cast<unsigned char>(line.front())) != 0;
    message = begins || message.empty() ? line : message + " " + line;
  }
  return message.empty() ? "it ended at once" : message;
}

void EmbeddedServer::stop() {
  if (pid_ == 0) return;
  kill(pid_, SIGTERM);
  const os::UniqueFd process = os::open_pidfd(pid_);
  if (!process || !os::ends_within(process.get(), kStopGraceMs)) kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace tuneband::cli
