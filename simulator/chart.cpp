#include "simulator/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/markup_text.hpp"

namespace tuneband {

namespace {

constexpr double kWidthMin = 860;
constexpr double kHeightMin = 492;
constexpr double kLeft = 60;
constexpr double kTop = 52;
constexpr double kPlotWidth = 540;
constexpr double kPlotHeight = 380;
constexpr double kTickY = 0.2;
constexpr double kLegendRow = 20;
constexpr double kLegendLeft = kLeft + kPlotWidth + 16;
constexpr double kLegendText = kLegendLeft + 30;
constexpr double kLetterWidth = 7;  // of 12 px text, on average and a little more

// Eight colours that people with any colour vision can tell apart (Okabe and Ito, "Color universal design", 2008).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"};
// From the ninth line on.
constexpr const char* kDashes[] = {"", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 3\"",
                                   " stroke-dasharray=\"10 3 2 3\""};

class Chart {
 public:
  Chart(const std::vector<ChartLine>& lines, const ChartOptions& options) : lines_(lines), options_(options) {
    x_min_ = x_max_ = lines.front().points.front().x;
    for (const ChartLine& line : lines) {
      for (const ChartPoint& point : line.points) {
        x_min_ = std::min(x_min_, point.x);
        x_max_ = std::max(x_max_, point.x);
        y_min_ = std::min(y_min_, point.y);
        y_max_ = std::max(y_max_, point.y);
      }
    }
    y_min_ = kTickY / 2 * std::floor(y_min_ / (kTickY / 2));
    y_max_ = kTickY * std::max(1.0, std::ceil(y_max_ / kTickY));
    if (x_max_ <= x_min_) x_max_ = 2 * x_min_;
  }

  std::string svg() {
    text_ =
        fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:g} {:g}" font-family="sans-serif" font-size="12">)"
                    "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                    std::max(kWidthMin, legend_end()), std::max(kHeightMin, legend_row(lines_.size())));
    axes();
    for (std::size_t i = 0; i < lines_.size(); ++i) line(lines_[i], i);
    return text_ + "</svg>\n";
  }

 private:
  double x(double value) const { return kLeft + kPlotWidth * std::log(value / x_min_) / std::log(x_max_ / x_min_); }
  double y(double value) const { return kTop + kPlotHeight * (y_max_ - std::clamp(value, y_min_, y_max_)) / (y_max_ - y_min_); }

  // The middle of a legend's row.
  static double legend_row(std::size_t index) { return kTop + kLegendRow / 2 + kLegendRow * static_cast<double>(index); }

  double legend_end() const {
    std::size_t letters = 0;
    for (const ChartLine& line : lines_) letters = std::max(letters, line.name.size());
    return kLegendText + kLetterWidth * static_cast<double>(letters + 1);
  }

  void label(double at_x, double at_y, const char* anchor, const std::string& text) {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y, anchor, markup_text(text));
  }

  void axes() {
    label(kLeft, kTop - 32, "start", options_.title);
    label(kLeft + kPlotWidth / 2, kTop + kPlotHeight + 38, "middle", options_.x_title);
    label(kLeft - 50, kTop - 12, "start", options_.y_title);
    for (int i = static_cast<int>(std::ceil(y_min_ / kTickY)); i * kTickY <= y_max_ + kTickY / 2; ++i) {
      const double value = kTickY * i;
      rule(kLeft, y(value), kLeft + kPlotWidth, y(value));
      label(kLeft - 6, y(value) + 4, "end", fmt::format("{:.1f}", value));
    }
    for (double decade = std::pow(10, std::floor(std::log10(x_min_))); decade <= x_max_; decade *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        const double value = decade * step;
        if (value < x_min_ * 0.999 || value > x_max_ * 1.001) continue;
        rule(x(value), kTop, x(value), kTop + kPlotHeight);
        label(x(value), kTop + kPlotHeight + 18, "middle", fmt::format("{:g}", value));
      }
    }
  }

  void rule(double x1, double y1, double x2, double y2) {
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
  }

  void line(const ChartLine& line, std::size_t index) {
    const char* colour = kColours[index % std::size(kColours)];
    const char* dash = kDashes[index / std::size(kColours) % std::size(kDashes)];
    std::string middle;
    std::string upper;
    std::string lower;
    for (const ChartPoint& point : line.points) {
      middle += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
      upper += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y + point.half_width));
      lower.insert(0, fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y - point.half_width)));
    }
    text_ += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.09\"/>\n", upper, lower, colour);
    text_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", middle, colour, dash);
    const double row = legend_row(index);
    text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                         kLegendLeft, row, kLegendLeft + 24, row, colour, dash);
    label(kLegendText, row + 4, "start", line.name);
  }

  const std::vector<ChartLine>& lines_;
  const ChartOptions& options_;
  double x_min_ = 1;
  double x_max_ = 1;
  double y_min_ = 0;
  double y_max_ = 0;
  std::string text_;
};

}  // namespace

std::string chart_svg(const std::vector<ChartLine>& lines, const ChartOptions& options) { return Chart(lines, options).svg(); }

}  // namespace tuneband
