// Rows, notices and events as lines that a person reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scheduler/rows.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::test {

// A row's fields by name, as text. Times are left out, save the sums of milliseconds.
using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(const JobRow& row);
Fields fields_of(const TrialRow& row);
Fields fields_of(const SegmentRow& row);
Fields fields_of(const DecisionRow& row);
Fields fields_of(const FindingRow& row);

std::string name_of(const JobRow& row);
std::string name_of(const TrialRow& row);
std::string name_of(const SegmentRow& row);
std::string name_of(const DecisionRow& row);
std::string name_of(const FindingRow& row);
std::string name_of(TrialId trial);  // "1/0"

template <class Row>
std::string describe_all(const Row& row) {
  std::string text = name_of(row) + ":";
  for (const auto& [field, value] : fields_of(row)) text += " " + field + "=" + value;
  return text;
}

// Only the fields that are not as in `before`.
template <class Row>
std::string describe_change(const Row& before, const Row& after) {
  std::string text = name_of(after) + ":";
  const Fields old = fields_of(before);
  const Fields now = fields_of(after);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (i >= old.size() || now[i] != old[i]) text += " " + now[i].first + "=" + now[i].second;
  }
  return text;
}

std::string describe(const ObservationRow& row);
std::string describe(const EventRow& row);
std::string describe(const Notice& notice);
std::string describe(const Event& event);

}  // namespace tuneband::test
