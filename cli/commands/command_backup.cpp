#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"

namespace tuneband::cli {

// The server's program knows the database; this one becomes it.
Finished back_up(const BackupOptions& options) {
  const std::string program = program_beside_this("tuneband-server");
  execl(program.c_str(), program.c_str(), "--backup", options.destination.c_str(), "--data-dir", options.data_dir.c_str(),
        static_cast<char*>(nullptr));
  return bad_input("cannot be started: " + std::string(std::strerror(errno)), program, "it belongs beside the program tuneband");
}

}  // namespace tuneband::cli
