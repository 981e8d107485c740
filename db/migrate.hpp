// The schema's history: numbered migrations, each applied once, in order. PRAGMA user_version says how many a database has had.
#pragma once

#include <functional>
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

// Applies what is missing, all of it or nothing, so that the program that wrote the database can still read it after a failure.
// Throws SqliteError when the database is newer than `steps`, and when a step fails; the connection is then not to be written to.
// `look_over` sees the tables as they are after the last step, where there was one to apply; with what it throws they stay as
// they were.
void migrate(
    Connection& connection, std::span<const Migration> steps,
    const std::function<void(Connection&)>& look_over = [](Connection&) {});

// Throws SqliteError unless the database has exactly `steps` behind it.
void require_current(Connection& connection, std::span<const Migration> steps);

}  // namespace tuneband
