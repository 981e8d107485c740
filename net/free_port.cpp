#include "net/free_port.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tuneband::net {

int find_free_port() {
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor probe(context);
  boost::system::error_code error;
  const boost::asio::ip::tcp::endpoint any_port(boost::asio::ip::address_v4::any(), 0);
  probe.open(any_port.protocol(), error);
  if (!error) probe.bind(any_port, error);
  const auto bound = error ? any_port : probe.local_endpoint(error);
  return error ? 0 : bound.port();
}

}  // namespace tuneband::net
