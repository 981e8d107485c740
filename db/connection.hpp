// One connection to a SQLite database: opened with our settings, statements with typed values, transactions.
// A connection and its statements belong to one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace tuneband {

// SQLite refused or failed: a full disk, a damaged file, a broken constraint, a file that is not ours.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& message, int system_error = 0)
      : std::runtime_error(message), code_(code), system_error_(system_error) {}
  int code() const { return code_; }                  // SQLite's extended result code
  int system_error() const { return system_error_; }  // errno of what the system refused; 0: nothing, or it is not known
  bool is_want_of_room() const;                       // a full disk, a quota or a limit of sizes

 private:
  int code_;
  int system_error_;
};

// "TUNB", in the file's header: another program's database is not taken for ours.
inline constexpr std::int32_t kApplicationId = 0x54554E42;
inline constexpr int kBusyTimeoutMs = 10'000;

// A prepared statement. Parameters and columns count from 0. Text is copied when bound; a column's text lives until the next
// step().
class Statement {
 public:
  Statement() = default;

  // Binds every parameter in order and runs to the end, ignoring rows.
  template <class... Values>
  void run(const Values&... values) {
    query(values...);
    finish();
  }

  // Binds every parameter in order; step() then gives row after row.
  template <class... Values>
  Statement& query(const Values&... values) {
    reset();
    int index = 0;
    (bind(index++, values), ...);
    return *this;
  }

  bool step();    // true: there is a row
  void reset();   // ready for the next run; ends the read it held
  void finish();  // runs to the end, ignoring rows, and resets

  template <std::integral Integer>
  void bind(int index, Integer value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  void bind(int index, double value);  // not NaN, which SQLite would turn into NULL: see Number
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, std::nullopt_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  int small_integer(int column) const;  // throws SqliteError when no int holds it
  double number(int column) const;
  std::string_view text(int column) const;

 private:
  friend class Connection;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  void bind_integer(int index, std::int64_t value);
  [[noreturn]] void fail(int code) const;

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class Connection {
 public:
  // Creates the file when there is none, sets WAL and synchronous=FULL. Throws SqliteError when the file is another program's or
  // not a database.
  static Connection open_to_write(const std::string& path);
  // The file must be there, and ours.
  static Connection open_to_read(const std::string& path);

  Statement prepare(std::string_view sql);     // throws SqliteError; exactly one statement
  void execute(const std::string& sql);        // any number of statements, without parameters
  std::int64_t integer(std::string_view sql);  // the first column of the first row; 0 without a row
  int changes() const;                         // rows that the last statement touched
  // Brings what the log holds into the file itself, as far as readers let it.
  void checkpoint();
  // Of every page (page_checksums.hpp). A new database has them.
  bool has_checksums();
  // Writes a database without them anew, which takes its size in room once more.
  void add_checksums();

  // While it lives, the texts of the schema itself may be changed (PRAGMA writable_schema).
  class SchemaEditing {
   public:
    explicit SchemaEditing(Connection& connection);
    ~SchemaEditing();
    SchemaEditing(const SchemaEditing&) = delete;
    SchemaEditing& operator=(const SchemaEditing&) = delete;

   private:
    Connection& connection_;
  };

  // What SQLite finds wrong with the file, a line each; empty: sound. Reads all of it.
  std::vector<std::string> faults();

  // A copy of the whole database, as of one moment, into a file that is not there yet. Other connections go on reading and
  // writing.
  void copy_to(const std::string& path);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  explicit Connection(const std::string& path, int flags);
  void check_owner(const std::string& path);
  void defend(bool on);
  void leave_room_for_checksums();  // if the database is empty

  std::unique_ptr<sqlite3, Closer> database_;
};

// Rolls back unless committed.
class Transaction {
 public:
  enum class Kind { read, write };
  explicit Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection* connection_;
};

}  // namespace tuneband
