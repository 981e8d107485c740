#include "net/address.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <string>

#include "core/port_number.hpp"

namespace tuneband::net {

namespace {

constexpr const char* kDefaultPort = "80";

}  // namespace

Result<HttpAddress> read_http_address(std::string_view text) {
  const auto fault = [&](const std::string& message) {
    return Error{ErrorCode::invalid_argument, message + ", got `" + std::string(text) + "`", "",
                 "a server's address looks like http://127.0.0.1:7070"};
  };
  const auto url = boost::urls::parse_uri(text);
  if (!url) return fault("expected a URL");
  if (url->scheme_id() != boost::urls::scheme::http) return fault("expected an http:// URL");
  if (url->has_userinfo() || url->has_query() || url->has_fragment() ||
      (!url->encoded_path().empty() && url->encoded_path() != "/")) {
    return fault("expected no more than a host and a port");
  }
  HttpAddress address;
  address.host = std::string(url->host_address());
  address.port = url->has_port() && !url->port().empty() ? std::string(url->port()) : kDefaultPort;
  address.authority = std::string(url->encoded_host_and_port());
  if (address.host.empty()) return fault("expected a host");
  if (!port_number(address.port)) return fault("expected a port from 1 to " + std::to_string(kPortMax));
  return address;
}

Result<ResolvedAddresses> resolve(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  if (fault != 0) return Error{ErrorCode::unavailable, ::gai_strerror(fault), "", ""};
  return ResolvedAddresses(found, ::freeaddrinfo);
}

boost::asio::ip::address without_mapping(const boost::asio::ip::address& address) {
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return mapped ? boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()) : address;
}

boost::asio::ip::address without_scope(const boost::asio::ip::address& address) {
  if (!address.is_v6()) return address;
  boost::asio::ip::address_v6 of_any_link = address.to_v6();
  of_any_link.scope_id(0);
  return of_any_link;
}

std::string host_in_url(const boost::asio::ip::address& address) {
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

}  // namespace tuneband::net
