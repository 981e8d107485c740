#include "core/code_points.hpp"

#include <cstddef>

namespace tuneband {

namespace {

constexpr char32_t kReplacement = 0xfffd;

}  // namespace

char32_t next_code_point(std::string_view& text) {
  const auto byte = static_cast<unsigned char>(text.front());
  std::size_t size = 1;
  char32_t point = byte;
  if (byte >= 0xf0) {
    size = 4;
    point = byte & 0x07u;
  } else if (byte >= 0xe0) {
    size = 3;
    point = byte & 0x0fu;
  } else if (byte >= 0xc0) {
    size = 2;
    point = byte & 0x1fu;
  }
  if (size > text.size()) {
    text = {};
    return kReplacement;
  }
  for (std::size_t i = 1; i < size; ++i) point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(size);
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
