#include "server/local/bounded_program.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include "os/file_text.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputBytesMax = 1024 * 1024;

std::int64_t cpu_ns(pid_t process) {
  clockid_t clock = 0;
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return -1;
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

bool has_children(pid_t process) {
  const std::string id = std::to_string(process);
  return !os::read_small_file("/proc/" + id + "/task/" + id + "/children").value_or("").empty();
}

struct Deadlines {
  pid_t child;
  Clock::time_point halfway;
  Clock::time_point deadline;
  int ending_fd;  // readable: cut it short

  static int ms_until(Clock::time_point time) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(time - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }
  int ms_left() const { return ms_until(deadline); }
};

// Feeds `input` and gathers the output until the program closes it or a bound is met; SIGPIPE is ignored in the whole server.
ProgramRun converse(os::UniqueFd& to_it, const os::UniqueFd& from_it, std::string_view input, const Deadlines& bounds) {
  ProgramRun run;
  std::optional<std::int64_t> used_halfway;
  os::do_not_block(to_it);
  char buffer[16 * 1024];
  for (;;) {
    if (input.empty()) to_it.reset();
    pollfd waiting[3] = {{from_it.get(), POLLIN, 0}, {to_it.get(), POLLOUT, 0}, {bounds.ending_fd, POLLIN, 0}};
    const int ready = ::poll(waiting, 3, used_halfway ? bounds.ms_left() : Deadlines::ms_until(bounds.halfway));
    if (ready == 0 && !used_halfway) {
      used_halfway = cpu_ns(bounds.child);
      continue;
    }
    if (ready == 0) return {"", "took too long", *used_halfway == cpu_ns(bounds.child) && !has_children(bounds.child)};
    if (ready < 0 && errno != EINTR) return {"", "could not be waited for"};
    if (ready < 0) continue;
    if (waiting[2].revents != 0) return {"", "was cut short: nobody waits for it any more"};
    if (waiting[1].revents != 0) {
      const ssize_t written = ::write(to_it.get(), input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      if (written < 0 && errno != EAGAIN && errno != EINTR) input = {};  // it reads no more; what it says counts
    }
    if (waiting[0].revents != 0) {
      const ssize_t got = ::read(from_it.get(), buffer, sizeof buffer);
      if (got == 0) return run;
      if (got > 0) run.output.append(buffer, static_cast<std::size_t>(got));
      if (run.output.size() > kOutputBytesMax) return {"", "said too much"};
    }
  }
}

}  // namespace

ProgramRun run_program(os::ChildCommand command, std::string_view input_text, const ProgramBounds& program_bounds) {
  auto input = os::make_pipe();
  auto output = os::make_pipe();
  if (!input || !output) return {"", "could not be started: no pipe"};
  command.environment = os::environment_with({{"OMP_NUM_THREADS", "1"}, {"OMP_WAIT_POLICY", "passive"}});
  command.stdin_fd = input->read.get();
  command.stdout_fd = output->write.get();
  command.end_signal = SIGTERM;
  const Result<pid_t> child = os::spawn(command);
  if (!child) return {"", "could not be started: " + child.error().message};
  input->read.reset();
  output->write.reset();

  const auto begin = Clock::now();
  const Deadlines bounds{*child, begin + std::chrono::milliseconds(program_bounds.timeout_ms / 2),
                         begin + std::chrono::milliseconds(program_bounds.timeout_ms), program_bounds.ending_fd};
  ProgramRun run = converse(input->write, output->read, input_text, bounds);
  const auto end = os::reap_within(*child, run.failure.empty() ? std::optional(bounds.ms_left()) : std::nullopt);
  const siginfo_t exit = end ? end->how : siginfo_t{};
  if (run.failure.empty() && exit.si_code != CLD_EXITED) run.failure = os::describe_exit(exit);
  return run;
}

}  // namespace tuneband::server
