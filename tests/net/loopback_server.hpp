// A real HTTP server on a loopback port, one thread a connection, for tests of the client side. The handler gives the answer, or
// nothing to close the connection without one (a lost reply).
#pragma once

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tuneband::test {

namespace http = boost::beast::http;

struct LoopbackAnswer {
  int status = 200;
  std::string body = {};
  bool keep_alive = true;
  std::string raw = {};  // sent as it is instead, when not empty; then the connection closes
};

class LoopbackServer {
 public:
  using Request = http::request<http::string_body>;
  using Handler = std::function<std::optional<LoopbackAnswer>(const Request&)>;

  explicit LoopbackServer(Handler handler, unsigned short port = 0)
      : handler_(std::move(handler)), acceptor_(context_, {boost::asio::ip::address_v4::loopback(), port}) {
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { accept(); });
  }

  ~LoopbackServer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      for (const auto& socket : sockets_) ::shutdown(socket->native_handle(), SHUT_RDWR);
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (std::thread& thread : serving_) thread.join();
  }

  unsigned short port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  int connections() const {
    const std::lock_guard lock(mutex_);
    return connections_;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;

  void accept() {
    while (true) {
      boost::system::error_code error;
      auto socket = std::make_shared<Socket>(context_);
      acceptor_.accept(*socket, error);
      const std::lock_guard lock(mutex_);
      if (error || stopping_) return;
      ++connections_;
      sockets_.push_back(socket);
      serving_.emplace_back([this, socket] { serve(*socket); });
    }
  }

  void serve(Socket& socket) {
    boost::beast::flat_buffer buffer;
    boost::system::error_code error;
    while (!error) {
      Request request;
      http::read(socket, buffer, request, error);
      if (error) break;
      const auto answer = handler_(request);
      if (!answer) break;
      if (!answer->raw.empty()) {
        boost::asio::write(socket, boost::asio::buffer(answer->raw), error);
        break;
      }
      http::response<http::string_body> response{static_cast<http::status>(answer->status), 11};
      response.set(http::field::content_type, "application/json");
      response.body() = answer->body;
      response.keep_alive(answer->keep_alive);
      response.prepare_payload();
      http::write(socket, response, error);
      if (!answer->keep_alive) break;
    }
    ::shutdown(socket.native_handle(), SHUT_RDWR);
  }

  Handler handler_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  unsigned short port_ = 0;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Socket>> sockets_;
  std::vector<std::thread> serving_;
  int connections_ = 0;
  bool stopping_ = false;
  std::thread accepting_;
};

}  // namespace tuneband::test
