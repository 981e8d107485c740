#include "server/http/http_types.hpp"

#include "core/check.hpp"
#include "core/json.hpp"

namespace tuneband::server {

namespace {

Json error_json(std::string_view code, const Error& error) {
  return {{"code", code}, {"message", error.message}, {"path", error.path}, {"hint", error.hint}};
}

HttpReply json_reply(int status, const Json& json) {
  HttpReply reply;
  reply.status = status;
  reply.body = json_line(json);
  return reply;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::optional<std::string> HttpRequest::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::internal:
      return 500;
  }
  return 500;
}

HttpReply error_reply(const Error& error) {
  return json_reply(http_status(error.code), {{"error", error_json(to_string(error.code), error)}});
}

HttpReply error_reply(int status, std::string_view code, const std::string& message, const std::string& hint) {
  return json_reply(status, {{"error", error_json(code, {ErrorCode::internal, message, "", hint})}});
}

HttpReply error_reply(const Diagnostics& diagnostics) {
  TUNEBAND_CHECK(!diagnostics.ok(), "an error reply has an error");
  const Error& first = diagnostics.errors().front();
  Json headline = error_json(to_string(first.code), first);
  headline["details"] = Json::array();
  for (const Error& error : diagnostics.errors()) {
    headline["details"].push_back({{"message", error.message}, {"path", error.path}, {"hint", error.hint}});
  }
  return json_reply(http_status(first.code), {{"error", headline}});
}

}  // namespace tuneband::server
