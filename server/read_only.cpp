// --read-only: the reading half of the API over a data directory that nobody may change, for `tuneband --data-dir DIR ...`.
//
// What is read is a copy of the database in a private directory of its own: so a server may run on the original, or have been
// killed on it, one of an older version may have written it, and the directory may be one that cannot be written to.
#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/text.hpp"
#include "core/units.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"
#include "os/fault_text.hpp"
#include "os/temporary_dir.hpp"
#include "server/api/api.hpp"
#include "server/app.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/database_there.hpp"
#include "server/engine.hpp"
#include "server/http/http_server.hpp"
#include "server/local/preflight.hpp"

namespace tuneband::server {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr int kCopyAttempts = 5;

// Size and time of a file and of its log: what changes when anybody writes.
std::string version_of(const std::string& database) {
  std::string version;
  for (const char* ending : {"", "-wal"}) {
    std::error_code error;
    const auto size = fs::file_size(database + ending, error);
    if (!error) version += std::to_string(size) + "@";
    const auto time = fs::last_write_time(database + ending, error);
    if (!error) version += std::to_string(time.time_since_epoch().count()) + " ";
  }
  return version;
}

// Where there is no room a copy fails with whatever the file system says.
void require_room(const std::string& from, const std::string& to) {
  std::uintmax_t needed = 0;
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code error;
    if (const auto size = fs::file_size(from + ending, error); !error) needed += size;
  }
  const fs::path directory = fs::path(to).parent_path();
  std::error_code error;
  const auto there = fs::space(directory, error).available;
  if (error || there >= needed) return;
  const auto megabytes = [](std::uintmax_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / kMegabyte); };
  throw std::runtime_error("a copy of " + from + " takes " + megabytes(needed) + ", and " + directory.parent_path().string() +
                           " has room for " + megabytes(there) + ": set TMPDIR to a directory with more");
}

// The file, its log and the index of that as they are.
void copy_files(const std::string& from, const std::string& to) {
  require_room(from, to);
  for (int attempt = 0; attempt < kCopyAttempts; ++attempt) {
    const std::string before = version_of(from);
    for (const char* ending : {"", "-wal", "-shm"}) {
      fs::remove(to + ending);
      if (!fs::exists(from + ending)) continue;
      fs::copy_file(from + ending, to + ending);
      fs::permissions(to + ending, fs::perms::owner_read | fs::perms::owner_write);
    }
    if (version_of(from) == before) return;
  }
  throw std::runtime_error(from + " changes while it is read: try again, or ask the server that runs on it");
}

// SQLite leaves files beside a database that it reads, and may not where the directory cannot be written to: it is used only
// where a server has them there, and writes.
bool copied_beside_a_server(const DataDir& from, const std::string& to) {
  if (!from.is_served()) return false;
  try {
    Connection::open_to_read(from.database_file()).copy_to(to);
    return true;
  } catch (const SqliteError&) {
    return false;
  }
}

// Also brings the copy to this version's tables. Gives what it holds.
Result<Snapshot> copy_database(const DataDir& from, const std::string& to) {
  if (!copied_beside_a_server(from, to)) {
    std::error_code error;
    const bool is_there = fs::exists(from.database_file(), error);
    if (error) return Error{ErrorCode::internal, "cannot read " + from.database_file() + ": " + error.message(), "", ""};
    if (is_there) copy_files(from.database_file(), to);
    if (const Result<void> there = require_database(*DataDir::look_at(from.root(), to)); !there) return there.error();
  }
  return Store::open(to).load();
}

Result<Snapshot> read_database(const DataDir& from, const std::string& to) {
  const auto tell = [&](const std::string& message) {
    return replaced(message, to, from.database_file());
  };  // about the original
  try {
    Result<Snapshot> copied = copy_database(from, to);
    if (copied) return copied;
    return Error{copied.error().code, tell(copied.error().message), "", copied.error().hint};
  } catch (const std::exception& failure) {
    return Error{ErrorCode::internal, tell(os::fault_text(failure)), "", ""};
  }
}

// A check of a trial is a question, whatever its method: its rules do not fit into an address. A session changes no data.
bool only_asks(const HttpRequest& request) {
  const bool checks_trial = request.path.starts_with("/v1/jobs/") && request.path.ends_with("/check");
  return request.method == "GET" || (request.method == "POST" && (checks_trial || request.path == kSessionPath));
}

HttpHandler refusing_changes(HttpHandler handler, const std::string& root) {
  return [handler = std::move(handler), root](const HttpRequest& request, const Respond& respond) {
    if (only_asks(request)) return handler(request, respond);
    respond->reply(error_reply(403, "read_only", "this server only reads " + root + ": nothing can be changed",
                               "start one without --read-only on it"));
  };
}

EngineWorld world_at_rest() {
  EngineWorld world;
  world.commit = [](std::span<const Write>) { throw std::logic_error("a server that only reads has nothing to write"); };
  world.trial_dir = [](TrialId) { return std::string(); };
  world.tidy = [] { return false; };
  world.data_lost = [] { return std::optional<std::string>(); };
  return world;
}

// Until one of `signals`.
void serve(asio::io_context& loop, asio::signal_set& signals, const ServerConfig& config, const DataDir& data_dir,
           const Snapshot& found) {
  Engine engine(loop, {}, world_at_rest());
  Preflight preflight(loop, PreflightOptions{.worker_program = config.worker_program});
  const std::shared_ptr<Access> access = access_of(config);
  Api api(loop, {engine, preflight, data_dir, config.worker_program, 0, {}, access});
  engine.restore({}, {});
  api.restore(found);
  const auto http = listen_or_throw(loop, config, access, refusing_changes(api.handler(), data_dir.root()));
  api.set_connections([&http] { return http->load(); });
  signals.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    api.close_streams();
    http->close();
    loop.stop();
  });
  const asio::ip::address listen = asio::ip::make_address(config.listen);
  std::printf("tuneband-server listening on %s\n", local_url(listen, http->port()).c_str());
  std::fflush(stdout);
  loop.run();
}

}  // namespace

int run_read_only_server(const ServerConfig& config) {
  const Result<DataDir> there = DataDir::look_at(config.data_dir);
  if (!there) return end_with(1, describe(there.error()));
  try {
    // Taken from here on, so that the copy is removed whenever the program is told to end.
    asio::io_context loop{1};
    asio::signal_set signals(loop);
    add_end_signals(signals);
    const os::TemporaryDir copy("tuneband-reading");
    if (copy.path().empty()) throw std::runtime_error("no temporary directory can be made: set TMPDIR");
    const std::string copied_file = copy.path() + "/tuneband.db";
    const Result<Snapshot> found = read_database(*there, copied_file);
    if (!found) return end_with(1, describe(found.error()));
    serve(loop, signals, config, *DataDir::look_at(config.data_dir, copied_file), *found);
    return 0;
  } catch (const std::exception& failure) {
    return end_with(1, os::fault_text(failure));
  }
}

}  // namespace tuneband::server
