// The driver of the core (scheduler/scheduler.hpp): the only thing in the server that decides when a step happens and what is
// told to whom.
//
//   submit() -> queue -> step() of each queued event, in order -> one commit of all their writes -> listeners, callbacks, replies
//
// Group commit: while a commit is under way on the writer thread, further events queue up; they make the next batch. So under
// load many events share one fsync, and nothing is told to anyone before it is on disk. A commit that fails ends the process: the
// core has moved on and the rows have not, so the only way back is to start again from the rows.
//
// Every member is called on the loop thread (the one that runs the io_context), and every callback is called on it, never from
// within the call that hands it over.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "scheduler/scheduler.hpp"
#include "server/monotonic_clock.hpp"
#include "server/worker_messages.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {

// What the engine needs of the world outside.
struct EngineWorld {
  std::function<void(std::span<const Write>)> commit;  // on the writer thread, one call at a time; throws when it fails
  std::function<std::string(TrialId)> trial_dir;       // absolute
  std::function<bool()> tidy;  // on the writer thread, between commits: a bit of what is not kept any more; true: there is more
  // On the suggestions' thread, one call at a time.
  std::function<Suggestion(const SuggestionWanted&)> suggest = [](const SuggestionWanted& wanted) { return wanted.make(); };
  // On the writer thread, between commits; false: there is no such job or trial. Throws when it fails.
  std::function<bool(JobId, std::optional<int>, const std::string&, Timestamp)> put_note;
  // On the writer thread, between commits: what has become of telling the finding of a rule in a trial. Throws when it fails.
  std::function<void(TrialId, const std::string& rule, const std::string& state)> put_webhook;
  TrackerAddress tracker;  // for the ranks of distributed trials
  std::function<Timestamp()> wall_clock = read_wall_clock;
  std::function<std::optional<std::string>()>
      data_lost;  // on the writer thread, each second and after each commit: why the data is no longer where it was opened
  std::function<void(const std::string&)>
      commit_failed;  // on the writer thread; does not return. Empty: logs, then _Exit(kExitCommitFailed)
};

struct EngineOptions {
  SchedulerOptions scheduler;
  std::int64_t hold_ms = 7'000;  // an idle worker's call is held so long; shorter than the lease, or the hold looks like a loss
  std::int64_t sync_within_ms = 1'000;  // what an executing worker is told
  std::size_t queue_max = 10'000;       // events that wait for their step
};

inline constexpr int kExitCommitFailed = 74;  // EX_IOERR of sysexits.h

inline constexpr std::array<double, 8> kCommitBucketsSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5};

// Since the start, for /metrics.
struct EngineStats {
  std::uint64_t events = 0;
  std::uint64_t commits = 0;
  std::uint64_t writes = 0;
  std::uint64_t refused = 0;                                                 // events turned away because the queue was full
  double commit_seconds = 0;                                                 // spent in commit(), in all
  std::array<std::uint64_t, kCommitBucketsSeconds.size()> commits_within{};  // kCommitBucketsSeconds, each with those before it
  double step_seconds = 0;                                                   // spent in step(), in all
  double suggestion_seconds = 0;                                             // spent on suggestions, in all
  std::size_t suggestions = 0;                                               // wanted and not yet made, now
  std::size_t queue_length = 0;                                              // now
  std::size_t held_calls = 0;                                                // now
};

class Engine {
 public:
  using Committed = std::function<void(std::span<const Notice>)>;  // what the event's own step said
  using SyncReplied = std::function<void(const protocol::SyncReply&)>;
  using WatchCaller = std::function<void(std::function<void()> gone)>;  // asks to be told when the caller goes unanswered
  using Listener = std::function<void(std::span<const Write>)>;         // writes of one batch, in order
  using SyncListener = std::function<void(const WorkerId&, const protocol::SyncRequest&)>;

  Engine(boost::asio::io_context& loop, EngineOptions options, EngineWorld world);
  ~Engine();  // waits for a commit and a suggestion under way
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Once, before anything else: the core as the rows say. `specs`: of every job that has not ended.
  void restore(const Snapshot& snapshot, const std::vector<std::pair<JobId, JobSpec>>& specs);

  // `committed` is called once the event's writes are on disk. Errors: `unavailable` when the queue is full or the engine is
  // stopping; then nothing happens and `committed` is never called.
  Result<void> submit(Event event, Committed committed = {});

  // A worker's call. An idle worker's, or one of a rank that waits for its peers, is held until there is something for it or
  // hold_ms have passed; a newer call of the same worker replaces a held one. An idle worker that goes while its call is held
  // (`watch` is asked to tell) is given nothing until it calls again. One that has `ended` is lost. Errors as of submit(), and
  // `invalid_argument` for an exit class that does not exist.
  Result<void> sync(const WorkerId& worker, const protocol::SyncRequest& request, SyncReplied replied, WatchCaller watch = {});

