#include "db/database_file.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/database_words.hpp"
#include "db/connection.hpp"
#include "os/atomic_file.hpp"

namespace tuneband {
namespace {

namespace fs = std::filesystem;
using Kind = DatabaseFile::Kind;

constexpr std::array<const char*, 3> kBeside{"-wal", "-journal", "-shm"};

std::vector<std::string> logs_beside(const std::string& path) {
  std::vector<std::string> logs;
  for (const char* suffix : {"-wal", "-journal"}) {
    std::error_code error;
    if (fs::file_size(path + suffix, error) > 0 && !error) logs.push_back(path + suffix);
  }
  return logs;
}

// Why SQLite does not read a file that it could open: it shares an index of the log with others, also where nobody writes.
std::string reason_beside(const std::string& path, const SqliteError& error) {
  const std::string index = ": " + std::string(kCannotBeReadThere) + ", " + path + "-shm, and ";
  if (error.is_want_of_room()) return index + "there is no room on the disk (make room, or copy the directory to where there is)";
  const fs::path parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const bool cannot_open = (error.code() & 0xff) == SQLITE_CANTOPEN;
  if (!cannot_open || fs::exists(path + "-shm") || ::access(directory.c_str(), W_OK) == 0) return "";
  return index + "in " + directory + " nothing can be written: " + std::strerror(errno) +
         " (copy the directory to where that can be done)";
}

std::int64_t tables_in(const std::string& path) {
  Connection connection = Connection::open_to_read(path);
  try {
    return connection.integer("SELECT count(*) FROM sqlite_master");
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), "cannot read the database " + path + ": " + error.what());
  }
}

bool has_tables(const std::string& path) {
  try {
    return tables_in(path) > 0;
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), error.what() + reason_beside(path, error));
  }
}

Kind kind_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Kind::missing;
  if (error) throw SqliteError(SQLITE_CANTOPEN, "cannot open the database " + path + ": " + error.message());
  if (!fs::is_regular_file(status)) throw SqliteError(SQLITE_CANTOPEN, "cannot open the database " + path + ": it is no file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) throw SqliteError(SQLITE_CANTOPEN, "cannot open the database " + path + ": " + error.message());
  if (size == 0) return Kind::empty;
  return has_tables(path) ? Kind::with_tables : Kind::without_tables;
}

}  // namespace

DatabaseFile look_at_database(const std::string& path) { return {kind_of(path), logs_beside(path)}; }

std::string_view what_is_wrong_with(Kind kind) {
  switch (kind) {
    case Kind::missing:
      return "is gone";
    case Kind::empty:
      return "is empty";
    case Kind::without_tables:
      return "has no tables";
    case Kind::with_tables:
      return "is as it should be";
  }
  return "";
}

void rename_database(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    throw SqliteError(SQLITE_IOERR, "cannot give " + from + " its name " + to + ": " + std::strerror(errno));
  }
  const std::string directory = fs::path(to).parent_path().string();
  if (!os::flush_directory(directory)) {
    throw SqliteError(SQLITE_IOERR, "cannot write to disk that " + to + " is there: " + std::strerror(errno));
  }
}

void remove_database(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  for (const char* suffix : kBeside) fs::remove(path + suffix, ignored);
}

}  // namespace tuneband
