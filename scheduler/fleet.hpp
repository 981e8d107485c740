// The workers that are known, what each executes, and whose lease runs out next. Nothing of it is stored: workers say who they
// are when they sync, and a running trial's row says which worker has it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
  int unaware_calls = 0;                 // in a row: it knew nothing of the assignment
  bool restored = false;                 // the assignment is from before a restart: whether it heard of it is not known
  std::optional<ExitClass> exit;         // of its segment, while other ranks go on
  std::string exit_message;
  std::string exit_crash;
  bool overdue = false;        // its group is done without it: it is told to end
  Epoch files_epoch;           // in whose directory it writes
  std::string_view waits_for;  // on its machine, with its assignment; "": nothing
  std::int64_t session = 0;    // of the group that it is warm for; 0: none
  std::string address;
  int free_port = 0;
  bool occupied = false;  // it still executes something that is no longer its own
  std::vector<Lack> lacks;

  bool holds(const std::string& data_key) const;
  // What its machine lacks for the job; null: nothing.
  const Lack* lack_for(JobId job) const;
};

class Fleet {
 public:
  Worker* find(const WorkerId& id);
  const Worker& at(const WorkerId& id) const { return workers_.at(id); }
  // Adds it when it is new; it was seen now.
  Worker& seen(const WorkerId& id, Timestamp now);
  void all_seen(Timestamp now);
  void assign(Worker& worker, Assignment assignment);
  void unassign(Worker& worker);
  void set_draining(Worker& worker);
  // These workers, by rank, keep what they set up together until one of them is lost, fails, or does something else.
  void begin_session(std::int64_t session, const std::vector<WorkerId>& ranks);
  void end_session(std::int64_t session);
  const std::map<std::int64_t, std::vector<WorkerId>>& sessions() const { return sessions_; }
  void set_occupied(Worker& worker, bool occupied);
  void set_lacks(Worker& worker, std::vector<Lack> lacks);
  void remove(const WorkerId& id);

  std::size_t size() const { return workers_.size(); }
  int usable() const { return static_cast<int>(workers_.size()) - draining_; }
  // Of these, those whose machines lack nothing for the job.
  int usable(JobId job) const;
  // Free for work, in order of their ids.
  const std::set<WorkerId>& idle() const { return idle_; }
  // Of those that do not end, one whose machine lacks something for the job; null: there is none.
  const Lack* lack_for(JobId job) const;
  // Whose machines lack something for some job.
  const std::set<WorkerId>& lacking() const { return lacking_; }
  // The one not heard of for longest.
  std::optional<std::pair<Timestamp, WorkerId>> oldest() const;
  std::vector<WorkerView> views() const;

 private:
  void update_idle(const Worker& worker);

  std::unordered_map<WorkerId, Worker> workers_;
  std::set<WorkerId> idle_;
  std::set<WorkerId> lacking_;  // something, for some job
  std::map<std::int64_t, std::vector<WorkerId>> sessions_;
  int draining_ = 0;
  std::set<std::pair<Timestamp, WorkerId>> by_last_seen_;
};

}  // namespace tuneband
