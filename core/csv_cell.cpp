#include "core/csv_cell.hpp"

#include "core/text.hpp"

namespace tuneband {

namespace {

// Behind any apostrophes.
bool begins_like_a_formula(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos && std::string_view("=+-@\t\r\n").find(text[first]) != std::string_view::npos;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool guarded = begins_like_a_formula(text) && !parse_number(text);
  return plain_csv_cell(guarded ? "'" + std::string(text) : text);
}

std::string plain_csv_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell.find_first_of(",\"\r\n") == std::string::npos ? cell : '"' + cell + '"';
}

std::string text_of_csv_cell(std::string cell) {
  if (cell.starts_with('\'') && begins_like_a_formula(cell)) cell.erase(0, 1);
  return cell;
}

}  // namespace tuneband
