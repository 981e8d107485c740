// Whether a database's log (-wal) holds what its index (-shm) says was committed to it. The index outlives a server that is
// killed, and SQLite makes it anew from what it can read of the log: a commit behind a damage is dropped without a word.
#pragma once

#include <optional>
#include <string>

namespace tuneband {

// Why the log does not hold all that its index says, as a sentence without the log's name ("ends after 12 of 30 pages"). Nothing:
// it does, or there is no index of it that says anything: after a clean end, or when the machine went down with the server.
// To be asked before SQLite looks at the database, and by a process that has it not open: closing a file ends the locks on it.
// A server may run on it.
//
// The formats are SQLite's (sqlite.org/fileformat2.html section 4, sqlite.org/walformat.html section 2).
std::optional<std::string> what_the_log_lost(const std::string& database);

}  // namespace tuneband
