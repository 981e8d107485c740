#include "server/http/http_server.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "server/http/http_session.hpp"

namespace tuneband::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using AcceptError = boost::system::error_code;

// Accepts until it is stopped. What it has accepted lives on by itself.
class HttpServer::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(std::shared_ptr<HttpService> service, const tcp::endpoint& listen)
      : service_(std::move(service)), acceptor_(service_->loop, listen), retry_(service_->loop) {}

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void accept() {
    acceptor_.async_accept([weak = weak_from_this()](const AcceptError& error, tcp::socket socket) {
      const auto self = weak.lock();
      if (!self || self->service_->ending || error == asio::error::operation_aborted) return;
      if (error) return self->accept_later();
      self->take(std::move(socket));
      self->accept();
    });
  }

  void stop() {
    AcceptError ignored;
    acceptor_.close(ignored);
  }

 private:
  void take(tcp::socket socket) {
    if (!service_->connections->make_room()) return;
    AcceptError ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::make_shared<HttpSession>(service_, std::move(socket))->read_next();
  }

  // There are no file descriptors left, say.
  void accept_later() {
    service_->connections->close_longest_waiting();
    constexpr auto kRetryAfter = std::chrono::milliseconds(100);
    retry_.expires_after(kRetryAfter);
    retry_.async_wait([weak = weak_from_this()](const AcceptError& cancelled) {
      const auto self = weak.lock();
      if (!cancelled && self) self->accept();
    });
  }

  const std::shared_ptr<HttpService> service_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
};

HttpServer::HttpServer(asio::io_context& loop, const tcp::endpoint& listen, HttpServerOptions options, HttpHandler handler)
    : service_(std::make_shared<HttpService>(loop, std::move(options), std::move(handler))),
      listener_(std::make_shared<Listener>(service_, listen)) {
  listener_->accept();
}

// What is zipped comes back to the loop, which ends after this.
HttpServer::~HttpServer() {
  close();
  service_->zipper.stop();
  service_->zipper.join();
}

std::uint16_t HttpServer::port() const { return listener_->port(); }
std::size_t HttpServer::connections() const { return service_->connections->open(); }
ConnectionLoad HttpServer::load() const { return {connections(), service_->memory->bytes(), service_->memory->let_go()}; }

void HttpServer::stop_accepting() {
  service_->ending = true;
  listener_->stop();
}

void HttpServer::close() {
  stop_accepting();
  service_->connections->close_all();
}

}  // namespace tuneband::server
