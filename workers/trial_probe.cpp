#include "workers/trial_probe.hpp"

#include <sys/timerfd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "os/temporary_dir.hpp"
#include "os/unique_fd.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

namespace {

constexpr int kProbeSecondsMax = 30;  // well below what the server gives the whole check
constexpr const char* kProbePath = "trainer.preflight";

class ProbeReporter final : public TrialReporter {
 public:
  ProbeReporter() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    itimerspec time{};
    time.it_value.tv_sec = kProbeSecondsMax;
    ::timerfd_settime(timer_.get(), 0, &time, nullptr);
  }
  void began(std::int64_t) override {}
  void observe(std::int64_t, Metrics) override {}
  void checkpointed(std::int64_t) override {}
  bool should_stop() const override {
    itimerspec left{};
    return ::timerfd_gettime(timer_.get(), &left) == 0 && left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0;
  }
  int stop_fd() const override { return timer_.get(); }

 private:
  os::UniqueFd timer_;
};

protocol::AssignmentOrder probe_order(const JobSpec& job, const std::string& dir) {
  protocol::AssignmentOrder order;
  order.epoch = 1;
  order.job = 1;
  order.job_name = "preflight";
  order.configuration = to_json(middle_configuration(job.search_space));
  order.trainer = job.trainer;
  order.objective_metric = job.objective.metric;
  order.further_metrics = job.further_metrics();
  order.until_resource = 1;
  order.max_resource = job.scheduler.max_resource;
  order.trial_dir = dir;
  return order;
}

}  // namespace

Configuration middle_configuration(const SearchSpace& space) {
  return space.at(
      [&](std::size_t i) { return std::holds_alternative<CategoricalDomain>(space.parameters()[i].domain) ? 0 : 0.5; });
}

void probe_trial(const JobSpec& job, Diagnostics& diagnostics) {
  const os::TemporaryDir dir("tuneband-preflight");
  const std::string trial_dir = dir.path() + "/trials/0";  // what the trials of a job share lies beside it
  auto log = dir.path().empty() ? Result<TrialLog>(Error{}) : TrialLog::open(trial_dir);
  if (!log) {
    diagnostics.warning(kProbePath, "the trial run was left out: there is no room for its files");
    return;
  }
  const protocol::AssignmentOrder order = probe_order(job, trial_dir);
  ProbeReporter reporter;
  const auto runner = make_trial_runner({});
  const SegmentResult result = runner->run(order, reporter, *log);
  runner->release();
  if (result.exit == kExitCompleted) return;
  if (result.exit == kExitStopped) {
    diagnostics.warning(kProbePath, "the trial run on one worker did not reach resource 1 within " +
                                        std::to_string(kProbeSecondsMax) + " seconds and was ended");
    return;
  }
  diagnostics.error(kProbePath, "the trial run on one worker, with " + json_line(order.configuration) + ", ended with " +
                                    result.exit + ": " + result.message);
}

}  // namespace tuneband::workers
