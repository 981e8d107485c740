// Gives back the disk that ended trials and deleted jobs no longer need; what is large goes on a thread of its own.
//
//   trial completed         everything stays: its model is the result, or for a command whatever it put beside its checkpoint
//   trial stopped, failed,  checkpoint and model go, the log stays. The job's best trials, at max_resource and at any rung, keep
//   or cancelled            them until another becomes the best; so do those whose model is among the best kModelsKept of such
//                           trials, which can be joined (docs/xgboost-trainer.md, "Several models joined")
//   job deleted             its directory goes
//
// It also shows what a trial has as the rows say (TrialRow::files_epoch): `checkpoint` and `model.ubj` in its directory lead to
// the files of that epoch, before anyone is told of it, and directories of earlier epochs go. A worker that was thought lost may
// write into its own epoch's directory for as long as it likes.
//
// A command that is held for a trial, or a worker thought lost, may write after that: a file tells the workers (kReleasedFile of
// the worker protocol), and they remove what was made anew.
//
// Always holds: only files that no trial will read again are removed. What a server that was killed left behind of a
// running job goes at the next start, of one that had just ended too, of another one with the job. Loop thread only.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "scheduler/rows.hpp"
#include "server/data/data_dir.hpp"

namespace tuneband::server {

inline constexpr std::size_t kModelsKept = 24;  // of a job's trials that did not complete

class TrialFiles {
 public:
  explicit TrialFiles(const DataDir& data_dir) : data_dir_(data_dir) {}
  ~TrialFiles();  // waits for what is queued
  // What is left of deleted jobs, hundreds of thousands of files perhaps, is for the next server's restore().
  void end_soon() { ends_soon_ = true; }
  TrialFiles(const TrialFiles&) = delete;
  TrialFiles& operator=(const TrialFiles&) = delete;

  // Once, at the start. No id may be given out over old files: directories of deleted jobs that are still there go, and those of
  // jobs that this database never had (another one was here before) are moved aside, to <id>.orphan, <id>.orphan.2, ...
  void restore(const Snapshot& snapshot);

  // A listener of the engine. Told again of a job that ended shortly before the server did, with its document and its trials, it
  // shows and removes what that server may not have come to.
  void on_committed(std::span<const Write> writes);

 private:
  void show(const TrialRow& trial);
  bool is_needed(TrialId trial) const;
  void job_changed(const JobRow& job);
  void rank_model(const TrialRow& trial);
  void trial_cut(const TrialRow& trial);
  void release_what_is_not_needed(JobId job);
  void release(TrialId trial);
  void sweep(const Snapshot& snapshot);
  void remove(std::string path);

  const DataDir& data_dir_;
  struct Shown {
    Epoch epoch;
    std::int64_t resource = 0;
    std::int64_t kept = 0;  // TrialRow::kept_resource
    bool operator==(const Shown&) const = default;
  };
  struct Needed {
    bool maximize = false;
    std::set<int> bests;                      // trials
    std::set<std::pair<double, int>> models;  // of trials that did not complete: what each costs, and the trial; the best first
  };
  std::map<TrialId, Shown> shown_;           // of jobs that run
  std::map<TrialId, TrialRow> shown_later_;  // with the next commit: there was no file handle for it
  std::map<JobId, Needed> needed_;           // by jobs that run
  std::set<TrialId> kept_;                   // ended without completing, and keep their files for being needed
  std::atomic<bool> ends_soon_ = false;
  boost::asio::thread_pool remover_{1};
};

}  // namespace tuneband::server
