#include "cli/terminal/replicas_report.hpp"

#include <algorithm>

#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

Cell starred(const std::string& text, bool star) { return {text + (star ? " *" : "  "), star ? Style::good : Style::plain}; }

bool among(const std::vector<int>& trials, int trial) { return std::find(trials.begin(), trials.end(), trial) != trials.end(); }

}  // namespace

Table replicas_table(const ReplicasReport& report, const JobInfo& job) {
  Table table({{"replicas", Align::right},
               {"trials", Align::right},
               {"best " + job.metric, Align::right},
               {"trial", Align::right},
               {"its training", Align::right},
               {"its worker time", Align::right},
               {"worker time in all", Align::right}});
  const bool distributed =
      std::any_of(report.totals.begin(), report.totals.end(), [](const auto& row) { return row.replicas > 1; });
  if (!distributed) return table;
  for (const ReplicasTotals& row : report.totals) {
    std::vector<Cell> cells{std::to_string(row.replicas), std::to_string(row.trials)};
    if (row.best) {
      cells.push_back(format_value(row.best->objective, Precision::readable));
      cells.push_back(std::to_string(row.best->trial));
      cells.push_back(starred(format_duration(row.best->training_seconds), among(report.fastest, row.best->trial)));
      cells.push_back(starred(format_duration(row.best->worker_seconds), among(report.cheapest, row.best->trial)));
    } else {
      cells.insert(cells.end(), {"-", "-", "-  ", "-  "});
    }
    cells.push_back(format_duration(row.worker_seconds));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace tuneband::cli
