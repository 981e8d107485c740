#include "server/rendezvous.hpp"

#include <string>

#include "server/log.hpp"

namespace tuneband::server {

void Rendezvous::on_committed(std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (const auto* trial = std::get_if<TrialRow>(&write)) see(*trial);
  }
}

void Rendezvous::restore(const Snapshot& snapshot) {
  for (const TrialRow& trial : snapshot.trials) see(trial);
}

// Every segment of a group may be the first of a session; a group that goes on with its session does not come.
void Rendezvous::see(const TrialRow& trial) {
  const bool runs = trial.state == TrialState::running && trial.replicas() > 1;
  const auto known = expected_.find(trial.id);
  if (known != expected_.end()) {
    if (runs && known->second == trial.epoch) return;
    tracker_.forget(std::to_string(known->second.value));
    expected_.erase(known);
  }
  if (!runs) return;
  const std::string group = std::to_string(trial.epoch.value);
  expected_[trial.id] = trial.epoch;
  tracker_.expect(group, trial.replicas(), [group](bool formed, const std::string& why) {
    if (!formed) log_warning("the ranks of a distributed trial did not meet", {{"session", group}, {"reason", why}});
  });
}

}  // namespace tuneband::server
