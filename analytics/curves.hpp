// The learning curves of trials, read from the observations and decimated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analytics/decimate.hpp"
#include "core/ids.hpp"
#include "core/json_writer.hpp"
#include "db/connection.hpp"

namespace tuneband {

class CurveReader {
 public:
  enum class Points { all, of_the_objective };  // of_the_objective: those that have a value of it, without the other metrics
  CurveReader(Connection& connection, Points points);

  // By resource, at most `points_max` (kObservationPointsMin or more). Empty: nothing was reported, or there is no such trial.
  std::vector<CurvePoint> decimated(TrialId trial, std::int64_t points_max);

 private:
  Statement count_;
  Statement rows_;
  bool with_metrics_;
};

// "resource", "objective", "metrics" and "at". A point without further metrics has the objective's, by its name.
void write_point_fields(JsonWriter& json, const CurvePoint& point, const std::string& metric);

}  // namespace tuneband
