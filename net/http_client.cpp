#include "net/http_client.hpp"

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "net/address.hpp"

namespace tuneband::net {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using HttpClock = std::chrono::steady_clock;

constexpr std::uint64_t kResponseBodyMax = 64ULL * 1024 * 1024;  // bytes
constexpr std::uint32_t kResponseHeaderMax = 64 * 1024;          // bytes
constexpr std::size_t kStreamPieceSize = 16 * 1024;              // bytes

std::string reason_of(const error_code& error) {
  return error == http::error::end_of_stream ? "it closed the connection" : error.message();
}

}  // namespace

// The blocking call on top of asynchronous operations: each is started, then the caller's thread runs the context until the
// operation is over, its deadline passes, or cancel() comes. An operation that is given up is ended by closing the socket.
struct HttpClient::Connection {
  Connection(HttpAddress where, std::string shown) : address(std::move(where)), token(std::move(shown)) {}

  struct Failure {
    enum class Cause { error, timeout, cancelled } cause;
    error_code error;
  };
  using Outcome = std::optional<Failure>;  // nothing: it went well
  using Request = http::request<http::string_body>;

  HttpAddress address;
  std::string token;
  asio::io_context context;
  asio::ip::tcp::socket socket{context};
  boost::beast::flat_buffer buffer;
  std::atomic<bool> cancelled = false;
  bool looking_up = false;  // a name look-up was given up and may be under way still

  void close() {
    error_code ignored;
    socket.close(ignored);
    buffer.clear();
  }

  // `start` is given a handler to call with the operation's error_code. The socket's operations end soon after it is closed; a
  // name look-up may take its time, so its end is not waited for (`abandon`).
  template <class Start>
  Outcome perform(HttpClock::time_point deadline, bool abandon, const Start& start) {
    const auto result = std::make_shared<std::optional<error_code>>();
    start([result](error_code error) { *result = error; });
    std::optional<Failure> given_up;
    error_code ignored;
    while (!*result && !(given_up && abandon)) {
      context.restart();
      if (given_up) {
        context.run_one();
      } else {
        context.run_one_until(deadline);
        if (*result) break;
        if (cancelled.exchange(false)) {
          given_up = Failure{Failure::Cause::cancelled, {}};
        } else if (HttpClock::now() >= deadline) {
          given_up = Failure{Failure::Cause::timeout, {}};
        }
        if (given_up) socket.close(ignored);
      }
    }
    looking_up = abandon && given_up;
    if (given_up) return given_up;
    if (**result) return Failure{Failure::Cause::error, **result};
    return std::nullopt;
  }

  Outcome connect(HttpClock::time_point deadline) {
    using Resolver = asio::ip::tcp::resolver;
    const auto resolver = std::make_shared<Resolver>(context);
    const auto endpoints = std::make_shared<Resolver::results_type>();
    const Outcome resolved = perform(deadline, true, [&](auto handler) {
      resolver->async_resolve(address.host, address.port,
                              [resolver, endpoints, handler](error_code error, Resolver::results_type found) {
                                *endpoints = std::move(found);
                                handler(error);
                              });
    });
    if (resolved) return resolved;
    const Outcome connected = perform(deadline, false, [&](auto handler) {
      asio::async_connect(socket, *endpoints, [handler](error_code error, const asio::ip::tcp::endpoint&) { handler(error); });
    });
    if (connected) {
      close();
      return connected;
    }
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    return std::nullopt;
  }

  Request make_request(http::verb verb, std::string_view target, std::string_view body) const {
    Request request{verb, target, 11};
    request.set(http::field::host, address.authority);
    request.set(http::field::user_agent, "tuneband/" TUNEBAND_VERSION);
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
    if (!body.empty()) request.set(http::field::content_type, "application/json");
    request.body() = std::string(body);
    request.prepare_payload();
    return request;
  }

