// A client that sends exactly the bytes it is told to, well-formed or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tuneband::test {

struct RawReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // unchunked

  std::string header(const std::string& name) const;
};

class RawClient {
 public:
  // `receive_buffer_bytes`: of the socket; 0 leaves the system's choice.
  explicit RawClient(std::uint16_t port, int receive_buffer_bytes = 0, const char* address = "127.0.0.1");
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&&) = delete;

  void send(std::string_view bytes);
  // A whole reply; status 0 when the connection ended first. `head`: to a HEAD request, so without a body.
  RawReply receive(bool head = false);
  // GET with the headers that a server asks for, and its reply.
  RawReply get(const std::string& target, const std::string& more_headers = "");
  RawReply post(const std::string& target, const std::string& body, const std::string& more_headers = "");

  // The status line and headers alone.
  RawReply receive_head();
  // The next chunk of a chunked body; "" for the last one. Nothing: the connection ended.
  std::optional<std::string> receive_chunk();
  // The size of the next chunk, none of which is kept. Nothing: the connection ended.
  std::optional<std::size_t> pass_over_chunk();
  // Everything until the server closes, or until `last` has come.
  std::string receive_rest(std::string_view last = "");
  bool closed_by_server();  // waits; false when something else came, or nothing

  // From now on. The system lets a sender wait that has more than a small buffer takes: 0.2 s for each 2 kB.
  void take_more(int receive_buffer_bytes);

  void close_sending();
  void close();

 private:
  bool fill();
  std::optional<std::string> take_line();
  std::optional<std::string> take(std::size_t size);

  int fd_ = -1;
  std::string buffer_;
  bool timed_out_ = false;
};

}  // namespace tuneband::test
