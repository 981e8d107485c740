#include "cli/doctor/program_output.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/child_process.hpp"
#include "os/pidfd.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

namespace {

using std::chrono::steady_clock;
using End = ProgramOutput::End;

constexpr std::size_t kSaidBytesMax = 64 * 1024;

// False at the end of the output, and when there is nothing more at the moment.
bool read_some(int output, std::string& said) {
  std::array<char, 4096> piece;
  const ssize_t size = read(output, piece.data(), piece.size());
  if (size <= 0) return false;
  said.append(piece.data(), std::min(static_cast<std::size_t>(size), kSaidBytesMax - said.size()));
  return true;
}

// Until the program has ended; what it started may go on and hold the output open. False: the time was over before.
bool listen_until_it_ends(int output, int process, steady_clock::time_point deadline, std::string& said) {
  std::array<pollfd, 2> waiting{pollfd{process, POLLIN, 0}, pollfd{output, POLLIN, 0}};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return false;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left)) <= 0) continue;
    if (waiting[1].revents != 0 && !read_some(output, said)) waiting[1].fd = -1;
    if (waiting[0].revents == 0) continue;
    while (said.size() < kSaidBytesMax && read_some(output, said)) continue;
    return true;
  }
}

ProgramOutput run_to_its_end(pid_t pid, int output, steady_clock::time_point deadline) {
  ProgramOutput result;
  const os::UniqueFd process = os::open_pidfd(pid);
  const bool ended = process && listen_until_it_ends(output, process.get(), deadline, result.said);
  kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  while (!result.said.empty() && result.said.back() == '\n') result.said.pop_back();
  if (!ended) {
    result.end = End::out_of_time;
  } else if (WIFEXITED(status)) {
    result.status = WEXITSTATUS(status);
  } else {
    result.end = End::killed_by_signal;
    result.status = WTERMSIG(status);
  }
  return result;
}

}  // namespace

ProgramOutput output_of(const std::vector<std::string>& command, std::chrono::milliseconds time_max) {
  const steady_clock::time_point deadline = steady_clock::now() + time_max;
  auto output = os::make_pipe();
  if (!output) return {End::not_started, 0, std::strerror(errno)};
  os::do_not_block(output->read);
  const Result<pid_t> pid = os::spawn({.program = command.front(),
                                       .arguments = {command.begin() + 1, command.end()},
                                       .stdout_fd = output->write.get(),
                                       .stderr_fd = output->write.get()});
  output->write.reset();
  if (!pid) return {End::not_started, 0, pid.error().message};
  return run_to_its_end(*pid, output->read.get(), deadline);
}

}  // namespace tuneband::cli
