// Text as code points, and which of them do more than stand for themselves.
#pragma once

#include <string_view>

namespace tuneband {

// Takes one code point off the front of UTF-8 that is not empty; for a byte that begins none, that byte, as U+FFFD.
char32_t next_code_point(std::string_view& text);

// Whether it would steer a terminal or turn around what stands beside it: the controls C0 and C1 and DEL, the separators of lines
// and paragraphs, and Unicode's Bidi_Control (Unicode 15, PropList.txt; "Trojan Source", Boucher and Anderson 2021).
bool is_control(char32_t point);

}  // namespace tuneband
