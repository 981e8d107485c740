// What a store does with the core's writes, in memory: rows by key, the last write counts, of observations the first.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/rows.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::test {

class RowStore {
 public:
  void commit(std::span<const Write> writes);
  // As a store loads it.
  Snapshot load() const;

  const std::map<JobId, JobRow>& jobs() const { return jobs_; }
  const std::map<TrialId, TrialRow>& trials() const { return trials_; }
  const std::map<std::pair<TrialId, int>, DecisionRow>& decisions() const { return decisions_; }
  const std::map<std::pair<TrialId, std::int64_t>, ObservationRow>& observations() const { return observations_; }
  const std::map<std::pair<TrialId, Epoch>, SegmentRow>& segments() const { return segments_; }
  const std::vector<EventRow>& events() const { return events_; }

 private:
  void put(const JobRow& row);
  void put(const TrialRow& row) { trials_[row.id] = row; }
  void put(const SegmentRow& row) { segments_[{row.trial, row.epoch}] = row; }
  void put(const ObservationRow& row) {
    if (row.replaces) observations_.erase({row.trial, row.resource});
    observations_.try_emplace({row.trial, row.resource}, row);
  }
  void put(const DecisionRow& row) { decisions_[{row.trial, row.rung}] = row; }
  void put(const FindingRow& row) { findings_.try_emplace({row.trial, row.rule}, row); }
  void put(const EventRow& row) { events_.push_back(row); }
  void put(const DeleteJob& deletion);

  std::map<JobId, JobRow> jobs_;
  std::map<TrialId, TrialRow> trials_;
  std::map<std::pair<TrialId, Epoch>, SegmentRow> segments_;
  std::map<std::pair<TrialId, int>, DecisionRow> decisions_;
  std::map<std::pair<TrialId, std::int64_t>, ObservationRow> observations_;
  std::map<std::pair<TrialId, std::string>, FindingRow> findings_;
  std::vector<EventRow> events_;
  std::int64_t last_job_id_ = 0;
};

// The specs of every job of the snapshot that has not ended, parsed from its document.
std::vector<std::pair<JobId, JobSpec>> specs_of(const Snapshot& snapshot);

// "" when both hold the same rows, else what differs first.
std::string difference(const Snapshot& a, const Snapshot& b);

}  // namespace tuneband::test
