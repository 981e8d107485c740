// Cursors of pages: where the page before ended, as a text that is safe in a URL. Clients treat them as opaque, and may send
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tuneband {

// After the row with this number.
struct NumberCursor {
  std::int64_t number = 0;
};
// In order of the objective: after this finite value of those that meet the constraints, and among equals after this number.
struct ValueCursor {
  double value = 0;
  std::int64_t number = 0;
};
// In order of the objective: after this violation of the constraints, which may be infinite, and among equals after this number.
struct ViolationCursor {
  double violation = 0;
  std::int64_t number = 0;
};
// In order of the objective: after this number, among those without a finite value.
struct ValuelessCursor {
  std::int64_t number = 0;
};
using Cursor = std::variant<NumberCursor, ValueCursor, ViolationCursor, ValuelessCursor>;

std::string to_text(const Cursor& cursor);
std::optional<Cursor> cursor_from(std::string_view text);

}  // namespace tuneband
