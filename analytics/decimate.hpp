// Fewer points of a curve, with its shape kept: the first, the last, and of equal stretches in between the lowest and the
// highest. So the lowest and the highest of all are among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/time.hpp"

namespace tuneband {

struct CurvePoint {
  std::int64_t resource = 0;
  std::optional<double> objective;
  std::optional<std::string> metrics;  // JSON
  Timestamp at;
};

// Takes points in order, one by one, and holds no more than `points_max` of them.
class Decimator {
 public:
  // `total`: how many points will come; `points_max` at least 4.
  Decimator(std::int64_t total, std::int64_t points_max);
  void add(CurvePoint point);
  std::vector<CurvePoint> take();

 private:
  void add_to_stretch(CurvePoint point);
  void close_stretch();

  std::int64_t total_;
  std::int64_t points_max_;
  std::int64_t seen_ = 0;
  std::int64_t stretch_ = -1;
  std::optional<CurvePoint> lowest_;
  std::optional<CurvePoint> highest_;
  std::vector<CurvePoint> kept_;
};

}  // namespace tuneband
