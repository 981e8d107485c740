// Which requests are taken at all, before anybody asks what they mean: pure functions of the request's head.
//
// A browser obeys every page it shows, also against a server on its own machine or network. So a request must name the server by
// a name of its own (a page that rebinds its own name in the DNS to this machine still sends that name), must not come from a
// page of another server where it could change or hold something, and a body must say that it is JSON, which no form can send
// without being asked first. And it must mean the same to every server that reads it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/http_types.hpp"

namespace tuneband::server {

// The name or address in `[host]:port` as it is compared: in lower case, an IPv6 address in brackets and in its shortest form,
// without the last dot. Nothing: it is no such thing, or has a user name in it.
std::optional<std::string> host_name(std::string_view authority);

// What is asked for: path and query go into `request`, whose fields are there already. A target like "http://host/path" names the
// host, too, and must then agree with the field Host, or stands for it. Gives why it cannot be understood; nothing: it was.
std::optional<std::string> take_target(std::string_view target, HttpRequest& request);

// Why a request could mean two different things to two servers in a row; nothing: it is all right.
std::optional<std::string> ambiguity(const HttpRequest& request);

// The answer to a request that is refused; nothing: it may pass. `hosts`: the server's names as host_name() gives them,
// besides those of loopback, which no page can give itself.
std::optional<HttpReply> refusal(const HttpRequest& request, std::span<const std::string> hosts);

}  // namespace tuneband::server
