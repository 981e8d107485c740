#include "workers/command/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "core/check.hpp"
#include "os/process_table.hpp"
#include "workers/command/left_over.hpp"
#include "workers/command/path_check.hpp"
#include "workers/machine_fault.hpp"

namespace tuneband::workers {

namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr int kPipeSize = 1 << 20;  // bytes; a command that prints much is seldom held up by us
constexpr auto kKillPatience = std::chrono::seconds(5);

// ---- starting -----------------------------------------------------------------------------------------------------------------

// What the child needs, made ready beforehand: between vfork and exec it shares our memory and may only make system calls.
struct Launch {
  const char* executable;
  char* const* argv;
  char* const* environment;
  const char* working_dir;
  const rlimit* memory;  // null: no limit
  const rlimit* cpu;     // null: no limit
  int input;
  int output;
  int failure;  // a pipe that exec closes: LaunchFailure is written there when it does not come to that
  pid_t parent;
};

struct LaunchFailure {
  enum class Step { set_up, working_dir, execute } step;
  int error;
};

[[noreturn]] void fail_launch(int fd, LaunchFailure::Step step) {
  const LaunchFailure failure{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(fd, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void become_command(const Launch& launch) {
  using Step = LaunchFailure::Step;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);

  if (::dup2(launch.input, STDIN_FILENO) < 0 || ::dup2(launch.output, STDOUT_FILENO) < 0 ||
      ::dup2(launch.output, STDERR_FILENO) < 0) {
    fail_launch(launch.failure, Step::set_up);
  }
  // Ours are all close-on-exec; a library's may not be. An old kernel lacks the call, and then they leak as they always did.
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);

  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (launch.cpu != nullptr && ::setrlimit(RLIMIT_CPU, launch.cpu) != 0) fail_launch(launch.failure, Step::set_up);
  if (launch.memory != nullptr && ::setrlimit(RLIMIT_AS, launch.memory) != 0) fail_launch(launch.failure, Step::set_up);
  if (::chdir(launch.working_dir) != 0) fail_launch(launch.failure, Step::working_dir);

  // Handlers are meaningless there, and what we ignore (SIGPIPE) it must not inherit.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < _NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::execve(launch.executable, launch.argv, launch.environment);
  fail_launch(launch.failure, Step::execute);
}

// vfork: its cost does not grow with our memory, as fork's does (XGBoost workers hold gigabytes).
__attribute__((noinline)) pid_t spawn_command(const Launch& launch) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  const pid_t pid = ::vfork();
  if (pid == 0) become_command(launch);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

std::vector<char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::optional<rlimit> memory_limit(const ProcessSpec& spec) {
  if (!spec.memory_bytes_max) return std::nullopt;
  const auto bytes = static_cast<rlim_t>(*spec.memory_bytes_max);
  return rlimit{bytes, bytes};
}

// At the soft limit comes SIGXCPU, which says what happened; who ignores that is killed a second later.
std::optional<rlimit> cpu_limit(const ProcessSpec& spec) {
  if (!spec.cpu_ms_max) return std::nullopt;
  const auto seconds = static_cast<rlim_t>((*spec.cpu_ms_max + 999) / 1000);
  return rlimit{seconds, seconds + 1};
}

// With a limit of its own it may be the command that has too little memory.
Error launch_fault(const ProcessSpec& spec, const std::string& what, int error_number) {
  Error error = fault_of(ErrorCode::unavailable, what, error_number);
  if (spec.memory_bytes_max && error_number == ENOMEM) error.hint.clear();
  return error;
}

Error launch_error(const ProcessSpec& spec, const LaunchFailure& failure) {
  const std::string reason = std::strerror(failure.error);
  switch (failure.step) {
    case LaunchFailure::Step::working_dir:
      return Error{ErrorCode::invalid_argument, "cannot enter the working directory " + spec.working_dir + ": " + reason, "", ""};
    case LaunchFailure::Step::set_up:
      return launch_fault(spec, "cannot set up the command's process", failure.error);
    case LaunchFailure::Step::execute:
      break;
  }
  Error error{ErrorCode::invalid_argument, "cannot execute " + spec.executable + ": " + reason, "", ""};
  if (failure.error == ENOENT) {
    error.message = "cannot execute " + spec.executable + ": the interpreter that its first line names is not there";
  } else if (failure.error == ENOEXEC) {
    error.message = "cannot execute " + spec.executable + ": not a program; a script needs a first line like #!/bin/sh";
  } else if (failure.error == E2BIG) {
    error.message = "cannot execute " + spec.executable + ": its arguments and environment are too long";
  } else if (failure.error == ENOMEM || failure.error == EAGAIN) {
    return launch_fault(spec, "cannot execute " + spec.executable, failure.error);
  }
  return error;
}

struct Pipe {
  os::UniqueFd read;
  os::UniqueFd write;
};

std::optional<Pipe> make_pipe(int flags) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | flags) != 0) return std::nullopt;
  return Pipe{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

Error no_room(const char* what) {
  return fault_of(ErrorCode::unavailable, std::string("cannot start a process: ") + what, errno);
}

// ---- the tree below us --------------------------------------------------------------------------------------------------------

bool have_children() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
  return !os::any_stand_aside() || !os::descendants().empty();
}

}  // namespace

