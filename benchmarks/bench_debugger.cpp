// The debugger: one tensor of one trial among 10,000 that have saved theirs, how five rules stand over 10,000 trials, and what
// the findings of 1,000 running trials add to a sync. Its ratio is against the same syncs of a job without a `debug` section (the
// baseline).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "analytics/reader.hpp"
#include "core/random.hpp"
#include "db/store.hpp"
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
constexpr int kRepeats = 9;

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
  save_trial(trials + "/0");
  for (int trial = 1; trial < kTrialsSaved; ++trial)
    fs::copy(trials + "/0", trials + "/" + std::to_string(trial), fs::copy_options::recursive);
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

Json document_of(bool with_rules) {
  Json document = Json::parse(R"({"name": "bench", "objective": {"metric": "value", "goal": "maximize"},
      "search_space": {"a": {"type": "float", "min": 0, "max": 1}}, "sampler": {"type": "random"},
      "trainer": {"type": "command"}, "scheduler": {"type": "none", "max_resource": 1000}, "limits": {"max_trials": 1000}})");
  if (with_rules) {
    document["debug"]["rules"] = Json::array();
    for (int i = 0; i < kSyncs; ++i) document["debug"]["rules"].push_back({{"rule", "overfit"}, {"name", fmt::format("r{}", i)}});
  }
  return document;
}

JobSpec spec_of(bool with_rules) {
  Diagnostics diagnostics;
  return JobSpec::parse(document_of(with_rules), diagnostics);
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
        worker.report->findings = {
            {fmt::format("r{}", sync), "metrics/value", debugger::Mode::none, sync, 0.5, 0.1, "it held", "do this"}};
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

// ---- how rules stand ----------------------------------------------------------------------------------------------------------

// A job whose trials are all over, and have each told how far its rules are; in every tenth the first rule has found something.
void store_job(const std::string& path, bool with_rules) {
  Store store = Store::open(path);
  JobRow job;
  job.id = JobId{1};
  job.name = "bench";
  job.spec_json = document_of(with_rules).dump();
  job.state = JobState::completed;
  job.ended_at = Timestamp{kTrialsSaved};
  job.trials_created = job.trials_completed = kTrialsSaved;
  std::vector<Write> writes = {job};
  for (int number = 0; number < kTrialsSaved; ++number) {
    TrialRow trial;
    trial.id = {job.id, number};
    trial.state = TrialState::completed;
    trial.origin = "sampler";
    trial.attempts = trial.attempts_in_all = 1;
    trial.epoch = Epoch{number + 1};
    trial.worker = WorkerId{"worker-0"};
    trial.until_resource = kSteps;
    trial.configuration = {{"a", 0.5}};
    trial.resource = trial.objective_resource = kSteps;
    trial.objective = random_unit(2, {static_cast<std::uint64_t>(number)});
    trial.started_at = trial.ended_at = Timestamp{number};
    for (int i = 0; with_rules && i < kSyncs; ++i)
      trial.rules.push_back({{fmt::format("r{}", i), kSteps, kSteps, kSteps, ""}, Timestamp{number}});
    writes.emplace_back(trial);
    if (with_rules && number % 10 == 0) {
      FindingRow finding;
      finding.trial = trial.id;
      finding.rule = "r0";
      finding.tensor = "metrics/value";
      finding.action = "note";
      finding.sequence = number;
      writes.emplace_back(finding);
    }
  }
  store.commit(writes);
}

double median_ms(const auto& read) {
  std::vector<double> ms;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    read();
    ms.push_back(ms_since(begin));
  }
  std::sort(ms.begin(), ms.end());
  return ms[kRepeats / 2];
}

void measure_rules(const std::string& dir) {
  fs::create_directories(dir);
  for (const bool with_rules : {false, true}) store_job(dir + (with_rules ? "/with.db" : "/without.db"), with_rules);
  Reader without = Reader::open(dir + "/without.db");
  Reader with = Reader::open(dir + "/with.db");
  const auto summary = [](Reader& reader) { return median_ms([&] { reader.summary(JobId{1}, {}, {}, Timestamp{0}).value(); }); };
  const double base = summary(without);
  const double all = summary(with);
  fmt::print("\nof a job of 10,000 trials                       ms\n");
  fmt::print("{:<44} {:>5.1f}\n", "its summary without rules", base);
  fmt::print("{:<44} {:>5.1f}  {:.2f} times\n", "with five rules", all, all / base);
  fmt::print("{:<44} {:>5.1f}\n", "how its rules stand", median_ms([&] {
               if (with.rules_of_job(JobId{1})->rules.size() != kSyncs) throw std::runtime_error("rules are missing");
             }));
}

}  // namespace

int main() {
  const std::string dir = (fs::temp_directory_path() / "tuneband-bench-debugger").string();
  fs::remove_all(dir);
  measure_reading(dir);
  fs::remove_all(dir);
  measure_rules(dir);
  fs::remove_all(dir);
  measure_findings();
}
