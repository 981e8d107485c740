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
#include <memory>

#include "server/http/http_options.hpp"
#include "server/http/http_types.hpp"

namespace tuneband::server {

struct ConnectionLoad {
  std::size_t open = 0;
  std::size_t memory_bytes = 0;  // that they hold together
  std::uint64_t let_go = 0;      // so far, for want of memory
};

struct HttpService;

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
  class Listener;
  std::shared_ptr<HttpService> service_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace tuneband::server
