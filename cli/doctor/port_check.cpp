#include "cli/doctor/port_check.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "net/address.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

namespace {

using Kind = PortState::Kind;

PortState state_after(int error) {
  if (error == 0) return {};
  const bool elsewhere = error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
  const Kind kind = error == EADDRINUSE ? Kind::taken : elsewhere ? Kind::not_ours : Kind::forbidden;
  return {kind, std::strerror(error)};
}

PortState look_at(const addrinfo& address) {
  const os::UniqueFd fd(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol));
  if (!fd) return state_after(errno);
  const int yes = 1;  // connections that are long over do not count
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return state_after(bind(fd.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno);
}

// Of several addresses of a name: one that is taken tells most, then one that is free.
bool tells_more(Kind kind, Kind than) {
  const auto weight = [](Kind of) { return of == Kind::taken ? 3 : of == Kind::free ? 2 : of == Kind::forbidden ? 1 : 0; };
  return weight(kind) > weight(than);
}

}  // namespace

PortState look_at_port(const std::string& text) {
  const auto named = net::read_http_address(text);
  if (!named) return {Kind::not_ours, "it is no URL of a server"};
  const auto found = net::resolve(named->host, named->port);
  if (!found) return {Kind::not_ours, found.error().message};
  PortState state = look_at(**found);
  for (const addrinfo* address = (*found)->ai_next; address != nullptr; address = address->ai_next) {
    PortState next = look_at(*address);
    if (tells_more(next.kind, state.kind)) state = std::move(next);
  }
  return state;
}

}  // namespace tuneband::cli
