// The local workers: starts them, keeps them alive, reaps them.
//
// Workers outlive a server that is killed. What runs is written down in the data directory (pid and start time), and a server
// that starts again adopts the living ones and starts only those that are missing.
//
// Loop thread only. The thread must live as long as the process: with end_with_parent the system ends the workers when the thread
// that started them ends.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "os/child_process.hpp"
#include "os/restart_delay.hpp"
#include "server/data/data_dir.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/worker_end.hpp"

namespace tuneband::server {

struct SupervisorOptions {
  std::string worker_program;  // path of tuneband-worker
  std::string server_url;
  std::string token_file = {};  // "": the server has no token
  int workers = 1;
  int threads_per_worker = 1;
  bool end_with_parent = false;
  int stall_s = 300;                     // a call to a file that does not come back for so long fails its trial; 0: never
  std::int64_t grace_ms = 15'000;        // between SIGTERM and SIGKILL when stopping, or longer
  std::int64_t silence_ms_max = 60'000;  // a worker that runs and says nothing for so long hangs: it is killed and replaced
  std::int64_t last_word_ms = 2'000;     // on top: a server that was stopped itself hears first what was said meanwhile
  os::RestartDelay restart_delay;        // of each worker
};

class Supervisor {
 public:
  // A worker process ended, and said before under which id it syncs.
  struct WorkerEnd {
    WorkerId worker;
    protocol::WorkerEnd how;
  };
  using WorkerEnded = std::function<void(const WorkerEnd&)>;

  Supervisor(boost::asio::io_context& loop, const DataDir& data_dir, SupervisorOptions options, WorkerEnded worker_ended);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void start();

  // From the engine: which process syncs under which id.
  void worker_synced(const WorkerId& worker, const protocol::SyncRequest& request);

  // SIGTERM to all, SIGKILL after grace_ms, or `needed_ms` where that is more, to those still there; `stopped` is called once
  // none is left.
  void stop(std::int64_t needed_ms, std::function<void()> stopped);
  // SIGKILL to all, at once; nothing is waited for.
  void kill_all();

  struct View {
    std::string name;
    std::int64_t pid = 0;  // 0: not running
  };
  std::vector<View> workers() const;
  // Whether it is the id of one of these, or of the one before: how it ended is in the log.
  bool tells_of(const WorkerId& worker) const;
  // Those that ended, or could not be started, and wait for their next start.
  std::size_t workers_down() const;

 private:
  struct Slot;

  void start_or_adopt(Slot& slot);
  bool adopt(Slot& slot);
  void launch(Slot& slot);
  void write_down(const Slot& slot) const;
  void watch(Slot& slot);
  void expect_word(Slot& slot, std::int64_t within_ms, bool last_chance);
  void ended(Slot& slot);
  protocol::WorkerEnd end_of(Slot& slot, const std::optional<os::ChildEnd>& end, bool asked);
  void restart_later(Slot& slot, std::chrono::milliseconds delay);
  void retire_surplus();
  void finish_if_stopped();
  std::vector<std::string> arguments_for(const std::string& name) const;

  boost::asio::io_context& loop_;
  const DataDir& data_dir_;
  SupervisorOptions options_;
  WorkerEnded worker_ended_;
  std::vector<std::unique_ptr<Slot>> slots_;
  bool stopping_ = false;
  std::function<void()> stopped_;
  boost::asio::steady_timer grace_;
};

}  // namespace tuneband::server