Result<std::string> find_executable(std::string_view name, std::string_view path_variable, const std::string& working_dir) {
  const auto fault = [](const std::string& message) { return Error{ErrorCode::invalid_argument, message, "", ""}; };
  const auto runnable = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.empty()) return fault("the command's program is empty");
  if (name.find('/') != std::string_view::npos) {
    const std::string path =
        name.starts_with('/') || working_dir.empty() ? std::string(name) : working_dir + "/" + std::string(name);
    if (runnable(path)) return path;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
      const std::string reason = std::strerror(errno);
      if (const std::string closed = errno == EACCES ? closed_directory(path) : ""; !closed.empty())
        return fault("the command " + path + " cannot be reached: the directory " + closed + " may not be entered by this user");
      return fault("the command " + path + " is not there: " + reason);
    }
    if (!S_ISREG(info.st_mode)) return fault("the command " + path + " is " + kind_of_file(info.st_mode));
    return fault("the command " + path + " is not executable (chmod +x makes it so)");
  }
  std::size_t begin = 0;
  while (begin <= path_variable.size()) {
    const std::size_t end = std::min(path_variable.find(':', begin), path_variable.size());
    std::string folder(path_variable.substr(begin, end - begin));
    if (!folder.starts_with('/')) folder = working_dir + "/" + folder;
    const std::string path = folder + "/" + std::string(name);
    if (runnable(path)) return path;
    begin = end + 1;
  }
  return fault("the command `" + std::string(name) + "` is on no folder of PATH (" + std::string(path_variable) + ")");
}

Result<Process> Process::start(const ProcessSpec& spec) {
  TUNEBAND_CHECK(!spec.argv.empty(), "a command has a name");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  os::UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto output = make_pipe(0);
  auto failure = make_pipe(0);
  if (!input || !output || !failure) return no_room("pipe");
  ::fcntl(output->write.get(), F_SETPIPE_SZ, kPipeSize);  // an unprivileged user may have no more room; then it stays as it is
  ::fcntl(output->read.get(), F_SETFL, O_NONBLOCK);

  const std::vector<char*> argv = c_strings(spec.argv);
  std::vector<std::string> variables = spec.environment;
  std::erase_if(variables, [](const std::string& variable) { return variable.starts_with(kWorkerVariable); });
  variables.push_back(mark_of_this_worker());
  const std::vector<char*> environment = c_strings(variables);
  const auto memory = memory_limit(spec);
  const auto cpu = cpu_limit(spec);
  const Launch launch{.executable = spec.executable.c_str(),
                      .argv = argv.data(),
                      .environment = environment.data(),
                      .working_dir = spec.working_dir.c_str(),
                      .memory = memory ? &*memory : nullptr,
                      .cpu = cpu ? &*cpu : nullptr,
                      .input = input.get(),
                      .output = output->write.get(),
                      .failure = failure->write.get(),
                      .parent = ::getpid()};
  const pid_t pid = spawn_command(launch);
  if (pid < 0) return no_room("fork");
  os::UniqueFd pidfd = os::open_pidfd(pid);
  TUNEBAND_CHECK(pidfd, "an unreaped child has a pidfd");

  failure->write.reset();
  LaunchFailure what{};
  if (::read(failure->read.get(), &what, sizeof what) == sizeof what) {
    ::waitpid(pid, nullptr, 0);
    return launch_error(spec, what);
  }
  return Process(pid, std::move(pidfd), std::move(output->read));
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)),
      output_(std::move(other.output_)),
      status_(other.status_) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(output_, other.output_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  if (pid_ != 0) kill_tree();
}

std::optional<ExitStatus> Process::poll_exit() {
  if (status_) return status_;
  siginfo_t info{};
  rusage used{};  // the system's call has one more argument than the library's
  const long waited = ::syscall(SYS_waitid, P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG, &used);
  if (waited != 0 || info.si_pid == 0) return std::nullopt;
  status_ = info.si_code == CLD_EXITED ? ExitStatus{.code = info.si_status} : ExitStatus{.signal = info.si_status};
  // Until it is executed a process counts what its parent has: only what is more is its own.
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (used.ru_maxrss > own.ru_maxrss) status_->peak_bytes = std::int64_t{1024} * used.ru_maxrss;
  return status_;
}

void Process::signal_group(int signal) {
  if (!status_) ::kill(-pid_, signal);
}

void Process::kill_tree() {
  signal_group(SIGKILL);
  const auto deadline = ProcessClock::now() + kKillPatience;
  // What one pass kills may have started more meanwhile, so until nothing is left.
  while ((poll_exit(), have_children()) && ProcessClock::now() < deadline) {
    const std::vector<os::ProcessInfo> tree = os::descendants();
    os::kill_once(tree);
    for (const os::ProcessInfo& process : tree) {
      if (process.parent == ::getpid() && process.pid != pid_) ::waitpid(process.pid, nullptr, WNOHANG);
    }
  }
}

}  // namespace tuneband::workers
