#include "cli/terminal/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kGap = 2;  // columns between two columns
constexpr std::size_t kCellWidthMax = 60;

Span padded(const std::string& text, std::size_t width, Align align, bool last, Style style) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  if (align == Align::right) return {space + text, style};
  return {last ? text : text + space, style};
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  TUNEBAND_CHECK(cells.size() == columns_.size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::vector<Line> Table::aligned(const Terminal& terminal) const {
  const auto shown = [&](const std::string& text) { return cut(printable(text, terminal), kCellWidthMax, terminal); };
  std::vector<std::size_t> widths;
  std::size_t columns_shown = 0;
  std::size_t total = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(shown(row[c].text)));
    widths.push_back(width);
    total += width + (c > 0 ? kGap : 0);
    if (c == columns_shown && (total <= terminal.width || c == 0)) ++columns_shown;
  }

  const auto line_of = [&](const auto& cell_of) {
    Line line;
    for (std::size_t c = 0; c < columns_shown; ++c) {
      if (c > 0) line.push_back({std::string(kGap, ' ')});
      const Cell cell = cell_of(c);
      line.push_back(padded(shown(cell.text), widths[c], columns_[c].align, c + 1 == columns_shown, cell.style));
    }
    return line;
  };
  std::vector<Line> lines;
  lines.push_back(line_of([&](std::size_t c) { return Cell(columns_[c].title, Style::dim); }));
  for (const auto& row : rows_) lines.push_back(line_of([&](std::size_t c) { return row[c]; }));
  if (columns_shown < columns_.size()) {
    const std::size_t missing = columns_.size() - columns_shown;
    const Line note{{fmt::format("({} more {}: widen the terminal, or use --json)", missing, missing == 1 ? "column" : "columns"),
                     Style::dim}};
    for (Line& part : wrapped(note, terminal.width, 0)) lines.push_back(std::move(part));
  }
  return lines;
}

std::string Table::tab_separated() const {
  std::string text;
  for (std::size_t c = 0; c < columns_.size(); ++c) text += (c > 0 ? "\t" : "") + columns_[c].title;
  text += '\n';
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c > 0 ? "\t" : "") + one_line(row[c].text);
    text += '\n';
  }
  return text;
}

}  // namespace tuneband::cli
