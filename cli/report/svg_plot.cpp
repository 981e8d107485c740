#include "cli/report/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cli/format.hpp"
#include "core/markup_text.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr double kPlotWidth = 460;
constexpr double kPlotHeight = 260;
constexpr double kPlotLeft = 58;
constexpr double kPlotRight = 12;
constexpr double kPlotTop = 26;
constexpr double kPlotBottom = 40;
constexpr double kPlotRow = 18;  // of bars and of the legend
constexpr int kPlotColours = 8;
constexpr int kPlotTicks = 5;
constexpr std::size_t kPlotNameShown = 26;  // bytes; the whole is the element's title

struct PlotAxis {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool any() const { return low <= high; }
  void widen() {
    if (high > low) return;
    const double around = low == 0 ? 1 : std::abs(low) / 2;
    low -= around;
    high += around;
  }
  double place(double value, double from, double to) const { return from + (value - low) / (high - low) * (to - from); }
  std::vector<double> ticks() const {
    const double raw = (high - low) / kPlotTicks;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double step = raw / power > 5 ? 10 * power : raw / power > 2 ? 5 * power : raw / power > 1 ? 2 * power : power;
    std::vector<double> all;
    for (double at = std::ceil(low / step) * step; at <= high + step * 1e-9 && all.size() < 2 * kPlotTicks + 2; at += step)
      all.push_back(std::abs(at) < step / 1e6 ? 0 : at);
    return all;
  }
};

std::string tick_text(double value) { return fmt::format("{:.4g}", value); }

std::string svg_text(double x, double y, std::string_view text, std::string_view anchor, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor, more, markup_text(text));
}

std::string begin_svg(double height, const PlotTitles& titles) {
  return fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">", kPlotWidth, height,
                     markup_text(titles.title)) +
         svg_text(kPlotLeft, 16, titles.title, "start", " class=\"title\"");
}

std::string svg_rectangle(double x, double y, double width, double height, std::string_view more) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>", x, y, std::max(width, 0.0),
                     std::max(height, 0.0), more);
}

std::string svg_axes(const PlotAxis& x, const PlotAxis& y, const PlotTitles& titles) {
  std::string svg;
  for (const double tick : x.ticks()) {
    const double at = x.place(tick, kPlotLeft, kPlotWidth - kPlotRight);
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>", at, kPlotTop, kPlotHeight - kPlotBottom);
    svg += svg_text(at, kPlotHeight - kPlotBottom + 14, tick_text(tick), "middle");
  }
  for (const double tick : y.ticks()) {
    const double at = y.place(tick, kPlotHeight - kPlotBottom, kPlotTop);
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", kPlotLeft, at, kPlotWidth - kPlotRight);
    svg += svg_text(kPlotLeft - 5, at + 4, tick_text(tick), "end");
  }
  svg += svg_text((kPlotLeft + kPlotWidth - kPlotRight) / 2, kPlotHeight - 8, titles.x, "middle");
  const double middle = (kPlotTop + kPlotHeight - kPlotBottom) / 2;
  return svg + svg_text(12, middle, titles.y, "middle", fmt::format(" transform=\"rotate(-90 12 {:.0f})\"", middle));
}

std::string shown_name(const std::string& name) {
  return name.size() <= kPlotNameShown ? name : shortened(name, kPlotNameShown - 3);
}

}  // namespace

std::string line_plot(const std::vector<PlotLine>& lines, const PlotTitles& titles) {
  PlotAxis x;
  PlotAxis y;
  for (const PlotLine& line : lines) {
    for (const auto& [at, value] : line.points) {
      if (!std::isfinite(value)) continue;
      x.take(at);
      y.take(value);
    }
  }
  if (!x.any()) return "";
  x.widen();
  y.widen();
  const double height = kPlotHeight + kPlotRow * static_cast<double>((lines.size() + 1) / 2);
  std::string svg = begin_svg(height, titles) + svg_axes(x, y, titles);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string path;
    bool begun = false;
    for (const auto& [at, value] : lines[i].points) {
      const bool there = std::isfinite(value);
      if (there) {
        path += fmt::format("{}{:.1f} {:.1f}", begun ? 'L' : 'M', x.place(at, kPlotLeft, kPlotWidth - kPlotRight),
                            y.place(value, kPlotHeight - kPlotBottom, kPlotTop));
      }
      begun = there;
    }
    const int colour = static_cast<int>(i) % kPlotColours;
    svg += fmt::format("<path class=\"line c{}\" d=\"{}\"/>", colour, path);
    const double left = i % 2 == 0 ? kPlotLeft : kPlotLeft + (kPlotWidth - kPlotLeft) / 2;
    const double row = kPlotHeight + kPlotRow * static_cast<double>(i / 2) + 8;
    svg += fmt::format("<path class=\"line c{}\" d=\"M{} {}h16\"/>", colour, left, row);
    svg += svg_text(left + 21, row + 4, shown_name(lines[i].name), "start");
  }
  return svg + "</svg>";
}

