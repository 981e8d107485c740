// Answers as the server gives them (CannedServer holds them against server/openapi.json), for a job of 30 trials.
#pragma once

#include "cli/client/snapshot.hpp"
#include "core/json.hpp"

namespace tuneband::test {

// As GET /v1/jobs/7 has it.
inline Json example_job() {
  return Json::parse(R"({
    "id": 7, "name": "direct-marketing", "state": "running", "reason": "",
    "created_at": "2026-03-01T12:00:00.000Z", "ended_at": null,
    "objective": {"metric": "validation-auc", "goal": "maximize"}, "more_objectives": [], "constraints": [], "note": "",
    "scheduler": "hyperband", "max_resource": 27, "resource_name": "rounds",
    "trials": {"created": 30, "pending": 0, "running": 2, "paused": 6, "completed": 1, "stopped": 19, "failed": 2, "cancelled": 0,
               "planned": 30},
    "best": {"trial": 11, "value": 0.7912, "resource": 27, "configuration": {"eta": 0.2134567, "max_depth": 6}},
    "best_anywhere": {"trial": 12, "value": 0.792, "resource": 9, "configuration": {"eta": 0.5, "max_depth": 3}},
    "resource_spent": 106, "training_seconds": 12.5, "expected_improvement": null, "waiting": {}, "queue_position": null,
    "spec": {"name": "direct-marketing", "search_space": {}, "trainer": {"type": "xgboost"},
             "scheduler": {"type": "hyperband", "max_resource": 27}}})");
}

// The same as a list has it, without what the job alone has.
inline Json in_a_list(Json job) {
  for (const char* field : {"spec", "waiting", "queue_position"}) job.erase(field);
  return job;
}

inline Json example_plan() {
  return Json::parse(R"({
    "ladder": [3, 9, 27],
    "brackets": [], "trials": 30, "total_resource": 212, "total_resource_without_stopping": 810, "restarts": false, "exact": true,
    "actual": [
      {"bracket": 0, "rung": 0, "resource": 3, "planned": 27, "reached": 27, "promoted": 9, "stopped": 18, "waiting": 0},
      {"bracket": 0, "rung": 1, "resource": 9, "planned": 9, "reached": 4, "promoted": 0, "stopped": 1, "waiting": 3},
      {"bracket": 0, "rung": 2, "resource": 27, "planned": 3, "reached": 0, "promoted": 0, "stopped": 0, "waiting": 0},
      {"bracket": 1, "rung": 0, "resource": 27, "planned": 3, "reached": 0, "promoted": 0, "stopped": 0, "waiting": 0}]})");
}

inline constexpr const char* kExampleCapacity =
    "starts\tat once\n"
    "takes\tnot known: no job with this data or command has run (--seconds-per-unit says what a unit takes)\n";

inline Json example_created(const Json& job, const Json& warnings = Json::array()) {
  const Json capacity = {{"workers", 4},
                         {"workers_free", 1},
                         {"jobs_running", 1},
                         {"starts", "at once"},
                         {"seconds_per_unit", nullptr},
                         {"measured_in", nullptr},
                         {"wall_seconds", nullptr},
                         {"wall_seconds_beside_others", nullptr}};
  return {{"job", in_a_list(job)}, {"plan", example_plan()}, {"capacity", capacity}, {"warnings", warnings}};
}

inline Json example_observation(int resource, const Json& value) {
  return {{"resource", resource}, {"objective", value}, {"metrics", Json::object()}, {"at", "2026-03-01T12:00:10.000Z"}};
}

inline Json example_trial(int number, const std::string& state) {
  return {{"job", 7},
          {"number", number},
          {"state", state},
          {"configuration", {{"eta", 0.2134567}, {"max_depth", 6}}},
          {"origin", "sampler"},
          {"bracket", 0},
          {"rung", 1},
          {"resource", 9},
          {"until_resource", 27},
          {"objective", 0.7912345678},
          {"objective_resource", 9},
          {"kept_value", nullptr},
          {"kept_resource", 0},
          {"violation", 0},
          {"more_objectives", Json::array()},
          {"attempts", 1},
          {"segments", 2},
          {"worker", "local-2"},
          {"replicas", 1},
          {"workers", {"local-2"}},
          {"exit_class", nullptr},
          {"message", ""},
          {"advice", ""},
          {"created_at", "2026-03-01T12:00:00.000Z"},
          {"started_at", "2026-03-01T12:00:01.000Z"},
          {"ended_at", nullptr},
          {"training_seconds", 0.41},
          {"queue_seconds", 0.2}};
}

inline Json failed_trial(int number, const std::string& exit_class) {
  Json trial = example_trial(number, "failed");
  trial["objective"] = nullptr;
  trial["exit_class"] = exit_class;
  trial["message"] = "the memory limit of 1 GB was reached";
  trial["advice"] = "Lower what needs memory.";
  return trial;
}

// Twenty seconds after the job's start.
inline cli::Snapshot example_snapshot() {
  cli::Snapshot snapshot;
  snapshot.job = cli::job_from_json(example_job());
  snapshot.plan = cli::plan_from_json(example_plan());
  snapshot.running = {cli::trial_from_json(example_trial(3, "running")), cli::trial_from_json(example_trial(5, "running"))};
  snapshot.at_ms = snapshot.job.created_ms.value_or(0) + 20'000;
  return snapshot;
}

}  // namespace tuneband::test
