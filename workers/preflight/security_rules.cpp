#include "workers/preflight/security_rules.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "os/process_table.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::workers {

namespace {

constexpr std::int64_t kFiltered = 2;  // of the line Seccomp: SECCOMP_MODE_FILTER

// The first line, without the zero that some kernels end it with.
std::string label_in(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::string line;
  std::getline(input, line);
  return line.substr(0, line.find('\0'));
}

[[noreturn]] void execute_traced(const std::string& program, int report) {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(0);
  char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  char* const environment[] = {nullptr};
  ::execve(program.c_str(), arguments, environment);
  const int error = errno;
  ::_exit(::write(report, &error, sizeof error) == sizeof error ? 0 : 1);
}

}  // namespace

std::string security_rules_in_words(const std::string& process) {
  std::string rules;
  const auto add = [&rules](const std::string& rule) { rules += (rules.empty() ? "; this process is under " : ", ") + rule; };
  const std::string apparmor = label_in(process + "/attr/apparmor/current");
  const std::string label = apparmor.empty() ? label_in(process + "/attr/current") : apparmor;
  const bool is_context = label.find(':') != std::string::npos && apparmor.empty();  // user:role:type:level
  const bool confined =
      !label.empty() && label != "unconfined" && label.find(":unconfined_t") == std::string::npos && label != "kernel";
  if (confined) add(is_context ? "the SELinux context " + label : "the AppArmor profile " + label);
  if (os::number_named(process + "/status", "Seccomp:") == kFiltered) add("a filter of system calls (seccomp)");
  return rules;
}

bool gains_no_privileges(const std::string& process) { return os::number_named(process + "/status", "NoNewPrivs:") == 1; }

int errno_of_executing(const std::string& program) {
  auto pipe = os::make_pipe();
  if (!pipe) return 0;
  const pid_t child = ::fork();
  if (child == 0) execute_traced(program, pipe->write.get());
  pipe->write.reset();
  if (child < 0) return 0;
  int error = 0;
  ssize_t got = 0;
  do got = ::read(pipe->read.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) > 0 || errno == EINTR) {
  }
  return got == sizeof error ? error : 0;
}

}  // namespace tuneband::workers
