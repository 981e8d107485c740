#include "db/connection.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "db/page_checksums.hpp"

namespace tuneband {

namespace {

constexpr mode_t kOwnerOnly = 0600;

// An empty file for its owner alone, through no link. False: errno says why.
bool make_file(const std::string& path) {
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (made >= 0) ::close(made);
  return made >= 0;
}

[[noreturn]] void fail_with(sqlite3* database, int code, const std::string& what) {
  const std::string why = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  const int kind = code & 0xff;
  const bool of_system = database != nullptr && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR);
  throw SqliteError(code, what + ": " + why, of_system ? sqlite3_system_errno(database) : 0);
}

}  // namespace

bool SqliteError::is_want_of_room() const {
  switch (code_) {
    case SQLITE_FULL:
    case SQLITE_IOERR_WRITE:  // past a limit of sizes
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_SHMSIZE:
      return true;
    default:
      return false;
  }
}

// ---- statement ----------------------------------------------------------------------------------------------------------------

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::fail(int code) const {
  fail_with(sqlite3_db_handle(statement_.get()), code, std::string("database: ") + sqlite3_sql(statement_.get()));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(code);
  return false;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::finish() {
  while (step()) {
  }
  reset();
}

void Statement::bind_integer(int index, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), index + 1, value); code != SQLITE_OK) fail(code);
}

void Statement::bind(int index, double value) {
  if (std::isnan(value)) throw std::logic_error("NaN bound to a column that cannot hold it");
  if (const int code = sqlite3_bind_double(statement_.get(), index + 1, value); code != SQLITE_OK) fail(code);
}

void Statement::bind(int index, std::string_view value) {
  // An empty view may have a null pointer, which SQLite would take for NULL.
  const char* data = value.empty() ? "" : value.data();
  const int code = sqlite3_bind_text64(statement_.get(), index + 1, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(code);
}

void Statement::bind(int index, std::nullopt_t) {
  if (const int code = sqlite3_bind_null(statement_.get(), index + 1); code != SQLITE_OK) fail(code);
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

int Statement::small_integer(int column) const {
  const std::int64_t value = integer(column);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw SqliteError(SQLITE_MISMATCH, std::string("database: ") + sqlite3_column_name(statement_.get(), column) +
                                           " is out of range: " + std::to_string(value));
  }
  return static_cast<int>(value);
}

double Statement::number(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_text(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

// ---- connection ---------------------------------------------------------------------------------------------------------------

void Connection::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Connection::Connection(const std::string& path, int flags) {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, files_with_checksums());
  database_.reset(database);
  if (code != SQLITE_OK) {
    const int why = database != nullptr ? sqlite3_system_errno(database) : 0;
    if (why != 0) throw SqliteError(code, "cannot open the database " + path + ": " + std::strerror(why), why);
    fail_with(database, code, "cannot open the database " + path);
  }
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  defend(true);
}

// SQL alone cannot damage the file, whatever it says.
void Connection::defend(bool on) { sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, on ? 1 : 0, nullptr); }

Connection::SchemaEditing::SchemaEditing(Connection& connection) : connection_(connection) { connection_.defend(false); }
Connection::SchemaEditing::~SchemaEditing() { connection_.defend(true); }

void Connection::check_owner(const std::string& path) {
  const std::int64_t owner = integer("PRAGMA application_id");
  if (owner == kApplicationId) return;
  if (owner == 0 && integer("SELECT count(*) FROM sqlite_master") == 0) return;  // a new file
  throw SqliteError(SQLITE_NOTADB, path + " is a database of another program; it is left as it is");
}

namespace {

// SQLite makes its files as the umask says; what lies beside the database takes over the database's mode. A new file only is
// opened here: to close one that others have open would end their locks.
void keep_from_others(const std::string& path) {
  make_file(path);
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const std::string file = path + suffix;
    struct stat info {};
    if (::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 077) != 0)
      ::chmod(file.c_str(), kOwnerOnly);
  }
}

}  // namespace

