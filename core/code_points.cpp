#include "core/code_points.hpp"

#include <utf8.h>

#include <cstddef>

namespace tuneband {

char32_t next_code_point(std::string_view& text) {
  constexpr char32_t kReplacement = 0xfffd;
  auto at = text.begin();
  char32_t point = kReplacement;
  try {
    point = utf8::next(at, text.end());
  } catch (const utf8::exception&) {
    at = text.begin() + 1;
  }
  text.remove_prefix(static_cast<std::size_t>(at - text.begin()));
  return point;
}

bool is_control(char32_t point) {
  const bool c0_or_c1 = point < 0x20 || (point >= 0x7f && point < 0xa0);
  const bool separator = point == 0x2028 || point == 0x2029;
  const bool bidirectional = point == 0x061c || point == 0x200e || point == 0x200f || (point >= 0x202a && point <= 0x202e) ||
                             (point >= 0x2066 && point <= 0x2069);
  return c0_or_c1 || separator || bidirectional;
}

}  // namespace tuneband
