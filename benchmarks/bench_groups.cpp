// Distributed trials a minute: a group of ranks that keeps its session (connections, data, XGBoost's index) from trial to trial,
// against a group that is set up anew for each trial (the baseline). The ranks are threads of this process, the tracker is the
// server's; the connections between them are real.
//
//   bench_groups DATA.csv       a file as examples/direct-marketing/generate.py makes it
#include <fmt/core.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/bench_worker.hpp"
#include "server/tracker.hpp"
#include "workers/trial_runner.hpp"

namespace {

using namespace tuneband;

constexpr int kGroupTrials = 10;  // of each kind
constexpr std::int64_t kGroupRounds[] = {1, 9, 27};
constexpr int kWorldSizes[] = {2, 3};

class TrackerOnAThread {
 public:
  ~TrackerOnAThread() {
    loop_.stop();
    thread_.join();
  }
  int port() const { return tracker_.port(); }
  void expect(std::int64_t session, int world) {
    std::promise<void> done;
    boost::asio::post(loop_, [&] {
      tracker_.expect(std::to_string(session), world);
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  boost::asio::io_context loop_;
  server::Tracker tracker_{loop_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ = boost::asio::make_work_guard(loop_);
  std::thread thread_{[this] { loop_.run(); }};
};

class Group {
 public:
  Group(TrackerOnAThread& tracker, int world, std::string data, std::string dir)
      : tracker_(tracker), world_(world), data_(std::move(data)), dir_(std::move(dir)) {
    for (int rank = 0; rank < world; ++rank) {
      runners_.push_back(workers::make_xgboost_runner({.threads = 1, .tracker_host = "127.0.0.1"}));
    }
  }

  // Seconds of `trials` trials.
  double run(int trials, std::int64_t rounds, bool keep_session) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < trials; ++i) {
      if (!keep_session || session_ == 0) begin_session();
      run_trial(rounds);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  void begin_session() {
    static std::int64_t last = 0;
    session_ = ++last;
    tracker_.expect(session_, world_);
  }

  void run_trial(std::int64_t rounds) {
    protocol::AssignmentOrder order;
    order.epoch = order.trial = ++trial_;
    order.job = 1;
    order.job_name = "bench";
    order.configuration = {{"eta", 0.1 + 0.001 * trial_}, {"max_depth", 6}};
    order.trainer = bench_trainer(data_);
    order.objective_metric = "validation-auc";
    order.until_resource = order.max_resource = rounds;
    order.trial_dir = dir_ + "/" + std::to_string(trial_);
    std::vector<std::future<void>> ranks;
    for (int rank = 0; rank < world_; ++rank)
      ranks.push_back(std::async(std::launch::async, [&, rank] { run_rank(order, rank); }));
    for (auto& rank : ranks) rank.get();
  }

  void run_rank(protocol::AssignmentOrder order, int rank) {
    protocol::GroupPlace place;
    place.rank = rank;
    place.world_size = world_;
    place.session = session_;
    place.tracker_port = tracker_.port();
    order.group = place;
    auto log = workers::TrialLog::open(order.trial_dir, rank);
    SilentReporter reporter;
    const auto result = runners_[static_cast<std::size_t>(rank)]->run(order, reporter, *log);
    if (result.exit == workers::kExitCompleted) return;
    fmt::print(stderr, "rank {} failed: {}: {}\n", rank, result.exit, result.message);
    std::_Exit(1);
  }

  TrackerOnAThread& tracker_;
  int world_;
  std::string data_;
  std::string dir_;
  std::vector<std::unique_ptr<workers::TrialRunner>> runners_;
  std::int64_t session_ = 0;
  int trial_ = 0;
};

}  // namespace

int main(int argument_count, char** arguments) {
  start_with_passive_threads(arguments);
  if (argument_count != 2) {
    fmt::print(stderr, "usage: bench_groups DATA.csv\n");
    return 2;
  }
  const std::string data = std::filesystem::absolute(arguments[1]).string();
  const std::string dir = (std::filesystem::temp_directory_path() / ("bench-groups-" + std::to_string(getpid()))).string();
  TrackerOnAThread tracker;
  fmt::print("{:>6} {:>7} {:>26} {:>27} {:>9}\n", "ranks", "rounds", "new session, trials/minute", "warm session, trials/minute",
             "warm/new");
  for (const int world : kWorldSizes) {
    for (const std::int64_t rounds : kGroupRounds) {
      Group group(tracker, world, data, dir + "/" + std::to_string(world) + "-" + std::to_string(rounds));
      const double anew = 60 * kGroupTrials / group.run(kGroupTrials, rounds, false);
      const double warm = 60 * kGroupTrials / group.run(kGroupTrials, rounds, true);
      fmt::print("{:>6} {:>7} {:>26.0f} {:>27.0f} {:>8.1f}x\n", world, rounds, anew, warm, warm / anew);
    }
  }
  std::filesystem::remove_all(dir);
}
