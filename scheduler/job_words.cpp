#include "scheduler/job_words.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "core/time.hpp"

namespace tuneband {

// "until 9 with 2 workers, attempt 2, warm".
std::string start_in_words(const TrialRow& trial, bool warm) {
  std::string words = "until " + std::to_string(trial.until_resource);
  if (trial.replicas() > 1) words += " with " + std::to_string(trial.replicas()) + " workers";
  if (trial.attempts > 1) words += ", attempt " + std::to_string(trial.attempts);
  return warm ? words + ", warm" : words;
}

std::string runtime_in_words(const std::optional<std::int64_t>& ms) { return ms ? format_number(seconds_of(*ms)) : "none"; }

std::string why_early(const EarlyEnd::Word& word, const TrialRow& trial, const BestRow& best) {
  return "ended early, after " + std::to_string(trial.resource) + " of " + std::to_string(trial.until_resource) + ", with " +
         short_number(word.best) + " as its best value; by the largest gain that another still had from there (" +
         short_number(word.gain) + ", trial " + std::to_string(word.gain_of) + ") and by its own slope it comes to " +
         short_number(word.forecast) + " at the most, and the best has " + short_number(best.value) + " (trial " +
         std::to_string(best.trial) + ")";
}

std::string why_unfinished(const TrialRow& trial) {
  return "its job ended when it had " + std::to_string(trial.resource) + " of " + std::to_string(trial.until_resource) +
         ": the best so far counts";
}

std::string at_target(int trial, double target) {
  return "trial " + std::to_string(trial) + " reached the target " + format_number(target);
}

std::string at_target(const TrialRow& trial, double target, std::int64_t on_the_way) {
  return at_target(trial.id.number, target) + " at " + std::to_string(on_the_way) + " of " + std::to_string(trial.until_resource);
}

std::string why_no_best(const std::vector<DecisionRow>& decisions, const std::vector<Constraint>& constraints) {
  const DecisionRow* nearest = nullptr;
  for (const DecisionRow& one : decisions) {
    if (one.violation > 0 && (nearest == nullptr || one.violation < nearest->violation)) nearest = &one;
  }
  const auto has_value = [](const DecisionRow& one) { return one.value.has_value(); };
  const auto some = std::find_if(decisions.begin(), decisions.end(), has_value);
  if (nearest == nullptr && some == decisions.end()) return "no trial came to a rung with a value";
  if (nearest == nullptr) {
    return some->more_values.empty() ? "every value was NaN or infinite"
                                     : "in every trial the value of an objective was NaN or infinite";
  }
  if (std::isinf(nearest->violation)) {
    std::vector<std::string> metrics;
    for (const Constraint& one : constraints) metrics.push_back("`" + one.metric + "`");
    return "no trial reported the metrics of all constraints, " + join_and(metrics);
  }
  const bool met = std::any_of(decisions.begin(), decisions.end(), [](const DecisionRow& one) {
    return one.value && std::isfinite(*one.value) && one.violation == 0;
  });
  return std::string("no trial met the constraints") + (met ? " to its end" : "") + ": trial " +
         std::to_string(nearest->trial.number) + " was nearest, outside by " + short_number(nearest->violation) +
         " at resource " + std::to_string(nearest->resource);
}

std::optional<ExitClass> failure_of_all(const std::vector<TrialRow>& trials) {
  std::optional<ExitClass> failure;
  for (const TrialRow& trial : trials) {
    if (trial.state != TrialState::failed || trial.exit_class == ExitClass::stopped_by_rule) return std::nullopt;
    failure = trial.exit_class;
  }
  return failure;
}

std::optional<ExitClass> failure_below_the_top(const std::vector<TrialRow>& trials) {
  std::optional<ExitClass> failure;
  for (const TrialRow& trial : trials) {
    if (trial.state == TrialState::completed) return std::nullopt;
    if (trial.state == TrialState::failed) failure = trial.exit_class;
  }
  return failure;
}

std::string last_failure(const std::vector<TrialRow>& trials, ExitClass exit) {
  std::string text(to_string(exit));
  const TrialRow* last = nullptr;
  for (const TrialRow& trial : trials) {
    const bool told = trial.state == TrialState::failed && trial.exit_class == exit && !trial.message.empty();
    if (told && (last == nullptr || trial.ended_at >= last->ended_at)) last = &trial;
  }
  if (last != nullptr) text += ": " + last->message;
  return text + ". " + std::string(advice(exit));
}

}  // namespace tuneband
