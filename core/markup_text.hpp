// Text within HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace tuneband {

// For the content and the quoted attributes of elements; controls become spaces.
std::string markup_text(std::string_view text);

}  // namespace tuneband
