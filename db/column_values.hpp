// What a member of a row struct is in its column: bound, and read back.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/json.hpp"
#include "db/connection.hpp"
#include "db/described_row.hpp"
#include "db/row_columns.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// Of a damaged file: throws SqliteError.
[[noreturn]] void refuse_word(std::string_view text);
// Of a column's text. Throws SqliteError where it is no JSON.
Json stored_json(std::string_view text);

// A value as what SQLite stores: a number or a text.
template <class Word>
requires std::is_enum_v<Word> std::string_view stored(Word word) { return to_string(word); }
template <class Number>
requires std::is_arithmetic_v<Number> Number stored(Number number) { return number; }
inline const std::string& stored(const std::string& text) { return text; }
inline std::int64_t stored(JobId id) { return id.value; }
inline std::int64_t stored(Epoch epoch) { return epoch.value; }
inline std::int64_t stored(Timestamp time) { return time.ms; }
inline const std::string& stored(const WorkerId& worker) { return worker.value; }
inline std::string stored(const Configuration& configuration) { return configuration_text(configuration); }
inline std::string stored(const std::vector<double>& values) { return values_text(values); }
std::string stored(const std::vector<WorkerId>& workers);
std::string stored(const std::vector<int>& numbers);
std::string stored(const std::vector<RuleState>& rules);

// Binds the columns of a list one after the other, from ?1 on.
class ColumnBinder {
 public:
  explicit ColumnBinder(Statement& statement) : statement_(statement) {}
  int bound() const { return index_; }

  template <class T>
  void field(std::string_view, const T& value) {
    statement_.bind(index_++, stored(value));
  }
  template <class T>
  void field(std::string_view, const std::optional<T>& value) {
    value ? statement_.bind(index_++, stored(*value)) : statement_.bind(index_++, std::nullopt);
  }
  void number(std::string_view, const std::optional<double>& value) {
    const bool nan = value && std::isnan(*value);
    statement_.bind(index_++, nan ? std::nullopt : value);
    statement_.bind(index_++, nan);
  }
  void best(std::string_view, const std::optional<BestRow>& best) {
    statement_.bind(index_++, best ? std::optional(best->trial) : std::nullopt);
    statement_.bind(index_++, best ? std::optional(best->resource) : std::nullopt);
    statement_.bind(index_++, best ? std::optional(best->value) : std::nullopt);
  }
  // The objective stands in its own column; its metric's name is in the job's document.
  void metrics(std::string_view, const Metrics& metrics, bool objective_is_among_them);

 private:
  Statement& statement_;
  int index_ = 0;
};

// Reads the columns of a list one after the other, from the first of the row on.
class ColumnReader {
 public:
  explicit ColumnReader(const Statement& row) : row_(row) {}

  template <class T>
  void field(std::string_view, T& value) {
    read(column_++, value);
  }
  template <class T>
  void field(std::string_view, std::optional<T>& value) {
    if (!row_.is_null(column_)) read(column_, value.emplace());
    ++column_;
  }
  void number(std::string_view, std::optional<double>& value) {
    value = number_from(row_, column_, column_ + 1);
    column_ += 2;
  }
  void best(std::string_view, std::optional<BestRow>& best) {
    if (!row_.is_null(column_)) best = BestRow{row_.small_integer(column_), row_.integer(column_ + 1), row_.number(column_ + 2)};
    column_ += 3;
  }
  void metrics(std::string_view, Metrics& metrics, bool);

 private:
  // The CHECK constraints hold the words, so another one means a damaged file.
  template <class Word>
  void read_word(int column, Word& word, std::optional<Word> (*word_from)(std::string_view)) {
    const auto text = row_.text(column);
    const auto known = word_from(text);
    if (!known) refuse_word(text);
    word = *known;
  }
  void read(int column, JobState& state) { read_word(column, state, job_state_from); }
  void read(int column, TrialState& state) { read_word(column, state, trial_state_from); }
  void read(int column, ExitClass& exit) { read_word(column, exit, exit_class_from); }
  void read(int column, Verdict& verdict) { read_word(column, verdict, verdict_from); }
  template <class T>
  void read(int column, T& value) {
    read_column(row_, column, value);
  }
  void read(int, Configuration&) {}
  void read(int column, std::vector<double>& values) { values = values_from_text(row_.text(column)); }
  void read(int column, std::vector<WorkerId>& workers);
  void read(int column, std::vector<int>& numbers);
  void read(int column, std::vector<RuleState>& rules);

  const Statement& row_;
  int column_ = 0;
};

}  // namespace tuneband
