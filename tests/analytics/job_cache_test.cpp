#include "analytics/job_cache.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <string>

#include "core/json.hpp"

namespace tuneband::testing {
namespace {

Json document() {
  return {{"name", "a"},
          {"objective", {{"metric", "x"}, {"goal", "maximize"}}},
          {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
          {"scheduler", {{"type", "none"}, {"max_resource", 9}}},
          {"limits", {{"max_trials", 10'000}}},
          {"trainer", {{"type", "command"}, {"argv", {"true"}}}}};
}

std::size_t allocated() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

JobCache::Job job_of(std::size_t bytes) {
  ParsedJob job;
  job.bytes = bytes;
  return std::make_shared<const ParsedJob>(job);
}

TEST(JobCache, ThoseNotAskedForForLongestMakeRoom) {
  JobCache cache(100'000);
  for (std::int64_t job = 1; job <= 4; ++job) cache.keep(JobId{job}, job_of(25'000));
  EXPECT_TRUE(cache.find(JobId{1}));
  cache.keep(JobId{5}, job_of(30'000));
  EXPECT_EQ(cache.bytes(), 80'000U);
  for (const std::int64_t kept : {1, 4, 5}) EXPECT_TRUE(cache.find(JobId{kept})) << kept;
  for (const std::int64_t gone : {2, 3}) EXPECT_FALSE(cache.find(JobId{gone})) << gone;
}

TEST(JobCache, WhatIsLargerThanAllOfItIsNotKept) {
  JobCache cache(100'000);
  cache.keep(JobId{1}, job_of(10'000));
  cache.keep(JobId{2}, job_of(100'001));
  EXPECT_TRUE(cache.find(JobId{1}));
  EXPECT_FALSE(cache.find(JobId{2}));
  cache.keep(JobId{3}, job_of(100'000));
  EXPECT_TRUE(cache.find(JobId{3}));
  EXPECT_EQ(cache.bytes(), 100'000U);
}

TEST(JobCache, ADocumentThatIsNotReadableIsKeptAsOne) {
  JobCache cache(100'000);
  for (std::int64_t job = 1; job <= 100; ++job) cache.keep(JobId{job}, nullptr);
  ASSERT_TRUE(cache.find(JobId{100}));
  EXPECT_EQ(*cache.find(JobId{100}), nullptr);
  EXPECT_LE(cache.bytes(), 100'000U);
}

TEST(JobCache, TheHeadOfADocumentStaysWhereItHasNoRoomItself) {
  JobCache cache(50'000);
  for (std::int64_t job = 1; job <= 2'000; ++job) {
    ParsedJob parsed;
    parsed.bytes = 50'000;
    parsed.spec.objective.metric = "m" + std::to_string(job);
    const auto shared = std::make_shared<const ParsedJob>(std::move(parsed));
    cache.keep(JobId{job}, shared);
    EXPECT_EQ(cache.keep_head(JobId{job}, shared)->objective.metric, "m" + std::to_string(job));
  }
  EXPECT_FALSE(cache.find(JobId{1}));
  ASSERT_TRUE(cache.find_head(JobId{1}));
  EXPECT_EQ((*cache.find_head(JobId{1}))->objective.metric, "m1");
  EXPECT_EQ(cache.keep_head(JobId{2'001}, nullptr), nullptr);
  ASSERT_TRUE(cache.find_head(JobId{2'001}));
  EXPECT_EQ(*cache.find_head(JobId{2'001}), nullptr) << "not readable";
}

TEST(JobCache, HeadsOfTenThousandJobsTakeNoMoreMemoryThanTheyMay) {
  const auto job = job_for_readers(*parse_stored_job(document().dump()));
  JobCache cache(0);
  const std::size_t before = allocated();
  for (std::int64_t id = 1; id <= 10'000; ++id) cache.keep_head(JobId{id}, job);
  EXPECT_TRUE(cache.find_head(JobId{1})) << "all have room";
  for (std::int64_t id = 10'001; id <= 100'000; ++id) cache.keep_head(JobId{id}, job);
  EXPECT_LE(allocated(), before + kJobHeadsBytesMax);
  EXPECT_FALSE(cache.find_head(JobId{10'001})) << "so many have not";
}

// Whatever makes the document large.
TEST(ParsedJob, TakesNoMoreMemoryThanItSays) {
  Json small = document();
  Json enqueued = document();
  enqueued["enqueue"] = Json::array_t(10'000, {{"x", 0.5}});
  Json wide = document();
  for (int i = 0; i < 190; ++i) wide["search_space"]["p" + std::to_string(i)] = {{"type", "int"}, {"min", 0}, {"max", 9}};
  Json categories = document();
  for (int i = 0; i < 100; ++i) {
    Json& parameter = categories["search_space"]["p" + std::to_string(i)];
    parameter["type"] = "categorical";
    for (int value = 0; value < 500; ++value) parameter["values"].push_back(value);
  }
  Json trainer = document();
  for (int i = 0; i < 900; ++i) trainer["trainer"]["argv"].push_back(std::to_string(i));
  Json priors = document();
  priors["warm_start"] = {
      {"jobs", {"b"}},
      {"observations",
       Json::array_t(5'000, {{"configuration", {{"x", 0.5}}}, {"resource_share", 1}, {"score", 1}, {"level_score", 1}})}};
  for (const Json& one : {small, enqueued, wide, categories, trainer, priors}) {
    const std::string text = one.dump();
    const std::size_t before = allocated();
    const JobCache::Job job = job_for_readers(*parse_stored_job(text));
    const std::size_t after = allocated();
    ASSERT_TRUE(job) << text.substr(0, 300);
    EXPECT_LE(after, before + job->bytes) << text.substr(0, 300);
    EXPECT_LE(job->bytes, 24 * text.size() + kParsedJobBytesMin) << text.substr(0, 300);
  }
  EXPECT_LT(parse_stored_job(enqueued.dump())->bytes, 100'000U);
}

}  // namespace
}  // namespace tuneband::testing
