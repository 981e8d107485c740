// From method and path to a handler. The routes are data: the machine-readable description is held against them by a test.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/http/http_types.hpp"

namespace tuneband::server {

using PathParameters = std::map<std::string, std::string>;  // decoded, by the names in the pattern

using RouteHandler = std::function<void(const HttpRequest&, const PathParameters&, const Respond&)>;

struct Route {
  std::string method;              // "GET", which answers HEAD too; "POST", "DELETE"
  std::string pattern;             // "/v1/jobs/{job}/trials/{trial}"
  std::vector<std::string> query;  // parameters that may be given
  RouteHandler handler;
};

class Router {
 public:
  void add(Route route);

  // Answers 404 for an unknown path, 405 with Allow for a method that the path does not have, 400 for a query parameter that the
  // route does not know. Gives the route that was found, or null.
  const Route* handle(const HttpRequest& request, const Respond& respond) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace tuneband::server
