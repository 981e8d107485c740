#include "server/api/read_thread.hpp"

#include "db/connection.hpp"
#include "server/log.hpp"

namespace tuneband::server {

Error failed_read(const std::exception& failure) {
  const bool database = dynamic_cast<const SqliteError*>(&failure) != nullptr;
  log_error("read failed", {{"why", failure.what()}, {"database", database ? "yes" : "no"}});
  return {ErrorCode::internal, database ? "the database could not be read" : "the server failed to answer", "",
          "the server's log says more"};
}

}  // namespace tuneband::server
