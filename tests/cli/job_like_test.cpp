// What of a job's document changes for another one like it.
#include "cli/commands/job_like.hpp"

#include <gtest/gtest.h>

namespace tuneband::cli {
namespace {

JobInfo earlier() {
  JobInfo job;
  job.id = 7;
  job.name = "bank";
  return job;
}

Json changes(const SubmitOptions& options, const Json& spec = Json::object()) {
  const auto changed = changes_of(options, earlier(), spec);
  return changed ? *changed : Json(describe(changed.error().errors[0]));
}

TEST(JobLike, IsTheSameDocumentWhereNothingIsAskedFor) { EXPECT_EQ(changes({.like = "bank"}), Json::object()); }

TEST(JobLike, SetsTheNumberOfTrials) {
  EXPECT_EQ(changes({.like = "bank", .max_trials = "80"}, {{"sampler", {{"seed", 1}}}}),
            Json::parse(R"({"limits": {"max_trials": 80}})"));
}

TEST(JobLike, FurtherTrialsBeginWithWhatTheJobSawAndAreDrawnAnew) {
  const Json spec = Json::parse(R"({"sampler": {"type": "tpe", "seed": 1}, "enqueue": [{"x": 1}],
                                    "warm_start": {"jobs": ["first"], "observations": []}, "limits": {"max_trials": 30}})");
  EXPECT_EQ(
      changes({.like = "bank", .max_trials = "+50"}, spec),
      Json::parse(
          R"({"limits": {"max_trials": 50}, "warm_start": ["first", "bank"], "enqueue": null, "sampler": {"seed": null}})"));
  EXPECT_EQ(changes({.like = "bank", .max_trials = "+50"}, Json::object()),
            Json::parse(R"({"limits": {"max_trials": 50}, "warm_start": ["bank"]})"));
}

TEST(JobLike, FurtherTrialsAreNotThoseOfAGridAgain) {
  const Json spec = Json::parse(R"({"sampler": {"type": "grid", "seed": 1}})");
  EXPECT_EQ(changes({.like = "bank", .max_trials = "+50"}, spec),
            "--max-trials: a grid begins anew: further trials may be those that `bank` had (go on with another sampler, as with "
            "--set sampler.type=random, or give the number of a whole grid, like 80)");
  EXPECT_TRUE(changes({.like = "bank", .max_trials = "80"}, spec).is_object());
  EXPECT_TRUE(changes({.like = "bank", .max_trials = "+50", .changes = {"sampler.type=random"}}, spec).is_object());
  EXPECT_TRUE(changes({.like = "bank", .max_trials = "+50", .changes = {"sampler=null"}}, spec).is_object());
  EXPECT_TRUE(changes({.like = "bank", .max_trials = "+50", .changes = {"sampler.type=grid"}}).is_string());
}

TEST(JobLike, FurtherTrialsAreToldOfTheNewestJobsThatADocumentMayName) {
  Json spec{{"warm_start", Json::array()}};
  for (std::size_t i = 1; i <= kWarmStartJobsMax; ++i) spec["warm_start"].push_back("bank-" + std::to_string(i));
  const Json told = changes({.like = "bank", .max_trials = "+50"}, spec).at("warm_start");
  EXPECT_EQ(told.size(), kWarmStartJobsMax);
  EXPECT_EQ(told.front(), "bank-2");
  EXPECT_EQ(told.back(), "bank");
}

TEST(JobLike, SetsValuesByTheirPathAsJsonOrAsText) {
  EXPECT_EQ(changes({.like = "bank",
                     .max_trials = "9",
                     .changes = {"scheduler.max_resource=81", "objective.metric=validation-auc", "limits.max_attempts=null",
                                 "search_space.eta={\"type\": \"float\", \"min\": 0}", "search_space.eta.max=1"}}),
            Json::parse(R"({"limits": {"max_trials": 9, "max_attempts": null}, "scheduler": {"max_resource": 81},
                            "objective": {"metric": "validation-auc"},
                            "search_space": {"eta": {"type": "float", "min": 0, "max": 1}}})"));
}

TEST(JobLike, SaysWhatCannotBeRead) {
  for (const char* text : {"0", "-3", "+", "+0", "++1", "many", "1.5"}) {
    EXPECT_EQ(changes({.like = "bank", .max_trials = text}),
              "--max-trials: expected a number like 80 or +50, got `" + std::string(text) + "`");
  }
  for (const char* text : {"", "=3", "weight", ".weight=1", "limits.=1", "limits..max_trials=1"}) {
    EXPECT_EQ(changes({.like = "bank", .changes = {text}}),
              "--set: expected PATH=VALUE, got `" + std::string(text) + "` (like scheduler.max_resource=81)");
  }
}

TEST(JobLike, HasTheNameAndTheNextNumber) {
  EXPECT_EQ(next_name("bank"), "bank-2");
  EXPECT_EQ(next_name("bank-2"), "bank-3");
  EXPECT_EQ(next_name("bank-9"), "bank-10");
  EXPECT_EQ(next_name("bank-x"), "bank-x-2");
  EXPECT_EQ(next_name("bank-20260301"), "bank-20260301-2") << "a date is no count";
  EXPECT_EQ(next_name(std::string(64, 'a')), std::string(62, 'a') + "-2");
}

}  // namespace
}  // namespace tuneband::cli
