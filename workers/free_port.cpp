#include "workers/free_port.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tuneband::workers {

namespace {

int free_port_on(const boost::asio::ip::address& address) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor probe(context);
  boost::system::error_code error;
  const boost::asio::ip::tcp::endpoint any_port(address, 0);
  probe.open(any_port.protocol(), error);
  if (!error) probe.bind(any_port, error);
  const auto bound = error ? any_port : probe.local_endpoint(error);
  return error ? 0 : bound.port();
}

}  // namespace

int find_free_port(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  const int port = error ? 0 : free_port_on(parsed);
  return port != 0 ? port : free_port_on(boost::asio::ip::address_v4::any());
}

}  // namespace tuneband::workers
