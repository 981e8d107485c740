// What the server's heaps cost: reports of workers and pages of 500 trials, as many as it can take over loopback, on the server
// as it is and on one whose heaps are left to glibc's defaults (the baseline). The two take turns.
//
//   bench_heap [SECONDS [CONNECTIONS [TURNS]]]     defaults: 4 64 3
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/load/fake_workers.hpp"
#include "benchmarks/load/process_cost.hpp"
#include "cli/client/embedded_server.hpp"
#include "core/json.hpp"
#include "net/http_client.hpp"

namespace {

using namespace tuneband;
namespace fs = std::filesystem;

constexpr double kPeriodSeconds = 0.001;  // shorter than a report takes: each connection reports without a pause
constexpr std::int64_t kTimeoutMs = 30'000;
constexpr int kUnits = 100'000;  // of one trial: a report is an observation, never a decision

constexpr int kReaders = 4;

struct Cost {
  double reports_a_second = 0;
  double cpu_us_a_report = 0;
  double pages_a_second = 0;
  double cpu_us_a_page = 0;
  double memory_mb = 0;
};

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

Json job() {
  return {{"name", "heap"},
          {"objective", {{"metric", "value"}, {"goal", "maximize"}}},
          {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
          {"sampler", {{"type", "random"}, {"seed", 1}}},
          {"trainer", {{"type", "command"}, {"argv", {"true", "{a}"}}}},
          {"scheduler", {{"type", "none"}, {"max_resource", kUnits}}},
          {"limits", {{"max_trials", 100'000}}}};
}

// Readers that ask for one page after the other; the pages that they were given.
std::int64_t read_pages(const std::string& url, double seconds) {
  std::atomic<std::int64_t> pages = 0;
  std::vector<std::jthread> readers;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&] {
      auto client = net::HttpClient::create(url);
      while (std::chrono::steady_clock::now() < end) {
        const auto page = client->request("GET", "/v1/jobs/heap/trials?limit=500", "", kTimeoutMs);
        if (!page || page->status != 200) give_up("a page failed");
        ++pages;
      }
    });
  }
  readers.clear();
  return pages;
}

Cost measure(const fs::path& dir, int connections, double seconds) {
  fs::create_directories(dir);
  auto server = cli::EmbeddedServer::start({TUNEBAND_BIN_DIR "/tuneband-server", dir.string(), 0});
  if (!server) give_up("the server did not start: " + server.error().errors.front().message);
  const std::string url = (*server)->url();
  auto client = net::HttpClient::create(url);
  const auto created = net::json_or_error(client->request("POST", "/v1/jobs?preflight=off", job().dump(), kTimeoutMs));
  if (!created) give_up(describe(created.error()));
  std::ifstream file(dir / "server.json");
  const auto pid = Json::parse(file).at("pid").get<std::int64_t>();
  const double before = bench::cpu_seconds_of(pid);
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  const bench::FakeWorkersResult done =
      bench::run_fake_workers({.port = port, .workers = connections, .period_seconds = kPeriodSeconds}, seconds);
  if (done.failures > 0 || done.calls == 0) give_up("calls failed");
  const auto calls = static_cast<double>(done.calls);
  const double between = bench::cpu_seconds_of(pid);
  const auto pages = static_cast<double>(read_pages(url, seconds));
  return {calls / seconds, 1e6 * (between - before) / calls, pages / seconds,
          1e6 * (bench::cpu_seconds_of(pid) - between) / pages, bench::memory_mb_of(pid)};
}

double median(std::vector<Cost> costs, double Cost::*of) {
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2);
  std::nth_element(costs.begin(), middle, costs.end(), [&](const Cost& a, const Cost& b) { return a.*of < b.*of; });
  return (*middle).*of;
}

void row(const char* what, const std::vector<Cost>& baseline, const std::vector<Cost>& kept, double Cost::*of) {
  const double a = median(baseline, of);
  const double b = median(kept, of);
  fmt::print("{:<28} {:>16.1f} {:>12.1f} {:>8.2f}x\n", what, a, b, b / a);
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::stod(arguments[1]) : 4;
  const int connections = count > 2 ? std::stoi(arguments[2]) : 64;
  const int turns = count > 3 ? std::stoi(arguments[3]) : 3;
  const fs::path dir = fs::current_path() / fmt::format("bench-heap-{}", ::getpid());
  std::vector<Cost> baseline;
  std::vector<Cost> kept;
  for (int turn = 0; turn < turns; ++turn) {
    ::setenv("LD_PRELOAD", TUNEBAND_NO_MALLOPT, 1);
    baseline.push_back(measure(dir / fmt::format("baseline-{}", turn), connections, seconds));
    ::unsetenv("LD_PRELOAD");
    kept.push_back(measure(dir / fmt::format("kept-{}", turn), connections, seconds));
  }
  fmt::print("{} connections, {} s, median of {}\n", connections, seconds, turns);
  fmt::print("{:<28} {:>16} {:>12} {:>9}\n", "", "glibc's defaults", "heaps kept", "ratio");
  row("reports a second", baseline, kept, &Cost::reports_a_second);
  row("server's CPU a report, us", baseline, kept, &Cost::cpu_us_a_report);
  row("pages a second", baseline, kept, &Cost::pages_a_second);
  row("server's CPU a page, us", baseline, kept, &Cost::cpu_us_a_page);
  row("server's memory, MB", baseline, kept, &Cost::memory_mb);
  std::error_code ignored;
  fs::remove_all(dir, ignored);
}
