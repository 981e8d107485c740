// Rows and columns: aligned in a terminal, tab-separated in a pipe.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace tuneband::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

struct Cell {
  std::string text;
  Style style = Style::plain;

  Cell(std::string content, Style look = Style::plain) : text(std::move(content)), style(look) {}
  Cell(const char* content) : text(content) {}
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add_row(std::vector<Cell> cells);  // as many as there are columns
  bool empty() const { return rows_.empty(); }

  // Aligned columns, the title first. Columns that do not fit the width are left out, and a last line says so.
  std::vector<Line> aligned(const Terminal& terminal) const;
  // A title line and a line a row; tabs and line breaks within a cell become spaces.
  std::string tab_separated() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace tuneband::cli
