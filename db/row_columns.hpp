// How each row struct lies in its table: the columns of a SELECT, and the struct made of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// A number that may be NaN or nothing takes two columns: SQLite turns NaN into NULL.
std::optional<double> storable(const std::optional<double>& number);  // nothing for NaN
bool is_nan(const std::optional<double>& number);
std::optional<double> number_from(const Statement& row, int column, int is_nan_column);

std::optional<std::int64_t> optional_integer(const Statement& row, int column);
std::optional<std::int64_t> optional_ms(const std::optional<Timestamp>& time);
std::optional<Timestamp> optional_time(const Statement& row, int column);

template <class Word>
std::optional<std::string_view> word_of(const std::optional<Word>& word) {
  return word ? std::optional(to_string(*word)) : std::nullopt;
}

// For SELECT <columns> FROM <table>, in this order.
inline constexpr std::string_view kJobColumns =
    "id, name, state, reason, created_at, ended_at, trials_created, trials_completed, trials_stopped, trials_failed, "
    "trials_cancelled, "
    "best_trial, best_resource, best_value, best_anywhere_trial, best_anywhere_resource, best_anywhere_value, resource_spent, "
    "training_ms, trials_since_improvement, failures_in_a_row, failing_with, ending_as, last_epoch, expected_improvement, "
    "suggestions_below";
inline constexpr int kJobColumnCount = 26;
inline constexpr std::string_view kTrialColumns =
    "job, number, state, configuration, origin, bracket, rung, resource, checkpoint_resource, until_resource, objective, "
    "objective_is_nan, objective_resource, attempts, attempts_in_all, epoch, worker, peers, exit_class, message, created_at, "
    "started_at, "
    "ended_at, assigned_at, training_ms, segment_training_ms, assigned_ms, violation, more_objectives";
inline constexpr int kTrialConfigurationColumn = 3;
inline constexpr std::string_view kDecisionColumns =
    "job, trial, bracket, rung, resource, sequence, value, value_is_nan, verdict, rank, filled, slots, keep, cutoff, "
    "cutoff_is_nan, "
    "ahead, rule, at, violation, more_values";

JobRow job_from(const Statement& row);      // without spec_json
TrialRow trial_from(const Statement& row);  // without the configuration, which many readers want as text
DecisionRow decision_from(const Statement& row);

std::string configuration_text(const Configuration& configuration);
Configuration configuration_from_text(std::string_view text);
std::string workers_text(const std::vector<WorkerId>& workers);  // ["w1","w2"]
std::string numbers_text(const std::vector<int>& numbers);       // "[4,7]"
std::string values_text(const std::vector<double>& values);      // [0.5,"nan"]
std::vector<double> values_from_text(std::string_view text);

// Jobs that are deleted, and have rows left, have names that begin with "/", which no name of a job does.
inline constexpr std::string_view kNotDeleted = "name NOT GLOB '/*'";

}  // namespace tuneband
