// The bounds and deadlines of the HTTP listener's connections, and who may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/access.hpp"

namespace tuneband::server {

struct HttpServerOptions {
  std::size_t connections_max = 5'000;
  std::uint32_t header_bytes_max = 16 * 1024;
  std::uint64_t body_bytes_max = 8 * 1024 * 1024;
  std::int64_t read_ms = 30'000;   // a request, from its first byte to its last; a new connection's first byte
  std::int64_t idle_ms = 120'000;  // between two requests
  std::int64_t write_ms = 60'000;  // a reply, or a piece of a stream, that the client does not take
  std::int64_t ask_ms = 2'000;     // for the answer to a client that sends no more, until it is asked if it waits
  std::size_t memory_bytes_max = 256 * 1024 * 1024;  // of all connections together
  // Names it answers under, besides those of loopback and the address that was reached; what is no name is passed over.
  std::vector<std::string> hosts_allowed = {};
  std::shared_ptr<const Access> access = nullptr;  // null: whoever reaches the server may ask
};

}  // namespace tuneband::server
