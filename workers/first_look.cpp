#include "workers/first_look.hpp"

#include <utility>

#include "core/json.hpp"
#include "os/host_name.hpp"

namespace tuneband::workers {

namespace {

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
  if (!order.look_first || !options_.check_job || std::exchange(job_, order.job) == order.job) return;
  assignment.waits_for_others(true);
  const auto should_stop = [&assignment] { return assignment.should_stop(); };
  const std::string document = document_of(order).dump(-1, ' ', false, Json::error_handler_t::replace);
  const Diagnostics found = options_.check_job(document, 1, should_stop);
  assignment.waits_for_others(false);
  found_ = errors_in_words(found);
  found_first_ = found.ok() ? "" : found.errors().front().message;
  if (!found_.empty()) options_.log("job " + std::to_string(order.job) + ": before its first trial here was found: " + found_);
}

void FirstLook::explain(const protocol::AssignmentOrder& order, SegmentResult& result) const {
  const bool failed = result.exit != kExitCompleted && result.exit != kExitStopped && result.waits_for.empty();
  const bool says_it = result.message.find(found_first_) != std::string::npos;
  if (!failed || job_ != order.job || says_it) return;
  result.message += "; before its first trial of the job this machine (" + os::host_name() + ") was found wanting: " + found_;
}

}  // namespace tuneband::workers
