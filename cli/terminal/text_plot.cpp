#include "cli/terminal/text_plot.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kLabelWidth = 12;
constexpr std::size_t kDotsAcross = 2;  // of a braille character
constexpr std::size_t kDotsDown = 4;

// U+2800 and the bits of its dots.
std::string braille(unsigned dots) {
  std::string text;
  utf8::append(static_cast<char32_t>(0x2800 + dots), text);
  return text;
}

unsigned dot(std::size_t column, std::size_t row) {
  constexpr unsigned kDots[kDotsDown][kDotsAcross] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return kDots[row][column];
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Values so far apart that only the largest would be seen of them.
  bool far_apart() const {
    constexpr double kFarApart = 1e6;
    return low > 0 && high / low > kFarApart;
  }
  // The dot of `dots` on which a value lies. Halves, since the difference of two numbers may be none.
  std::size_t place(double value, std::size_t dots) const {
    if (!(high > low)) return dots / 2;
    const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
    return std::min(dots - 1, static_cast<std::size_t>(std::llround(share * static_cast<double>(dots - 1))));
  }
};

}  // namespace

std::vector<std::string> text_plot(const std::vector<PlotPoint>& points, std::size_t width, const PlotEnds& ends) {
  const std::size_t columns = std::clamp<std::size_t>(width, kLabelWidth + 10, 120) - kLabelWidth - 1;
  Range x;
  Range y;
  for (const PlotPoint& point : points) {
    x.take(point.x);
    if (std::isfinite(point.y)) y.take(point.y);
  }
  for (const PlotPoint& point : ends.beside) {
    x.take(point.x);
    if (std::isfinite(point.y) && std::isfinite(y.low)) y.take(point.y);
  }
  if (!std::isfinite(y.low)) return {"no finite value at " + format_count(static_cast<std::int64_t>(points.size()), "step")};
  const bool logarithmic = y.far_apart();
  const auto height = [&](double value) { return logarithmic ? std::log10(value) : value; };
  const Range heights{height(y.low), height(y.high)};
  std::vector<unsigned> cells(columns * kRows);
  const auto draw = [&](std::size_t across, std::size_t up) {
    const std::size_t down = kRows * kDotsDown - 1 - up;
    cells[down / kDotsDown * columns + across / kDotsAcross] |= dot(across % kDotsAcross, down % kDotsDown);
  };
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : points) {
    const PlotPoint* from = std::exchange(before, std::isfinite(point.y) ? &point : nullptr);
    if (!std::isfinite(point.y)) continue;
    const std::size_t end = x.place(point.x, columns * kDotsAcross);
    const std::size_t begin = from == nullptr ? end : x.place(from->x, columns * kDotsAcross);
    for (std::size_t across = begin; across <= end; ++across) {
      const double share = end == begin ? 1 : static_cast<double>(across - begin) / static_cast<double>(end - begin);
      const double to = height(point.y);
      const double value = from == nullptr ? to : (1 - share) * height(from->y) + share * to;
      draw(across, heights.place(value, kRows * kDotsDown));
    }
  }
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::string label = row == 0           ? format_value(y.high, Precision::readable)
                              : row == kRows - 1 ? format_value(y.low, Precision::readable)
                              : row == kRows / 2 ? (logarithmic ? "logarithmic" : "")
                                                 : "";
    std::string line = fmt::format("{:>{}} ", label, kLabelWidth);
    for (std::size_t column = 0; column < columns; ++column) line += braille(cells[row * columns + column]);
    lines.push_back(std::move(line));
  }
  const std::string first = ends.first.empty() ? fmt::format("step {}", x.low) : ends.first;
  const std::string last = ends.last.empty() ? fmt::format("{}", x.high) : ends.last;
  lines.push_back(fmt::format("{:{}} {}{:>{}}", "", kLabelWidth, first, last, columns - std::min(columns, first.size())));
  const auto not_finite = [](const PlotPoint& point) { return !std::isfinite(point.y); };
  if (const auto count = std::count_if(points.begin(), points.end(), not_finite); count > 0) {
    const auto& at = *std::find_if(points.begin(), points.end(), not_finite);
    lines.push_back(fmt::format("{:{}} not finite at {} of them, first {} at {}", "", kLabelWidth, count,
                                format_value(at.y, Precision::readable), at.x));
  }
  return lines;
}

}  // namespace tuneband::cli
