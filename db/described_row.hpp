// A row of a SELECT as values and described structs: a column a member, in the order in which BOOST_DESCRIBE_STRUCT lists them.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "db/connection.hpp"

namespace tuneband {

inline void read_column(const Statement& row, int column, int& number) { number = row.small_integer(column); }
inline void read_column(const Statement& row, int column, std::int64_t& number) { number = row.integer(column); }
inline void read_column(const Statement& row, int column, bool& flag) { flag = row.integer(column) != 0; }
inline void read_column(const Statement& row, int column, double& number) { number = row.number(column); }
inline void read_column(const Statement& row, int column, std::string& text) { text = row.text(column); }
inline void read_column(const Statement& row, int column, Timestamp& time) { time.ms = row.integer(column); }
template <class Tag, class Value>
void read_column(const Statement& row, int column, Id<Tag, Value>& id) {
  read_column(row, column, id.value);
}
template <class T>
void read_column(const Statement& row, int column, std::optional<T>& value) {
  row.is_null(column) ? value.reset() : read_column(row, column, value.emplace());
}

template <class Struct>
Struct struct_from(const Statement& row) {
  Struct made;
  int column = 0;
  boost::mp11::mp_for_each<boost::describe::describe_members<Struct, boost::describe::mod_public>>(
      [&](auto member) { read_column(row, column++, made.*member.pointer); });
  return made;
}

}  // namespace tuneband
