#include <cstdio>
#include <string>
#include <vector>

#include "db/connection.hpp"
#include "db/migrate.hpp"
#include "db/store.hpp"
#include "server/app.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/database_there.hpp"

namespace tuneband::server {
namespace {

void print_contents(Connection& connection) {
  const auto count = [&connection](const char* what) {
    return static_cast<long long>(connection.integer(std::string("SELECT count(*) FROM ") + what));
  };
  std::printf("jobs: %lld, of which %lld have not ended\n", static_cast<long long>(count_jobs(connection)),
              count("jobs WHERE ended_at IS NULL"));
  std::printf("trials: %lld, observations: %lld, decisions: %lld\n", count("trials"), count("observations"), count("decisions"));
}

}  // namespace

int check_data_dir(const ServerConfig& config) {
  const Result<DataDir> dir = DataDir::look_at(config.data_dir);
  if (!dir) return end_with(1, describe(dir.error()));
  try {
    if (const Result<void> there = require_database(*dir); !there) return end_with(1, describe(there.error()));
    Connection connection = Connection::open_to_read(dir->database_file());
    std::printf("data directory: %s\n", dir->root().c_str());
    const std::vector<std::string> damage = connection.faults();
    for (const std::string& fault : damage) std::printf("damage: %s\n", fault.c_str());
    try {
      require_current(connection, migrations());
      print_contents(connection);
    } catch (const SqliteError&) {
      if (damage.empty()) throw;  // else it is what was told
    }
    std::printf("%s\n", damage.empty() ? "sound" : "damaged: restore a backup");
    return damage.empty() ? 0 : 1;
  } catch (const SqliteError& error) {
    std::fprintf(stderr, "tuneband-server: %s: %s\n", dir->database_file().c_str(), error.what());
    return 1;
  }
}

}  // namespace tuneband::server