Connection Connection::open_to_write(const std::string& path) {
  keep_from_others(path);
  Connection connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  try {
    connection.check_owner(path);
    connection.leave_room_for_checksums();
    connection.execute("PRAGMA journal_mode = WAL");
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), "cannot use the database " + path + ": " + error.what());
  }
  connection.execute("PRAGMA synchronous = FULL");
  connection.execute("PRAGMA foreign_keys = ON");
  connection.execute("PRAGMA wal_autocheckpoint = 1000");  // pages: the log stays at about 4 MB,
  // save while a long read holds it up; afterwards it is cut down to this.
  connection.execute("PRAGMA journal_size_limit = 67108864");
  return connection;
}

Connection Connection::open_to_read(const std::string& path) {
  Connection connection(path, SQLITE_OPEN_READONLY);
  try {
    connection.check_owner(path);
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), "cannot use the database " + path + ": " + error.what(), error.system_error());
  }
  return connection;
}

Statement Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) fail_with(database_.get(), code, "database: " + std::string(sql));
  return Statement(statement);
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_with(database_.get(), code, "database");
}

std::int64_t Connection::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

int Connection::changes() const { return sqlite3_changes(database_.get()); }

void Connection::checkpoint() { execute("PRAGMA wal_checkpoint(PASSIVE)"); }

void Connection::leave_room_for_checksums() {
  if (integer("PRAGMA page_count") == 0) tuneband::leave_room_for_checksums(database_.get());
}

bool Connection::has_checksums() { return room_for_checksums(database_.get()); }

void Connection::add_checksums() {
  if (has_checksums()) return;
  tuneband::leave_room_for_checksums(database_.get());
  execute("VACUUM");
}

std::vector<std::string> Connection::faults() {
  std::vector<std::string> found;
  // Damage may end a look at it, with what was seen until then.
  const auto look = [&](const char* pragma, const auto& take) {
    try {
      Statement rows = prepare(pragma);
      while (rows.step()) take(rows);
    } catch (const SqliteError& error) {
      found.emplace_back(error.what());
    }
  };
  look("PRAGMA integrity_check", [&](const Statement& row) {
    if (row.text(0) != "ok") found.emplace_back(row.text(0));
  });
  look("PRAGMA foreign_key_check", [&](const Statement& row) {
    found.push_back("a row of table " + std::string(row.text(0)) + " belongs to no row of " + std::string(row.text(2)));
  });
  return found;
}

void Connection::copy_to(const std::string& path) {
  if (!make_file(path) && errno == EEXIST)
    throw SqliteError(SQLITE_CANTOPEN, "the backup " + path + " is there already; name a new file");
  Connection target(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (has_checksums()) {  // The copy's first page says so before others are written.
    target.leave_room_for_checksums();
    target.execute("PRAGMA user_version = 1");
  }
  sqlite3_backup* backup = sqlite3_backup_init(target.database_.get(), "main", database_.get(), "main");
  if (backup == nullptr) fail_with(target.database_.get(), SQLITE_ERROR, "cannot back up to " + path);
  // All pages in one step: in several, a writer beside it makes the copy start again and again.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE) fail_with(nullptr, stepped, "cannot back up to " + path);
  if (finished != SQLITE_OK) fail_with(nullptr, finished, "cannot back up to " + path);
}

// ---- transaction --------------------------------------------------------------------------------------------------------------

Transaction::Transaction(Connection& connection, Kind kind) : connection_(&connection) {
  connection.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (connection_ == nullptr) return;
  try {
    connection_->execute("ROLLBACK");
  } catch (const SqliteError&) {
    // SQLite has rolled back by itself, as it does when the disk is full.
  }
}

void Transaction::commit() {
  connection_->execute("COMMIT");
  connection_ = nullptr;
}

}  // namespace tuneband
