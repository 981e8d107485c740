#include "server/api/read_thread.hpp"

#include "db/connection.hpp"
#include "os/fault_text.hpp"
#include "server/api/no_file_handle.hpp"
#include "server/log.hpp"

namespace tuneband::server {

Error failed_read(const std::exception& failure) {
  const auto* database = dynamic_cast<const SqliteError*>(&failure);
  log_error("read failed", {{"why", failure.what()}, {"database", database ? "yes" : "no"}});
  const bool no_handle = database ? os::is_want_of_file_handles(database->system_error()) : os::is_want_of_file_handles(failure);
  if (no_handle) return no_file_handle();
  return {ErrorCode::internal, database ? "the database could not be read" : "the server failed to answer", "",
          "the server's log says more"};
}

}  // namespace tuneband::server
