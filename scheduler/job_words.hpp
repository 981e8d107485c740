// What happened to a job and its trials, in words: of events, of JobRow::reason and DecisionRow::rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/early_end.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

std::string start_in_words(const TrialRow& trial, bool warm);
std::string runtime_in_words(const std::optional<std::int64_t>& ms);
std::string why_early(const EarlyEnd::Word& word, const TrialRow& trial, const BestRow& best);
std::string why_unfinished(const TrialRow& trial);
std::string at_target(int trial, double target);
// `on_the_way`: where it did, before its rung.
std::string at_target(const TrialRow& trial, double target, std::int64_t on_the_way);

// Of a job without a best one.
std::string why_no_best(const std::vector<DecisionRow>& decisions, const std::vector<Constraint>& constraints);
// What the last of them failed with where all did, on their way to a higher rung; trials that rules ended are well.
std::optional<ExitClass> failure_of_all(const std::vector<TrialRow>& trials);
// What the last one that failed did so with, where no trial was completed.
std::optional<ExitClass> failure_below_the_top(const std::vector<TrialRow>& trials);
// "crashed: what the trainer said. What to do."
std::string last_failure(const std::vector<TrialRow>& trials, ExitClass exit);

}  // namespace tuneband
