// Tables as JSON by columns: {"number": [0, 1], "state": [3, 5]}. A client takes a column as it is, and no name is repeated.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_writer.hpp"
#include "core/time.hpp"

namespace tuneband {

// An array that grows. Not moved: the writer knows where its text is.
class Column {
 public:
  explicit Column(std::string_view name) : name_(name), json_(text_) { json_.begin_array(); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  template <class T>
  void add(const T& cell) {
    json_.value(cell);
  }
  void add_null() { json_.null(); }
  // Seconds since `origin`.
  void add_time(const std::optional<Timestamp>& time, Timestamp origin);
  // With so many significant digits: for values that are drawn and nothing else.
  void add_drawn(double value, int digits = 7);
  void add_json(std::string_view json) { json_.raw(json); }

  // Its name and its array as a field, or the array alone; once.
  void write(JsonWriter& out) { write_cells(out.key(name_)); }
  void write_cells(JsonWriter& out);

 private:
  std::string name_;
  std::string text_;
  JsonWriter json_;
};

class Columns {
 public:
  Column& add(std::string_view name) { return columns_.emplace_back(name); }
  void write(JsonWriter& out);  // as fields of the object that `out` is in; once

 private:
  std::deque<Column> columns_;
};

// Words that a column names by their index, numbered as they come.
class Words {
 public:
  // -1: the empty word.
  int index_of(std::string_view word);
  void write(JsonWriter& out) const;

 private:
  std::map<std::string, int, std::less<>> indices_;
  std::vector<std::string> words_;
};

}  // namespace tuneband