std::string bar_plot(const std::vector<std::pair<std::string, double>>& bars, const PlotTitles& titles) {
  constexpr double kNames = 170;
  constexpr double kNumber = 62;
  PlotAxis x;
  x.take(0);
  for (const auto& [name, value] : bars) {
    if (std::isfinite(value)) x.take(value);
  }
  x.widen();
  std::string svg = begin_svg(kPlotTop + kPlotRow * static_cast<double>(bars.size()) + 10, titles);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& [name, value] = bars[i];
    const double top = kPlotTop + kPlotRow * static_cast<double>(i);
    const double from = x.place(0, kNames, kPlotWidth - kNumber);
    const double to = std::isfinite(value) ? x.place(value, kNames, kPlotWidth - kNumber) : from;
    svg += svg_rectangle(std::min(from, to), top + 3, std::abs(to - from), kPlotRow - 6, "class=\"bar\"");
    svg +=
        fmt::format("<g><title>{}</title>", markup_text(name)) + svg_text(kNames - 6, top + 13, shown_name(name), "end") + "</g>";
    svg += svg_text(kPlotWidth - kNumber + 6, top + 13, fmt::format("{:.4g}", value), "start");
  }
  return svg + "</svg>";
}

std::string histogram_plot(const std::vector<double>& values, const PlotTitles& titles) {
  constexpr std::size_t kBins = 30;
  PlotAxis x;
  for (const double value : values) {
    if (std::isfinite(value)) x.take(value);
  }
  if (!x.any()) return "";
  x.widen();
  std::vector<double> counts(kBins);
  for (const double value : values) {
    if (std::isfinite(value)) ++counts[std::min(kBins - 1, static_cast<std::size_t>(x.place(value, 0, kBins)))];
  }
  PlotAxis y{0, *std::max_element(counts.begin(), counts.end())};
  std::string svg = begin_svg(kPlotHeight, titles) + svg_axes(x, y, titles);
  const double width = (kPlotWidth - kPlotRight - kPlotLeft) / kBins;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double top = y.place(counts[bin], kPlotHeight - kPlotBottom, kPlotTop);
    svg += svg_rectangle(kPlotLeft + width * static_cast<double>(bin), top, width - 1, kPlotHeight - kPlotBottom - top,
                         "class=\"bar\"");
  }
  return svg + "</svg>";
}

std::string matrix_plot(const std::vector<std::vector<double>>& counts, const PlotTitles& titles) {
  const auto classes = static_cast<double>(counts.size());
  const double cell = std::min(46.0, (kPlotWidth - kPlotLeft - kPlotRight) / std::max(1.0, classes));
  std::string svg = begin_svg(kPlotTop + cell * classes + 34, titles);
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const double sum = std::accumulate(counts[row].begin(), counts[row].end(), 0.0);
    const double top = kPlotTop + cell * static_cast<double>(row);
    svg += svg_text(kPlotLeft - 6, top + cell / 2 + 4, std::to_string(row), "end");
    for (std::size_t column = 0; column < counts[row].size(); ++column) {
      const double left = kPlotLeft + cell * static_cast<double>(column);
      const double share = sum > 0 ? counts[row][column] / sum : 0;
      svg +=
          svg_rectangle(left, top, cell - 1, cell - 1, fmt::format("class=\"cell\" fill-opacity=\"{:.3f}\"", 0.06 + 0.5 * share));
      if (cell > 20) {
        svg += svg_text(left + cell / 2, top + cell / 2 + 4, fmt::format("{:.0f}", counts[row][column]), "middle",
                        " class=\"count\"");
      }
      if (row == 0) svg += svg_text(left + cell / 2, kPlotTop + cell * classes + 12, std::to_string(column), "middle");
    }
  }
  svg += svg_text(kPlotLeft, kPlotTop + cell * classes + 28, titles.x, "start");
  return svg + svg_text(6, kPlotTop + 10, titles.y, "start") + "</svg>";
}

}  // namespace tuneband::cli
