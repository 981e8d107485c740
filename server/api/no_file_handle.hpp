// What the API says where the server has no file handle left for what is asked.
#pragma once

#include "core/error.hpp"

namespace tuneband::server {

inline Error no_file_handle() {
  return {ErrorCode::unavailable, "the server has no file handle left", "", "try again in a moment"};
}

}  // namespace tuneband::server
