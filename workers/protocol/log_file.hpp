// The names of a trial's logs in its directory.
#pragma once

#include <string>

#include "workers/protocol/sync.hpp"

namespace tuneband::protocol {

// log.txt of rank 0, log-2.txt of rank 2.
inline std::string log_file_of(int rank) { return rank == 0 ? kLogFile : "log-" + std::to_string(rank) + ".txt"; }

}  // namespace tuneband::protocol
