// What Tuneband adds to training, on real jobs: the time in which a worker does not train between two trials, against the
// training time of such a trial; and the wall time of a Hyperband job against its training time divided by its workers (1.00
// would be perfect).
//
//   bench_job_overhead DATA.csv      a file as examples/direct-marketing/generate.py makes it
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/bench_trainer.hpp"
#include "cli/client/embedded_server.hpp"
#include "net/http_client.hpp"

namespace {

using namespace tuneband;

constexpr std::int64_t kTimeoutMs = 600'000;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

Json job_of(const std::string& name, const std::string& data, const Json& scheduler, int trials) {
  return {{"name", name},
          {"objective", {{"metric", "validation-auc"}, {"goal", "maximize"}}},
          {"search_space",
           {{"eta", {{"type", "float"}, {"min", 0.01}, {"max", 0.5}}}, {"max_depth", {{"type", "int"}, {"min", 2}, {"max", 8}}}}},
          {"sampler", {{"type", "random"}, {"seed", 1}}},
          {"trainer", bench_trainer(data)},
          {"scheduler", scheduler},
          {"limits", {{"max_trials", trials}}}};
}

Json finished(const std::string& url, const Json& job) {
  auto client = net::HttpClient::create(url);
  const std::string path = "/v1/jobs/" + job.at("name").get<std::string>();
  const auto created = net::json_or_error(client->request("POST", "/v1/jobs", job.dump(), kTimeoutMs));
  if (!created) give_up(describe(created.error()));
  const auto ended = client->stream(path + "/events", kTimeoutMs, [](std::string_view) { return true; });  // ends with the job
  if (!ended) give_up(describe(ended.error()));
  const auto analytics = net::json_or_error(client->request("GET", path + "/analytics", "", kTimeoutMs));
  if (!analytics) give_up(describe(analytics.error()));
  return *analytics;
}

// "2026-03-01T12:00:00.123Z" of one day -> seconds.
double time_of_day(const std::string& text) {
  return std::stod(text.substr(11, 2)) * 3600 + std::stod(text.substr(14, 2)) * 60 + std::stod(text.substr(17, 6));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_idle_time(const std::string& url, const std::string& data) {
  const Json analytics = finished(url, job_of("idle", data, {{"type", "none"}, {"max_resource", 3}}, 60));
  std::map<std::string, std::vector<const Json*>> by_worker;
  for (const Json& trial : analytics.at("trials")) by_worker[trial.at("worker")].push_back(&trial);
  std::vector<double> idle_ms, training_ms;
  for (const auto& [worker, trials] : by_worker) {
    for (std::size_t i = 1; i + 1 < trials.size(); ++i) {  // the first one reads the data
      const double began = time_of_day(trials[i]->at("started_at"));
      const double trained = trials[i]->at("training_seconds").get<double>();
      idle_ms.push_back(1000 * (time_of_day(trials[i + 1]->at("started_at")) - began - trained));
      training_ms.push_back(1000 * trained);
    }
  }
  fmt::print(
      "idle time of a worker between two trials of 3 rounds: median {:.1f} ms; such a trial trains {:.1f} ms (ratio {:.2f})\n",
      median(idle_ms), median(training_ms), median(idle_ms) / median(training_ms));
}

void print_wall_time(const std::string& url, const std::string& data, int workers) {
  const Json analytics =
      finished(url, job_of("wall", data, {{"type", "hyperband"}, {"min_resource", 1}, {"max_resource", 81}, {"eta", 3}}, 200));
  const Json& summary = analytics.at("summary");
  const double wall = summary.at("wall_seconds");
  const double ideal = summary.at("training_seconds").get<double>() / workers;
  fmt::print("Hyperband, 200 trials, {} workers: wall {:.2f} s, training / workers {:.2f} s: ratio {:.2f}\n", workers, wall,
             ideal, wall / ideal);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: bench_job_overhead DATA.csv\n");
    return 2;
  }
  constexpr int kWorkers = 2;
  const std::string data = std::filesystem::absolute(arguments[1]).string();
  const std::filesystem::path dir = std::filesystem::current_path() / fmt::format("bench-job-{}", getpid());
  std::filesystem::create_directories(dir / "server");
  auto server = cli::EmbeddedServer::start({TUNEBAND_BIN_DIR "/tuneband-server", (dir / "server").string(), kWorkers});
  if (!server) give_up("the server did not start");
  print_idle_time((*server)->url(), data);
  print_wall_time((*server)->url(), data, kWorkers);
  (*server)->stop();
  std::filesystem::remove_all(dir);
}
