// Server-sent events as text (HTML standard, section 9.2.6).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/text.hpp"

namespace tuneband::server {

inline constexpr std::size_t kEventQueueBytesMax = 4 * 1024 * 1024;  // for one client

// `json` has no line ends. Without an id the client's last one stays.
inline std::string event_text(std::string_view type, std::string_view json, std::string_view id = {}) {
  return joined({id.empty() ? "" : "id: ", id, id.empty() ? "" : "\n", "event: ", type, "\ndata: ", json, "\n\n"});
}

}  // namespace tuneband::server
