// What a job may name, and what a worker takes of an order.
#include <gtest/gtest.h>

#include "scheduler/job_spec.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::protocol {
namespace {

TEST(OrderLimits, AWorkerTakesAllMetricsThatAJobMayGoBy) {
  Json objectives = Json::array();
  for (std::size_t i = 0; i < kObjectivesMax; ++i) {
    const std::string number = std::to_string(i);
    Json constraints = Json::array();
    for (std::size_t j = 0; j < kConstraintsMax; ++j)
      constraints.push_back({{"metric", "bounded-" + number + "-" + std::to_string(j)}, {"max", 1}});
    objectives.push_back({{"metric", "objective-" + number}, {"goal", "minimize"}, {"constraints", std::move(constraints)}});
  }
  const Json document{{"name", "wide"},
                      {"objectives", std::move(objectives)},
                      {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
                      {"trainer", {{"type", "command"}, {"argv", {"true"}}}},
                      {"scheduler", {{"type", "none"}, {"max_resource", 1}}},
                      {"limits", {{"max_trials", 1}}}};
  Diagnostics faults;
  const JobSpec spec = JobSpec::parse(document, faults);
  ASSERT_TRUE(faults.ok()) << describe(faults.errors().front());
  AssignmentOrder order;
  order.epoch = order.job = order.until_resource = order.max_resource = 1;
  order.job_name = spec.name;
  order.configuration = order.trainer = Json::object();
  order.objective_metric = spec.objective.metric;
  order.further_metrics = spec.further_metrics();
  order.trial_dir = "/trial";
  SyncReply reply;
  reply.desired = "execute";
  reply.order = order;
  const SyncReply taken = sync_reply_from_json(to_json(reply), faults);
  EXPECT_TRUE(faults.ok()) << describe(faults.errors().front());
  EXPECT_EQ(taken.order->further_metrics, order.further_metrics);
  EXPECT_LT(order.further_metrics.size(), kMetricsPerObservationMax) << "and can report them, the objective too";
}

}  // namespace
}  // namespace tuneband::protocol
