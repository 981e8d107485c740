// Which job's next segment a free worker gets.
#include <algorithm>
#include <iterator>

#include "core/check.hpp"
#include "scheduler/scheduler_state.hpp"
#include "scheduler/trial_values.hpp"

namespace tuneband {

namespace {

// The least share time of those that contend for workers; the largest of all when none does.
class ShareStart {
 public:
  void add(std::int64_t time, bool contends) {
    if (contends) least_ = std::min(time, least_.value_or(time));
    most_ = std::max(time, most_);
  }
  std::int64_t time() const { return least_.value_or(most_); }

 private:
  std::optional<std::int64_t> least_;
  std::int64_t most_ = 0;
};

}  // namespace

void Scheduler::State::note_mean_segment() {
  WorkerUse::Sum all;
  for (const auto& [id, job] : jobs) all += job.use().over();
  mean_segment_ms = std::max<std::int64_t>(1, all.mean_ms());
}

// What a segment of this job lasts, in its own experience, or in that of all jobs.
std::int64_t Scheduler::State::typical_ms(const Job& job) const {
  return job.use().over().segments > 0 ? std::max<std::int64_t>(1, job.use().over().mean_ms()) : mean_segment_ms;
}

std::optional<std::int64_t> Scheduler::State::left_ms(const Assignment& assignment) {
  const Job& job = *find_job(assignment.trial.job);
  const TrialRow& trial = job.trial(assignment.trial.number);
  const SegmentRow& segment = job.segments().at(trial.id.number);
  const std::int64_t lasted_ms = std::max<std::int64_t>(0, now - segment.began_at);
  const std::int64_t done = trial.resource - segment.from_resource;
  if (done > 0) {
    const auto to_do = static_cast<double>(std::max<std::int64_t>(0, assignment.until_resource - trial.resource));
    return static_cast<std::int64_t>(static_cast<double>(lasted_ms) * to_do / static_cast<double>(done));
  }
  if (job.use().over().segments == 0) return std::nullopt;
  return std::max<std::int64_t>(0, job.use().over().mean_ms() - lasted_ms);
}

// Once its next segment is begun.
std::int64_t Scheduler::State::next_share_time(const Job& job) const {
  return job.share_time(now, typical_ms(job), job.replicas_at_least());
}

// Where a job begins that has had nothing yet, or that was held: with the one that has had the least of those that would run more
// now, so that it neither waits for what they have had before it came nor has to be made up for it; with none, where the last of
// all others is.
std::int64_t Scheduler::State::where_others_are(const Job& job) const {
  ShareStart start;
  for (const auto& [id, other] : jobs) {
    if (&other != &job) start.add(other.share_time(now, typical_ms(other), 0), other.has_work(fleet.usable(id)));
  }
  return start.time();
}

// The one that would have had the least of the workers for its weight (weighted fair queueing: Demers, Keshav, Shenker, "Analysis
// and simulation of a fair queueing algorithm", SIGCOMM 1989), ties to the oldest. One whose data the worker that asks holds goes
// before, as long as that puts it ahead by no more than one of its segments. One that no free worker can run has not its turn;
// nor, while free ones are gathered for another, one that has too few without them.
Job* Scheduler::State::neediest_job(const Worker* asking) {
  Job* best = nullptr;
  Job* warm = nullptr;
  std::int64_t best_time = 0;
  std::int64_t warm_time = 0;
  for (auto& [id, job] : jobs) {
    if (gathering == id || !job.has_work(fleet.usable(id))) continue;
    const std::size_t needs = gathering ? static_cast<std::size_t>(job.replicas_at_least()) : 1;
    if (free_for(id) < needs) continue;
    const std::int64_t time = next_share_time(job);
    if (best == nullptr || time < best_time) {
      best = &job;
      best_time = time;
    }
    const bool holds = asking != nullptr && !job.spec()->data_key.empty() && asking->holds(job.spec()->data_key);
    if (holds && (warm == nullptr || time < warm_time)) {
      warm = &job;
      warm_time = time;
    }
  }
  const bool may_go_before = warm != nullptr && warm_time - best_time <= warm->by_weight(typical_ms(*warm));
  return may_go_before ? warm : best;
}

// All free ones are those that a job's turn came for whose next trial still waits for its configuration: were they given away
// meanwhile, slow samplers would never get a worker.
bool Scheduler::State::all_are_kept() const {
  std::size_t kept = 0;
  std::size_t fit = fleet.idle().size();  // for each job that keeps some
  for (const auto& [id, job] : jobs) {
    if (!job.keeps_workers()) continue;
    kept += static_cast<std::size_t>(job.replicas_at_least());
    fit = std::min(fit, idle_and_fit_for(id));
  }
  return fit <= kept;
}

Assignment Scheduler::State::assignment_of(const Job& job, const TrialRow& trial) const {
  Assignment assignment;
  assignment.epoch = trial.epoch;
  assignment.trial = trial.id;
  assignment.configuration = trial.configuration;
  assignment.from_resource = trial.checkpoint_resource;
  assignment.files_epoch = trial.files_epoch;
  assignment.until_resource = trial.until_resource;
  assignment.max_resource = job.spec()->scheduler.max_resource;
  assignment.kept_value = value_to_better(*job.spec(), trial);
  if (job.row().best) assignment.best_value = job.row().best->value;
  assignment.attempt = trial.attempts;
  assignment.job = job.spec();
  return assignment;
}

// Each worker of the trial gets its rank; the others of a group are to answer to the first.
void Scheduler::State::assign(const Job& job, const TrialRow& trial, std::int64_t session) {
  const auto ranks = trial.ranks();
  Assignment assignment = assignment_of(job, trial);
  if (ranks.size() > 1) {
    const Worker& first = *fleet.find(ranks.front());
    assignment.world_size = static_cast<int>(ranks.size());
    assignment.session = session;
    assignment.master_address = first.address;
    assignment.master_port = first.free_port;
  }
  for (const WorkerId& id : ranks) {
    fleet.assign(*fleet.find(id), assignment);
    ++assignment.rank;
    to_answer.insert(id);
  }
  if (ranks.size() > 1) fleet.begin_session(session, ranks);
}

// A free worker whose machine lacks nothing for the job, and that is not gathered for another one.
bool Scheduler::State::is_free_for(const WorkerId& id, JobId job) const {
  if (!fleet.idle().contains(id)) return false;
  const Worker& worker = fleet.at(id);
  const bool gathered = gathering && *gathering != job && worker.lack_for(*gathering) == nullptr;
  return !gathered && worker.lack_for(job) == nullptr;
}

// Gathered for another job or not.
std::size_t Scheduler::State::idle_and_fit_for(JobId job) const {
  const auto is_unfit = [&](const WorkerId& id) { return fleet.idle().contains(id) && fleet.at(id).lack_for(job) != nullptr; };
  const auto unfit = std::count_if(fleet.lacking().begin(), fleet.lacking().end(), is_unfit);
  return fleet.idle().size() - static_cast<std::size_t>(unfit);
}

std::size_t Scheduler::State::free_for(JobId job) const {
  if (!gathering || *gathering == job) return idle_and_fit_for(job);
  const auto is_free = [&](const WorkerId& id) { return is_free_for(id, job); };
  return static_cast<std::size_t>(std::count_if(fleet.lacking().begin(), fleet.lacking().end(), is_free));
}

// One that holds the job's data; else one that is not warm for a group. There is one that is free for the job.
const WorkerId& Scheduler::State::best_idle_worker(const Job& job) const {
  const std::string& key = job.spec()->data_key;
  const WorkerId* any = nullptr;
  const WorkerId* best = nullptr;
  for (const WorkerId& id : fleet.idle()) {
    if (!is_free_for(id, job.row().id)) continue;
    const Worker& worker = fleet.at(id);
    if (!key.empty() && worker.holds(key)) return id;
    if (any == nullptr) any = &id;
    if (best == nullptr && worker.session == 0) best = &id;
    if (best != nullptr && key.empty()) break;
  }
  return best != nullptr ? *best : *any;
}

// The trial's own workers, which have it in memory; else workers that are set up as a group of this size; else any.
std::vector<WorkerId> Scheduler::State::choose_group(const TrialRow& trial, std::size_t replicas) {
  const auto is_free = [&](const WorkerId& id) { return is_free_for(id, trial.id.job); };
  const auto serves = [&](const std::vector<WorkerId>& ranks) {
    return ranks.size() == replicas && std::all_of(ranks.begin(), ranks.end(), is_free);
  };
  const auto& sessions = fleet.sessions();
  const Worker* first = fleet.find(trial.worker);
  const auto own = first == nullptr ? sessions.end() : sessions.find(first->session);
  if (own != sessions.end() && own->second == trial.ranks() && serves(own->second)) return own->second;
  const auto ready = std::find_if(sessions.begin(), sessions.end(), [&](const auto& entry) { return serves(entry.second); });
  if (ready != sessions.end()) return ready->second;
  std::vector<WorkerId> ids;
  std::copy_if(fleet.idle().begin(), fleet.idle().end(), std::back_inserter(ids), is_free);
  std::stable_partition(ids.begin(), ids.end(), [&](const WorkerId& id) { return fleet.at(id).session == 0; });
  ids.resize(replicas);
  return ids;
}

// The job whose turn it is, and how many workers it takes: they are free. Nothing: there is none, or it has to wait and others
// have their turn (`again`). A job whose group is larger than what is free gets the workers that become free next, so that no
// narrower one can starve it; those whose machines lack something for it are for others.
Scheduler::State::Turn Scheduler::State::next_turn(const Worker* asking) {
  Job* job = gathering ? find_job(*gathering) : nullptr;
  gathering.reset();
  if (job == nullptr || !job->has_work(fleet.usable(job->row().id))) job = neediest_job(asking);
  while (job != nullptr) {
    const JobId id = job->row().id;
    const auto replicas = job->next_replicas(fleet.usable(id), now);
    if (!replicas) return {.again = true};
    if (static_cast<std::size_t>(*replicas) <= free_for(id)) return {job, *replicas};
    if (gathering) break;
    gathering = id;
    job = neediest_job(asking);
  }
  return {};
}

// Gives the next segment to free workers; `asking` is one that may have its job's data, or its trial, in memory.
bool Scheduler::State::place_next(const Worker* asking) {
  if (all_are_kept()) return false;
  const auto [job, replicas, again] = next_turn(asking);
  if (job == nullptr) return again;
  const JobId id = job->row().id;
  const bool same_job = just_left && just_left->job == id;
  const auto taken = job->take(same_job ? std::optional(just_left->number) : std::nullopt, fleet.usable(id), now);
  if (!taken) return true;
  const int number = *taken;
  std::vector<WorkerId> ranks;
  if (replicas > 1) {
    ranks = choose_group(job->trial(number), static_cast<std::size_t>(replicas));
  } else {
    const bool may_ask = asking != nullptr && is_free_for(asking->id, id);
    ranks = {may_ask ? asking->id : best_idle_worker(*job)};
  }
  const Worker& first = fleet.at(ranks.front());
  const std::int64_t session = first.session;
  const bool set_up = session != 0 && fleet.sessions().at(session) == ranks;
  const bool held = ranks.size() == 1 || trains_xgboost(job->spec()->trainer);  // a command of a group is not
  const bool in_memory = held && just_left == TrialId{id, number} && job->trial(number).ranks() == ranks;
  job->start(number, ranks, in_memory || first.holds(job->spec()->data_key), now);
  assign(*job, job->trial(number), set_up ? session : job->trial(number).epoch.value);
  return true;
}

}  // namespace tuneband
