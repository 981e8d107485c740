#include "server/http/reply_coding.hpp"

#include <boost/beast/http/rfc7230.hpp>
#include <string>
#include <utility>

#include "core/ascii.hpp"

namespace tuneband::server {

bool takes_gzip(std::string_view accept_encoding) {
  const std::string codings = lower_case(accept_encoding);
  for (const auto& coding : boost::beast::http::ext_list(codings)) {
    if (coding.first != "gzip" && coding.first != "*") continue;
    for (const auto& [name, value] : coding.second) {
      if (name == "q" && value.find_first_not_of("0.") == std::string_view::npos) return false;
    }
    return true;
  }
  return false;
}

bool is_worth_zipping(const HttpReply& reply, std::size_t bytes_min) {
  return reply.body.size() >= bytes_min &&
         (reply.content_type.starts_with("application/json") || reply.content_type.starts_with("text/"));
}

void put_zipped(HttpReply& reply, std::string zipped) {
  reply.body = std::move(zipped);
  reply.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace tuneband::server
