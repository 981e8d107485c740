#include "db/migrate.hpp"

#include <sqlite3.h>

#include <string>

#include "core/database_words.hpp"

namespace tuneband {

namespace {

std::int64_t version_of(Connection& connection) { return connection.integer("PRAGMA user_version"); }

void refuse_newer(std::int64_t version, std::size_t known) {
  if (version < 0 || version > static_cast<std::int64_t>(known)) {
    throw SqliteError(SQLITE_SCHEMA, "the database was written by a newer version (schema " + std::to_string(version) +
                                         ", this program knows up to " + std::to_string(known) +
                                         "); it is left as it is: use the newer program, or another data directory");
  }
}

void refuse_orphans(Connection& connection, const Migration& step) {
  Statement orphans = connection.prepare("PRAGMA foreign_key_check");
  if (!orphans.step()) return;
  throw SqliteError(SQLITE_CONSTRAINT_FOREIGNKEY, "migration " + std::string(step.name) + ": a row of table " +
                                                      std::string(orphans.text(0)) + " belongs to no row of " +
                                                      std::string(orphans.text(2)));
}

void apply(Connection& connection, const Migration& step, std::size_t version) {
  try {
    const Connection::SchemaEditing editing(connection);
    connection.execute(std::string(step.sql));
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), "migration " + std::string(step.name) + ": " + error.what());
  }
  refuse_orphans(connection, step);
  connection.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  connection.execute("PRAGMA user_version = " + std::to_string(version));
}

void apply_missing(Connection& connection, std::span<const Migration> steps, const std::function<void(Connection&)>& look_over) {
  Transaction transaction(connection, Transaction::Kind::write);
  const auto had = static_cast<std::size_t>(version_of(connection));
  if (had >= steps.size()) return;  // another process was first
  for (std::size_t done = had; done < steps.size(); ++done) apply(connection, steps[done], done + 1);
  look_over(connection);
  transaction.commit();
}

}  // namespace

void migrate(Connection& connection, std::span<const Migration> steps, const std::function<void(Connection&)>& look_over) {
  const std::int64_t version = version_of(connection);
  refuse_newer(version, steps.size());
  if (version == static_cast<std::int64_t>(steps.size())) return;
  // A table that is made anew is dropped for a moment: with it would go all rows that belong to its rows. Each step is looked
  // over before it is committed instead. SQLite takes the setting outside of a transaction only.
  const bool were_checked = connection.integer("PRAGMA foreign_keys") != 0;
  connection.execute("PRAGMA foreign_keys = OFF");
  apply_missing(connection, steps, look_over);
  if (were_checked) connection.execute("PRAGMA foreign_keys = ON");
}

void require_current(Connection& connection, std::span<const Migration> steps) {
  const std::int64_t version = version_of(connection);
  refuse_newer(version, steps.size());
  if (version != static_cast<std::int64_t>(steps.size())) {
    throw SqliteError(SQLITE_SCHEMA, "the database has schema " + std::to_string(version) + " and needs " +
                                         std::to_string(steps.size()) + ": it " + std::string(kOlderSchema));
  }
}

}  // namespace tuneband
