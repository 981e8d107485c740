#include "tests/simulation/simulation.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/text.hpp"
#include "tests/rows/row_text.hpp"
#include "tests/simulation/lying_peer.hpp"
#include "tests/simulation/simulated_server.hpp"
#include "tests/simulation/simulated_worker.hpp"

namespace tuneband::test {

namespace {

constexpr std::int64_t kFaultsMs = 120'000;         // then everything goes well
constexpr std::int64_t kPatienceMs = 180 * 60'000;  // from then on, until every job must have ended; some have one worker
constexpr std::int64_t kHappeningsMax = 300'000;    // more is going round in circles
constexpr std::int64_t kSubmitMsMax = 20'000;
constexpr std::int64_t kLateMsMax = 60'000;
constexpr std::int64_t kKeeperMs = 2'000;

Faults drawn_faults(Draw& draw, SimulationKind kind) {
  const auto some = [&](double most) { return draw.chance(0.5) ? most * static_cast<double>(draw.between(1, 10)) / 10 : 0; };
  Faults faults;
  faults.message_lost = some(0.2);
  faults.message_repeated = some(0.2);
  faults.message_late = some(0.1);
  if (kind != SimulationKind::one_worker) {
    faults.worker_dies = some(0.03);
    faults.worker_dies_at_start = some(0.05);
    faults.worker_drains = some(0.02);
  }
  faults.worker_silent = some(0.04);
  faults.worker_frozen = some(0.03);
  faults.server_killed = some(0.06);
  faults.disk_full = some(0.02);
  faults.clock_jumps = some(0.01);
  faults.trial_crashes = some(0.03);
  faults.value_is_not_finite = some(0.1);
  faults.machine_lacks = some(0.2);
  if (kind == SimulationKind::anything) {
    faults.trial_fails = some(0.05);
    faults.rule_fires = some(0.05);
  }
  if (kind == SimulationKind::anything && draw.chance(0.3)) faults.lies = draw.chance(0.5) ? 1 : 0.3;
  return faults;
}

constexpr std::int64_t kReplicasDrawnMax = 3;

// Of jobs. Some of what a core remembers matters in large ones only; one worker makes them cheap.
double share_of_large(SimulationKind kind) { return kind == SimulationKind::one_worker ? 0.8 : 0.3; }

Json drawn_scheduler(Draw& draw, SimulationKind kind) {
  const bool same = kind == SimulationKind::same_result;
  const std::string type = !same ? draw.one_of("hyperband", "successive_halving", "asha_promotion", "asha_stopping", "none",
                                               "asha_delayed", "async_hyperband", "median_stopping", "pasha", "auto", "auto")
                                 : draw.one_of("hyperband", "hyperband", "successive_halving", "none");
  Json scheduler{{"type", type}, {"max_resource", draw.between(1, draw.chance(share_of_large(kind)) ? 40 : 12)}};
  if (type != "none" && type != "median_stopping") scheduler["eta"] = draw.between(2, 4);
  if (kind == SimulationKind::anything && draw.chance(0.3)) scheduler["early_end"] = true;
  if (type == "asha_delayed") {
    scheduler["rung_audit"] = draw.chance(0.5);
    scheduler["promotion"] = draw.one_of("value", "prediction");
  }
  return scheduler;
}

// What a sampler learns depends on what happened: only where the result may.
std::string drawn_sampler(Draw& draw, SimulationKind kind) {
  if (kind == SimulationKind::same_result || draw.chance(kind == SimulationKind::one_worker ? 0.4 : 0.8)) return "random";
  if (kind == SimulationKind::one_worker && draw.chance(0.2)) return draw.one_of("gp", "random_forest");
  return draw.one_of("sobol", "tpe", "bohb", "gp");
}

// Constraints, or several objectives, where the scheduler can have them.
void draw_objectives(Draw& draw, Json& job) {
  const std::string type = job["scheduler"]["type"];
  if (type == "median_stopping") return;
  if (job["scheduler"].contains("early_end")) return;
  if (draw.chance(0.2)) job["objective"]["constraints"] = Json::array({{{"metric", "cost"}, {"max", draw.one_of(0.2, 0.6)}}});
  if (type == "pasha" || type == "async_hyperband" || !draw.chance(0.2)) return;
  job["objectives"] = Json::array({job["objective"], {{"metric", "cost"}, {"goal", draw.one_of("maximize", "minimize")}}});
  job.erase("objective");
  job["scheduler"].erase("rung_audit");
  job["scheduler"].erase("promotion");
}

// Trials of boosted trees, whose learning rate may become another one from rung to rung.
void draw_eta_adaptation(Draw& draw, Json& job) {
  const bool one_value = job.contains("objective") && !job["objective"].contains("constraints");
  if (!one_value || !draw.chance(0.2)) return;
  job["trainer"].erase("resume");
  job["trainer"].update({{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"keep", "best"}, {"adapt_eta", true}});
  job["search_space"]["eta"] = {{"type", "float"}, {"min", 0.01}, {"max", 1}, {"scale", "log"}};
}

void draw_rules(Draw& draw, Json& job) {
  const std::string action = draw.one_of("note", "stop_trial", "stop_trial", "stop_job");
  job["debug"]["rules"] = Json::array({{{"rule", "overfit"}}, {{"rule", "exploding_tensor"}, {"action", action}}});
}

Json drawn_job(Draw& draw, SimulationKind kind, int number) {
  Json job{{"name", "job-" + std::to_string(number)},
           {"objective", {{"metric", "value"}, {"goal", draw.one_of("maximize", "minimize")}}},
           {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
           {"sampler", {{"type", drawn_sampler(draw, kind)}, {"seed", draw.between(0, 1'000'000)}}},
           {"trainer", {{"type", "command"}, {"resume", draw.chance(0.3) ? "restart" : "checkpoint"}}},
           {"scheduler", drawn_scheduler(draw, kind)},
           {"limits",
            {{"max_trials", draw.between(1, draw.chance(share_of_large(kind)) ? 80 : 24)},
             {"max_attempts", kind == SimulationKind::anything ? draw.between(1, 3) : 100}}}};
  if (draw.chance(0.3)) job["limits"]["max_parallel_trials"] = draw.between(1, 4);
  if (kind != SimulationKind::one_worker && draw.chance(0.3)) job["trainer"]["replicas"] = draw.between(1, kReplicasDrawnMax);
  draw_objectives(draw, job);
  draw_eta_adaptation(draw, job);
  if (kind != SimulationKind::anything) {
    job["limits"]["max_failures_in_a_row"] = 1000;
    if (kind == SimulationKind::one_worker && draw.chance(0.3))
      job["limits"]["max_trials_without_improvement"] = draw.between(2, 10);
    return job;
  }
  if (draw.chance(0.1)) job["limits"]["max_trials_without_improvement"] = draw.between(1, 10);
  if (draw.chance(0.1)) job["limits"]["max_runtime_seconds"] = draw.between(1, 100);
  if (draw.chance(0.2)) job["limits"]["max_failures_in_a_row"] = draw.between(1, 4);
  if (job.contains("objective") && draw.chance(0.1)) job["objective"]["target"] = 0.9;
  if (draw.chance(0.2)) draw_rules(draw, job);
  if (job["trainer"].contains("replicas") && draw.chance(0.3)) {
    job["trainer"]["metric_rank"] = draw.between(0, job["trainer"]["replicas"].get<std::int64_t>() - 1);
    job["trainer"]["grace_seconds"] = draw.between(1, 20);
  }
  if (draw.chance(0.3)) job["weight"] = draw.between(1, 5);
  if (draw.chance(0.2)) {
    job["enqueue"] = Json::array({{{"x", 0.5}}});
    if (job["search_space"].contains("eta")) job["enqueue"][0]["eta"] = 0.5;
  } else if (draw.chance(0.1)) {
    job["trainer"]["replicas"] = Json::array({1, kReplicasDrawnMax});
    job["trainer"].erase("metric_rank");
  }
  return job;
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, const SimulationOptions& options);
  SimulationResult run();

 private:
  struct User {
    JobSubmitted job;
    std::optional<JobId> id;
    bool deleted = false;
  };

  void submit(std::size_t user);
  void stop_later(std::size_t user);
  void stop_trials_later(std::size_t user);
  void change_later(std::size_t user);
  void delete_later(std::size_t user);
  void carry(SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call);
  void carry_once(SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call, std::int64_t delay_ms);
  void keep_workers();
  bool all_ended() const;
  std::string table() const;

  Draw draw_;
  SimulationOptions options_;
  Faults faults_;
  Story story_;
  SimulatedClock clock_;
  SimulatedServer server_;
  LyingPeer liar_;
  SimulatedDisk disk_;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;  // dead ones too: what they had scheduled finds them
  std::vector<User> users_;
  std::size_t workers_wanted_;
};

Simulation::Simulation(std::uint64_t seed, const SimulationOptions& options)
    : draw_(seed),
      options_(options),
      faults_(),
      story_(options.story_lines_max),
      server_(clock_, draw_, faults_, story_, options.store_path),
      liar_(clock_, draw_, faults_, server_.rows(), [this](const WorkerSynced& lie) { server_.sync(lie, [](const auto&) {}); }),
      workers_wanted_(0) {
  const std::size_t jobs = options.kind == SimulationKind::anything ? static_cast<std::size_t>(draw_.between(1, 3)) : 1;
  for (std::size_t i = 0; i < jobs; ++i) {
    const Json document = drawn_job(draw_, options.kind, static_cast<int>(i));
    Diagnostics diagnostics;
    users_.push_back({{JobSpec::parse(document, diagnostics), document.dump()}, std::nullopt, false});
    for (const Error& error : diagnostics.errors()) throw Broken("the simulation drew a bad job: " + describe(error));
  }
  workers_wanted_ = options.kind == SimulationKind::one_worker ? 1 : static_cast<std::size_t>(draw_.between(1, 8));
  for (const User& user : users_) {
    workers_wanted_ = std::max(workers_wanted_, static_cast<std::size_t>(user.job.spec.replicas.back()));
  }
  faults_ = drawn_faults(draw_, options.kind);
  if (!options.faults) {
    const double not_finite = faults_.value_is_not_finite;  // a property of the configurations
    faults_ = Faults{};
    faults_.value_is_not_finite = not_finite;
  }
  for (std::size_t i = 0; i < jobs; ++i) clock_.after_ms(draw_.between(0, kSubmitMsMax), [this, i] { submit(i); });
  server_.die_at_batch(options.dies_at_batch, options.death);
  disk_.others_are_told_of = faults_.lies > 0;
  if (faults_.lies > 0) server_.expect_lies();
  liar_.begin();
  keep_workers();
  clock_.after_ms(kFaultsMs, [this] {
    story_.tell(clock_.now_ms(), [] { return "FROM HERE ON NOTHING GOES WRONG"; });
    const double not_finite = faults_.value_is_not_finite;
    faults_ = Faults{};
    faults_.value_is_not_finite = not_finite;
  });
}

// ---- users
// ----------------------------------------------------------------------------------------------------------------------

void Simulation::submit(std::size_t user) {
  server_.ask(users_[user].job, [this, user](const std::optional<JobReply>& reply) {
    const bool heard = reply && !draw_.chance(faults_.message_lost);
    if (!heard) return clock_.after_ms(1'000, [this, user] { submit(user); });
    if (!reply->job) throw Broken("a job was refused: " + reply->job.error().message);
    users_[user].id = *reply->job;
    if (options_.kind != SimulationKind::anything) return;
    if (draw_.chance(0.15)) stop_later(user);
    if (draw_.chance(0.2)) delete_later(user);
    if (draw_.chance(0.3)) stop_trials_later(user);
    if (draw_.chance(0.3)) change_later(user);
  });
}

// One that has not ended, where there is one, or any; again and again, as long as there were faults.
void Simulation::stop_trials_later(std::size_t user) {
  clock_.after_ms(draw_.between(0, 10'000), [this, user] {
    const auto job = server_.rows().jobs().find(*users_[user].id);
    if (job == server_.rows().jobs().end() || ended(job->second.state) || clock_.now_ms() > kFaultsMs) return;
    std::vector<TrialId> trials;
    for (const auto& [id, trial] : server_.rows().trials()) {
      if (id.job == job->first && (!ended(trial.state) || draw_.chance(0.1))) trials.push_back(id);
    }
    if (!trials.empty()) {
      const auto last = static_cast<std::int64_t>(trials.size()) - 1;
      server_.ask(TrialStopRequested{trials[static_cast<std::size_t>(draw_.between(0, last))]}, {});
    }
    stop_trials_later(user);
  });
}

// It is held and released, and has other limits; again and again, as long as there were faults, and is released in the end.
void Simulation::change_later(std::size_t user) {
  clock_.after_ms(draw_.between(0, 15'000), [this, user] {
    const bool last = clock_.now_ms() > kFaultsMs;
    JobChanges changes;
    changes.held = !last && draw_.chance(0.4);
    if (draw_.chance(0.3)) changes.weight = draw_.chance(0.5) ? 0.1 : 10;
    if (draw_.chance(0.3)) changes.max_parallel_trials = static_cast<int>(draw_.between(1, 4));
    changes.starts_no_more = draw_.chance(0.02);
    server_.ask(JobChangeRequested{*users_[user].id, changes}, [this, user, last](const std::optional<JobReply>& reply) {
      if (!last || !reply) change_later(user);
    });
  });
}

void Simulation::stop_later(std::size_t user) {
  clock_.after_ms(draw_.between(0, 40'000), [this, user] {
    if (!users_[user].deleted) server_.ask(JobStopRequested{*users_[user].id}, {});
  });
}

void Simulation::delete_later(std::size_t user) {
  clock_.after_ms(draw_.between(1, 60'000), [this, user] {
    server_.ask(JobDeleteRequested{*users_[user].id}, [this, user](const std::optional<JobReply>& reply) {
      if (!reply) return delete_later(user);
      const auto job = server_.rows().jobs().find(*users_[user].id);
      users_[user].deleted = job == server_.rows().jobs().end();
      if (users_[user].deleted != reply->job.has_value() && reply->job.error().code != ErrorCode::not_found) {
        throw Broken("the answer to a deletion is not what happened");
      }
    });
  });
}

// ---- workers and the network between
// ----------------------------------------------------------------------------------------------

void Simulation::keep_workers() {
  const auto alive = std::count_if(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->alive(); });
  for (auto count = static_cast<std::size_t>(alive); count < workers_wanted_; ++count) {
    workers_.push_back(std::make_unique<SimulatedWorker>(
        "w" + std::to_string(workers_.size() + 1), clock_, draw_, faults_, disk_,
        [this](SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call) { carry(from, message, call); },
        [this](SimulatedWorker& dead) {
          story_.tell(clock_.now_ms(), [&] { return dead.id().value + " dies"; });
          if (draw_.chance(0.5)) {
            clock_.after_ms(draw_.between(1, 1'000), [this, id = dead.id()] {
              server_.tell(WorkerLost{id, "its process ended"});
            });
          }
        }));
    workers_.back()->begin();
  }
  clock_.after_ms(kKeeperMs, [this] { keep_workers(); });
}

void Simulation::carry(SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call) {
  if (from.unheard() || draw_.chance(faults_.message_lost)) return;
  carry_once(from, message, call, draw_.chance(faults_.message_late) ? draw_.between(1'000, kLateMsMax) : draw_.between(1, 10));
  if (draw_.chance(faults_.message_repeated)) carry_once(from, message, call, draw_.between(1, 20'000));
}

void Simulation::carry_once(SimulatedWorker& from, const WorkerSynced& message, std::uint64_t call, std::int64_t delay_ms) {
  clock_.after_ms(delay_ms, [this, &from, message, call] {
    // A late word of one that has ended is to the server that of a second worker.
    if (options_.kind == SimulationKind::one_worker && !from.alive()) return;
    if (!message.report && draw_.chance(faults_.message_lost)) {  // its connection breaks while its call is held, or is answered
      clock_.after_ms(draw_.between(0, 5'000), [this, id = message.worker] {
        server_.tell(WorkerLost{id, "its connection ended", false});
      });
    }
    server_.sync(message, [this, &from, call](const std::optional<WorkerReply>& reply) {
      if (from.unheard() || draw_.chance(faults_.message_lost)) return;
      const bool late = draw_.chance(faults_.message_late);
      clock_.after_ms(late ? draw_.between(1'000, kLateMsMax) : draw_.between(1, 10),
                      [&from, call, reply] { from.hear(call, reply); });
    });
  });
}

// ---- the run
// --------------------------------------------------------------------------------------------------------------------

bool Simulation::all_ended() const {
  return std::all_of(users_.begin(), users_.end(), [&](const User& user) {
    if (!user.id) return false;
    const auto job = server_.rows().jobs().find(*user.id);
    return job == server_.rows().jobs().end() || ended(job->second.state);
  });
}

std::string Simulation::table() const {
  std::string text;
  for (const auto& [id, job] : server_.rows().jobs()) {
    text +=
        job.name + " " + std::string(to_string(job.state)) + " best " + (job.best ? std::to_string(job.best->trial) : "-") + "\n";
  }
  for (const auto& [id, trial] : server_.rows().trials()) {
    text += name_of(id) + " " + to_json(trial.configuration).dump() + " " + std::string(to_string(trial.state)) + " bracket " +
            std::to_string(trial.bracket) + " objective " + (trial.objective ? format_number(*trial.objective) : "-") + " at " +
            std::to_string(trial.objective_resource) + "\n";
  }
  for (const auto& [key, decision] : server_.rows().decisions()) {
    text += name_of(decision) + ": " + (decision.value ? format_number(*decision.value) : "-") + " " +
            std::string(to_string(decision.verdict)) + "\n";
  }
  return text;
}

SimulationResult Simulation::run() {
  SimulationResult result;
  try {
    while (!all_ended()) {
      if (!clock_.run_one()) throw Broken("nothing will ever happen again, and there are jobs that have not ended");
      if (clock_.now_ms() > kFaultsMs + kPatienceMs) throw Broken("a job has not ended long after everything went well");
      if (++result.happenings > kHappeningsMax) throw Broken("too much happens: something goes round in circles");
    }
  } catch (const Broken& broken) {
    result.broken = broken.what();
  }
  result.story = story_.text();
  result.table = table();
  result.kills = server_.kills();
  result.batches = server_.batches();
  return result;
}

}  // namespace

SimulationResult simulate(std::uint64_t seed, const SimulationOptions& options) { return Simulation(seed, options).run(); }

}  // namespace tuneband::test
