#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands/commands.hpp"
#include "os/child_process.hpp"

namespace tuneband::cli {

// The server's program knows the database; this one becomes it.
Finished back_up(const Console& console, const BackupOptions& options) {
  const std::string program = os::program_beside_this_one("tuneband-server");
  const char* const json = console.json() ? "--json" : nullptr;  // the last word
  execl(program.c_str(), program.c_str(), "--backup", options.destination.c_str(), "--data-dir", options.data_dir.c_str(), json,
        static_cast<char*>(nullptr));
  return bad_input("cannot be started: " + std::string(std::strerror(errno)), program, "it belongs beside the program tuneband");
}

}  // namespace tuneband::cli
