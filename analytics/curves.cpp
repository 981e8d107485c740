#include "analytics/curves.hpp"

#include <array>
#include <utility>

#include "core/text.hpp"
#include "db/described_row.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

// Where each rung is a training of its own, what is beyond the latest is of one before it, which had come farther.
constexpr std::string_view kOfTheLatest =
    " AND resource <= (SELECT trials.resource FROM trials WHERE trials.job = observations.job AND number = trial)";

}  // namespace

CurvePoint point_from(const Statement& row) {
  CurvePoint point{row.integer(0), number_from(row, 1, 2), std::nullopt, Timestamp{row.integer(4)}};
  read_column(row, 3, point.metrics);
  return point;
}

CurveReader::CurveReader(Connection& connection, Points points, bool restarts) {
  const bool all = points == Points::all;
  const std::string which =
      joined({all ? "" : " AND (objective IS NOT NULL OR objective_is_nan = 1)", restarts ? kOfTheLatest : ""});
  count_ = connection.prepare(joined({"SELECT count(*) FROM observations WHERE job = ? AND trial = ?", which}));
  rows_ = connection.prepare(joined({"SELECT ", all ? kPointColumns : kBarePointColumns,
                                     " FROM observations WHERE job = ? AND trial = ?", which, " ORDER BY resource"}));
}

std::vector<CurvePoint> CurveReader::decimated(TrialId trial, std::int64_t points_max) {
  count_.query(trial.job.value, trial.number).step();
  Decimator decimator(count_.integer(0), points_max);
  for (rows_.query(trial.job.value, trial.number); rows_.step();) decimator.add(point_from(rows_));
  return decimator.take();
}

views::Observation observation_view(CurvePoint point, const ParsedJob* parsed) {
  RawJson metrics{"{}"};
  if (point.metrics) {
    metrics.text = *std::move(point.metrics);
  } else if (point.objective) {
    using Metric = std::pair<std::string_view, double>;
    metrics.text = json_text(std::array{Metric(parsed ? parsed->spec.objective.metric : "objective", *point.objective)});
  }
  return {point.resource, point.objective, std::move(metrics), point.at};
}

}  // namespace tuneband
