#include "cli/commands/job_like.hpp"

#include <algorithm>

#include "cli/commands/document_changes.hpp"
#include "core/decimal.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::cli {

namespace {

constexpr int kNamesTriedMax = 1000;

// The jobs that it was warm-started by, and itself: the newest that a document may name.
Json earlier_jobs(const JobInfo& job, const Json& spec) {
  const Json known = spec.value("warm_start", Json());
  Json jobs = known.is_object() ? known.value("jobs", Json::array()) : known.is_array() ? known : Json::array();
  while (jobs.size() >= kWarmStartJobsMax) jobs.erase(jobs.begin());
  jobs.push_back(job.name);
  return jobs;
}

Outcome<Json> trials_change(const std::string& max_trials, const JobInfo& job, const Json& spec) {
  const bool further = max_trials.starts_with('+');
  const auto number = whole_number(std::string_view(max_trials).substr(further ? 1 : 0));
  if (!number || *number < 1) return bad_input("expected a number like 80 or +50, got `" + max_trials + "`", "--max-trials");
  Json change{{"limits", {{"max_trials", *number}}}};
  if (!further) return change;
  change["warm_start"] = earlier_jobs(job, spec);
  if (spec.contains("enqueue")) change["enqueue"] = nullptr;
  if (spec.contains("sampler") && spec["sampler"].is_object() && spec["sampler"].contains("seed")) {
    change["sampler"] = {{"seed", nullptr}};
  }
  return change;
}

bool has_grid(const Json& spec, const Json& changes) {
  Json sampler = spec.value("sampler", Json());
  if (changes.contains("sampler")) sampler.merge_patch(changes["sampler"]);
  return sampler.is_object() && sampler.value("type", Json()) == "grid";
}

Outcome<std::string> free_name(ApiClient& api, std::string name) {
  for (int tried = 0; tried < kNamesTriedMax; ++tried) {
    name = next_name(name);
    const auto taken = api.job(name);
    if (taken) continue;
    if (taken.error().exit_status == kExitBadInput) return name;
    return taken.error();
  }
  return bad_input("no free name was found for it", "--name", "give one");
}

// Whether somebody else took the name since it was looked for: for another document, or for the same.
bool is_taken(const Outcome<Answer>& answer) {
  if (answer) return answer->status != kStatusCreated;
  const auto& errors = answer.error().errors;
  return errors.size() == 1 && errors[0].code == ErrorCode::conflict && errors[0].path == "name";
}

Outcome<Answer> submit_by_free_name(Session session, const std::string& target, std::string name, Json changes) {
  constexpr int kTries = 20;
  for (int tried = 1;; ++tried) {
    const auto free = free_name(session.api, name);
    if (!free) return free.error();
    name = *free;
    changes["name"] = name;
    auto answer = submit_document(session, target, changes.dump());
    if (tried == kTries || !is_taken(answer)) return answer;
  }
}

}  // namespace

std::string next_name(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  const auto number = dash == std::string::npos || dash == 0 ? std::nullopt : whole_number(name.substr(dash + 1));
  const bool numbered = number && *number >= 1 && *number < kNamesTriedMax * 10;
  const std::string ending = "-" + std::to_string(numbered ? *number + 1 : 2);
  std::string stem = numbered ? name.substr(0, dash) : name;
  stem.resize(std::min(stem.size(), kJobNameSizeMax - ending.size()));
  return stem + ending;
}

Outcome<Json> changes_of(const SubmitOptions& options, const JobInfo& job, const Json& spec) {
  Json changes = Json::object();
  if (!options.max_trials.empty()) {
    const auto trials = trials_change(options.max_trials, job, spec);
    if (!trials) return trials.error();
    changes = *trials;
  }
  const auto set = changes_in_words(options.changes);
  if (!set) return set.error();
  join_changes(changes, *set);
  if (options.max_trials.starts_with('+') && has_grid(spec, changes)) {
    return bad_input(
        "a grid begins anew: further trials may be those that `" + job.name + "` had", "--max-trials",
        "go on with another sampler, as with --set sampler.type=random, or give the number of a whole grid, like 80");
  }
  return changes;
}

Outcome<Answer> submit_like(Session session, const SubmitOptions& options) {
  const auto earlier = session.api.get(job_path(options.like));
  if (!earlier) return earlier.error();
  const JobInfo job = job_from_json(*earlier);
  auto changes = changes_of(options, job, earlier->value("spec", Json::object()));
  if (!changes) return changes.error();
  if (changes->contains("name") && !options.name.empty())
    return bad_input("the name is said twice", "--name", "leave out --set name=...");
  const std::string target = "/v1/jobs?like=" + std::to_string(job.id);
  if (!options.name.empty()) (*changes)["name"] = options.name;
  if (changes->contains("name")) return submit_document(session, target, changes->dump());
  return submit_by_free_name(session, target, job.name, *changes);
}

}  // namespace tuneband::cli
