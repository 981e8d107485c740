#include "workers/trial_probe.hpp"

#include <sys/timerfd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "workers/trial_runner.hpp"
#include "workers/unique_fd.hpp"

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
  UniqueFd timer_;
};

class ProbeDir {
 public:
  ProbeDir() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "tuneband-preflight-XXXXXX").string();
    if (!error && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ProbeDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ProbeDir(const ProbeDir&) = delete;
  ProbeDir& operator=(const ProbeDir&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// On the scale of the domain, which is one of numbers.
Json middle_of(const Json& domain) {
  const double min = domain["min"].get<double>();
  const double max = domain["max"].get<double>();
  const bool log = domain.value("scale", Json()) == "log" && min > 0;
  const double middle = log ? std::sqrt(min * max) : min + (max - min) / 2;
  const bool whole = domain.value("type", Json()) == "int";
  return whole ? Json(static_cast<std::int64_t>(std::floor(middle))) : Json(middle);
}

std::int64_t max_resource_of(const Json& job) {
  const Json scheduler = job.value("scheduler", Json::object());
  const Json most = scheduler.is_object() ? scheduler.value("max_resource", Json(1)) : Json(1);
  return most.is_number_integer() && most >= 1 ? most.get<std::int64_t>() : 1;
}

protocol::AssignmentOrder probe_order(const Json& job, const std::string& dir) {
  protocol::AssignmentOrder order;
  order.epoch = 1;
  order.job = 1;
  order.job_name = "preflight";
  order.configuration = middle_configuration(job.value("search_space", Json::object()));
  order.trainer = job["trainer"];
  order.objective_metric = job["objective"]["metric"].get<std::string>();
  order.until_resource = 1;
  order.max_resource = max_resource_of(job);
  order.trial_dir = dir;
  return order;
}

}  // namespace

Json middle_configuration(const Json& search_space) {
  Json configuration = Json::object();
  if (!search_space.is_object()) return configuration;
  for (const auto& [name, domain] : search_space.items()) {
    if (!domain.is_object()) {
      configuration[name] = domain;
    } else if (domain.contains("when")) {
      continue;
    } else if (domain.contains("value")) {
      configuration[name] = domain["value"];
    } else if (domain.contains("values") && domain["values"].is_array() && !domain["values"].empty()) {
      configuration[name] = domain["values"][0];
    } else if (domain.contains("min") && domain.contains("max") && domain["min"].is_number() && domain["max"].is_number()) {
      configuration[name] = middle_of(domain);
    }
  }
  return configuration;
}

void probe_trial(const Json& job, Diagnostics& diagnostics) {
  const ProbeDir dir;
  auto log = dir.path().empty() ? Result<TrialLog>(Error{}) : TrialLog::open(dir.path());
  if (!log) {
    diagnostics.warning(kProbePath, "the trial run was left out: there is no room for its files");
    return;
  }
  const protocol::AssignmentOrder order = probe_order(job, dir.path());
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
  diagnostics.error(kProbePath, "the trial run on one worker, with " +
                                    order.configuration.dump(-1, ' ', false, Json::error_handler_t::replace) + ", ended with " +
                                    result.exit + ": " + result.message);
}

}  // namespace tuneband::workers
