#include "server/remote_checks.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kOrdersWaitingMax = 16;  // for one worker
constexpr std::size_t kKnownMax = 20'000;      // workers
constexpr std::size_t kDocumentBytesMax = 1024 * 1024;

// A short training is for the server's machine alone.
Json document_to_send(const std::string& text) {
  const auto document = parse_json(text);
  if (!document || !document->is_object()) return Json::object();
  Json sent = *document;
  if (sent.contains("trainer") && sent["trainer"].is_object()) sent["trainer"].erase("preflight");
  return sent;
}

// The same fault on several machines.
struct SharedFault {
  Error error;
  std::vector<std::string> hosts;
};

std::vector<SharedFault> shared_faults(const std::vector<FoundOnHost>& hosts,
                                       const std::vector<Error>& (Diagnostics::*kind)() const) {
  std::vector<SharedFault> shared;
  for (const FoundOnHost& host : hosts) {
    if (!host.found) continue;
    for (const Error& error : ((*host.found).*kind)()) {
      const auto same = std::find_if(shared.begin(), shared.end(), [&](const SharedFault& other) {
        return other.error.path == error.path && other.error.message == error.message;
      });
      if (same == shared.end()) {
        shared.push_back({error, {host.host}});
      } else if (same->hosts.back() != host.host) {
        same->hosts.push_back(host.host);
      }
    }
  }
  return shared;
}

std::string with_hosts(const SharedFault& fault, std::size_t answered) {
  const bool everywhere = fault.hosts.size() == answered && (answered > 1 || fault.hosts.front() == kOwnMachine);
  return everywhere ? fault.error.message : "on " + join_and(fault.hosts) + ": " + fault.error.message;
}

}  // namespace

Diagnostics merged(const std::vector<FoundOnHost>& hosts) {
  Diagnostics all;
  std::vector<std::string> silent;
  std::size_t answered = 0;
  bool one_can = false;
  for (const FoundOnHost& host : hosts) {
    if (!host.found) silent.push_back(host.host);
    if (host.found) ++answered;
    if (host.found && host.found->ok()) one_can = true;
  }
  for (const SharedFault& fault : shared_faults(hosts, &Diagnostics::errors)) {
    const std::string message = with_hosts(fault, answered);
    if (one_can) {
      all.warning(fault.error.path, message + " (trials there would fail; others can run it)", fault.error.hint);
    } else {
      all.error(fault.error.path, message, fault.error.hint);
    }
  }
  for (const SharedFault& fault : shared_faults(hosts, &Diagnostics::warnings))
    all.warning(fault.error.path, with_hosts(fault, answered), fault.error.hint);
  if (!silent.empty()) {
    all.warning("", "not checked on " + join_and(silent) + ": no worker there has answered in time",
                "a worker looks by itself before its first trial of the job");
  }
  return all;
}

void RemoteChecks::note_call(const WorkerId& worker, const protocol::SyncRequest& request) {
  if (known_.size() >= kKnownMax && !known_.contains(worker)) known_.clear();  // those that are there call again
  known_[worker] = {request.host, request.checks_jobs};
  if (!request.check_result) return;
  const auto check = checks_.find(request.check_result->id);
  if (check == checks_.end()) return;  // too late
  const auto asked = check->second.asked.find(worker);
  if (asked == check->second.asked.end()) return;
  check->second.found[asked->second].found = request.check_result->found;
  check->second.asked.erase(asked);
  if (check->second.asked.empty()) finish(check->first);
}

bool RemoteChecks::is_elsewhere(const WorkerId& worker) const {
  const auto known = known_.find(worker);
  return known != known_.end() && !known->second.host.empty() && known->second.host != options_.own_host;
}

void RemoteChecks::add_to(const WorkerId& worker, protocol::SyncReply& reply) {
  if (reply.order) reply.order->look_first = is_elsewhere(worker);
  const auto orders = orders_.find(worker);
  if (orders == orders_.end()) return;
  reply.check = std::move(orders->second.front());
  orders->second.erase(orders->second.begin());
  if (orders->second.empty()) orders_.erase(orders);
}

std::vector<WorkerId> RemoteChecks::check(const std::string& text, const std::vector<WorkerView>& workers, Checked checked) {
  struct Host {
    WorkerId worker;
    bool idle = false;
    int workers = 0;
  };
  std::map<std::string, Host> hosts;
  std::set<WorkerId> there;
  for (const WorkerView& worker : workers) {
    there.insert(worker.id);
    if (!is_elsewhere(worker.id) || worker.draining) continue;
    const Known& known = known_.at(worker.id);
    Host& host = hosts[known.host];
    ++host.workers;
    if (!known.checks || text.size() > kDocumentBytesMax ||
        (orders_.contains(worker.id) && orders_[worker.id].size() >= kOrdersWaitingMax))
      continue;
    const bool idle = !worker.trial && !worker.occupied;
    if (!host.worker.value.empty() && (host.idle || !idle)) continue;
    host.worker = worker.id;
    host.idle = idle;
  }
  std::erase_if(known_, [&](const auto& known) { return !there.contains(known.first); });
  std::erase_if(orders_, [&](const auto& orders) { return !there.contains(orders.first); });

  const Json document = hosts.empty() ? Json() : document_to_send(text);
  Check check{++last_id_, {}, {}, std::move(checked), std::make_unique<boost::asio::steady_timer>(loop_)};
  std::vector<WorkerId> asked;
  for (const auto& [name, host] : hosts) {
    if (!host.worker.value.empty()) {
      orders_[host.worker].push_back({check.id, std::min(host.workers, protocol::kMachineWorkersMax), document});
      check.asked.emplace(host.worker, check.found.size());
      asked.push_back(host.worker);
    }
    check.found.push_back({name, std::nullopt});
  }
  const std::int64_t id = check.id;
  check.patience->expires_after(std::chrono::milliseconds(asked.empty() ? 0 : options_.wait_ms));
  check.patience->async_wait([this, id](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(id);
  });
  checks_.emplace(id, std::move(check));
  return asked;
}

// What was not yet given to a worker is of no use any more.
void RemoteChecks::finish(std::int64_t id) {
  const auto found = checks_.find(id);
  if (found == checks_.end()) return;
  Check check = std::move(found->second);
  checks_.erase(found);
  for (auto orders = orders_.begin(); orders != orders_.end();) {
    std::erase_if(orders->second, [id](const protocol::CheckOrder& order) { return order.id == id; });
    orders = orders->second.empty() ? orders_.erase(orders) : std::next(orders);
  }
  check.patience->cancel();
  check.checked(std::move(check.found));
}

void RemoteChecks::stop() {
  checks_.clear();
  orders_.clear();
}

}  // namespace tuneband::server
