#include "scheduler/fleet.hpp"

#include <algorithm>

namespace tuneband {

bool Worker::holds(const std::string& data_key) const {
  return std::find(data_keys.begin(), data_keys.end(), data_key) != data_keys.end();
}

const Lack* Worker::lack_for(JobId job) const {
  const auto found = std::find_if(lacks.begin(), lacks.end(), [job](const Lack& lack) { return !lack.job || *lack.job == job; });
  return found == lacks.end() ? nullptr : &*found;
}

Worker* Fleet::find(const WorkerId& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

Worker& Fleet::seen(const WorkerId& id, Timestamp now) {
  auto [entry, added] = workers_.try_emplace(id);
  Worker& worker = entry->second;
  if (added) {
    worker.id = id;
    update_idle(worker);
  } else {
    by_last_seen_.erase({worker.last_seen, id});
  }
  worker.last_seen = now;
  by_last_seen_.insert({now, id});
  return worker;
}

void Fleet::all_seen(Timestamp now) {
  by_last_seen_.clear();
  for (auto& [id, worker] : workers_) {
    worker.last_seen = now;
    by_last_seen_.insert({now, id});
  }
}

void Fleet::update_idle(const Worker& worker) {
  if (!worker.assignment && !worker.draining && !worker.occupied) {
    idle_.insert(worker.id);
  } else {
    idle_.erase(worker.id);
  }
}

void Fleet::assign(Worker& worker, Assignment assignment) {
  if (worker.session != assignment.session) end_session(worker.session);
  worker.assignment = std::move(assignment);
  worker.confirmed = worker.restored = false;
  worker.unaware_calls = 0;
  worker.exit.reset();
  worker.overdue = false;
  worker.files_epoch = Epoch{};
  update_idle(worker);
}

void Fleet::unassign(Worker& worker) {
  worker.assignment.reset();
  worker.waits_for = "";
  update_idle(worker);
}

void Fleet::begin_session(std::int64_t session, const std::vector<WorkerId>& ranks) {
  for (const WorkerId& id : ranks) workers_.at(id).session = session;
  sessions_[session] = ranks;
}

void Fleet::end_session(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  for (const WorkerId& id : found->second) {
    if (Worker* worker = find(id)) worker->session = 0;
  }
  sessions_.erase(found);
}

void Fleet::set_draining(Worker& worker) {
  if (!worker.draining) ++draining_;
  worker.draining = true;
  update_idle(worker);
}

void Fleet::set_occupied(Worker& worker, bool occupied) {
  worker.occupied = occupied;
  update_idle(worker);
}

void Fleet::set_lacks(Worker& worker, std::vector<Lack> lacks) {
  worker.lacks = std::move(lacks);
  if (worker.lacks.empty()) {
    lacking_.erase(worker.id);
  } else {
    lacking_.insert(worker.id);
  }
}

int Fleet::usable(JobId job) const {
  const auto cannot = std::count_if(lacking_.begin(), lacking_.end(),
                                    [&](const WorkerId& id) { return !at(id).draining && at(id).lack_for(job) != nullptr; });
  return usable() - static_cast<int>(cannot);
}

const Lack* Fleet::lack_for(JobId job) const {
  for (const WorkerId& id : lacking_) {
    const Lack* lack = at(id).draining ? nullptr : at(id).lack_for(job);
    if (lack != nullptr) return lack;
  }
  return nullptr;
}

void Fleet::remove(const WorkerId& id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  by_last_seen_.erase({found->second.last_seen, id});
  idle_.erase(id);
  lacking_.erase(id);
  if (found->second.draining) --draining_;
  end_session(found->second.session);
  workers_.erase(found);
}

std::optional<std::pair<Timestamp, WorkerId>> Fleet::oldest() const {
  if (by_last_seen_.empty()) return std::nullopt;
  return *by_last_seen_.begin();
}

std::vector<WorkerView> Fleet::views() const {
  std::vector<WorkerView> views;
  views.reserve(workers_.size());
  for (const auto& [id, worker] : workers_) {
    WorkerView view;
    view.id = id;
    view.name = worker.name;
    view.last_seen = worker.last_seen;
    view.draining = worker.draining;
    view.occupied = worker.occupied;
    view.data_keys = worker.data_keys;
    view.lacks = worker.lacks;
    if (worker.assignment) {
      view.rank = worker.assignment->rank;
      view.world_size = worker.assignment->world_size;
      view.trial = worker.assignment->trial;
      view.epoch = worker.assignment->epoch;
    }
    views.push_back(std::move(view));
  }
  std::sort(views.begin(), views.end(),
            [](const WorkerView& a, const WorkerView& b) { return a.name != b.name ? a.name < b.name : a.id < b.id; });
  return views;
}

}  // namespace tuneband
