#include "tests/rows/row_store.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/random.hpp"
#include "tests/rows/row_text.hpp"

namespace tuneband::test {

void RowStore::commit(std::span<const Write> writes) {
  for (const Write& write : writes) std::visit([&](const auto& row) { put(row); }, write);
}

void RowStore::put(const JobRow& row) {
  const auto [entry, added] = jobs_.try_emplace(row.id, row);
  last_job_id_ = std::max(last_job_id_, row.id.value);
  if (added) return;
  std::string spec_json = std::move(entry->second.spec_json);
  entry->second = row;
  entry->second.spec_json = std::move(spec_json);
}

void RowStore::put(const DeleteJob& deletion) {
  jobs_.erase(deletion.job);
  std::erase_if(trials_, [&](const auto& entry) { return entry.first.job == deletion.job; });
  std::erase_if(segments_, [&](const auto& entry) { return entry.first.first.job == deletion.job; });
  std::erase_if(decisions_, [&](const auto& entry) { return entry.first.first.job == deletion.job; });
  std::erase_if(findings_, [&](const auto& entry) { return entry.first.first.job == deletion.job; });
  std::erase_if(observations_, [&](const auto& entry) { return entry.first.first.job == deletion.job; });
}

Snapshot RowStore::load() const {
  Snapshot snapshot;
  snapshot.last_job_id = last_job_id_;
  if (!events_.empty()) snapshot.last_event_id = events_.back().id;
  if (!events_.empty()) snapshot.last_event_at = events_.back().at;
  for (const auto& [id, job] : jobs_) {
    snapshot.jobs.push_back(job);
    if (!ended(job.state)) continue;
    snapshot.ended_documents[id] = stable_hash(job.spec_json);
    snapshot.jobs.back().spec_json.clear();
  }
  const auto under_way = [&](JobId id) { return !ended(jobs_.at(id).state); };
  for (const auto& [id, trial] : trials_) {
    if (under_way(id.job)) snapshot.trials.push_back(trial);
  }
  for (const auto& [key, segment] : segments_) {
    const TrialRow& trial = trials_.at(key.first);
    const bool lost = trial.state == TrialState::pending && segment.outcome == to_string(ExitClass::worker_lost);
    const bool may_go_on = trial.state == TrialState::running || lost;
    if (under_way(key.first.job) && may_go_on && trial.epoch == segment.epoch) snapshot.segments.push_back(segment);
  }
  for (const auto& [key, decision] : decisions_) {
    if (under_way(key.first.job)) snapshot.decisions.push_back(decision);
  }
  for (const auto& [key, finding] : findings_) {
    if (under_way(key.first.job)) snapshot.findings.push_back(finding);
  }
  std::sort(snapshot.findings.begin(), snapshot.findings.end(), [](const FindingRow& a, const FindingRow& b) {
    return std::pair(a.trial.job, a.sequence) < std::pair(b.trial.job, b.sequence);
  });
  std::sort(snapshot.decisions.begin(), snapshot.decisions.end(), [](const DecisionRow& a, const DecisionRow& b) {
    return std::pair(a.trial.job, a.sequence) < std::pair(b.trial.job, b.sequence);
  });
  return snapshot;
}

std::vector<std::pair<JobId, JobSpec>> specs_of(const Snapshot& snapshot) {
  std::vector<std::pair<JobId, JobSpec>> specs;
  for (const JobRow& job : snapshot.jobs) {
    if (ended(job.state)) continue;
    Diagnostics diagnostics;
    specs.emplace_back(job.id, JobSpec::parse(Json::parse(job.spec_json), diagnostics));
    TUNEBAND_CHECK(diagnostics.ok(), "a stored document was accepted once");
  }
  return specs;
}

namespace {

template <class Row>
std::string first_difference(const std::vector<Row>& a, const std::vector<Row>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size()) return "only in the second: " + describe_all(b[i]);
    if (i >= b.size()) return "only in the first: " + describe_all(a[i]);
    if (!(a[i] == b[i])) return "first: " + describe_all(a[i]) + "\nsecond: " + describe_all(b[i]);
  }
  return "";
}

}  // namespace

std::string difference(const Snapshot& a, const Snapshot& b) {
  if (a.last_job_id != b.last_job_id) return "last_job_id";
  if (a.last_event_id != b.last_event_id || a.last_event_at != b.last_event_at) return "last_event_id, last_event_at";
  if (auto text = first_difference(a.jobs, b.jobs); !text.empty()) return text;
  if (a.ended_documents != b.ended_documents) return "ended_documents";
  if (auto text = first_difference(a.trials, b.trials); !text.empty()) return text;
  if (auto text = first_difference(a.segments, b.segments); !text.empty()) return text;
  if (auto text = first_difference(a.decisions, b.decisions); !text.empty()) return text;
  return first_difference(a.findings, b.findings);
}

}  // namespace tuneband::test
