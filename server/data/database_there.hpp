// Whether a data directory has its database. One that is gone or emptied must not be taken for one that was never there: a new
// one would be written over what is left.
#pragma once

#include "core/error.hpp"
#include "server/data/data_dir.hpp"

namespace tuneband::server {

// True: it is there, and no job's directory is newer than its last job. False: it is not, and nothing shows that it ever was: no
// job's directory, no log of it, no server.json. Error: it is lost, it has lost jobs or commits, or the directory is a backup
// that was not finished; the message says what there is. Changes nothing. Throws SqliteError when there is a file that cannot be
// read as a database.
Result<bool> database_there(const DataDir& data_dir);

// As database_there(), for those who need one: false is an error, too.
Result<void> require_database(const DataDir& data_dir);

}  // namespace tuneband::server
