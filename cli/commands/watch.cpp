#include "cli/commands/watch.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <set>
#include <type_traits>

#include "cli/client/event_listener.hpp"
#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr int kRefreshMinMs = 150;  // between two looks, however much happens
constexpr int kRetryMs = 1000;      // after the server did not answer

enum class WaitEnd { interrupted, time_to_look };

bool came(const Interrupts* interrupts) { return interrupts != nullptr && interrupts->came(); }
int fd_of(const Interrupts* interrupts) { return interrupts == nullptr ? -1 : interrupts->fd(); }  // poll() passes over -1

// Until something happens, at least kRefreshMinMs and at most `interval_ms`.
WaitEnd wait_for_change(EventListener& events, const Interrupts* interrupts, int interval_ms) {
  pollfd fds[] = {{fd_of(interrupts), POLLIN, 0}, {events.fd(), POLLIN, 0}};
  poll(fds, 1, kRefreshMinMs);
  if (came(interrupts)) return WaitEnd::interrupted;
  poll(fds, 2, std::max(0, interval_ms - kRefreshMinMs));
  if (came(interrupts)) return WaitEnd::interrupted;
  events.clear();
  return WaitEnd::time_to_look;
}

// What `ask` gives once the server answers, which may be restarting: it is asked again for a while, after `lost` was told why.
template <class Ask>
std::invoke_result_t<Ask> once_answered(const Ask& ask, const WatchOptions& options,
                                        const std::function<void(const Failure&)>& lost) {
  const std::int64_t asked_ms = steady_ms();
  for (bool told = false;; told = true) {
    auto answer = ask();
    const bool away = !answer && answer.error().exit_status == kExitUnreachable;
    if (!away || steady_ms() - asked_ms > options.server_gone_max_ms) return answer;
    if (!told) lost(answer.error());
    pollfd interrupted{fd_of(options.interrupts), POLLIN, 0};
    poll(&interrupted, 1, kRetryMs);
    if (came(options.interrupts)) return answer;
  }
}

// Shows the trials that failed since `failed_before`, and keeps the count.
void show_new_failures(ApiClient& api, const Snapshot& snapshot, std::int64_t& failed_before, std::set<int>& known,
                       ProgressView& view) {
  if (snapshot.job.trials.failed <= failed_before) return;
  const auto failed = api.trials(std::to_string(snapshot.job.id), "state=failed", 0);
  if (!failed) return;  // the next look will tell
  std::vector<TrialInfo> fresh;
  for (const TrialInfo& trial : *failed) {
    if (known.insert(trial.number).second) fresh.push_back(trial);
  }
  failed_before = snapshot.job.trials.failed;
  view.show_failures(fresh);
}

}  // namespace

Outcome<JobInfo> find_job(Session session, const std::string& job, const WatchOptions& options) {
  const auto tell = [&](const Failure& failure) {
    session.console.note(
        fmt::format("{}: waiting for it, for up to {} s", describe(failure.errors.front()), options.server_gone_max_ms / 1000));
  };
  return once_answered([&] { return session.api.job(job); }, options, tell);
}

Outcome<WatchEnd> watch_job(ApiClient& api, std::int64_t job, const WatchOptions& options, ProgressView& view) {
  auto listener_api = api.another();
  if (!listener_api) return listener_api.error();
  EventListener events(std::move(*listener_api), job);
  std::int64_t failed_before = 0;
  std::set<int> failures_known;
  while (true) {
    const auto snapshot =
        once_answered([&] { return take_snapshot(api, job); }, options, [&](const Failure&) { view.show_lost(); });
    if (came(options.interrupts)) return WatchEnd::interrupted;
    if (!snapshot) return snapshot.error();
    show_new_failures(api, *snapshot, failed_before, failures_known, view);
    view.show(*snapshot);
    if (snapshot->job.ended()) return WatchEnd::job_ended;
    if (wait_for_change(events, options.interrupts, view.interval_ms()) == WaitEnd::interrupted) return WatchEnd::interrupted;
  }
}

}  // namespace tuneband::cli
