#include "tests/http/raw_client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tuneband::test {
namespace {

constexpr timeval kRawPatience{60, 0};

}  // namespace

std::string RawReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

RawClient::RawClient(std::uint16_t port, int receive_buffer_bytes, const char* server)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer_bytes > 0) take_more(receive_buffer_bytes);
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kRawPatience, sizeof kRawPatience);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kRawPatience, sizeof kRawPatience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, server, &address.sin_addr), 1);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << std::strerror(errno);
}

RawClient::~RawClient() { close(); }

RawClient::RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server closed; what it said is still to be read
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool RawClient::fill() {
  char piece[16 * 1024];
  ssize_t got = -1;
  do {
    got = ::recv(fd_, piece, sizeof piece, 0);
  } while (got < 0 && errno == EINTR);
  timed_out_ = got < 0 && errno == EAGAIN;
  if (got <= 0) return false;
  buffer_.append(piece, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> RawClient::take_line() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill()) return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

std::optional<std::string> RawClient::take(std::size_t size) {
  while (buffer_.size() < size) {
    if (!fill()) return std::nullopt;
  }
  std::string bytes = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return bytes;
}

RawReply RawClient::receive_head() {
  RawReply reply;
  const auto status = take_line();
  if (!status || status->size() < 12) return reply;
  while (const auto line = take_line()) {
    if (line->empty()) {
      reply.status = std::stoi(status->substr(9, 3));
      return reply;
    }
    const std::size_t colon = line->find(": ");
    if (colon == std::string::npos) break;
    std::string name = line->substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    reply.headers[name] = line->substr(colon + 2);
  }
  return reply;
}

std::optional<std::string> RawClient::receive_chunk() {
  const auto size = take_line();
  if (!size || size->empty()) return std::nullopt;
  const auto chunk = take(std::stoul(*size, nullptr, 16));
  if (!chunk || !take_line()) return std::nullopt;
  return chunk;
}

std::optional<std::size_t> RawClient::pass_over_chunk() {
  const auto line = take_line();
  if (!line || line->empty()) return std::nullopt;
  const std::size_t size = std::stoul(*line, nullptr, 16);
  std::size_t left = size;
  while (buffer_.size() < left) {
    left -= buffer_.size();
    buffer_.clear();
    if (!fill()) return std::nullopt;
  }
  buffer_.erase(0, left);
  return take_line() ? std::optional(size) : std::nullopt;
}

RawReply RawClient::receive(bool head) {
  RawReply reply = receive_head();
  if (head || reply.status == 0 || reply.status == 204 || reply.status == 304) return reply;
  if (reply.header("transfer-encoding") == "chunked") {
    for (;;) {
      const auto chunk = receive_chunk();
      if (!chunk) return {};
      if (chunk->empty()) return reply;
      reply.body += *chunk;
    }
  }
  if (reply.header("content-length").empty()) {
    reply.body = receive_rest();
    return reply;
  }
  const auto body = take(std::stoul(reply.header("content-length")));
  if (!body) return {};
  reply.body = *body;
  return reply;
}

RawReply RawClient::get(const std::string& target, const std::string& more_headers) {
  send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more_headers + "\r\n");
  return receive();
}

RawReply RawClient::post(const std::string& target, const std::string& body, const std::string& more_headers) {
  send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
       (more_headers.find("Content-Type:") == std::string::npos ? "Content-Type: application/json\r\n" : "") + more_headers +
       "\r\n" + body);
  return receive();
}

std::string RawClient::receive_rest(std::string_view last) {
  while ((last.empty() || buffer_.find(last) == std::string::npos) && fill()) {
  }
  return std::exchange(buffer_, "");
}

bool RawClient::closed_by_server() { return buffer_.empty() && !fill() && !timed_out_; }

void RawClient::take_more(int receive_buffer_bytes) {
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
}

void RawClient::close_sending() { ::shutdown(fd_, SHUT_WR); }

void RawClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace tuneband::test
