#include "server/monotonic_clock.hpp"

#include <chrono>

namespace tuneband::server {

Timestamp read_wall_clock() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

}  // namespace tuneband::server
