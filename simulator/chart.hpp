// Lines with bands as an SVG image: how the regret of several methods falls.
#pragma once

#include <string>
#include <vector>

namespace tuneband {

struct ChartPoint {
  double x = 0;
  double y = 0;
  double half_width = 0;  // of the band around y
};

struct ChartLine {
  std::string name;
  std::vector<ChartPoint> points;  // by x
};

struct ChartOptions {
  std::string title;
  std::string x_title;
  std::string y_title;
};

// x on a logarithmic axis over the points' range; y from 0, or just below the lowest line where that is less, to just above the
// highest one: bands are cut off there. Meant for y of about 1. Requires: a line with a point, every x above 0.
std::string chart_svg(const std::vector<ChartLine>& lines, const ChartOptions& options);

}  // namespace tuneband
