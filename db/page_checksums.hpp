// A checksum at the end of every page of a database: SQLite has none, and would take a changed digit for a number.
//
// SQLite leaves room at the end of each page when it is asked to (its header's byte 20 says how much). The checksum is written
// there when a page goes into the database, and held against the page when one comes out of it: SQLITE_CORRUPT when they differ.
// Pages in the log are not its concern: the log has checksums. A database made without room is read and written as ever. Others
// may read a database with checksums; what they write is refused later.
#pragma once

#include <string>

struct sqlite3;

namespace tuneband {

// The name under which SQLite opens files with checksums (sqlite3_open_v2's last argument). Known to SQLite from the first call.
const char* files_with_checksums();

// Has a database leave room for them: from now on if it is empty, or else when VACUUM writes it anew.
void leave_room_for_checksums(sqlite3* database);
bool room_for_checksums(sqlite3* database);  // of one that has been read

}  // namespace tuneband
