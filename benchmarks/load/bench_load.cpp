// Many workers, many jobs, large databases: what a request costs, and whether that grows with the number of trials.
//
//   bench_load [SECONDS [WORKERS [JOBS [TRIALS [OBSERVATIONS_PER_TRIAL]]]]]     defaults: 20 1000 100 100000 50
//
// The same load runs on a database of 1,000 trials (the baseline) and on the large one. Workers are simulated in this process,
// over HTTP; every other figure is the server's.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/load/fake_workers.hpp"
#include "benchmarks/load/filled_database.hpp"
#include "benchmarks/load/process_cost.hpp"
#include "cli/client/embedded_server.hpp"
#include "net/http_client.hpp"

namespace {

using namespace tuneband;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kSmallTrials = 1'000;
constexpr std::int64_t kTimeoutMs = 120'000;
constexpr double kPeriodSeconds = 0.75;  // so that 1,000 workers report more than 1,000 times a second
constexpr auto kPagePause = std::chrono::milliseconds(20);

struct Load {
  double seconds = 20;
  int workers = 1000;
  int jobs = 100;
  int trials = 100'000;
  int observations_per_trial = 50;
};

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double percentile_ms(std::vector<double> seconds, double share) {
  if (seconds.empty()) return 0;
  std::sort(seconds.begin(), seconds.end());
  return 1000 * seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
}

Json job(int number) {
  return {{"name", fmt::format("load-{}", number)},
          {"objective", {{"metric", "value"}, {"goal", "maximize"}}},
          {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
          {"sampler", {{"type", "random"}, {"seed", number}}},
          {"trainer", {{"type", "command"}, {"argv", {"true", "{a}"}}}},
          {"scheduler", {{"type", "hyperband"}, {"max_resource", 27}}},
          {"limits", {{"max_trials", 5'000}}}};
}

class Pages {
 public:
  explicit Pages(std::string url) : url_(std::move(url)) {}

  // Asks for each in turn until told to stop.
  void ask(const std::atomic<bool>& stop) {
    auto client = net::HttpClient::create(url_);
    if (!client) give_up("no client");
    const std::vector<std::pair<std::string, std::string>> pages = {
        {"a job", "/v1/jobs/large"},
        {"100 trials", "/v1/jobs/large/trials?limit=100"},
        {"100 best trials", "/v1/jobs/large/trials?sort=objective&limit=100"},
        {"past all trials", "/v1/jobs/large/trials?sort=objective&state=failed"},  // of which there are none
        {"a curve", "/v1/jobs/large/trials/0/observations?points=200"},
        {"the plan", "/v1/jobs/large/plan"},
        {"the summary", "/v1/jobs/large/summary"},
        {"50 jobs", "/v1/jobs?limit=50"},
        {"metrics", "/metrics"}};
    while (!stop) {
      for (const auto& [name, target] : pages) {
        const auto begin = Clock::now();
        const auto response = client->request("GET", target, "", kTimeoutMs);
        if (!response || response->status != 200) give_up("GET " + target + " failed");
        seconds_[name].push_back(seconds_since(begin));
        std::this_thread::sleep_for(kPagePause);
      }
    }
  }
  const std::map<std::string, std::vector<double>>& seconds() const { return seconds_; }

 private:
  std::string url_;
  std::map<std::string, std::vector<double>> seconds_;
};

struct Export {
  double first_byte_ms = 0;
  double seconds = 0;
  double megabytes = 0;
};

Export export_analytics(const std::string& url) {
  auto client = net::HttpClient::create(url);
  Export measured;
  const auto begin = Clock::now();
  const auto ended = client->stream("/v1/jobs/large/analytics", kTimeoutMs, [&](std::string_view piece) {
    if (measured.megabytes == 0) measured.first_byte_ms = 1000 * seconds_since(begin);
    measured.megabytes += static_cast<double>(piece.size()) / 1e6;
    return true;
  });
  if (!ended) give_up("the analytics failed");
  measured.seconds = seconds_since(begin);
  return measured;
}

struct Measured {
  bench::Filled filled;
  double start_seconds = 0;
  double restart_seconds = 0;
  double observations_a_second = 0;
  double cpu_us_a_call = 0;
  double memory_mb = 0;
  double memory_peak_mb = 0;
  bench::FakeWorkersResult workers;
  std::map<std::string, std::vector<double>> pages;
  Export exported;
  double delete_ms = 0;  // until the answer
  double sync_p99_deleting_ms = 0;
};

std::int64_t pid_of(const std::string& dir) {
  std::ifstream file(dir + "/server.json");
  return Json::parse(file).at("pid").get<std::int64_t>();
}

std::uint16_t port_of(const std::string& url) { return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))); }

std::unique_ptr<cli::EmbeddedServer> start(const std::string& dir, double& seconds) {
  const auto begin = Clock::now();
  auto server = cli::EmbeddedServer::start({TUNEBAND_BIN_DIR "/tuneband-server", dir, 0});
  if (!server) give_up("the server did not start: " + server.error().errors.front().message);
  seconds = seconds_since(begin);
  return std::move(*server);
}

void submit_jobs(const std::string& url, int jobs) {
  auto client = net::HttpClient::create(url);
  for (int number = 0; number < jobs; ++number) {
    const auto created = net::json_or_error(client->request("POST", "/v1/jobs?preflight=off", job(number).dump(), kTimeoutMs));
    if (!created) give_up(describe(created.error()));
  }
}

// The large job goes while the workers go on.
void delete_large_job(const std::string& url, const Load& load, Measured& measured) {
  auto client = net::HttpClient::create(url);
  (void)client->request("POST", "/v1/jobs/large/stop", "", kTimeoutMs);
  // Trials that the workers had are over when their leases are.
  (void)client->stream("/v1/jobs/large/events", kTimeoutMs, [](std::string_view) { return true; });
  std::jthread deletion([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto begin = Clock::now();
    const auto deleted = client->request("DELETE", "/v1/jobs/large", "", kTimeoutMs);
    if (!deleted || deleted->status != 204) give_up("the large job could not be deleted");
    measured.delete_ms = 1000 * seconds_since(begin);
  });
  const bench::FakeWorkersResult meanwhile = bench::run_fake_workers(
      {.port = port_of(url), .workers = load.workers, .period_seconds = kPeriodSeconds}, std::min(load.seconds, 8.0));
  measured.sync_p99_deleting_ms = percentile_ms(meanwhile.sync_seconds, 0.99);
}

Measured measure(const std::string& dir, int trials, const Load& load) {
  Measured measured;
  fs::create_directories(dir);
  measured.filled = bench::fill_database(dir + "/tuneband.db", trials, load.observations_per_trial);
  auto server = start(dir, measured.start_seconds);
  const std::string url = server->url();
  submit_jobs(url, load.jobs);
  std::atomic<bool> stop = false;
  Pages pages(url);
  std::jthread asking([&] { pages.ask(stop); });
  const double cpu = bench::cpu_seconds_of(pid_of(dir));
  measured.workers =
      bench::run_fake_workers({.port = port_of(url), .workers = load.workers, .period_seconds = kPeriodSeconds}, load.seconds);
  const double cpu_used = bench::cpu_seconds_of(pid_of(dir)) - cpu;
  stop = true;
  asking.join();
  measured.pages = pages.seconds();
  measured.observations_a_second = static_cast<double>(measured.workers.observations) / load.seconds;
  measured.cpu_us_a_call = 1e6 * cpu_used / static_cast<double>(measured.workers.calls);
  measured.memory_mb = bench::memory_mb_of(pid_of(dir));
  measured.exported = export_analytics(url);
  measured.memory_peak_mb = bench::memory_peak_mb_of(pid_of(dir));
  ::kill(static_cast<pid_t>(pid_of(dir)), SIGKILL);
  server->stop();
  server = start(dir, measured.restart_seconds);
  delete_large_job(server->url(), load, measured);
  return measured;
}

void row(const std::string& what, const std::string& unit, double small, double large) {
  fmt::print("{:<34} {:>5} {:>12.2f} {:>12.2f} {:>9.2f}x\n", what, unit, small, large, small > 0 ? large / small : 0);
}

void print(const Load& load, const Measured& small, const Measured& large) {
  fmt::print("{} workers, {} jobs, {} s\n", load.workers, load.jobs, load.seconds);
  fmt::print("{:<34} {:>5} {:>12} {:>12} {:>10}\n", "", "", "small", "large", "ratio");
  row("trials before", "", static_cast<double>(small.filled.trials), static_cast<double>(large.filled.trials));
  row("observations before", "", static_cast<double>(small.filled.observations), static_cast<double>(large.filled.observations));
  row("observations a second", "1/s", small.observations_a_second, large.observations_a_second);
  row("failed calls", "", static_cast<double>(small.workers.failures), static_cast<double>(large.workers.failures));
  for (const double share : {0.5, 0.99}) {
    const std::string suffix = fmt::format(", p{:g}", 100 * share);
    row("sync" + suffix, "ms", percentile_ms(small.workers.sync_seconds, share),
        percentile_ms(large.workers.sync_seconds, share));
    row("decision" + suffix, "ms", percentile_ms(small.workers.decision_seconds, share),
        percentile_ms(large.workers.decision_seconds, share));
  }
  row("server's CPU a sync", "us", small.cpu_us_a_call, large.cpu_us_a_call);
  for (const auto& [name, seconds] : large.pages) {
    for (const double share : {0.5, 0.99}) {
      row(fmt::format("page: {}, p{:g}", name, 100 * share), "ms", percentile_ms(small.pages.at(name), share),
          percentile_ms(seconds, share));
    }
  }
  row("analytics, first byte", "ms", small.exported.first_byte_ms, large.exported.first_byte_ms);
  row("analytics, all of it", "s", small.exported.seconds, large.exported.seconds);
  row("analytics, size", "MB", small.exported.megabytes, large.exported.megabytes);
  row("server's memory under load", "MB", small.memory_mb, large.memory_mb);
  row("the most, with the analytics", "MB", small.memory_peak_mb, large.memory_peak_mb);
  row("start", "s", small.start_seconds, large.start_seconds);
  row("start after kill -9", "s", small.restart_seconds, large.restart_seconds);
  row("delete the job, until the answer", "ms", small.delete_ms, large.delete_ms);
  row("sync meanwhile, p99", "ms", small.sync_p99_deleting_ms, large.sync_p99_deleting_ms);
}

}  // namespace

int main(int count, char** arguments) {
  Load load;
  if (count > 1) load.seconds = std::stod(arguments[1]);
  if (count > 2) load.workers = std::stoi(arguments[2]);
  if (count > 3) load.jobs = std::stoi(arguments[3]);
  if (count > 4) load.trials = std::stoi(arguments[4]);
  if (count > 5) load.observations_per_trial = std::stoi(arguments[5]);
  const fs::path dir = fs::current_path() / fmt::format("bench-load-{}", ::getpid());
  const Measured small = measure((dir / "small").string(), std::min(kSmallTrials, load.trials), load);
  const Measured large = measure((dir / "large").string(), load.trials, load);
  print(load, small, large);
  std::error_code ignored;
  fs::remove_all(dir, ignored);
}
