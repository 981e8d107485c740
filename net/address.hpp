// Where somebody listens: as users write it, as the resolver knows it, as a URL names it.
#pragma once

#include <netdb.h>

#include <boost/asio/ip/address.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace tuneband::net {

struct HttpAddress {
  std::string host;  // as in the Host header and for the resolver, an IPv6 address without brackets
  std::string port;
  std::string authority;  // host:port as written
};

// Of a URL like "http://127.0.0.1:7070", which has nothing behind the port. Errors: anything else.
Result<HttpAddress> read_http_address(std::string_view url);

using ResolvedAddresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// The addresses of a name for TCP, at least one. `port`: a number. Errors (unavailable): the resolver's reason.
Result<ResolvedAddresses> resolve(const std::string& host, const std::string& port);

// One of IPv4 that is mapped into IPv6, as a socket for both has it, as what it is.
boost::asio::ip::address without_mapping(const boost::asio::ip::address& address);

// One of IPv6 that is of a link without the interface by which this machine reaches it: in a Host there is none.
boost::asio::ip::address without_scope(const boost::asio::ip::address& address);

// As a URL has it: an IPv6 address in brackets.
std::string host_in_url(const boost::asio::ip::address& address);

}  // namespace tuneband::net
