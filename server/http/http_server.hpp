// The HTTP/1.1 listener: connections, limits and deadlines; what a request means is the handler's business.
//
// Bounds: connections, header and body size, a deadline for reading a request whole and one for an idle kept connection, so that
// slow or silent peers cost a socket for a bounded time. With all connections taken a new one replaces the one that has been
// without a request for longest, whether it has asked before or not. What all of them hold in memory has one bound
// (memory_budget.hpp): a body on its way is answered with 503, a reply that is not taken breaks off. One request at a time on a
// connection; what is sent ahead waits, here up to a bound, then in the kernel. Which requests are taken at all is up to
// request_rules.hpp.
//
// Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/http_types.hpp"

namespace tuneband::server {

struct HttpServerOptions {
  std::size_t connections_max = 5'000;
  std::uint32_t header_bytes_max = 16 * 1024;
  std::uint64_t body_bytes_max = 8 * 1024 * 1024;
  std::int64_t read_ms = 30'000;                     // a request, from its first byte to its last; a new connection's first byte
  std::int64_t idle_ms = 120'000;                    // between two requests
  std::int64_t write_ms = 60'000;                    // a reply, or a piece of a stream, that the client does not take
  std::size_t memory_bytes_max = 256 * 1024 * 1024;  // of all connections together
  std::size_t gzip_bytes_min = 4'096;                // smaller replies are sent as they are
  // Names it answers under, besides those of loopback and the address that was reached; what is no name is passed over.
  std::vector<std::string> hosts_allowed;
};

struct ConnectionLoad {
  std::size_t open = 0;
  std::size_t memory_bytes = 0;  // that they hold together
  std::uint64_t let_go = 0;      // so far, for want of memory
};

class HttpSession;

class HttpServer {
 public:
  // Throws boost::system::system_error when it cannot listen.
  HttpServer(boost::asio::io_context& loop, const boost::asio::ip::tcp::endpoint& listen, HttpServerOptions options,
             HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  ConnectionLoad load() const;
  // No new connections; kept ones end after the reply under way.
  void stop_accepting();
  // Ends every connection.
  void close();

 private:
  friend class HttpSession;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tuneband::server
