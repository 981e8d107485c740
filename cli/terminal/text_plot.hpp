// A curve in a terminal, of braille dots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tuneband::cli {

struct PlotPoint {
  double x = 0;
  double y = 0;  // NaN and infinity leave a gap
};

// What stands below the ends of x; "": its number, as a step.
struct PlotEnds {
  std::string first = {};
  std::string last = {};
  std::vector<PlotPoint> beside = {};  // of another curve: the axes have room for it, too
};

// Lines of at most `width` columns: ten of the curve, with the highest and the lowest value at its side, and the ends of x below.
// Positive values that are a million times apart are on a logarithmic axis, which says so; where values are not finite, a last
// line says how many, and which is the first.
std::vector<std::string> text_plot(const std::vector<PlotPoint>& points, std::size_t width, const PlotEnds& ends = {});

}  // namespace tuneband::cli
