#include "db/row_columns.hpp"

#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "core/json.hpp"

namespace tuneband {

namespace {

// The CHECK constraints hold the words, so another one means a damaged file.
template <class Word>
Word known_word(const std::optional<Word>& word, std::string_view text) {
  if (!word) throw SqliteError(SQLITE_CORRUPT, "database: unknown word \"" + std::string(text) + "\"");
  return *word;
}

template <class Word>
std::optional<Word> optional_word(const Statement& row, int column, std::optional<Word> (*read)(std::string_view)) {
  if (row.is_null(column)) return std::nullopt;
  return known_word(read(row.text(column)), row.text(column));
}

template <class Word>
Word word_in(const Statement& row, int column, std::optional<Word> (*read)(std::string_view)) {
  return known_word(read(row.text(column)), row.text(column));
}

Json stored_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw SqliteError(SQLITE_CORRUPT, "database: a JSON column holds something else");
  return json;
}

std::optional<BestRow> best_from(const Statement& row, int trial_column) {
  if (row.is_null(trial_column)) return std::nullopt;
  return BestRow{row.small_integer(trial_column), row.integer(trial_column + 1), row.number(trial_column + 2)};
}

}  // namespace

std::optional<double> storable(const std::optional<double>& number) { return is_nan(number) ? std::nullopt : number; }

bool is_nan(const std::optional<double>& number) { return number && std::isnan(*number); }

std::optional<double> number_from(const Statement& row, int column, int is_nan_column) {
  if (!row.is_null(column)) return row.number(column);
  if (row.integer(is_nan_column) != 0) return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::optional<std::int64_t> optional_integer(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return row.integer(column);
}

std::optional<std::int64_t> optional_ms(const std::optional<Timestamp>& time) {
  if (!time) return std::nullopt;
  return time->ms;
}

std::optional<Timestamp> optional_time(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return Timestamp{row.integer(column)};
}

JobRow job_from(const Statement& row) {
  JobRow job;
  int column = 0;
  job.id = JobId{row.integer(column++)};
  job.name = row.text(column++);
  job.state = word_in(row, column++, job_state_from);
  job.reason = row.text(column++);
  job.created_at = Timestamp{row.integer(column++)};
  job.ended_at = optional_time(row, column++);
  job.trials_created = row.small_integer(column++);
  job.trials_completed = row.small_integer(column++);
  job.trials_stopped = row.small_integer(column++);
  job.trials_failed = row.small_integer(column++);
  job.trials_cancelled = row.small_integer(column++);
  job.best = best_from(row, column);
  column += 3;
  job.best_anywhere = best_from(row, column);
  column += 3;
  job.resource_spent = row.integer(column++);
  job.training_ms = row.integer(column++);
  job.trials_since_improvement = row.small_integer(column++);
  job.failures_in_a_row = row.small_integer(column++);
  job.failing_with = optional_word(row, column++, exit_class_from);
  job.ending_as = optional_word(row, column++, job_state_from);
  job.last_epoch = row.integer(column++);
  if (!row.is_null(column)) job.expected_improvement = row.number(column);
  ++column;
  job.suggestions_below = row.small_integer(column++);
  return job;
}

TrialRow trial_from(const Statement& row) {
  TrialRow trial;
  int column = 0;
  trial.id.job = JobId{row.integer(column++)};
  trial.id.number = row.small_integer(column++);
  trial.state = word_in(row, column++, trial_state_from);
  column++;  // configuration
  trial.origin = row.text(column++);
  trial.bracket = row.small_integer(column++);
  trial.rung = row.small_integer(column++);
  trial.resource = row.integer(column++);
  trial.checkpoint_resource = row.integer(column++);
  trial.until_resource = row.integer(column++);
  trial.objective = number_from(row, column, column + 1);
  column += 2;
  trial.objective_resource = row.integer(column++);
  trial.attempts = row.small_integer(column++);
  trial.attempts_in_all = row.small_integer(column++);
  trial.epoch = Epoch{row.integer(column++)};
  trial.worker = WorkerId{std::string(row.text(column++))};
  for (const Json& peer : stored_json(row.text(column++))) trial.peers.push_back(WorkerId{peer.get<std::string>()});
  trial.exit_class = optional_word(row, column++, exit_class_from);
  trial.message = row.text(column++);
  trial.created_at = Timestamp{row.integer(column++)};
  trial.started_at = optional_time(row, column++);
  trial.ended_at = optional_time(row, column++);
  trial.assigned_at = optional_time(row, column++);
  trial.training_ms = row.integer(column++);
  trial.segment_training_ms = row.integer(column++);
  trial.assigned_ms = row.integer(column++);
  trial.violation = row.number(column++);
  trial.more_objectives = values_from_text(row.text(column++));
  return trial;
}

DecisionRow decision_from(const Statement& row) {
  DecisionRow decision;
  int column = 0;
  decision.trial.job = JobId{row.integer(column++)};
  decision.trial.number = row.small_integer(column++);
  decision.bracket = row.small_integer(column++);
  decision.rung = row.small_integer(column++);
  decision.resource = row.integer(column++);
  decision.sequence = row.integer(column++);
  decision.value = number_from(row, column, column + 1);
  column += 2;
  decision.verdict = word_in(row, column++, verdict_from);
  decision.rank = row.small_integer(column++);
  decision.filled = row.small_integer(column++);
  decision.slots = row.small_integer(column++);
  decision.keep = row.small_integer(column++);
  decision.cutoff = number_from(row, column, column + 1);
  column += 2;
  for (const Json& number : stored_json(row.text(column++))) {
    if (number.is_number_integer()) decision.ahead.push_back(number.get<int>());
  }
  decision.rule = row.text(column++);
  decision.at = Timestamp{row.integer(column++)};
  decision.violation = row.number(column++);
  decision.more_values = values_from_text(row.text(column++));
  return decision;
}

std::string configuration_text(const Configuration& configuration) { return to_json(configuration).dump(); }

Configuration configuration_from_text(std::string_view text) { return configuration_from_json(stored_json(text)); }

std::string workers_text(const std::vector<WorkerId>& workers) {
  Json ids = Json::array();
  for (const WorkerId& worker : workers) ids.push_back(worker.value);
  return ids.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string values_text(const std::vector<double>& values) {
  if (values.empty()) return "[]";
  Json list = Json::array();
  for (const double value : values) list.push_back(number_to_json(value));
  return list.dump();
}

std::vector<double> values_from_text(std::string_view text) {
  std::vector<double> values;
  if (text == "[]") return values;
  for (const Json& value : stored_json(text))
    values.push_back(number_from_json(value).value_or(std::numeric_limits<double>::quiet_NaN()));
  return values;
}

std::string numbers_text(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

}  // namespace tuneband
