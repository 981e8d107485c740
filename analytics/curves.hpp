// The learning curves of trials, read from the observations and decimated.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analytics/decimate.hpp"
#include "analytics/views.hpp"
#include "core/ids.hpp"
#include "db/connection.hpp"
#include "jobs/parsed_job.hpp"

namespace tuneband {

class CurveReader {
 public:
  enum class Points { all, of_the_objective };  // of_the_objective: those that have a value of it, without the other metrics
  // `restarts`: each rung is a training of its own; the curve is then that of the latest.
  CurveReader(Connection& connection, Points points, bool restarts);

  // By resource, at most `points_max` (kObservationPointsMin or more). Empty: nothing was reported, or there is no such trial.
  std::vector<CurvePoint> decimated(TrialId trial, std::int64_t points_max);

 private:
  Statement count_;
  Statement rows_;
};

// Of `observations`, for point_from(); bare: without the other metrics, which take time to read.
inline constexpr std::string_view kPointColumns = "resource, objective, objective_is_nan, metrics, at";
inline constexpr std::string_view kBarePointColumns = "resource, objective, objective_is_nan, NULL, at";
CurvePoint point_from(const Statement& row);

// A point without further metrics has the objective's, by its name, or as "objective" where this version cannot read the
// document.
views::Observation observation_view(CurvePoint point, const ParsedJob* parsed);

}  // namespace tuneband