  // Answers a call that is held with nothing to do, so that the worker calls again at once.
  void release_held(const WorkerId& worker) { answer_held_at_last(worker, 1); }

  // A user's note on a job or a trial, which decides nothing: it goes to the writer as commits do, and around the core. `done` is
  // called once it is on disk, with whether there is such a job or trial. Errors: as of submit().
  Result<void> put_note(JobId job, std::optional<int> trial, std::string note, std::function<void(bool)> done);

  // What has become of telling a finding, in the same way.
  Result<void> put_webhook(TrialId trial, std::string rule, std::string state, std::function<void()> done);

  // Logs that a worker is told to end: once, however often it calls.
  void log_sent_away(const WorkerId& worker, const std::string& version);

  // Called after each commit, before the callbacks of its events, in the order in which they were added.
  void add_listener(Listener listener);
  // Called for each sync() that was taken, before its step.
  void add_sync_listener(SyncListener listener);

  // Why nothing is taken any more: the data is lost. What was not yet told to anyone never will be.
  const std::optional<std::string>& lost() const { return lost_; }
  // Called once lost() says something.
  void set_on_loss(std::function<void()> on_loss) { on_loss_ = std::move(on_loss); }

  // No new jobs from now on (unavailable); workers go on.
  void refuse_jobs();
  // Takes nothing more, answers the held calls, finishes what is queued, then calls `stopped`.
  void stop(std::function<void()> stopped);

  const Scheduler& scheduler() const { return scheduler_; }  // for workers() and waiting_by_reason()
  EngineStats stats() const;

 private:
  struct Queued {
    Event event;
    Committed committed;
  };
  struct Stepped {
    std::vector<Notice> notices;
    Committed committed;
  };
  struct Caller {
    SyncReplied replied;
    WatchCaller watch;
  };
  struct HeldCall {
    SyncReplied replied;
    protocol::SyncReply at_last;  // the answer when nothing comes
    std::uint64_t sequence = 0;
    bool outdated = false;  // the worker has called again, and is to be answered there
    boost::asio::steady_timer timer;
  };

  void enqueue(Event event, Committed committed);
  void schedule_batch();
  void run_batch();
  void step_queued();
  void make_on_suggester(const SuggestionWanted& wanted);
  void suggestion_made(SuggestionMade made, double seconds);
  void commit_on_writer();
  void committed(double seconds);
  bool leaves_something_over();
  void tidy_on_writer();
  void tidy_a_bit();
  // Around the core, between commits; `done` gets what `write` gives. Errors: as of submit().
  Result<void> write_beside(std::function<bool()> write, std::function<void(bool)> done);
  void look_at_data_on_writer();
  bool finds_loss_on_writer();  // then the loop is told
  void failed_on_writer(const std::string& why);
  void lose(const std::string& why);
  void deliver();
  void reply_to_caller(const WorkerId& worker, const Caller& caller, bool executing, std::span<const Notice> notices);
  void hold(const WorkerId& worker, const Caller& caller, protocol::SyncReply at_last);
  void caller_gone(const WorkerId& worker, std::uint64_t sequence);
  void answer_held_at_last(const WorkerId& worker, std::int64_t sync_within_ms);
  void answer_held(const WorkerId& worker, const protocol::SyncReply& reply);
  protocol::SyncReply to_sync_reply(const WorkerReply& reply) const;
  void arm_deadline();
  void note_time();
  void keep_noting_time();
  void finish_stop();

  boost::asio::io_context& loop_;
  EngineOptions options_;
  EngineWorld world_;
  Scheduler scheduler_;
  MonotonicClock clock_;
  std::deque<Queued> queue_;
  std::vector<Stepped> batch_;       // stepped, not yet delivered
  std::vector<Write> batch_writes_;  // of batch_; while a commit is under way the writer thread reads it and nobody writes it
  std::size_t events_since_tidy_ = 0;
  std::atomic<bool> tidying_ = false;  // the writer has a bit of it to do; set by the loop, cleared by the writer
  bool batch_scheduled_ = false;       // a batch is posted or under way
  bool jobs_refused_ = false;
  bool stopping_ = false;
  std::optional<std::string> lost_;
  std::function<void()> on_loss_ = [] {};
  std::function<void()> stopped_;
  std::map<WorkerId, HeldCall> held_;
  std::uint64_t held_sequence_ = 0;
  std::deque<std::pair<WorkerId, std::string>> sent_away_;  // of whom the log says so, with their versions; the last ones
  std::vector<Listener> listeners_;
  std::vector<SyncListener> sync_listeners_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer tick_;
  std::optional<Timestamp> noted_;  // when note_time() last looked
  bool time_passed_queued_ = false;
  EngineStats stats_;
  std::atomic<bool> ending_ = false;  // what can wait for the next run does
  boost::asio::thread_pool writer_{1};
  boost::asio::thread_pool suggester_{1};  // what models compute takes long: nobody else waits for it
};

}  // namespace tuneband::server
