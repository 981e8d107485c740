#include "os/child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

#include "os/pidfd.hpp"
#include "os/unique_fd.hpp"

extern char** environ;

namespace tuneband::os {
namespace {

using Step = SpawnFailure::Step;

// What the child needs, made ready beforehand: between vfork and exec it shares our memory and may only make system calls.
struct Launch {
  const ChildCommand& command;
  char* const* argv;
  char* const* environment;
  int input;
  int output;
  int errors;
  int failure;  // a pipe that exec closes: a SpawnFailure is written there when it does not come to that
  pid_t parent;
};

[[noreturn]] void fail_launch(int fd, Step step) {
  const SpawnFailure failure{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(fd, &failure, sizeof failure);
  ::_exit(127);
}

// Or what this process may have itself, where that is less, or no `hard` limit is given.
bool limit(__rlimit_resource resource, std::int64_t soft, std::optional<std::int64_t> hard) {
  rlimit own{};
  if (::getrlimit(resource, &own) != 0) return false;
  const rlim_t most = hard ? std::min(static_cast<rlim_t>(*hard), own.rlim_max) : own.rlim_max;
  const rlimit limits{std::min(static_cast<rlim_t>(soft), most), most};
  return ::setrlimit(resource, &limits) == 0;
}

bool set_limits(const ChildCommand& command) {
  if (!command.core_dumps) limit(RLIMIT_CORE, 0, 0);
  const std::int64_t killed_at_s = cpu_ms_killed_at(command.cpu_ms_max.value_or(0)) / 1000;
  if (command.cpu_ms_max && !limit(RLIMIT_CPU, killed_at_s - 1, killed_at_s)) return false;
  if (!command.memory_bytes_max) return true;
  const std::int64_t bytes = *command.memory_bytes_max;
  return limit(RLIMIT_AS, bytes, command.memory_can_be_raised ? std::nullopt : std::optional(bytes));
}

// Handlers are meaningless there, and what we ignore (SIGPIPE) it must not inherit.
void take_signals_by_default() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < _NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Launch& launch) {
  const ChildCommand& command = launch.command;
  if (command.session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  if (command.end_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, command.end_signal);
    if (::getppid() != launch.parent) ::_exit(127);
  }
  const ::sched_param priority{};
  if (command.gives_way) ::sched_setscheduler(0, SCHED_BATCH, &priority);
  if (command.nice) ::setpriority(PRIO_PROCESS, 0, *command.nice);

  if (::dup2(launch.input, STDIN_FILENO) < 0 || ::dup2(launch.output, STDOUT_FILENO) < 0 ||
      ::dup2(launch.errors, STDERR_FILENO) < 0) {
    fail_launch(launch.failure, Step::set_up);
  }
  // Ours are all close-on-exec; a library's may not be. An old kernel lacks the call, and then they leak as they always did.
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);

  if (!set_limits(command)) fail_launch(launch.failure, Step::set_up);
  if (!command.working_dir.empty() && ::chdir(command.working_dir.c_str()) != 0) fail_launch(launch.failure, Step::working_dir);
  take_signals_by_default();
  ::execve(command.program.c_str(), launch.argv, launch.environment);
  fail_launch(launch.failure, Step::execute);
}

__attribute__((noinline)) pid_t vfork_into(const Launch& launch) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  const pid_t pid = ::vfork();
  if (pid == 0) become(launch);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

void add_pointers(const std::vector<std::string>& texts, std::vector<char*>& pointers) {
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
}

// What is dup'ed to 0, 1 and 2 must stand above them, or one would replace another that is still to come.
UniqueFd above_the_standard_ones(UniqueFd fd) {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace

std::int64_t cpu_ms_killed_at(std::int64_t cpu_ms_max) { return ((cpu_ms_max + 999) / 1000 + 1) * 1000; }

Spawned try_to_spawn(const ChildCommand& command) {
  const UniqueFd nothing = above_the_standard_ones(UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  auto failure = make_pipe();
  if (!nothing || !failure) return SpawnFailure{Step::set_up, errno};
  failure->write = above_the_standard_ones(std::move(failure->write));
  const auto given = [&](int fd) { return fd < 0 ? nothing.get() : fd; };

  std::vector<char*> argv{const_cast<char*>((command.name.empty() ? command.program : command.name).c_str())};
  add_pointers(command.arguments, argv);
  std::vector<char*> environment;
  if (command.environment) add_pointers(*command.environment, environment);
  const pid_t pid = vfork_into({.command = command,
                                .argv = argv.data(),
                                .environment = command.environment ? environment.data() : environ,
                                .input = given(command.stdin_fd),
                                .output = given(command.stdout_fd),
                                .errors = given(command.stderr_fd),
                                .failure = failure->write.get(),
                                .parent = ::getpid()});
  if (pid < 0) return SpawnFailure{Step::set_up, errno};

  failure->write.reset();
  SpawnFailure what;
  ssize_t got = 0;
  while ((got = ::read(failure->read.get(), &what, sizeof what)) < 0 && errno == EINTR) continue;
  if (got != sizeof what) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return what;
}

Result<pid_t> spawn(const ChildCommand& command) {
  const Spawned spawned = try_to_spawn(command);
  if (spawned) return *spawned;
  return Error{ErrorCode::internal, "cannot run " + command.program + ": " + std::strerror(spawned.error().error), "", ""};
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) merged[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : added) merged[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : merged) entries.push_back(name + "=" + value);
  return entries;
}

void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::kill(::getpid(), SIGTERM);
}

std::vector<int> end_signals() {
  std::vector<int> signals{SIGTERM, SIGINT};
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) signals.push_back(SIGHUP);
  return signals;
}

std::optional<ChildEnd> reap(idtype_t kind, id_t id, int options) {
  ChildEnd end;
  rusage used{};  // the system's call has one more argument than the library's
  const long waited = ::syscall(SYS_waitid, kind, id, &end.how, WEXITED | options, &used);
  if (waited != 0 || end.how.si_pid == 0) return std::nullopt;
  // Until it is executed a process counts what its parent has: only what is more is its own.
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (used.ru_maxrss > own.ru_maxrss) end.peak_bytes = std::int64_t{1024} * used.ru_maxrss;
  const auto ms = [](const timeval& time) { return std::int64_t{1000} * time.tv_sec + time.tv_usec / 1000; };
  end.cpu_ms = ms(used.ru_utime) + ms(used.ru_stime);
  return end;
}

std::optional<ChildEnd> reap_within(pid_t child, std::optional<int> ms_max) {
  const UniqueFd process = open_pidfd(child);
  if (!ms_max || !process || !ends_within(process.get(), *ms_max)) ::kill(-child, SIGKILL);
  return reap(P_PID, static_cast<id_t>(child));
}

std::string describe_exit(const siginfo_t& exit) {
  if (exit.si_code == CLD_EXITED) return "ended with status " + std::to_string(exit.si_status);
  const char* name = ::sigabbrev_np(exit.si_status);
  std::string text = "was killed by signal " + std::to_string(exit.si_status);
  if (name != nullptr) text += std::string(" (SIG") + name + ")";
  if (exit.si_status == SIGKILL) text += ", perhaps out of memory";
  return text;
}

std::string program_beside_this_one(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? name : (self.parent_path() / name).string();
}

}  // namespace tuneband::os
