#include "db_fixture.hpp"

#include <unistd.h>

#include <array>
#include <stdexcept>

namespace tuneband::testing {

TemporaryFolder::TemporaryFolder() {
  // In memory where that is possible: thousands of commits, each synced to the disk, would take most of the tests' time.
  const std::filesystem::path memory = "/dev/shm";
  const bool usable = ::access(memory.c_str(), W_OK) == 0;
  std::string pattern = ((usable ? memory : std::filesystem::temp_directory_path()) / "tuneband-db-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string spec_text(const std::string& name, const std::string& goal, const std::string& scheduler) {
  Json spec;
  spec["name"] = name;
  spec["objective"] = {{"metric", "validation-auc"}, {"goal", goal}};
  spec["search_space"] = {{"eta", {{"type", "float"}, {"min", 0.0}, {"max", 1.0}}},
                          {"booster", {{"type", "categorical"}, {"values", {"gbtree", "dart, \"quoted\""}}}}};
  spec["scheduler"] = {{"type", scheduler}, {"max_resource", 9}};
  if (scheduler != "none") spec["scheduler"]["eta"] = 3;
  if (scheduler != "hyperband") spec["limits"] = {{"max_trials", 20}};
  spec["trainer"] = {{"type", "xgboost"}, {"data", {{"train", "train.csv"}, {"label", "y"}}}};
  return spec.dump();
}

JobRow running_job(std::int64_t id, const std::string& name) {
  JobRow job;
  job.id = JobId{id};
  job.name = name;
  job.spec_json = spec_text(name);
  job.created_at = kStart;
  return job;
}

TrialRow pending_trial(std::int64_t job, int number) {
  TrialRow trial;
  trial.id = {JobId{job}, number};
  trial.configuration = {{"eta", 0.1 + 0.01 * number}, {"booster", std::string("gbtree")}};
  trial.origin = "sampler";
  trial.until_resource = 1;
  trial.created_at = kStart;
  return trial;
}

TrialRow running_trial(std::int64_t job, int number) {
  TrialRow trial = pending_trial(job, number);
  trial.state = TrialState::running;
  trial.epoch = Epoch{number + 1};
  trial.worker = WorkerId{"local-1-3f2a"};
  trial.attempts = trial.attempts_in_all = 1;
  trial.started_at = trial.assigned_at = kStart.plus_ms(100);
  return trial;
}

TrialRow ended_trial(std::int64_t job, int number, TrialState state, std::optional<double> objective, std::int64_t resource) {
  TrialRow trial = running_trial(job, number);
  trial.state = state;
  trial.objective = objective;
  trial.objective_resource = objective ? resource : 0;
  trial.resource = trial.checkpoint_resource = trial.until_resource = resource;
  trial.assigned_at.reset();
  trial.assigned_ms = 400;
  trial.training_ms = 300;
  trial.ended_at = kStart.plus_ms(1000);
  if (state == TrialState::failed) {
    trial.exit_class = ExitClass::no_metric;
    trial.message = "no value of validation-auc";
  }
  return trial;
}

DecisionRow decision(std::int64_t job, int number, int rung, std::optional<double> value, Verdict verdict,
                     std::int64_t sequence) {
  constexpr std::array<std::int64_t, 3> kLadder = {1, 3, 9};
  DecisionRow row;
  row.trial = {JobId{job}, number};
  row.rung = rung;
  row.resource = kLadder.at(static_cast<std::size_t>(rung));
  row.sequence = sequence;
  row.value = value;
  row.verdict = verdict;
  row.rank = verdict == Verdict::waiting ? 0 : number + 1;
  row.filled = row.slots = 9;
  row.keep = 3;
  row.cutoff = 0.5;
  row.ahead = {4, 7};
  row.rule = "the best 3 of 9 go on";
  row.at = kStart.plus_ms(500 + sequence);
  return row;
}

ObservationRow observation(std::int64_t job, int number, std::int64_t resource, std::optional<double> objective) {
  ObservationRow row;
  row.trial = {JobId{job}, number};
  row.resource = resource;
  row.objective = objective;
  if (objective) row.metrics = {{"validation-auc", *objective}};
  row.at = kStart.plus_ms(200 + resource);
  return row;
}

void commit(Store& store, const std::vector<Write>& writes) { store.commit(writes); }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const SqliteError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tuneband::testing
