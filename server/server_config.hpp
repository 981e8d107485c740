// What the operator asks for, by flags or in a configuration file.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "server/log.hpp"

namespace tuneband::server {

struct ServerConfig {
  std::string data_dir = "./tuneband-data";
  std::string listen = "127.0.0.1";
  std::uint16_t port = 7070;       // 0: the port of the last run on this directory, else any free one
  std::uint16_t tracker_port = 0;  // where the ranks of distributed trials meet; 0: any free one
  std::string advertise_address;   // of this machine, for ranks on others; "": there are none
  int workers = 0;                 // local ones
  int worker_threads = 1;          // for one trial
  double lease_seconds = 15;
  int stall_seconds = 300;
  std::int64_t events_max = 500'000;  // of the log that are kept
  int events_days = 90;
  int memory_max_mb = 256;  // MiB that all connections may hold together
  LogLevel log_level = LogLevel::info;
  std::vector<std::string> allowed_hosts;     // names besides the address itself under which requests may come
  std::vector<std::string> allowed_webhooks;  // "host" or "host:port" that findings may be told to
  std::string token_file;                     // absolute; "": there is none
  std::string token;  // what is in it: whoever asks has to have it; "": whoever reaches the server may ask
  std::string worker_program;
  bool end_with_parent = false;
  bool read_only = false;   // answer questions about a data directory without changing it
  bool check_only = false;  // look at the data directory and end
  std::string backup_to;    // copy the data directory there and end; "": serve
  bool json = false;        // as which it says what it copied
};

// The configuration, or the status to exit with: help, version or a fault was printed.
std::variant<ServerConfig, int> parse_arguments(int argument_count, const char* const* arguments);

}  // namespace tuneband::server
