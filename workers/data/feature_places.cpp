#include "workers/data/feature_places.hpp"

#include <algorithm>
#include <vector>

#include "core/text.hpp"
#include "jobs/feature_constraints.hpp"

namespace tuneband::workers {

namespace {

Error fault(std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), "", std::move(hint)};
}

struct Places {
  const FeatureColumn* column = nullptr;
  std::size_t first = 0;  // of column->width()
};

Result<Places> places_of(const std::string& name, const CsvEncoding& encoding) {
  const auto named = [&](const FeatureColumn& column) { return column.name == name; };
  if (std::ranges::count_if(encoding.features, named) > 1)
    return fault("names `" + name + "`, and several columns have this name", "give places, from 0");
  Places places;
  std::vector<std::string> names;
  for (const FeatureColumn& column : encoding.features) {
    places.column = &column;
    if (column.name == name) return places;
    places.first += column.width();
    names.push_back(column.name);
  }
  if (names.empty()) return fault("names `" + name + "`, and the columns of this data have no names", "give places, from 0");
  const bool no_feature = std::find(encoding.columns.begin(), encoding.columns.end(), name) != encoding.columns.end();
  if (no_feature) return fault("names `" + name + "`, which is a column of the data, but no feature");
  return fault("names `" + name + "`, and the data has no such column", did_you_mistype(name, names));
}

Error beyond(std::size_t place, std::size_t features) {
  return fault("names feature " + std::to_string(place) + ", and the data has " + std::to_string(features) + ", counted from 0",
               features > 0 ? "columns go by name, too" : "");
}

std::string in_places(const Json& directions) {
  std::string text = directions.dump();
  text.front() = '(';
  text.back() = ')';
  return text;
}

Result<std::string> monotone_by_place(const Json& by_name, const CsvEncoding& encoding, std::size_t features) {
  std::vector<int> directions(features, 0);
  for (const auto& [name, direction] : by_name.items()) {
    const auto places = places_of(name, encoding);
    if (!places) return places.error();
    if (places->column->kind != ColumnKind::numeric)
      return fault("names `" + name + "`, a column of texts: it does not rise or fall");
    directions[places->first] = direction.get<int>();
  }
  return in_places(directions);
}

// Appends the places of one member of a group.
Result<void> add_places(const Json& member, const CsvEncoding& encoding, std::size_t features, Json& group) {
  if (member.is_number()) {
    const auto place = member.get<std::size_t>();
    if (place >= features) return beyond(place, features);
    group.push_back(place);
    return {};
  }
  const auto places = places_of(member.get<std::string>(), encoding);
  if (!places) return places.error();
  for (std::size_t i = 0; i < places->column->width(); ++i) group.push_back(places->first + i);
  return {};
}

Result<std::string> interactions_by_place(const Json& groups, const CsvEncoding& encoding, std::size_t features) {
  Json by_place = Json::array();
  for (const Json& members : groups) {
    Json group = Json::array();
    for (const Json& member : members) {
      if (auto added = add_places(member, encoding, features, group); !added) return added.error();
    }
    by_place.push_back(std::move(group));
  }
  return by_place.dump();
}

}  // namespace

Result<std::string> constraints_by_place(const XgboostParameter& parameter, const std::string& text, const CsvEncoding& encoding,
                                         std::size_t features) {
  if (auto said = fault_of_value(parameter, text); !said.empty()) return fault(std::move(said));
  if (text.empty()) return text;
  const Json constraints = constraints_from(text);
  if (parameter.kind == ParameterKind::interaction_constraints) return interactions_by_place(constraints, encoding, features);
  if (constraints.is_object()) return monotone_by_place(constraints, encoding, features);
  if (constraints.size() > features) return beyond(constraints.size() - 1, features);
  return in_places(constraints);
}

}  // namespace tuneband::workers
