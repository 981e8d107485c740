#include "cli/client/scratch_dir.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <array>
#include <mutex>
#include <set>

namespace tuneband::cli {

namespace {

// Of all that there are: a signal comes to one of the threads that wait for it.
class Paths {
 public:
  void add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.insert(path);
  }
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.erase(path);
  }
  void remove_all() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    for (const std::string& path : paths_) os::remove_tree(path, ignored);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> paths_;
};

Paths there_are;

}  // namespace

ScratchDir::ScratchDir(const std::string& name) : dir_(name) {
  if (dir_.path().empty()) return;
  there_are.add(dir_.path());
  sigemptyset(&taken_);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_DFL) sigaddset(&taken_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &taken_, &before_);
  waiting_ = std::thread([this] { end_at_a_signal(); });
}

ScratchDir::~ScratchDir() {
  if (!waiting_.joinable()) return;
  there_are.forget(dir_.path());
  over_.set();
  waiting_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ScratchDir::end_at_a_signal() const {
  const os::UniqueFd signals(signalfd(-1, &taken_, SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<pollfd, 2> waits{{{signals.get(), POLLIN, 0}, {over_.fd(), POLLIN, 0}}};
  while (poll(waits.data(), waits.size(), -1) < 0) {
  }
  signalfd_siginfo came{};
  if (waits[0].revents == 0 || read(signals.get(), &came, sizeof came) != sizeof came) return;
  there_are.remove_all();
  raise(static_cast<int>(came.ssi_signo));
  pthread_sigmask(SIG_UNBLOCK, &taken_, nullptr);  // and that ends the process
}

}  // namespace tuneband::cli
