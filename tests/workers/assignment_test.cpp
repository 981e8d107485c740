#include "workers/assignment.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace tuneband::workers {
namespace {

std::vector<std::int64_t> resources_of(const protocol::AssignmentStatus& status) {
  std::vector<std::int64_t> resources;
  for (const protocol::Observation& observation : status.observations) resources.push_back(observation.resource);
  return resources;
}

TEST(Assignment, KeepsTheFirstReportForAResourceAlone) {
  Assignment assignment({});
  assignment.observe(1, {{"loss", 0.5}});
  assignment.observe(1, {{"loss", 0.25}});
  assignment.observe(3, {{"loss", 0.125}});
  assignment.observe(2, {{"loss", 0.125}});
  const auto status = assignment.status();
  EXPECT_EQ(resources_of(status), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(status.observations[0].metrics[0].second, 0.5);
  assignment.acknowledge(status, true);
  assignment.observe(3, {{"loss", 1}});
  assignment.observe(4, {{"loss", 1}});
  EXPECT_EQ(resources_of(assignment.status()), std::vector<std::int64_t>{4});
}

TEST(Assignment, OfMoreValuesThanFitInMemoryTheLastObservationStays) {
  Assignment assignment({});
  Metrics metrics;
  for (std::size_t i = 0; i < protocol::kMetricsPerObservationMax; ++i) metrics.emplace_back("m" + std::to_string(i), 1.0);
  const auto fit = static_cast<std::int64_t>(kMetricValuesKeptMax / protocol::kMetricsPerObservationMax);
  const std::int64_t last = fit + 1000;
  for (std::int64_t resource = 1; resource <= last; ++resource) assignment.observe(resource, metrics);
  assignment.finish({kExitCompleted, ""});
  std::int64_t count = 0;
  protocol::AssignmentStatus status = assignment.status();
  for (; status.exit.empty(); status = assignment.status()) {
    count += static_cast<std::int64_t>(status.observations.size());
    assignment.acknowledge(status, true);
  }
  count += static_cast<std::int64_t>(status.observations.size());
  EXPECT_EQ(status.observations.back().resource, last);
  EXPECT_EQ(count, fit);
}

TEST(Assignment, OfMoreMetricsThanASyncTakesTheObjectiveStaysAlsoOfWhatIsKept) {
  protocol::AssignmentOrder order;
  order.objective_metric = "loss";
  Assignment assignment(order);
  Metrics metrics;
  for (std::size_t i = 0; i < protocol::kMetricsPerObservationMax; ++i) metrics.emplace_back("m" + std::to_string(i), 1.0);
  metrics.emplace_back("loss", 0.5);
  assignment.observe(7, metrics);
  assignment.finish({.exit = kExitCompleted, .message = "", .kept = protocol::Observation{7, metrics}});
  const protocol::AssignmentStatus status = assignment.status();
  for (const Metrics& told : {status.observations.at(0).metrics, status.kept->metrics}) {
    EXPECT_EQ(told.size(), protocol::kMetricsPerObservationMax);
    EXPECT_EQ(find_metric(told, "loss"), 0.5);
    EXPECT_EQ(find_metric(told, "m0"), 1);
  }
}

TEST(Assignment, DoesNotTrainWhileItWaitsForItsMachine) {
  const auto pass = [] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < until) continue;
  };
  const auto begun = std::chrono::steady_clock::now();
  Assignment assignment({});
  pass();
  assignment.waits_for("room on its disk");
  const std::int64_t before = assignment.status().training_ms;
  EXPECT_GE(before, 20);
  pass();
  EXPECT_EQ(assignment.status().training_ms, before);
  assignment.tries_again();
  pass();
  assignment.waits_for("room on its disk");
  pass();
  assignment.tries_again();
  assignment.finish({kExitCompleted, ""});
  const auto lasted = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(assignment.status().training_ms, before + 20);
  EXPECT_LE(assignment.status().training_ms, std::chrono::duration_cast<std::chrono::milliseconds>(lasted).count() - 40);
}

// A quote is two bytes of JSON.
TEST(Assignment, WhatGoesIntoOneSyncFitsWhateverTheNamesOfTheMetrics) {
  Assignment assignment({});
  Metrics metrics;
  for (std::size_t i = 0; i < protocol::kMetricsPerObservationMax; ++i)
    metrics.emplace_back(std::string(protocol::kMetricNameSizeMax, '"'), -1.2345678901234567e-300);
  for (std::int64_t resource = 1; resource <= 200; ++resource) assignment.observe(resource, metrics);
  protocol::SyncRequest request;
  request.assignment = assignment.status();
  EXPECT_GT(request.assignment->observations.size(), 10U);
  EXPECT_LE(to_json(request).dump().size(), protocol::kSyncBodyBytesMax - 512 * 1024) << "with room for all else";
}

TEST(Assignment, HowFarRulesAreIsToldWhenAnotherWordIsToBeSaidAndAtTheEnd) {
  Assignment assignment({});
  using Rules = std::vector<debugger::RuleStanding>;
  assignment.stand({{"overfit", 1, 0, 0, ""}});
  const auto first = assignment.status();
  EXPECT_EQ(first.rules, Rules({{"overfit", 1, 0, 0, ""}}));
  EXPECT_EQ(assignment.status().rules.size(), 1U) << "the server has not heard of it yet";
  assignment.acknowledge(first, true);
  assignment.stand({{"overfit", 2, 0, 0, ""}});
  EXPECT_TRUE(assignment.status().rules.empty()) << "another number alone is no news";
  assignment.stand({{"overfit", 3, 1, 3, ""}});
  const auto judging = assignment.status();
  EXPECT_EQ(judging.rules.size(), 1U);
  assignment.acknowledge(judging, true);
  assignment.stand({{"overfit", 4, 2, 4, std::string(5'000, 'x')}});
  EXPECT_LT(assignment.status().rules.at(0).fault.size(), 1'100U);
  assignment.stand({{"overfit", 9, 7, 9, ""}});
  EXPECT_TRUE(assignment.status().rules.empty());
  assignment.finish({kExitCompleted, ""});
  EXPECT_EQ(assignment.status().rules, Rules({{"overfit", 9, 7, 9, ""}}));
}

}  // namespace
}  // namespace tuneband::workers
