// gzip at the fastest level, for large replies (zlib).
#pragma once

#include <string>
#include <string_view>

namespace tuneband::server {

std::string gzip(std::string_view text);

}  // namespace tuneband::server
