#include "os/child_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>

extern char** environ;

namespace tuneband::os {
namespace {

constexpr int kChildNice = 5;

// Where the system does not allow it, the child runs as it is.
void give_way_to_the_server(pid_t child) {
  const ::sched_param priority{};
  ::sched_setscheduler(child, SCHED_BATCH, &priority);
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(child), kChildNice);
}

class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnAttributes() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  void apart_from_the_server() {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  void give(int fd, int as, int flags) {
    if (fd < 0) {
      ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", flags, 0);
    } else {
      ::posix_spawn_file_actions_adddup2(&actions_, fd, as);
    }
  }

  void close_the_rest() { ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1); }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

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

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Result<pid_t> spawn(const ChildCommand& command) {
  SpawnAttributes how;
  how.apart_from_the_server();
  how.give(command.stdin_fd, STDIN_FILENO, O_RDONLY);
  how.give(command.stdout_fd, STDOUT_FILENO, O_WRONLY);
  how.give(command.stderr_fd, STDERR_FILENO, O_WRONLY);
  how.close_the_rest();

  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.program);
  std::vector<std::string> environment = environment_with(command.environment);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, command.program.c_str(), how.actions(), how.attributes(), pointers(arguments).data(),
                                   pointers(environment).data());
  if (failed != 0) {
    return Error{ErrorCode::internal, "cannot run " + command.program + ": " + std::strerror(failed), "", ""};
  }
  give_way_to_the_server(pid);
  return pid;
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
