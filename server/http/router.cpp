#include "server/http/router.hpp"

#include <algorithm>
#include <boost/url/pct_string_view.hpp>
#include <optional>
#include <set>

#include "core/text.hpp"

namespace tuneband::server {

namespace {

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    if (path.front() != '/') return {};
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

// What HttpRequest::path leaves encoded.
std::string decoded(std::string_view segment) {
  const auto encoded = boost::urls::make_pct_string_view(segment);
  return encoded ? encoded->decode() : std::string(segment);
}

std::optional<PathParameters> match(std::string_view pattern, std::string_view path) {
  const auto wanted = segments(pattern);
  const auto given = segments(path);
  if (wanted.size() != given.size()) return std::nullopt;
  PathParameters parameters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (given[i].empty()) return std::nullopt;
      parameters[std::string(wanted[i].substr(1, wanted[i].size() - 2))] = decoded(given[i]);
    } else if (wanted[i] != given[i]) {
      return std::nullopt;
    }
  }
  return parameters;
}

// An error where a query parameter is not of this route, or comes twice.
std::optional<Error> query_fault(const Route& route, const HttpRequest& request) {
  std::set<std::string> seen;
  for (const auto& [name, value] : request.query) {
    if (std::find(route.query.begin(), route.query.end(), name) == route.query.end()) {
      const std::string hint = did_you_mean(name, route.query);
      const std::string known = route.query.empty() ? "this route has none" : "known: " + one_of(route.query);
      return Error{ErrorCode::invalid_argument, "unknown query parameter", valid_utf8(name), hint.empty() ? known : hint};
    }
    if (!seen.insert(name).second) return Error{ErrorCode::invalid_argument, "the query parameter is given twice", name, ""};
  }
  return std::nullopt;
}

}  // namespace

void Router::add(Route route) { routes_.push_back(std::move(route)); }

const Route* Router::handle(const HttpRequest& request, const Respond& respond) const {
  std::vector<std::string> other_methods;
  for (const Route& route : routes_) {
    const auto parameters = match(route.pattern, request.path);
    if (!parameters) continue;
    if (route.method != request.method) {
      other_methods.push_back(route.method);
      continue;
    }
    if (const auto fault = query_fault(route, request)) {
      respond->reply(error_reply(*fault));
    } else {
      route.handler(request, *parameters, respond);
    }
    return &route;
  }
  if (other_methods.empty()) {
    respond->reply(error_reply(404, "not_found", "there is nothing at " + valid_utf8(request.path),
                               "GET /openapi.json lists what is there"));
    return nullptr;
  }
  std::string allowed;
  for (const std::string& method : other_methods) allowed += (allowed.empty() ? "" : ", ") + method;
  HttpReply reply = error_reply(405, "method_not_allowed", "this path takes " + allowed + ", not " + valid_utf8(request.method));
  reply.headers.emplace_back("Allow", allowed);
  respond->reply(std::move(reply));
  return nullptr;
}

}  // namespace tuneband::server
