// The rows on disk: the one writer. What the core wrote is committed in batches, and read back once at the start.
//
// Always holds: a batch is there as a whole or not at all; when commit() returns, it survives a power cut.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// The highest id that a job of this database ever had; 0: it never had one.
std::int64_t last_job_id(Connection& connection);

// Jobs that are not deleted. The database may be one of an older version, which is not upgraded yet.
std::int64_t count_jobs(Connection& connection);

// How much of the log is kept: the newest so many, and of those what is no older than the newest by so much. The newest stays.
struct EventRetention {
  std::int64_t events_max = 500'000;
  std::int64_t age_ms_max = std::int64_t{90} * 24 * 3600 * 1000;
};

class Store {
 public:
  // Throws where a job that has not ended, with its document, cannot go on.
  using JobCheck = std::function<void(const JobRow&)>;

  // Creates or migrates. Throws SqliteError: another program's file, a newer version's file, a damaged file, a log without its
  // file, no permission. It then leaves everything as it is. Of a database that is to be migrated `check` sees each job that has
  // not ended; with what it throws the version that wrote the database can still run it.
  static Store open(
      const std::string& path, const JobCheck& check = [](const JobRow&) {});

  // One transaction for the whole batch. Several writes of one row count as the last of them; of several observations at one
  // resource of a trial the first counts, or what replaces it. A job's spec_json is kept from its first write. Throws
  // SqliteError, leaving nothing of the batch.
  //
  // A deleted job is gone for everybody when this returns. The rows of a large one go bit by bit, by tidy().
  void commit(std::span<const Write> writes);

  // Takes away some rows of deleted jobs, and some of the log that are not kept any more, in some milliseconds. True: there are
  // more.
  bool tidy(const EventRetention& retention = {});

  // Of a job, or of one of its trials; "" takes it away. One transaction. False: there is no such job or trial.
  bool put_note(JobId job, std::optional<int> trial, const std::string& note, Timestamp at);

  // What has become of telling a finding. Nothing where there is none any more.
  void put_webhook(TrialId trial, const std::string& rule, const std::string& state);

  Snapshot load();
  // The job, which may have ended, with its document, and its trials, without their configurations.
  std::vector<Write> with_trials(JobRow job);

  // Brings what the log holds into the file itself, wherever both are by now. What cannot be written stays in the log.
  void keep_log() noexcept;

 private:
  Store(const std::string& path, const JobCheck& check);
  struct Batch;
  void remove(JobId job);
  bool tidy_deleted_jobs();
  bool tidy_events(const EventRetention& retention);
  bool remove_some(JobId job, std::string_view table, std::string_view key);
  void write(const Batch& batch);
  void write(const EventRow& event);
  void write(const JobRow& row, const std::string& spec_json);
  template <class Row>
  void put(Statement& statement, const Row& row);

  Connection connection_;
  Statement update_job_;
  Statement insert_job_;
  Statement put_trial_;
  Statement put_segment_;
  Statement put_observation_;
  Statement replace_observation_;
  Statement put_decision_;
  Statement put_finding_;
  Statement put_event_;
  Statement put_best_;
  Statement delete_job_;
};

}  // namespace tuneband
