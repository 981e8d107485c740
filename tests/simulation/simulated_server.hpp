// The driver of the core as the server's engine is one (step, commit, deliver; calls of idle workers are held), on a simulated
// clock, with the real store or rows in memory. It may be killed at any batch: before the commit, after it, or between two
// deliveries; or its disk is full. Then a new core is restored from the rows. After every step the invariants are checked.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "scheduler/scheduler.hpp"
#include "server/monotonic_clock.hpp"
#include "tests/rows/log_replay.hpp"
#include "tests/rows/row_store.hpp"
#include "tests/simulation/draw.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/simulation/simulated_clock.hpp"
#include "tests/simulation/story.hpp"

namespace tuneband::test {

// How a server ends. The last batch is committed as a whole or not at all; nobody, some or all hear of it.
enum class Death { none, before_commit, commit_fails, after_commit, while_delivering, after_delivery };

class SimulatedServer {
 public:
  using WorkerReplied = std::function<void(const std::optional<WorkerReply>&)>;  // nothing: the connection was refused or broke
  using JobReplied = std::function<void(const std::optional<JobReply>&)>;

  // `store_path`: empty for rows in memory.
  SimulatedServer(SimulatedClock& clock, Draw& draw, const Faults& faults, Story& story, const std::string& store_path);

  void sync(const WorkerSynced& message, WorkerReplied replied);
  void ask(const Event& event, JobReplied replied);
  void tell(const Event& event);  // a worker's process ended

  const RowStore& rows() const { return rows_; }
  int kills() const { return kills_; }
  void expect_lies() { invariants_.peers_lie(); }
  int batches() const { return batches_; }
  // Besides what is drawn: the end of the batch with this number, counted from 1.
  void die_at_batch(int batch, Death death) { planned_death_ = {batch, death}; }

 private:
  struct Queued {
    Event event;
    WorkerReplied worker_replied;
    JobReplied job_replied;
  };
  struct Held {
    WorkerReplied replied;
    WorkerReply at_last;  // when nothing comes
    std::uint64_t sequence = 0;
  };
  struct Stepped {
    Queued queued;
    std::vector<Notice> notices;
  };

  Timestamp now() { return server_clock_.now(); }
  void jump();
  std::function<Timestamp()> wall_clock() const;
  Death drawn_death();
  void enqueue(Queued queued);
  void refuse(const Queued& queued);
  void run_batch();
  std::vector<Stepped> step_queued(std::vector<Write>& writes, bool committed);
  void step_checked(const Event& event, Outcome& outcome);
  void commit(const std::vector<Write>& writes);
  void fail_to_commit(std::vector<Write> writes);
  void check_live_core();
  void deliver(const std::vector<Stepped>& batch, std::size_t count);
  void make_later(const SuggestionWanted& wanted);
  void hold(WorkerReplied replied, WorkerReply at_last);
  void answer_held_at_last(const WorkerId& worker);
  void answer_held(const WorkerId& worker, const WorkerReply& reply);
  void arm_deadline();
  void kill();
  void restart();
  Snapshot load();

  static constexpr std::int64_t kEpochMs = 1'700'000'000'000;

  SimulatedClock& clock_;
  Draw& draw_;
  const Faults& faults_;
  Story& story_;
  std::optional<Store> store_;
  RowStore rows_;
  LogReplay log_;
  Invariants invariants_;
  std::optional<Scheduler> scheduler_;  // nothing: the server is down
  std::deque<Queued> queue_;
  std::map<WorkerId, Held> held_;
  std::uint64_t held_sequence_ = 0;
  std::uint64_t life_ = 0;  // of the server's process: what an earlier one wanted to do does not happen
  std::uint64_t deadline_ = 0;
  bool batch_scheduled_ = false;
  std::int64_t jumped_ms_ = 0;  // of the wall clock
  server::MonotonicClock server_clock_;
  int kills_ = 0;
  int batches_ = 0;
  int steps_ = 0;
  std::pair<int, Death> planned_death_{0, Death::none};
};

}  // namespace tuneband::test
