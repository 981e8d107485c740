#include <cstdio>
#include <string>

#include "db/connection.hpp"
#include "db/migrate.hpp"
#include "server/app.hpp"
#include "server/data_dir.hpp"

namespace tuneband::server {
namespace {

// SQLite's own findings, a line each; none: sound.
int print_damage(Connection& connection) {
  int found = 0;
  Statement integrity = connection.prepare("PRAGMA integrity_check");
  for (integrity.query(); integrity.step();) {
    const std::string line(integrity.text(0));
    if (line == "ok") continue;
    std::printf("damage: %s\n", line.c_str());
    ++found;
  }
  Statement orphans = connection.prepare("PRAGMA foreign_key_check");
  for (orphans.query(); orphans.step();) {
    std::printf("damage: a row of table %s belongs to no row of %s\n", std::string(orphans.text(0)).c_str(),
                std::string(orphans.text(2)).c_str());
    ++found;
  }
  return found;
}

void print_contents(Connection& connection) {
  const auto count = [&connection](const char* what) {
    return static_cast<long long>(connection.integer(std::string("SELECT count(*) FROM ") + what));
  };
  std::printf("jobs: %lld, of which %lld have not ended\n", count("jobs"), count("jobs WHERE ended_at IS NULL"));
  std::printf("trials: %lld, observations: %lld, decisions: %lld\n", count("trials"), count("observations"), count("decisions"));
}

}  // namespace

int check_data_dir(const ServerConfig& config) {
  const Result<DataDir> dir = DataDir::look_at(config.data_dir);
  if (!dir) {
    std::fprintf(stderr, "tuneband-server: %s\n", describe(dir.error()).c_str());
    return 1;
  }
  try {
    Connection connection = Connection::open_to_read(dir->database_file());
    std::printf("data directory: %s\n", dir->root().c_str());
    const int damage = print_damage(connection);
    require_current(connection, migrations());
    print_contents(connection);
    std::printf("%s\n", damage == 0 ? "sound" : "damaged: restore a backup");
    return damage == 0 ? 0 : 1;
  } catch (const SqliteError& error) {
    std::fprintf(stderr, "tuneband-server: %s: %s\n", dir->database_file().c_str(), error.what());
    return 1;
  }
}

}  // namespace tuneband::server
