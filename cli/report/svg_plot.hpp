// Small plots as SVG elements for a page: lines, bars, a histogram, a matrix. Texts are escaped; colours are the page's (c0 to
// c7).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tuneband::cli {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x; one that is not finite leaves a gap
};

struct PlotTitles {
  std::string title;
  std::string x = {};
  std::string y = {};
};

// Axes over all finite points, with round ticks; the legend below. "" when there is no finite point.
std::string line_plot(const std::vector<PlotLine>& lines, const PlotTitles& titles);

// One row a bar, in this order, from 0; negative ones go to the left.
std::string bar_plot(const std::vector<std::pair<std::string, double>>& bars, const PlotTitles& titles);

// Of finite values, in equal bins over their range. "" when there is none.
std::string histogram_plot(const std::vector<double>& values, const PlotTitles& titles);

// Rows and columns by class: each cell its count, shaded by its share of its row.
std::string matrix_plot(const std::vector<std::vector<double>>& counts, const PlotTitles& titles);

}  // namespace tuneband::cli
