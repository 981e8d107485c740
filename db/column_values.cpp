#include "db/column_values.hpp"

#include <sqlite3.h>

#include <limits>

#include "core/json_writer.hpp"

namespace tuneband {

namespace debugger {
BOOST_DESCRIBE_STRUCT(RuleStanding, (), (rule, saved, judged, last_step, fault))
}
BOOST_DESCRIBE_STRUCT(RuleState, (), (standing, at))

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// act(name, value) for what a described struct consists of, the members of members among them.
template <class Struct, class Act>
void for_each_value(Struct& whole, const Act& act) {
  using namespace boost::describe;
  boost::mp11::mp_for_each<describe_members<std::remove_const_t<Struct>, mod_public>>([&](auto member) {
    auto& value = whole.*member.pointer;
    if constexpr (has_describe_members<std::remove_cvref_t<decltype(value)>>::value) {
      for_each_value(value, act);
    } else {
      act(member.name, value);
    }
  });
}

template <class T>
void from_stored(const Json& json, T& value) {
  json.get_to(value);
}
void from_stored(const Json& json, Timestamp& time) { json.get_to(time.ms); }

}  // namespace

void refuse_word(std::string_view text) {
  throw SqliteError(SQLITE_CORRUPT, "database: unknown word \"" + std::string(text) + "\"");
}

Json stored_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw SqliteError(SQLITE_CORRUPT, "database: a JSON column holds something else");
  return json;
}

std::string stored(const std::vector<WorkerId>& workers) {
  Json ids = Json::array();
  for (const WorkerId& worker : workers) ids.push_back(worker.value);
  return json_line(ids);
}

std::string stored(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

std::string stored(const std::vector<RuleState>& rules) {
  Json list = Json::array();
  for (const RuleState& rule : rules) {
    Json& one = list.emplace_back(Json::object());
    for_each_value(rule, [&one](const char* name, const auto& value) { one[name] = stored(value); });
  }
  return json_line(list);
}

void ColumnBinder::metrics(std::string_view, const Metrics& metrics, bool objective_is_among_them) {
  if (metrics.size() <= (objective_is_among_them ? 1U : 0U)) return statement_.bind(index_++, std::nullopt);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  for (const auto& [name, value] : metrics) json.field(name, value);
  json.end_object();
  statement_.bind(index_++, text);
}

void ColumnReader::metrics(std::string_view, Metrics& metrics, bool) {
  if (!row_.is_null(column_)) {
    const Json stored = stored_json(row_.text(column_));
    for (const auto& [name, value] : stored.items()) metrics.emplace_back(name, number_from_json(value).value_or(kNan));
  }
  ++column_;
}

void ColumnReader::read(int column, std::vector<WorkerId>& workers) {
  if (row_.text(column) == "[]") return;
  for (const Json& worker : stored_json(row_.text(column))) workers.push_back(WorkerId{worker.get<std::string>()});
}

void ColumnReader::read(int column, std::vector<int>& numbers) {
  if (row_.text(column) == "[]") return;
  for (const Json& number : stored_json(row_.text(column))) {
    if (number.is_number_integer()) numbers.push_back(number.get<int>());
  }
}

void ColumnReader::read(int column, std::vector<RuleState>& rules) {
  if (row_.text(column) == "[]") return;
  for (const Json& one : stored_json(row_.text(column))) {
    for_each_value(rules.emplace_back(), [&one](const char* name, auto& value) {
      if (const auto found = one.find(name); found != one.end()) from_stored(*found, value);
    });
  }
}

}  // namespace tuneband
