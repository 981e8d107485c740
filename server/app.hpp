// The composition root: makes the parts, joins them, runs the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "server/http/http_server.hpp"
#include "server/server_config.hpp"

namespace tuneband::server {

// Says on stderr why the program ends, and gives its exit status.
int end_with(int status, const std::string& message);

// SIGTERM, SIGINT and what a terminal sends when it is closed, SIGHUP, where that is not ignored (`nohup`).
void add_end_signals(boost::asio::signal_set& signals);

// Serves until one of add_end_signals(). Gives the exit status: 0 after an orderly end, 1 when it could not start,
// kExitCommitFailed when that was for want of room on the disk.
int run_server(const ServerConfig& config);

// --read-only: answers what can be read of a data directory, which it leaves as it is, also beside the server that runs on it;
// what it says is as of its start. 1: the directory has no database, or it cannot be read.
int run_read_only_server(const ServerConfig& config);

// Who may ask; null: whoever reaches the server, of which its log warns where that may be others than this machine's users.
std::shared_ptr<Access> access_of(const ServerConfig& config);

// Where the configuration says. Throws std::runtime_error, which says what else to try.
std::unique_ptr<HttpServer> listen_or_throw(boost::asio::io_context& loop, const ServerConfig& config,
                                            std::shared_ptr<const Access> access, HttpHandler handler);

// As a program on this machine reaches a server: one on every address is reached by loopback.
std::string local_url(const boost::asio::ip::address& listen, std::uint16_t port);

// --check: looks at a data directory without changing it, prints what it finds. 0: sound, 1: not.
int check_data_dir(const ServerConfig& config);

// --backup: copies a data directory, also beside the server that runs on it. 0: done. `before_reading` is told of each directory
// of jobs before it is read; the database is copied by then.
int back_up_data_dir(
    const ServerConfig& config,
    const std::function<void(const std::filesystem::path&)>& before_reading = [](const std::filesystem::path&) {});

}  // namespace tuneband::server
