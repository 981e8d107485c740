#include "cli/doctor/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/client/spawn.hpp"

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
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const bool ended = process >= 0 && listen_until_it_ends(output, process, deadline, result.said);
  if (process >= 0) close(process);
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

ProgramOutput output_of(std::vector<std::string> command, std::chrono::milliseconds time_max) {
  const steady_clock::time_point deadline = steady_clock::now() + time_max;
  std::array<int, 2> fds{-1, -1};
  if (pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0) return {End::not_started, 0, std::strerror(errno)};
  fcntl(fds[1], F_SETFL, 0);  // the program's own end blocks as usual
  pid_t pid = 0;
  const int error = spawn(std::move(command), fds[1], fds[1], pid);
  close(fds[1]);
  ProgramOutput result{End::not_started, 0, std::strerror(error)};
  if (error == 0) result = run_to_its_end(pid, fds[0], deadline);
  close(fds[0]);
  return result;
}

}  // namespace tuneband::cli
