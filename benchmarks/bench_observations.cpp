// Durable observations a second, each in a request of its own, through HTTP, the scheduler and the store with its group commit;
// against a bare loop that commits the same rows to SQLite one by one (the baseline).
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/client/embedded_server.hpp"
#include "db/store.hpp"
#include "net/http_client.hpp"
#include "workers/protocol/sync.hpp"

namespace {

using namespace tuneband;

constexpr int kObservations = 20'000;  // through HTTP, in all
constexpr int kBareObservations = 2'000;
constexpr std::int64_t kTimeoutMs = 30'000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

double bare_loop(const std::string& path) {
  Store store = Store::open(path);
  JobRow job;
  job.id = JobId{1};
  job.name = "bench";
  job.spec_json = "{}";
  TrialRow trial;
  trial.id = {job.id, 0};
  trial.origin = "sampler";
  trial.state = TrialState::pending;
  trial.until_resource = kBareObservations;
  const std::vector<Write> rows{job, trial};
  store.commit(rows);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= kBareObservations; ++i) {
    trial.resource = i;
    const std::vector<Write> writes{job, trial, ObservationRow{trial.id, i, 0.5, {{"value", 0.5}}, Timestamp{i}}};
    store.commit(writes);
  }
  return kBareObservations / seconds_since(begin);
}

// A worker that reports one observation a call.
void report(const std::string& url, int index, int observations) {
  auto client = net::HttpClient::create(url);
  const std::string target = fmt::format("/v1/workers/bench-{}/sync", index);
  protocol::SyncRequest request;
  request.name = fmt::format("bench-{}", index);
  for (int resource = 0; resource <= observations; ++resource) {
    const auto answer = net::json_or_error(client->request("POST", target, protocol::to_json(request).dump(), kTimeoutMs));
    if (!answer) give_up(describe(answer.error()));
    Diagnostics diagnostics;
    const auto reply = protocol::sync_reply_from_json(*answer, diagnostics);
    if (!reply.order) give_up("no work was given");
    request.assignment.emplace();
    request.assignment->epoch = reply.order->epoch;
    request.assignment->observations.push_back({resource + 1, {{"value", 0.5}}});
  }
}

double through_http(const std::string& url, int workers, const std::string& name) {
  const Json job = {{"name", name},
                    {"objective", {{"metric", "value"}, {"goal", "maximize"}}},
                    {"search_space", {{"a", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
                    {"trainer", {{"type", "command"}, {"argv", {"true", "{a}"}}, {"metrics", "json"}}},
                    {"scheduler", {{"type", "none"}, {"max_resource", 1'000'000}}},
                    {"limits", {{"max_trials", workers}}}};
  auto client = net::HttpClient::create(url);
  const auto created = net::json_or_error(client->request("POST", "/v1/jobs", job.dump(), kTimeoutMs));
  if (!created) give_up(describe(created.error()));
  const int each = kObservations / workers;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(report, url, i + 1000 * workers, each);
  threads.clear();
  const double rate = each * workers / seconds_since(begin);
  if (!client->request("POST", "/v1/jobs/" + name + "/stop", "", kTimeoutMs)) give_up("the job could not be stopped");
  return rate;
}

}  // namespace

int main() {
  const std::filesystem::path dir = std::filesystem::current_path() / fmt::format("bench-observations-{}", getpid());
  std::filesystem::create_directories(dir / "server");
  const double bare = bare_loop((dir / "bare.db").string());
  auto server = cli::EmbeddedServer::start({TUNEBAND_BIN_DIR "/tuneband-server", (dir / "server").string(), 0});
  if (!server) give_up("the server did not start");
  fmt::print("{:<38} {:>16} {:>8}\n", "", "observations/s", "ratio");
  fmt::print("{:<38} {:>16.0f} {:>7.2f}x\n", "bare SQLite loop, a commit each", bare, 1.0);
  for (const int workers : {1, 4, 16, 64}) {
    const double rate = through_http((*server)->url(), workers, fmt::format("bench-{}", workers));
    fmt::print("{:<38} {:>16.0f} {:>7.2f}x\n", fmt::format("HTTP, {} worker{}", workers, workers == 1 ? "" : "s"), rate,
               rate / bare);
  }
  (*server)->stop();
  std::filesystem::remove_all(dir);
}
