// The handler's side of a connection: one answer to the request that was handed over, whole or piece by piece.
#pragma once

#include <memory>

#include "server/http/http_types.hpp"

namespace tuneband::server {

class HttpSession;

Respond make_responder(std::shared_ptr<HttpSession> session);

}  // namespace tuneband::server
