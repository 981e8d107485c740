#include "server/http/reply_coding.hpp"

#include <algorithm>
#include <boost/beast/http/rfc7230.hpp>
#include <string>
#include <utility>

#include "core/ascii.hpp"

namespace tuneband::server {

bool takes_gzip(std::string_view accept_encoding) {
  const std::string codings = lower_case(accept_encoding);
  bool any_other = false;  // "*": those that are not named
  for (const auto& coding : boost::beast::http::ext_list(codings)) {
    if (coding.first != "gzip" && coding.first != "*") continue;
    const bool refused = std::any_of(coding.second.begin(), coding.second.end(), [&](const auto& parameter) {
      const bool its_own = parameter.first.data() > coding.first.data();  // else of the coding before, which Beast leaves there
      return its_own && parameter.first == "q" && parameter.second.find_first_not_of("0.") == std::string_view::npos;
    });
    if (coding.first == "gzip") return !refused;
    any_other = !refused;
  }
  return any_other;
}

bool is_worth_zipping(const HttpReply& reply) {
  constexpr std::size_t kBytesMin = 4'096;
  return reply.body.size() >= kBytesMin &&
         (reply.content_type.starts_with("application/json") || reply.content_type.starts_with("text/"));
}

void put_zipped(HttpReply& reply, std::string zipped) {
  reply.body = std::move(zipped);
  reply.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace tuneband::server
