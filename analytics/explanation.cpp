#include "analytics/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "analytics/row_json.hpp"
#include "core/text.hpp"

namespace tuneband {

namespace {

std::string ahead_text(const DecisionRow& decision) {
  if (decision.ahead.empty()) return decision.rank == 1 && decision.filled > 1 ? " Nothing was ahead of it." : "";
  std::vector<std::string> numbers;
  for (const int trial : decision.ahead) numbers.push_back(std::to_string(trial));
  const int more = decision.rank - 1 - static_cast<int>(decision.ahead.size());
  if (more > 0) numbers.push_back(fmt::format("{} more", more));
  return fmt::format(" Ahead of it: {} {}.", decision.rank == 2 ? "trial" : "trials", join_and(numbers));
}

// Where the line between those that go on and the others lay. A rung that does not wait for all moves it with every arrival, so
// that one above it may have been stopped.
std::string line_text(const DecisionRow& decision) {
  if (decision.slots > 0) return "The last value to go on";
  return fmt::format("The line of the best {} of {}", decision.keep, decision.filled);
}

// "The last value to go on was 0.765: its own was 0.012 better". Nothing where it is the constraints that say who is ahead, or
// where it went on for another reason.
std::string cutoff_text(const DecisionRow& decision, const ParsedJob& job) {
  if (!decision.cutoff || !decision.value || decision.keep <= 0 || !std::isfinite(*decision.value)) return "";
  if (decision.violation > 0) return "";
  const bool within = decision.rank <= decision.keep;
  if (within != (decision.verdict == Verdict::promoted)) return "";
  const double gap = std::abs(*decision.cutoff - *decision.value);
  const std::string cutoff = short_number(*decision.cutoff);
  if (gap == 0 && within) return fmt::format(" {} was {}: its own.", line_text(decision), cutoff);
  if (gap == 0) return fmt::format(" {} was {} too: of equals the lower trial number is ahead.", line_text(decision), cutoff);
  const bool beyond = job.spec.objective.better(*decision.value, *decision.cutoff);
  return fmt::format(" {} was {}: its own was {:.3g} {}.", line_text(decision), cutoff, gap, beyond ? "better" : "worse");
}

// "validation-auc was 0.75, ms 12.5 and size 3"
std::string values_text(const DecisionRow& decision, const ParsedJob& job) {
  std::vector<std::string> words{fmt::format("{} was {}", job.spec.objective.metric, short_number(*decision.value))};
  const std::vector<Objective>& others = job.spec.more_objectives;
  for (std::size_t i = 0; i < std::min(decision.more_values.size(), others.size()); ++i) {
    words.push_back(fmt::format("{} {}", others[i].metric, short_number(decision.more_values[i])));
  }
  return join_and(words);
}

std::string rank_text(const DecisionRow& decision) {
  std::string text = fmt::format("rank {} of {}", decision.rank, decision.filled);
  const int missing = decision.slots - decision.filled;
  if (decision.slots > 0 && missing > 0) text += fmt::format(" ({} still to come)", missing);
  return text;
}

// The rule stands after a colon; another one within it would read badly.
std::string in_one_clause(std::string rule) {
  if (const auto colon = rule.find(": "); colon != std::string::npos) rule.replace(colon, 2, "; ");
  return rule;
}

// " Its best round was 2 of 9, so ...": the note as a sentence of its own.
std::string note_text(const DecisionRow& decision) {
  if (decision.note.empty()) return "";
  std::string text = " " + decision.note + ".";
  text[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[1])));
  return text;
}

// "." unless it ends a sentence already.
std::string full_stop_after(std::string_view text) {
  const bool ended = !text.empty() && std::string_view(".?!").find(text.back()) != std::string_view::npos;
  return ended ? "" : ".";
}

}  // namespace

std::string explain_decision(const DecisionRow& decision, const ParsedJob& job, bool over) {
  const std::string where = fmt::format("Rung {} of bracket {} ({}): ", decision.rung, decision.bracket,
                                        format_resource(decision.resource, job.resource_name));
  if (!decision.value && decision.rule.starts_with("a rule of the debugger"))
    return where + "a rule of the debugger stopped it on the way; its slot was given up, as a failure's is.";
  if (!decision.value && decision.rule.starts_with("stopped by the user"))
    return where + "stopped by the user on the way; its slot was given up, as a failure's is.";
  if (!decision.value) return where + "it failed on the way, and its slot was given up.";
  const std::string value = values_text(decision, job);
  if (decision.verdict == Verdict::waiting && over) return where + value + ". It ended before there was a verdict.";
  if (decision.verdict == Verdict::waiting) {
    return where + value + ". It waits: the verdict is not certain until more trials have arrived at this rung.";
  }
  if (decision.verdict == Verdict::stopped && decision.rank == 0)
    return fmt::format("{}{}. It was {}.", where, value, decision.rule);
  const std::string reason = decision.rule.empty() ? "" : ": " + in_one_clause(decision.rule);
  const std::string cutoff = decision.verdict == Verdict::completed ? "" : cutoff_text(decision, job);
  return fmt::format("{}{}, {}. It was {}{}{}{}{}{}", where, value, rank_text(decision), to_string(decision.verdict), reason,
                     full_stop_after(reason), cutoff, ahead_text(decision), note_text(decision));
}

std::vector<std::string> explain_state(const TrialRow& trial, const ParsedJob& job, std::string_view advice) {
  const std::string so_far = format_resource(trial.resource, job.resource_name);
  std::vector<std::string> sentences;
  if (trial.state == TrialState::running) {
    const std::string others =
        trial.peers.empty() ? "" : fmt::format(" and {} more worker{}", trial.peers.size(), trial.peers.size() == 1 ? "" : "s");
    sentences.push_back(fmt::format("It is running on {}{}: {} so far, until {}.", short_worker(trial.worker.value), others,
                                    so_far, trial.until_resource));
  } else if (trial.state == TrialState::paused) {
    sentences.push_back(fmt::format("It is paused after {}.", so_far));
  } else if (trial.state == TrialState::pending) {
    sentences.push_back("It is queued.");
    if (trial.exit_class) {
      sentences.push_back(fmt::format("Its last attempt ended after {} ({}): {}{}", so_far, to_string(*trial.exit_class),
                                      trial.message, full_stop_after(trial.message)));
    }
  } else if (trial.state == TrialState::cancelled) {
    sentences.push_back(fmt::format("It was cancelled after {}: the job ended before it could go on.", so_far));
  } else if (trial.state == TrialState::failed) {
    sentences.push_back(fmt::format("It failed after {} ({}): {}{}", so_far,
                                    trial.exit_class ? to_string(*trial.exit_class) : "unknown", trial.message,
                                    full_stop_after(trial.message)));
    if (!advice.empty()) sentences.emplace_back(advice);
  }
  if (attempts_shown(trial) > 1 && trial.state != TrialState::failed) {
    sentences.push_back(fmt::format("A part of its training had to be started again: {} attempts.", attempts_shown(trial)));
  }
  return sentences;
}

}  // namespace tuneband
