// What is at a database's path, told before SQLite may write there: it makes a file that is gone anew, and throws away the log
// beside an empty one.
#pragma once

#include <string>
#include <vector>

namespace tuneband {

struct DatabaseFile {
  enum class Kind { missing, empty, without_tables, with_tables };
  Kind kind = Kind::missing;
  std::vector<std::string> logs;  // paths of what stands beside it and is not empty: -wal, -journal
};

// Changes neither the file nor its logs; SQLite may leave an index of the log (-shm). Throws SqliteError: it cannot be read, or
// is no database.
DatabaseFile look_at_database(const std::string& path);

// "is gone", "is empty", "has no tables".
std::string_view what_is_wrong_with(DatabaseFile::Kind kind);

// Gives the database at `from`, which nobody has open, the name `to` for good. What was at `to` is no more. Throws SqliteError.
void rename_database(const std::string& from, const std::string& to);

// With its logs. What is not there is no fault.
void remove_database(const std::string& path);

}  // namespace tuneband
