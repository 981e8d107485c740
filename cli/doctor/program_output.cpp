#include "cli/doctor/program_output.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "os/child_output.hpp"
#include "os/child_process.hpp"
#include "os/pidfd.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

namespace {

using std::chrono::steady_clock;
using End = ProgramOutput::End;

constexpr std::size_t kSaidBytesMax = 64 * 1024;

ProgramOutput run_to_its_end(pid_t pid, int output, steady_clock::time_point deadline) {
  ProgramOutput result;
  const os::UniqueFd process = os::open_pidfd(pid);
  const bool ended = process && os::listen_until_it_ends(output, process.get(), deadline, kSaidBytesMax, result.said);
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
