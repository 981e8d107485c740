#include "server/read_thread.hpp"

#include "server/log.hpp"

namespace tuneband::server {

Error ReadThread::database_error(const std::exception& failure) {
  log_error("read failed", {{"why", failure.what()}});
  return {ErrorCode::internal, "the database could not be read", "", "the server's log says more"};
}

}  // namespace tuneband::server
