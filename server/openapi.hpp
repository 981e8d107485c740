// The machine-readable description of the API (OpenAPI 3.1), part of the program.
#pragma once

#include <string_view>

namespace tuneband::server {

std::string_view openapi_document();  // JSON

}  // namespace tuneband::server
