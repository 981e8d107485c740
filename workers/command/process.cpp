#include "workers/command/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include "core/check.hpp"
#include "os/child_process.hpp"
#include "os/pidfd.hpp"
#include "os/process_table.hpp"
#include "workers/command/orphan_reaper.hpp"
#include "workers/command/path_check.hpp"
#include "workers/machine_fault.hpp"

namespace tuneband::workers {

namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr int kPipeSize = 1 << 20;  // bytes; a command that prints much is seldom held up by us
constexpr auto kKillPatience = std::chrono::seconds(5);

// With a limit of its own it may be the command that has too little memory.
Error launch_fault(const ProcessSpec& spec, const std::string& what, int error_number) {
  Error error = fault_of(ErrorCode::unavailable, what, error_number);
  if (spec.memory_bytes_max && error_number == ENOMEM) error.hint.clear();
  return error;
}

Error launch_error(const ProcessSpec& spec, const os::SpawnFailure& failure) {
  using Step = os::SpawnFailure::Step;
  const std::string reason = std::strerror(failure.error);
  switch (failure.step) {
    case Step::working_dir:
      return Error{ErrorCode::invalid_argument, "cannot enter the working directory " + spec.working_dir + ": " + reason, "", ""};
    case Step::set_up:
      return launch_fault(spec, "cannot set up the command's process", failure.error);
    case Step::execute:
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

Error no_room(const char* what) {
  return fault_of(ErrorCode::unavailable, std::string("cannot start a process: ") + what, errno);
}

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
    const std::string path = name.starts_with('/') || working_dir.empty() ? std::string(name) : path_from(working_dir, name);
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
  constexpr std::size_t kPathShownMax = 40;  // bytes
  const std::string shown = path_variable.size() <= kPathShownMax ? " (" + std::string(path_variable) + ")" : "";
  return fault("the command `" + std::string(name) + "` is on no folder of PATH" + shown);
}

Result<Process> Process::start(const ProcessSpec& spec) {
  TUNEBAND_CHECK(!spec.argv.empty(), "a command has a name");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto output = os::make_pipe();
  if (!output) return no_room("pipe");
  ::fcntl(output->write.get(), F_SETPIPE_SZ, kPipeSize);  // an unprivileged user may have no more room; then it stays as it is
  os::do_not_block(output->read);

  os::ChildCommand command;
  command.program = spec.executable;
  command.name = spec.argv.front();
  command.arguments.assign(spec.argv.begin() + 1, spec.argv.end());
  command.environment = spec.environment;
  std::erase_if(*command.environment, [](const std::string& variable) { return variable.starts_with(kWorkerVariable); });
  command.environment->push_back(mark_of_this_worker());
  command.working_dir = spec.working_dir;
  command.stdout_fd = output->write.get();
  command.stderr_fd = output->write.get();
  command.session = false;
  command.end_signal = SIGKILL;
  command.core_dumps = false;
  command.memory_bytes_max = spec.memory_bytes_max;
  command.cpu_ms_max = spec.cpu_ms_max;
  const os::Spawned pid = os::try_to_spawn(command);
  if (!pid) return launch_error(spec, pid.error());
  os::UniqueFd pidfd = os::open_pidfd(*pid);
  if (pidfd) return Process(*pid, std::move(pidfd), std::move(output->read));
  const Error error = no_room("pidfd");
  ::kill(*pid, SIGKILL);  // it has only just begun
  os::reap(P_PID, static_cast<id_t>(*pid));
  return error;
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
  const auto itself = os::ProcessStat::read(pid_);  // nothing tells of it once it is reaped
  const std::optional<os::ChildEnd> end = os::reap(P_PID, static_cast<id_t>(pid_), WNOHANG);
  if (!end) return std::nullopt;
  status_ = end->how.si_code == CLD_EXITED ? ExitStatus{.code = end->how.si_status} : ExitStatus{.signal = end->how.si_status};
  status_->peak_bytes = end->peak_bytes;
  status_->cpu_ms = itself ? std::llround(itself->cpu_seconds() * 1000) : 0;
  status_->children_cpu_ms = std::max<std::int64_t>(0, end->cpu_ms - status_->cpu_ms);
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
