// Checks of a job's document on the machines of workers that are not the server's own.
//
// A worker of each such machine is asked in the reply to its call, and says what it found with a later call. Machines whose
// workers do not come within `wait_ms` are told of as not checked: a worker looks by itself before its first trial of a job
// (workers/sync_loop). Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "os/host_name.hpp"
#include "scheduler/scheduler.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {

// What was found on one machine; nothing: it did not say.
struct FoundOnHost {
  std::string host;
  std::optional<Diagnostics> found;
};

inline constexpr const char* kOwnMachine = "the server's machine";  // as a host's name

// One word of several machines: what all of them found is told once, the rest with their names. A job that one of them can run is
// not refused: what keeps the others from it is a warning then.
Diagnostics merged(const std::vector<FoundOnHost>& hosts);

struct RemoteChecksOptions {
  std::string own_host = os::host_name();  // whose workers are not asked: this machine is checked anyway
  std::int64_t wait_ms = 10'000;           // for all of them together
};

class RemoteChecks {
 public:
  using Checked = std::function<void(std::vector<FoundOnHost>)>;

  RemoteChecks(boost::asio::io_context& loop, RemoteChecksOptions options) : loop_(loop), options_(std::move(options)) {}
  ~RemoteChecks() { stop(); }
  RemoteChecks(const RemoteChecks&) = delete;
  RemoteChecks& operator=(const RemoteChecks&) = delete;

  // Each call of a worker, before it is answered: where it is, and what it found.
  void note_call(const WorkerId& worker, const protocol::SyncRequest& request);
  // To the reply to a call of a worker that takes them: what it is to check, each order once; and that it looks at a job before
  // its first trial of it.
  void add_to(const WorkerId& worker, protocol::SyncReply& reply);

  // Asks one worker of each other machine among `workers`, an idle one where there is one. `checked` is called with all of them,
  // in the order of their names; where there is nobody to wait for, soon. `document`: the job's JSON, its paths absolute; a very
  // large one is not sent. Gives the workers that were asked, whose calls should not be held.
  std::vector<WorkerId> check(const std::string& document, const std::vector<WorkerView>& workers, Checked checked);
  // Nothing is waited for any more.
  void stop();

 private:
  struct Known {
    std::string host;
    bool checks = false;
  };
  struct Check {
    std::int64_t id = 0;
    std::map<WorkerId, std::size_t> asked;  // index into found
    std::vector<FoundOnHost> found;
    Checked checked;
    std::unique_ptr<boost::asio::steady_timer> patience;
  };

  bool is_elsewhere(const WorkerId& worker) const;
  void finish(std::int64_t id);

  boost::asio::io_context& loop_;
  RemoteChecksOptions options_;
  std::map<WorkerId, Known> known_;
  std::map<WorkerId, std::vector<protocol::CheckOrder>> orders_;
  std::map<std::int64_t, Check> checks_;
  std::int64_t last_id_ = 0;
};

}  // namespace tuneband::server
