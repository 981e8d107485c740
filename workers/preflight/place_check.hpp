// What a job's command needs that this machine may not let it do: each is tried as the worker's user, and named by its path or
// address when it is denied.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"
#include "workers/preflight/checked_command.hpp"

namespace tuneband::workers {

// The mount that `path` is on does not let programs be executed.
bool is_on_noexec_mount(const std::string& path);

// The program may be executed, and gets the rights that its file promises.
void check_execution(const CheckedCommand& command, Diagnostics& diagnostics);

// Paths among the arguments and values: those that are there are readable, those that are not can be made.
void check_paths(const CheckedCommand& command, Diagnostics& diagnostics);

// An address that a text names: of a URL with a host, or "host:port".
struct NetworkAddress {
  std::string host;
  std::string port;
};
std::optional<NetworkAddress> address_in(const std::string& text);
// Connects to them, at most kAddressesTriedMax, and says which cannot be reached, and why.
inline constexpr int kAddressesTriedMax = 8;
void check_addresses(const CheckedCommand& command, Diagnostics& diagnostics);

}  // namespace tuneband::workers
