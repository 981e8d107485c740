// The schema's history: numbered migrations, each applied once, in order, in a transaction of its own. PRAGMA user_version says
// how many a database has had.
#pragma once

#include <span>
#include <string_view>

#include "db/connection.hpp"

namespace tuneband {

struct Migration {
  std::string_view name;  // "0001_initial"
  std::string_view sql;
};

// Those of this program, from db/migrations/.
std::span<const Migration> migrations();

// Applies what is missing. Throws SqliteError when the database is newer than `steps`, and when a step fails; a step that failed
// leaves nothing behind, and the connection is then not to be written to.
void migrate(Connection& connection, std::span<const Migration> steps);

// Throws SqliteError unless the database has exactly `steps` behind it.
void require_current(Connection& connection, std::span<const Migration> steps);

}  // namespace tuneband