  // Sends `request` and reads the answer's header into the last parser that is made: answers that announce another (RFC 9110,
  // 15.2) are passed over. A kept connection that turns out closed is made anew, once.
  template <class MakeParser>
  Outcome exchange(const Request& request, HttpClock::time_point deadline, const MakeParser& make_parser) {
    for (bool kept = socket.is_open();; kept = false) {
      if (!kept) {
        if (const Outcome failed = connect(deadline)) return failed;
      }
      Outcome failed = perform(deadline, false, [&](auto handler) {
        http::async_write(socket, request, [handler](error_code error, std::size_t) { handler(error); });
      });
      bool nothing_came = true;
      for (bool interim = true; !failed && interim;) {
        auto& parser = make_parser();
        failed = perform(deadline, false, [&](auto handler) {
          http::async_read_header(socket, buffer, parser, [handler](error_code error, std::size_t) { handler(error); });
        });
        nothing_came = nothing_came && !parser.got_some();
        interim = parser.get().result_int() / 100 == 1;
      }
      if (!failed) return std::nullopt;
      close();
      if (!kept || !nothing_came || failed->cause != Failure::Cause::error) return failed;
    }
  }

  Error error_of(const Failure& failure) const {
    const std::string server = "the server at http://" + address.authority;
    switch (failure.cause) {
      case Failure::Cause::timeout:
        return Error{ErrorCode::unavailable, server + " does not answer in time", "", ""};
      case Failure::Cause::cancelled:
        return Error{ErrorCode::unavailable, "the request was cancelled", "", ""};
      case Failure::Cause::error:
        break;
    }
    return Error{ErrorCode::unavailable, "cannot reach " + server + ": " + reason_of(failure.error), "", ""};
  }
};

