#include "cli/doctor/port_check.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cerrno>
#include <cstring>
#include <memory>

namespace tuneband::cli {

namespace {

using Kind = PortState::Kind;

constexpr const char* kHttpPort = "80";

PortState state_after(int error) {
  if (error == 0) return {};
  const bool elsewhere = error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
  const Kind kind = error == EADDRINUSE ? Kind::taken : elsewhere ? Kind::not_ours : Kind::forbidden;
  return {kind, std::strerror(error)};
}

PortState look_at(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
  if (fd < 0) return state_after(errno);
  const int yes = 1;  // connections that are long over do not count
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const int error = bind(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  close(fd);
  return state_after(error);
}

// Of several addresses of a name: one that is taken tells most, then one that is free.
bool tells_more(Kind kind, Kind than) {
  const auto weight = [](Kind of) { return of == Kind::taken ? 3 : of == Kind::free ? 2 : of == Kind::forbidden ? 1 : 0; };
  return weight(kind) > weight(than);
}

}  // namespace

PortState look_at_port(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  if (!url) return {Kind::not_ours, "it is no URL"};
  const std::string host(url->host_address());
  const std::string port = url->has_port() && !url->port().empty() ? std::string(url->port()) : kHttpPort;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (const int fault = getaddrinfo(host.c_str(), port.c_str(), &wanted, &list); fault != 0) {
    return {Kind::not_ours, gai_strerror(fault)};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(list, &freeaddrinfo);
  PortState state = look_at(*list);
  for (const addrinfo* address = list->ai_next; address != nullptr; address = address->ai_next) {
    PortState next = look_at(*address);
    if (tells_more(next.kind, state.kind)) state = std::move(next);
  }
  return state;
}

}  // namespace tuneband::cli
