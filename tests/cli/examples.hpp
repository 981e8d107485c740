// Replies as a server gives them: recorded of a real one (tests/http/recorded_replies_test.cpp writes tests/cli/replies and holds
// them against what it replies today). A test changes in them what a server says at other moments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "cli/client/snapshot.hpp"
#include "core/json.hpp"

namespace tuneband::test {

inline Json recorded_reply(const std::string& name) {
  std::ifstream file(std::string(TUNEBAND_SOURCE_DIR) + "/tests/cli/replies/" + name + ".json");
  EXPECT_TRUE(file) << "no reply was recorded as " << name;
  return Json::parse(file);
}

// GET /v1/jobs/7: of 17 trials 14 are there, one has got to the end, two train.
inline Json example_job() { return recorded_reply("job"); }

// The same as a list has it, without what the job alone has.
inline Json in_a_list(Json job) {
  for (const char* field : {"spec", "waiting", "queue_position"}) job.erase(field);
  return job;
}

inline constexpr const char* kExampleCapacity =
    "starts\tat once, on 2 workers that are free\n"
    "takes\tnot known: no recent job had this data or command (tuneband check takes --seconds-per-unit)\n";

// To POST /v1/jobs: the job, and nothing to be warned of but this.
inline Json example_created(const Json& job, const Json& warnings = Json::array()) {
  Json created = recorded_reply("created");
  created["job"] = in_a_list(job);
  created["warnings"] = warnings;
  return created;
}

inline Json example_observation(int resource, const Json& value) {
  Json observation = recorded_reply("observations").at("observations").at(0);
  observation["resource"] = resource;
  observation["objective"] = value;
  observation["metrics"] = Json::object();
  return observation;
}

// The first of the recorded trials in this state, under another number.
inline Json example_trial(int number, const std::string& state) {
  const Json trials = recorded_reply("trials").at("trials");
  const auto found = std::find_if(trials.begin(), trials.end(), [&](const Json& trial) { return trial["state"] == state; });
  Json trial = found == trials.end() ? Json() : *found;
  EXPECT_FALSE(trial.is_null()) << "no trial was recorded that is " << state;
  trial["number"] = number;
  return trial;
}

inline Json failed_trial(int number, const std::string& exit_class) {
  Json trial = example_trial(number, "failed");
  trial["exit_class"] = exit_class;
  return trial;
}

// Twenty seconds after the job's start.
inline cli::Snapshot example_snapshot() {
  cli::Snapshot snapshot;
  snapshot.job = cli::job_from_json(example_job());
  snapshot.plan = cli::plan_from_json(recorded_reply("plan"));
  const Json running = recorded_reply("trials_running");
  for (const Json& trial : running.at("trials")) snapshot.running.push_back(cli::trial_from_json(trial));
  snapshot.at_ms = snapshot.job.created_ms.value_or(0) + 20'000;
  return snapshot;
}

}  // namespace tuneband::test