HttpClient::HttpClient(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

// The end of the context waits for a name look-up. Whoever destroys the client shall not.
HttpClient::~HttpClient() {
  if (!connection_ || !connection_->looking_up) return;
  try {
    std::thread([connection = std::move(connection_)]() mutable { connection.reset(); }).detach();
  } catch (const std::system_error&) {  // no thread is to be had: it is waited for here
  }
}

HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpClient> HttpClient::create(std::string_view url, std::string token) {
  auto address = read_http_address(url);
  if (!address) return address.error();
  return HttpClient(std::make_unique<Connection>(std::move(*address), std::move(token)));
}

Result<HttpResponse> HttpClient::request(std::string_view method, std::string_view target, std::string_view body,
                                         std::int64_t timeout_ms, std::span<const HttpHeader> headers) {
  const http::verb verb = http::string_to_verb(method);
  if (verb == http::verb::unknown)
    return Error{ErrorCode::invalid_argument, "unknown HTTP method " + std::string(method), "", ""};
  Connection& connection = *connection_;
  const auto deadline = HttpClock::now() + std::chrono::milliseconds(timeout_ms);
  auto request = connection.make_request(verb, target, body);
  for (const auto& [name, value] : headers) request.set(name, value);

  std::optional<http::response_parser<http::string_body>> parser;
  auto failed = connection.exchange(
      request, deadline, [&]() -> auto& {
        parser.emplace();
        parser->header_limit(kResponseHeaderMax);
        parser->body_limit(kResponseBodyMax);
        parser->skip(verb == http::verb::head);
        return *parser;
      });
  if (!failed) {
    failed = connection.perform(deadline, false, [&](auto handler) {
      http::async_read(connection.socket, connection.buffer, *parser,
                       [handler](error_code error, std::size_t) { handler(error); });
    });
  }
  if (failed) {
    connection.close();
    return connection.error_of(*failed);
  }
  if (!parser->get().keep_alive()) connection.close();
  auto response = parser->release();
  return HttpResponse{static_cast<int>(response.result_int()), std::move(response.body()),
                      std::string(response[http::field::content_type])};
}

Result<HttpResponse> HttpClient::stream(std::string_view target, std::int64_t idle_timeout_ms,
                                        const std::function<bool(std::string_view)>& on_data) {
  Connection& connection = *connection_;
  const auto deadline = [&] { return HttpClock::now() + std::chrono::milliseconds(idle_timeout_ms); };
  const auto request = connection.make_request(http::verb::get, target, "");

  std::optional<http::response_parser<http::buffer_body>> parser;
  auto failed = connection.exchange(
      request, deadline(), [&]() -> auto& {
        parser.emplace();
        parser->header_limit(kResponseHeaderMax);
        parser->body_limit(boost::none);
        return *parser;
      });
  if (failed) {
    connection.close();
    return connection.error_of(*failed);
  }

  HttpResponse response{static_cast<int>(parser->get().result_int()), "", std::string(parser->get()[http::field::content_type])};
  const bool success = response.status >= 200 && response.status < 300;
  std::string piece(kStreamPieceSize, '\0');
  while (!parser->is_done()) {
    parser->get().body() = {.data = piece.data(), .size = piece.size(), .more = true};
    failed = connection.perform(deadline(), false, [&](auto handler) {
      http::async_read_some(connection.socket, connection.buffer, *parser, [handler](error_code error, std::size_t) {
        handler(error == http::error::need_buffer ? error_code{} : error);
      });
    });
    if (failed) {
      connection.close();
      return connection.error_of(*failed);
    }
    const std::string_view came(piece.data(), piece.size() - parser->get().body().size);
    if (came.empty()) continue;
    if (!success) {
      if (response.body.size() + came.size() <= kResponseBodyMax) response.body += came;
    } else if (!on_data(came)) {
      connection.close();
      return response;
    }
  }
  if (!parser->get().keep_alive()) connection.close();
  return response;
}

const std::string& HttpClient::host() const { return connection_->address.host; }

Result<std::string> HttpClient::local_address(std::int64_t timeout_ms) {
  Connection& connection = *connection_;
  if (!connection.socket.is_open()) {
    const auto failed = connection.connect(HttpClock::now() + std::chrono::milliseconds(timeout_ms));
    if (failed) return connection.error_of(*failed);
  }
  error_code error;
  const auto endpoint = connection.socket.local_endpoint(error);
  if (error) return connection.error_of({Connection::Failure::Cause::error, error});
  return endpoint.address().to_string();
}

void HttpClient::cancel() {
  connection_->cancelled = true;
  asio::post(connection_->context, [] {});
}

Result<Json> json_or_error(const Result<HttpResponse>& response) {
  if (!response) return response.error();
  const bool success = response->status >= 200 && response->status < 300;
  auto body = response->body.empty() && success ? Result<Json>(boost::system::in_place_value, Json::object())
                                                : parse_json(response->body);
  if (success) {
    if (!body) return Error{ErrorCode::internal, "the server's answer is not JSON: " + body.error().message, "", ""};
    return body;
  }
  Error error{ErrorCode::internal, "the server answered with status " + std::to_string(response->status), "", ""};
  if (response->status == 404) error.code = ErrorCode::not_found;
  if (response->status == 503) error.code = ErrorCode::unavailable;
  if (!body || !body->is_object() || !body->contains("error") || !(*body)["error"].is_object()) return error;
  const Json& sent = (*body)["error"];
  const auto text = [&](const char* field) {
    return sent.contains(field) && sent[field].is_string() ? sent[field].get<std::string>() : "";
  };
  constexpr ErrorCode kCodes[] = {ErrorCode::invalid_argument, ErrorCode::not_found,   ErrorCode::conflict,
                                  ErrorCode::too_large,        ErrorCode::unavailable, ErrorCode::internal};
  for (const ErrorCode code : kCodes) {
    if (to_string(code) == text("code")) error.code = code;
  }
  if (!text("message").empty()) error.message = text("message");
  error.path = text("path");
  error.hint = text("hint");
  return error;
}

}  // namespace tuneband::net
