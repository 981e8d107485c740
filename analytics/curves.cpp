#include "analytics/curves.hpp"

#include "core/text.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

CurvePoint point_from(const Statement& row, bool with_metrics) {
  CurvePoint point;
  point.resource = row.integer(0);
  point.objective = number_from(row, 1, 2);
  if (with_metrics && !row.is_null(3)) point.metrics = std::string(row.text(3));
  point.at = Timestamp{row.integer(4)};
  return point;
}

}  // namespace

CurveReader::CurveReader(Connection& connection, Points points) : with_metrics_(points == Points::all) {
  const std::string_view which = with_metrics_ ? "" : " AND (objective IS NOT NULL OR objective_is_nan = 1)";
  count_ = connection.prepare(joined({"SELECT count(*) FROM observations WHERE job = ? AND trial = ?", which}));
  rows_ =
      connection.prepare(joined({"SELECT resource, objective, objective_is_nan, metrics, at FROM observations "
                                 "WHERE job = ? AND trial = ?",
                                 which, " ORDER BY resource"}));
}

std::vector<CurvePoint> CurveReader::decimated(TrialId trial, std::int64_t points_max) {
  count_.query(trial.job.value, trial.number).step();
  Decimator decimator(count_.integer(0), points_max);
  for (rows_.query(trial.job.value, trial.number); rows_.step();) decimator.add(point_from(rows_, with_metrics_));
  return decimator.take();
}

void write_point_fields(JsonWriter& json, const CurvePoint& point, const std::string& metric) {
  json.field("resource", point.resource).field("objective", point.objective);
  json.key("metrics");
  if (point.metrics) {
    json.raw(*point.metrics);
  } else {
    json.begin_object();
    if (point.objective) json.field(metric, *point.objective);
    json.end_object();
  }
  json.field("at", point.at);
}

}  // namespace tuneband
