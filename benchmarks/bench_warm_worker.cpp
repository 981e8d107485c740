// Time of a trial of 1, 3, 9 and 27 rounds: in a worker that keeps its data warm, and in a new process a trial (the baseline),
// which reads the CSV file and builds XGBoost's index each time. Both run the same code on the same data. As in a job with
// max_resource 27: the model of 27 rounds is a result, and the disk is waited for.
//
//   bench_warm_worker DATA.csv       a file as examples/direct-marketing/generate.py makes it
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks/bench_worker.hpp"
#include "os/child_process.hpp"
#include "workers/trial_runner.hpp"

namespace {

using namespace tuneband;

constexpr int kTrials = 7;  // of each kind; the median counts
constexpr std::int64_t kRounds[] = {1, 3, 9, 27};

protocol::AssignmentOrder order_of(const std::string& data, const std::string& dir, int trial, std::int64_t rounds) {
  protocol::AssignmentOrder order;
  order.epoch = trial + 1;
  order.job = 1;
  order.job_name = "bench";
  order.trial = trial;
  order.configuration = {{"eta", 0.1 + 0.01 * trial}, {"max_depth", 6}};
  order.trainer = bench_trainer(data);
  order.objective_metric = "validation-auc";
  order.until_resource = rounds;
  order.max_resource = *std::rbegin(kRounds);
  order.trial_dir = dir + "/" + std::to_string(trial);
  return order;
}

bool run_trial(workers::TrialRunner& runner, const protocol::AssignmentOrder& order) {
  std::filesystem::remove_all(order.trial_dir);
  auto log = workers::TrialLog::open(order.trial_dir);
  SilentReporter reporter;
  const auto result = runner.run(order, reporter, *log);
  if (result.exit != workers::kExitCompleted) fmt::print(stderr, "the trial failed: {}\n", result.message);
  return result.exit == workers::kExitCompleted;
}

template <class Run>
double median_ms(const Run& run) {
  std::vector<double> times;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto begin = std::chrono::steady_clock::now();
    run(trial);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kTrials / 2, times.end());
  return times[kTrials / 2];
}

void run_in_new_process(const char* program, const std::string& data, const std::string& dir, int trial, std::int64_t rounds) {
  const Result<pid_t> pid =
      os::spawn({.program = program, .arguments = {data, dir, std::to_string(trial), std::to_string(rounds)}});
  int status = 0;
  if (!pid || waitpid(*pid, &status, 0) < 0 || status != 0) {
    fmt::print(stderr, "a trial in a new process failed\n");
    std::exit(1);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  start_with_passive_threads(arguments);
  if (argument_count == 5) {  // a cold trial: DATA DIR TRIAL ROUNDS
    const auto runner = workers::make_xgboost_runner({});
    return run_trial(*runner, order_of(arguments[1], arguments[2], std::atoi(arguments[3]), std::atoi(arguments[4]))) ? 0 : 1;
  }
  if (argument_count != 2) {
    fmt::print(stderr, "usage: bench_warm_worker DATA.csv\n");
    return 2;
  }
  const std::string data = std::filesystem::absolute(arguments[1]).string();
  const std::string dir = (std::filesystem::temp_directory_path() / ("bench-warm-" + std::to_string(getpid()))).string();
  const auto warm = workers::make_xgboost_runner({});
  if (!run_trial(*warm, order_of(data, dir, 0, 1))) return 1;  // its data is warm from here on
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  fmt::print("{:>7} {:>22} {:>17} {:>11}\n", "rounds", "new process, ms/trial", "warm, ms/trial", "cold/warm");
  for (const std::int64_t rounds : kRounds) {
    const double cold_ms = median_ms([&](int trial) { run_in_new_process(self.c_str(), data, dir, trial, rounds); });
    const double warm_ms = median_ms([&](int trial) { run_trial(*warm, order_of(data, dir, trial, rounds)); });
    fmt::print("{:>7} {:>22.1f} {:>17.1f} {:>10.1f}x\n", rounds, cold_ms, warm_ms, cold_ms / warm_ms);
  }
  std::filesystem::remove_all(dir);
}
