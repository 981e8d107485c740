// The debugger: one tensor of one trial among 10,000 that have saved theirs, and what the findings of 1,000 running trials add to
// a sync. Its ratio is against the same syncs of a job without a `debug` section (the baseline).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "debugger/files/tensor_writer.hpp"
#include "scheduler/scheduler.hpp"
#include "server/api/tensor_pages.hpp"

namespace {

using namespace tuneband;
namespace fs = std::filesystem;

constexpr int kTrialsSaved = 10'000;
constexpr int kReads = 1'000;
constexpr std::int64_t kSteps = 50;
constexpr int kScalars = 40;  // as metrics, resources and the importance of some features
constexpr std::size_t kRows = 1'000;
constexpr int kTrialsRunning = 1'000;
constexpr int kSyncs = 5;  // of each

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// ---- reading ------------------------------------------------------------------------------------------------------------------

void save_trial(const std::string& dir) {
  fs::create_directories(dir);
  auto writer = debugger::files::TensorWriter::open(dir, 1, 0, -1, 1 << 26);
  const std::vector<double> gradients(kRows, 0.5);
  const auto view = debugger::view_of(std::span<const double>(gradients), {static_cast<std::int64_t>(kRows)});
  const auto summary = debugger::summarise(view);
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    for (int i = 0; i < kScalars; ++i) writer->add(fmt::format("feature_importance/gain/feature-{}", i), 1.0 / (i + 1));
    writer->add("gradients/train", view, summary, step == kSteps);
    if (!writer->commit(step)) throw std::runtime_error("cannot write below " + dir);
  }
}

void measure(const char* what, const std::string& trials, const auto& read) {
  std::vector<double> ms;
  for (std::uint64_t i = 0; i < kReads; ++i) {
    server::TensorQuery query;
    query.trial_dir = trials + "/" + std::to_string(static_cast<int>(random_unit(1, {i}) * kTrialsSaved));
    query.until = kSteps;
    query.step = kSteps;
    const auto begin = std::chrono::steady_clock::now();
    if (!read(query)) throw std::runtime_error("nothing was read");
    ms.push_back(ms_since(begin));
  }
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<44} {:>9.2f} {:>9.2f}\n", what, ms[kReads / 2], ms[kReads * 99 / 100]);
}

void measure_reading(const std::string& dir) {
  const std::string trials = dir + "/jobs/1/trials";
  for (int trial = 0; trial < kTrialsSaved; ++trial) save_trial(trials + "/" + std::to_string(trial));
  fmt::print("{:<44} {:>9} {:>9}\n", "of one trial among 10,000", "p50 ms", "p99 ms");
  measure("a number at each step", trials, [](server::TensorQuery& query) {
    query.name = "feature_importance/gain/feature-7";
    return server::tensor_series(query).has_value();
  });
  measure("an array of 1,000 numbers", trials, [](server::TensorQuery& query) {
    query.name = "gradients/train";
    return server::tensor_array(query).has_value();
  });
  measure("the list of its tensors", trials, [](server::TensorQuery& query) { return server::tensors_page(query).has_value(); });
}

// ---- findings -----------------------------------------------------------------------------------------------------------------

JobSpec spec_of(bool with_rules) {
  Json document = Json::parse(R"({"name": "bench", "objective": {"metric": "value", "goal": "maximize"},
      "search_space": {"a": {"type": "float", "min": 0, "max": 1}}, "sampler": {"type": "random"},
      "trainer": {"type": "command"}, "scheduler": {"type": "none", "max_resource": 1000}, "limits": {"max_trials": 1000}})");
  if (with_rules) {
    document["debug"]["rules"] = Json::array();
    for (int i = 0; i < kSyncs; ++i) document["debug"]["rules"].push_back({{"rule", "overfit"}, {"name", fmt::format("r{}", i)}});
  }
  Diagnostics diagnostics;
  return JobSpec::parse(document, diagnostics);
}

// Each sync brings an observation, and with rules a finding that was not told before: more than any job has. Microseconds a sync.
double sync_us(bool with_rules) {
  Scheduler scheduler;
  Timestamp now{1'000};
  step_with_suggestions(scheduler, JobSubmitted{spec_of(with_rules), ""}, now);
  std::vector<WorkerSynced> workers;
  for (int i = 0; i < kTrialsRunning; ++i) {
    WorkerSynced idle;
    idle.worker = WorkerId{fmt::format("worker-{}", i)};
    for (const Notice& notice : step_with_suggestions(scheduler, idle, now).notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply == nullptr || !reply->assignment || reply->worker != idle.worker) continue;
      idle.report.emplace();
      idle.report->epoch = reply->assignment->epoch;
    }
    workers.push_back(idle);
  }
  std::size_t writes = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int sync = 0; sync < kSyncs; ++sync) {
    for (WorkerSynced& worker : workers) {
      worker.report->observations = {{sync + 1, {{"value", 0.5}}}};
      if (with_rules)
        worker.report->findings = {{fmt::format("r{}", sync), "metrics/value", sync, 0.5, 0.1, "it held", "do this"}};
      writes += step_with_suggestions(scheduler, worker, now).writes.size();
    }
  }
  const double us = ms_since(begin) * 1000 / (kSyncs * kTrialsRunning);
  if (with_rules && scheduler.rows().findings.size() != static_cast<std::size_t>(kSyncs * kTrialsRunning))
    throw std::runtime_error("findings are missing");
  return writes > 0 ? us : 0;
}

void measure_findings() {
  std::vector<double> without;
  std::vector<double> with;
  for (int repeat = 0; repeat < 5; ++repeat) {
    without.push_back(sync_us(false));
    with.push_back(sync_us(true));
  }
  std::sort(without.begin(), without.end());
  std::sort(with.begin(), with.end());
  fmt::print("\na sync in the core, 1,000 trials running      us\n");
  fmt::print("{:<44} {:>5.1f}\n{:<44} {:>5.1f}  {:.2f} times\n", "without rules", without[2], "with a finding each", with[2],
             with[2] / without[2]);
}

}  // namespace

int main() {
  const std::string dir = (fs::temp_directory_path() / "tuneband-bench-debugger").string();
  fs::remove_all(dir);
  measure_reading(dir);
  fs::remove_all(dir);
  measure_findings();
}
