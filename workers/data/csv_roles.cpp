#include "workers/data/csv_roles.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/decimal.hpp"
#include "core/text.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_files.hpp"

namespace tuneband::workers {

namespace {

// By name, else by number from 0.
Result<std::size_t> find_column(const std::string& column, const std::vector<std::string>& names, const DataSpec& spec,
                                const std::string& field) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end() && spec.header) {
    if (std::find(found + 1, names.end(), column) != names.end())
      return csv_fault(field, "the file has more than one column " + shown(column), "give the column's number, from 0");
    return static_cast<std::size_t>(found - names.begin());
  }
  const auto number = integer_in<std::size_t>(column);
  if (number && *number < names.size()) return *number;
  std::string hint = names.size() == 1 ? one_column_hint(names[0]) : other_delimiter_hint(names, column);
  if (number) {
    const std::string columns =
        names.size() == 1 ? "one column, number 0," : std::to_string(names.size()) + " columns, numbered from 0,";
    return csv_fault(field, "the file has " + columns + " and no column " + column, hint);
  }
  if (hint.empty()) hint = did_you_mistype(column, names);
  if (hint.empty()) hint = "the file has " + std::to_string(names.size()) + " columns; they go by number, too, from 0";
  return csv_fault(field, "the file has no column `" + column + "`", hint);
}

// "": a feature's, or none's.
std::string role_of(const ColumnRoles& roles, std::size_t column) {
  return column == roles.label ? "the label" : column == roles.weight ? "the weight" : column == roles.group ? "the group" : "";
}

// Of `column` as the document names it at `field`. Errors: it is not there, or has a role.
Result<std::size_t> find_without_role(const std::string& column, const ColumnRoles& roles, const DataSpec& spec,
                                      const std::string& field, bool may_be_label = false) {
  auto place = find_column(column, roles.names, spec, field);
  if (!place || (may_be_label && *place == roles.label)) return place;
  const std::string role = role_of(roles, *place);
  if (!role.empty()) return csv_fault(field, "names the column `" + column + "`, which is " + role);
  return place;
}

}  // namespace

std::vector<bool> ColumnRoles::needed() const {
  std::vector<bool> columns;
  for (std::size_t i = 0; i < names.size(); ++i) columns.push_back(!dropped[i] || i == weight || i == group);
  return columns;
}

Result<ColumnRoles> column_roles(const CsvRow& first, const DataSpec& spec) {
  ColumnRoles roles;
  roles.names = column_names(first, spec.header);
  roles.dropped.resize(roles.names.size());
  roles.categorical.resize(roles.names.size());
  const auto label = find_column(spec.label, roles.names, spec, kLabelField);
  if (!label) return label.error();
  roles.label = *label;
  for (const auto& [column, role, field] :
       {std::tuple{&spec.weight, &roles.weight, "trainer.data.weight"}, {&spec.group, &roles.group, "trainer.data.group"}}) {
    if (column->empty()) continue;
    const auto place = find_without_role(*column, roles, spec, field);
    if (!place) return place.error();
    *role = *place;
    roles.dropped[*place] = true;
  }
  for (const auto& [columns, marks, field, may_be_label] :
       {std::tuple{&spec.drop, &roles.dropped, "trainer.data.drop", false},
        {&spec.categorical, &roles.categorical, "trainer.data.categorical", true}}) {
    for (std::size_t i = 0; i < columns->size(); ++i) {
      const auto place = find_without_role((*columns)[i], roles, spec, join_path(field, i), may_be_label);
      if (!place) return place.error();
      (*marks)[*place] = true;
    }
  }
  return roles;
}

}  // namespace tuneband::workers
