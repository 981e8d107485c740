// POST /v1/checks: everything that a submission would say of a document, and when the job would start and end; nothing is stored.
#include <algorithm>
#include <memory>
#include <set>

#include "core/time.hpp"
#include "server/api/api.hpp"
#include "server/api/capacity.hpp"

namespace tuneband::server {

void Api::add_check_routes() {
  router_.add({"POST", "/v1/checks", {"base_dir", "like", "seconds_per_unit"}, plain(&Api::check_document)});
}

WorkersNow Api::workers_now() const {
  WorkersNow now;
  std::set<JobId> jobs;
  for (const WorkerView& worker : parts_.engine.scheduler().workers()) {
    if (worker.draining) continue;
    ++now.all;
    if (!worker.trial && !worker.occupied) ++now.free;
    if (worker.trial) jobs.insert(worker.trial->job);
    if (worker.left_ms) now.seconds_left.push_back(seconds_of(*worker.left_ms));
  }
  const int to_come = std::max(0, parts_.local_workers - now.all);
  now.all += to_come;
  now.free += to_come;
  now.jobs = static_cast<int>(jobs.size());
  for (const JobId job : jobs) now.weight += parts_.engine.scheduler().weight(job);
  std::sort(now.seconds_left.begin(), now.seconds_left.end());
  return now;
}

void Api::check_document(const HttpRequest& request, const Respond& respond) {
  Diagnostics asked;
  const auto seconds_per_unit = query_seconds_per_unit(request, asked);
  if (!asked.ok()) return respond->reply(error_reply(asked));
  read_document(
      request,
      [this, seconds_per_unit, respond](const ReadDocument& read) {
        if (!read.found.ok()) return reply_check(read.job->spec, read.found, seconds_per_unit, respond);
        check_on_machines(*read.job, [this, read, seconds_per_unit, respond](const Diagnostics& by_worker) {
          Diagnostics all = read.found;
          all.add(by_worker);
          warn_of_replicas(read.job->spec, all);
          reply_check(read.job->spec, all, seconds_per_unit, respond);
        });
      },
      respond);
}

// What this machine finds counts where workers are, or where no other machine has answered.
void Api::check_on_machines(const ParsedJob& job, std::function<void(const Diagnostics&)> then) {
  struct Found {
    std::optional<Diagnostics> here;
    std::optional<std::vector<FoundOnHost>> there;
  };
  const auto found = std::make_shared<Found>();
  const auto join = [found, with_own = parts_.local_workers > 0, then = std::move(then)] {
    if (!found->here || !found->there) return;
    std::vector<FoundOnHost> hosts = *found->there;
    const bool answered = std::any_of(hosts.begin(), hosts.end(), [](const FoundOnHost& host) { return host.found.has_value(); });
    if (with_own || !answered) hosts.insert(hosts.begin(), FoundOnHost{kOwnMachine, found->here});
    then(merged(hosts));
  };
  parts_.preflight.check(job.canonical, [found, join](const Diagnostics& here) {
    found->here = here;
    join();
  });
  const auto asked =
      remote_checks_.check(job.canonical, parts_.engine.scheduler().workers(), [found, join](std::vector<FoundOnHost> there) {
        found->there = std::move(there);
        join();
      });
  for (const WorkerId& worker : asked) parts_.engine.release_held(worker);
}

void Api::reply_check(const JobSpec& spec, const Diagnostics& found, std::optional<double> seconds_per_unit,
                      const Respond& respond) {
  const auto produce = [spec, found, seconds_per_unit, workers = workers_now()](Reader& reader,
                                                                                const Sink& sink) -> Result<void> {
    Diagnostics all = found;
    Json capacity;
    if (all.ok()) {
      std::optional<UnitTime> unit;
      if (seconds_per_unit) {
        unit = UnitTime{*seconds_per_unit, ""};
      } else if (const auto measured = reader.measured_unit_time(spec)) {
        unit = UnitTime{measured->seconds_per_unit, measured->job};
      }
      capacity = capacity_of(spec, workers, unit, all);
    }
    const Json json{{"ok", all.ok()},
                    {"errors", faults_json(all.errors())},
                    {"warnings", faults_json(all.warnings())},
                    {"capacity", capacity}};
    sink(json_line(json));
    return {};
  };
  forecasts_.run(HttpReply{}, produce, respond);
}

}  // namespace tuneband::server
