#include "server/local/preflight.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "os/file_text.hpp"
#include "os/pidfd.hpp"
#include "os/unique_fd.hpp"
#include "server/local/server_child.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {
namespace {

using PreflightClock = std::chrono::steady_clock;

constexpr std::size_t kOutputBytesMax = 1024 * 1024;
constexpr const char* kTooMany = "too many jobs are being checked";

// What the program said, or why nothing came of it.
struct ProgramRun {
  std::string output;
  std::string failure;
  bool hung = false;  // it used no processor time for the last half of its time, and had no process of its own to wait for
};

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

struct CheckBounds {
  pid_t child;
  PreflightClock::time_point halfway;
  PreflightClock::time_point deadline;
  int ending_fd;  // readable: cut it short

  static int ms_until(PreflightClock::time_point time) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(time - PreflightClock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
  }
  int ms_left() const { return ms_until(deadline); }
};

// Feeds `input` and gathers the output until the program closes it or a bound is met; SIGPIPE is ignored in the whole server.
ProgramRun converse(os::UniqueFd& to_it, const os::UniqueFd& from_it, std::string_view input, const CheckBounds& bounds) {
  ProgramRun run;
  std::optional<std::int64_t> used_halfway;
  os::do_not_block(to_it);
  char buffer[16 * 1024];
  for (;;) {
    if (input.empty()) to_it.reset();
    pollfd waiting[3] = {{from_it.get(), POLLIN, 0}, {to_it.get(), POLLOUT, 0}, {bounds.ending_fd, POLLIN, 0}};
    const int ready = ::poll(waiting, 3, used_halfway ? bounds.ms_left() : CheckBounds::ms_until(bounds.halfway));
    if (ready == 0 && !used_halfway) {
      used_halfway = cpu_ns(bounds.child);
      continue;
    }
    if (ready == 0) return {"", "took too long", *used_halfway == cpu_ns(bounds.child) && !has_children(bounds.child)};
    if (ready < 0 && errno != EINTR) return {"", "could not be waited for"};
    if (ready < 0) continue;
    if (waiting[2].revents != 0) return {"", "was cut short: the server is stopping"};
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

// Its end, by force where it does not end by itself.
siginfo_t reap(pid_t child, bool kill_now, const CheckBounds& bounds) {
  const os::UniqueFd process = os::open_pidfd(child);
  if (kill_now || !process || !os::ends_within(process.get(), bounds.ms_left())) ::kill(-child, SIGKILL);
  siginfo_t exit{};
  ::waitid(P_PID, static_cast<id_t>(child), &exit, WEXITED);
  return exit;
}

ProgramRun run_check(const PreflightOptions& options, int ending_fd, const std::string& document) {
  auto input = os::make_pipe();
  auto output = os::make_pipe();
  if (!input || !output) return {"", "could not be started: no pipe"};
  os::ChildCommand command = child_of_the_server(
      options.worker_program,
      {"--check-job", "--check-workers", std::to_string(std::max(1, options.local_workers)), "--end-with-parent"});
  command.environment = os::environment_with({{"OMP_NUM_THREADS", "1"}, {"OMP_WAIT_POLICY", "passive"}});
  command.stdin_fd = input->read.get();
  command.stdout_fd = output->write.get();
  if (os::kAddressesCanBeLimited) command.memory_bytes_max = options.memory_bytes_max;
  command.memory_can_be_raised = true;  // what it starts of the job has the job's own limit
  const Result<pid_t> child = os::spawn(command);
  if (!child) return {"", "could not be started: " + child.error().message};
  input->read.reset();
  output->write.reset();

  const auto begin = PreflightClock::now();
  const CheckBounds bounds{*child, begin + std::chrono::milliseconds(options.timeout_ms / 2),
                           begin + std::chrono::milliseconds(options.timeout_ms), ending_fd};
  ProgramRun run = converse(input->write, output->read, document, bounds);
  const siginfo_t exit = reap(*child, !run.failure.empty(), bounds);
  if (run.failure.empty() && exit.si_code != CLD_EXITED) run.failure = os::describe_exit(exit);
  return run;
}

// Every worker that was given it would hang in the same call.
Diagnostics hangs(std::int64_t timeout_ms) {
  Diagnostics refused;
  refused.error("trainer", "a file or directory that it names did not answer for " + std::to_string(timeout_ms / 1000) + " s",
                "look whether its mount is there: `ls` on it should come back");
  return refused;
}

Diagnostics check_now(const PreflightOptions& options, int ending_fd, const std::string& document) {
  const ProgramRun run = run_check(options, ending_fd, document);
  if (run.hung) return hangs(options.timeout_ms);
  if (!run.failure.empty()) return protocol::not_checked("the check " + run.failure);
  return protocol::faults_in_answer(run.output);
}

}  // namespace

// A job's place among those to be checked; whoever takes it answers: a thread that is free, or the patience that is over.
struct Preflight::Turn {
  Turn(boost::asio::io_context& loop, std::string document_, Checked checked_)
      : document(std::move(document_)), checked(std::move(checked_)), patience(loop) {}

  std::string document;
  Checked checked;
  boost::asio::steady_timer patience;
  std::atomic<bool> taken = false;
};

Preflight::Preflight(boost::asio::io_context& loop, PreflightOptions options)
    : loop_(loop), options_(std::move(options)), runner_(options_.at_once) {}

Preflight::~Preflight() {
  ending_.set();
  runner_.stop();
  runner_.join();
}

void Preflight::check(std::string document, Checked checked) {
  if (waiting_ >= options_.waiting_max) {
    boost::asio::post(loop_, [checked = std::move(checked)] { checked(protocol::not_checked(kTooMany)); });
    return;
  }
  ++waiting_;
  auto turn = std::make_shared<Turn>(loop_, std::move(document), std::move(checked));
  turn->patience.expires_after(std::chrono::milliseconds(options_.wait_ms_max));
  turn->patience.async_wait([turn](const boost::system::error_code& cancelled) {
    if (!cancelled && !turn->taken.exchange(true)) turn->checked(protocol::not_checked(kTooMany));
  });
  boost::asio::post(runner_, [this, turn = std::move(turn)]() mutable {
    const bool in_time = !turn->taken.exchange(true);
    Diagnostics found = in_time ? check_now(options_, ending_.fd(), turn->document) : Diagnostics();
    boost::asio::post(loop_, [this, in_time, found = std::move(found), turn = std::move(turn)] {
      --waiting_;
      turn->patience.cancel();
      if (in_time) turn->checked(found);
    });
  });
}

}  // namespace tuneband::server
