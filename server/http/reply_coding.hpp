// Which replies are sent zipped.
#pragma once

#include <string>
#include <string_view>

#include "server/http/http_types.hpp"

namespace tuneband::server {

// "gzip" without "q=0" among the codings that the client takes (RFC 9110, section 12.5.3).
bool takes_gzip(std::string_view accept_encoding);

// Whether it becomes smaller by it: a text, and no short one.
bool is_worth_zipping(const HttpReply& reply);

// In place of its body.
void put_zipped(HttpReply& reply, std::string zipped);

}  // namespace tuneband::server
