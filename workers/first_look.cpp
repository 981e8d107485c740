#include "workers/first_look.hpp"

#include <utility>

#include "core/json.hpp"
#include "os/host_name.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kJobsRemembered = 1000;  // of older ones, should they still run, another look is taken

// What an order's trial needs, as a document: its parameters are fixed.
Json document_of(const protocol::AssignmentOrder& order) {
  Json trainer = order.trainer;
  if (trainer.is_object()) trainer.erase("preflight");
  return {{"name", order.job_name},
          {"objective", {{"metric", order.objective_metric}, {"goal", order.maximize ? "maximize" : "minimize"}}},
          {"search_space", order.configuration},
          {"trainer", std::move(trainer)},
          {"scheduler", {{"type", "none"}, {"max_resource", order.max_resource}}}};
}

// "path: message (hint); ..."
std::string errors_in_words(const Diagnostics& found) {
  std::string text;
  for (const Error& error : found.errors()) text += (text.empty() ? "" : "; ") + describe(error);
  return text;
}

}  // namespace

void FirstLook::look(Assignment& assignment) {
  const protocol::AssignmentOrder& order = assignment.order();
  if (!order.look_first || !options_.check_job || looked_at_.contains(order.job)) return;
  assignment.waits_for_others(true);
  const auto should_stop = [&assignment] { return assignment.should_stop(); };
  const std::string document = json_line(document_of(order));
  const Diagnostics found = options_.check_job(document, 1, should_stop);
  assignment.waits_for_others(false);
  if (assignment.should_stop()) return;  // it may have been cut short
  const std::string errors = errors_in_words(found);
  if (!errors.empty()) options_.log("job " + std::to_string(order.job) + ": before its first trial here was found: " + errors);
  if (looked_at_.size() == kJobsRemembered) looked_at_.erase(looked_at_.begin());
  looked_at_[order.job] = {errors, found.ok() ? "" : found.errors().front().message};
}

void FirstLook::explain(const protocol::AssignmentOrder& order, SegmentResult& result) const {
  const bool failed = result.exit != kExitCompleted && result.exit != kExitStopped && result.waits_for.empty();
  const auto look = looked_at_.find(order.job);
  if (!failed || look == looked_at_.end() || look->second.errors.empty()) return;
  const bool says_it = result.message.find(look->second.first_message) != std::string::npos;
  if (says_it) return;
  result.message +=
      "; before its first trial of the job this machine (" + os::host_name() + ") was found wanting: " + look->second.errors;
}

}  // namespace tuneband::workers
