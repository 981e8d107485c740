#include "workers/machine_lacks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "jobs/trainer_spec.hpp"
#include "os/host_name.hpp"
#include "os/open_regular.hpp"
#include "scheduler/waiting.hpp"
#include "workers/job_check.hpp"

namespace tuneband::workers {

namespace {

constexpr int kDoublingsMax = 5;

bool may_write_below(const std::string& trial_dir) {
  const auto jobs = std::filesystem::path(trial_dir).parent_path().parent_path().parent_path();
  return ::access(jobs.c_str(), W_OK | X_OK) == 0;
}

bool may_read(const std::string& path) { return static_cast<bool>(os::open_regular(path, O_RDONLY)); }

TrainerSpec spec_of(const Json& trainer) {
  Diagnostics faults;
  return parse_trainer(trainer, "trainer", faults);
}

bool may_read_data(const Json& trainer) {
  const TrainerSpec parsed = spec_of(trainer);
  const auto* spec = std::get_if<XgboostSpec>(&parsed);
  if (spec == nullptr) return true;
  const DataSpec& data = spec->data;
  const bool all = std::all_of(data.train.begin(), data.train.end(), may_read);
  const bool validation = data.validation_file() == nullptr || may_read(*data.validation_file());
  const bool test = data.test_file() == nullptr || may_read(*data.test_file());
  return all && validation && test;
}

// The first of a command's parts that is not here, in words; "": all are.
std::string missing_part(const Json& trainer) {
  const TrainerSpec parsed = spec_of(trainer);
  const auto* spec = std::get_if<CommandSpec>(&parsed);
  Diagnostics found;
  if (spec != nullptr) check_command_parts(*spec, found);
  return found.ok() ? "" : describe(found.errors().front());
}

}  // namespace

void blame_machine(const protocol::AssignmentOrder& order, SegmentResult& result) {
  const bool may_be = result.exit == kExitCrashed || result.exit == kExitInvalidParameters;
  if (!order.look_first || !may_be || !result.waits_for.empty()) return;
  const std::string missing = missing_part(order.trainer);
  if (missing.empty()) return;
  result.message = missing + " (on " + os::host_name() + ")";
  result.waits_for = waiting::kCommandParts;
}

void MachineLacks::add(const protocol::AssignmentOrder& order, const SegmentResult& result, Clock::time_point now) {
  const std::int64_t job = result.waits_for == waiting::kDataDirectory ? 0 : order.job;
  const std::lock_guard lock(mutex_);
  if (by_job_.size() >= protocol::kLacksMax && !by_job_.contains(job)) by_job_.erase(by_job_.upper_bound(0));
  Missed& missed = by_job_[job];
  missed.lack = {job, result.waits_for, shortened(valid_utf8(result.message), protocol::kMessageSizeMax / 2)};
  missed.trial_dir = order.trial_dir;
  missed.trainer = order.trainer;
  missed.lacked = true;
  missed.look_at = now + look_after_ * (1 << std::min(missed.times, kDoublingsMax));
  ++missed.times;
}

bool MachineLacks::is_there(const Missed& missed) {
  if (missed.lack.what == waiting::kDataDirectory) return may_write_below(missed.trial_dir);
  if (missed.lack.what == waiting::kReadableData) return may_read_data(missed.trainer);
  return missed.lack.what != waiting::kCommandParts || missing_part(missed.trainer).empty();
}

void MachineLacks::look_again(Clock::time_point now) {
  std::vector<Missed> due;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, missed] : by_job_) {
      if (missed.lacked && now >= missed.look_at) due.push_back(missed);
    }
  }
  for (const Missed& missed : due) {
    const bool there = is_there(missed);
    const std::lock_guard lock(mutex_);
    Missed& its = by_job_.at(missed.lack.job);
    its.lacked = !there;
    its.look_at = now + look_after_;
  }
}

void MachineLacks::ran(std::int64_t job) {
  const std::lock_guard lock(mutex_);
  by_job_.erase(job);
  by_job_.erase(0);
}

std::vector<protocol::Lack> MachineLacks::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<protocol::Lack> lacks;
  for (const auto& [job, missed] : by_job_) {
    if (missed.lacked) lacks.push_back(missed.lack);
  }
  return lacks;
}

}  // namespace tuneband::workers
