#include "server/api/read_thread.hpp"

#include <cerrno>

#include "db/connection.hpp"
#include "os/fault_text.hpp"
#include "server/api/log_stream.hpp"
#include "server/log.hpp"

namespace tuneband::server {

Error failed_read(const std::exception& failure) {
  const bool database = dynamic_cast<const SqliteError*>(&failure) != nullptr;
  log_error("read failed", {{"why", failure.what()}, {"database", database ? "yes" : "no"}});
  if (os::is_want_of_file_handles(failure)) return cannot_open(EMFILE);
  return {ErrorCode::internal, database ? "the database could not be read" : "the server failed to answer", "",
          "the server's log says more"};
}

}  // namespace tuneband::server
