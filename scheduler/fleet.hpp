// The workers that are known, what each executes, and whose lease runs out next. Nothing of it is stored: workers say who they
// are when they sync, and a running trial's row says which worker has it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband {

struct Worker {
  WorkerId id;
  std::string name;
  std::vector<std::string> data_keys;
  Timestamp last_seen;
  bool draining = false;
  std::optional<Assignment> assignment;  // the one it has, or is about to hear of
  bool confirmed = false;                // it has reported the assignment's epoch
  bool occupied = false;                 // it still executes something that is no longer its own

  bool holds(const std::string& data_key) const;
};

class Fleet {
 public:
  Worker* find(const WorkerId& id);
  // Adds it when it is new; it was seen now.
  Worker& seen(const WorkerId& id, Timestamp now);
  void assign(Worker& worker, Assignment assignment);
  void unassign(Worker& worker);
  void set_draining(Worker& worker);
  void set_occupied(Worker& worker, bool occupied);
  void remove(const WorkerId& id);

  std::size_t size() const { return workers_.size(); }
  // Free for work, in order of their ids.
  const std::set<WorkerId>& idle() const { return idle_; }
  // The one not heard of for longest.
  std::optional<std::pair<Timestamp, WorkerId>> oldest() const;
  std::vector<WorkerView> views() const;

 private:
  void update_idle(const Worker& worker);

  std::unordered_map<WorkerId, Worker> workers_;
  std::set<WorkerId> idle_;
  std::set<std::pair<Timestamp, WorkerId>> by_last_seen_;
};

}  // namespace tuneband
