#include "workers/guardian.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "os/child_process.hpp"
#include "os/control_group.hpp"
#include "os/shell_status.hpp"
#include "workers/protocol/worker_end.hpp"

namespace tuneband::workers {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Blocks the signals that a guardian waits for.
class GuardedSignals {
 public:
  GuardedSignals() {
    ::sigemptyset(&waited_for_);
    for (const int signal : os::end_signals()) ::sigaddset(&waited_for_, signal);
    ::sigaddset(&waited_for_, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &waited_for_, &before_);
  }
  ~GuardedSignals() { restore(); }
  GuardedSignals(const GuardedSignals&) = delete;
  GuardedSignals& operator=(const GuardedSignals&) = delete;

  void restore() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // The next one; 0: none within that time.
  int wait(milliseconds within) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(within);
    const timespec timeout{static_cast<time_t>(seconds.count()),
                           static_cast<long>(std::chrono::nanoseconds(within - seconds).count())};
    int signal = -1;
    do signal = ::sigtimedwait(&waited_for_, nullptr, &timeout);
    while (signal < 0 && errno == EINTR);
    return signal < 0 ? 0 : signal;
  }

 private:
  sigset_t waited_for_{};
  sigset_t before_{};
};

bool tells_to_end(int signal) { return signal != 0 && signal != SIGCHLD; }

struct Looked {
  std::string control_groups;
  os::OomKills kills;
};

class Guardian {
 public:
  explicit Guardian(const GuardianOptions& options) : options_(options) {}

  int run() {
    os::RestartDelay restart_delay = options_.restart_delay;
    for (bool again = false;; again = true) {
      const std::string id = options_.next_id();
      const auto started = Clock::now();
      const pid_t worker = start(id);
      if (worker < 0) {
        options_.log(std::string("cannot start the worker: ") + std::strerror(errno));
        if (again) pause(restart_delay.after({}));  // the memory that killed the last one may not be there yet
        if (!again || asked_to_end_) return EXIT_FAILURE;
        continue;
      }
      const os::ChildEnd end = watch(worker);
      if (end.how.si_code == CLD_EXITED) return end.how.si_status;
      const protocol::WorkerEnd told = end_of(end);
      options_.log(told.message);
      tell(id, told);
      pause(restart_delay.after(Clock::now() - started));
      if (asked_to_end_) return os::kSignalExitBase + end.how.si_status;
      options_.log("the worker is started again");
    }
  }

 private:
  pid_t start(const std::string& id) {
    const pid_t guardian = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != guardian) ::_exit(EXIT_FAILURE);
    signals_.restore();
    ::_exit(options_.work(id));
  }

  Looked look(pid_t worker) const {
    std::string control_groups = os::control_groups_of(worker);
    os::OomKills kills = options_.count_kills(control_groups);
    return {std::move(control_groups), std::move(kills)};
  }

  // Taking down a process with much memory takes a while: what was counted meanwhile is told by the look before the last one.
  os::ChildEnd watch(pid_t worker) {
    before_ = look(worker);
    Looked last = before_;
    while (true) {
      const int signal = signals_.wait(milliseconds(options_.look_ms));
      if (tells_to_end(signal)) {
        asked_to_end_ = true;
        ::kill(worker, SIGTERM);
      }
      if (const auto end = os::reap(P_PID, static_cast<id_t>(worker), WNOHANG)) return *end;
      if (signal == 0) before_ = std::exchange(last, look(worker));
    }
  }

  protocol::WorkerEnd end_of(const os::ChildEnd& end) const {
    const bool out_of_memory = protocol::may_be_out_of_memory(end) && !asked_to_end_ && os::oom_kills_since(before_.kills) > 0;
    return out_of_memory ? protocol::describe_out_of_memory(options_.name, end, before_.control_groups)
                         : protocol::describe_end(options_.name, end);
  }

  void tell(const std::string& id, const protocol::WorkerEnd& end) {
    const auto until = Clock::now() + milliseconds(options_.tell_ms_max);
    while (!options_.tell(id, end) && Clock::now() < until) {
      pause(milliseconds(options_.retry_ms));
      if (asked_to_end_) return;
    }
  }

  // Or until it is asked to end.
  void pause(milliseconds time) {
    const auto until = Clock::now() + time;
    for (auto left = time; left.count() > 0 && !asked_to_end_; left = std::chrono::ceil<milliseconds>(until - Clock::now())) {
      const int signal = signals_.wait(left);
      asked_to_end_ = tells_to_end(signal);
    }
  }

  const GuardianOptions& options_;
  const GuardedSignals signals_;
  Looked before_;  // of the worker, at the look before the last one
  bool asked_to_end_ = false;
};

}  // namespace

int guard_worker(const GuardianOptions& options) { return Guardian(options).run(); }

}  // namespace tuneband::workers
