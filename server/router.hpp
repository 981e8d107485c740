// From method and path to a handler. The routes are data: the machine-readable description is held against them by a test.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_types.hpp"

namespace tuneband::server {

// A request that has found its route. Lives as long as the handler's call: what is needed later is copied.
struct Call {
  const HttpRequest& request;
  std::map<std::string, std::string, std::less<>> path;   // by the names in the pattern
  std::map<std::string, std::string, std::less<>> query;  // only names that the route allows, each once

  const std::string& in_path(std::string_view name) const { return path.find(name)->second; }
  // "" when it was not given.
  std::string in_query(std::string_view name) const;
  bool has_query(std::string_view name) const { return query.find(name) != query.end(); }
};

using RouteHandler = std::function<void(const Call&, const Respond&)>;

struct Route {
  std::string method;              // "GET" (answers HEAD too), "POST", "DELETE"
  std::string pattern;             // "/v1/jobs/{job}/trials/{trial}"
  std::vector<std::string> query;  // parameters that may be given
  RouteHandler handler;
};

class Router {
 public:
  // Told of each answer: the pattern ("" when no route was found), the method, the status, seconds until the answer began.
  using Observer = std::function<void(const std::string& pattern, const std::string& method, int status, double seconds)>;

  explicit Router(std::vector<Route> routes, Observer observer = {});

  // Answers 404 for an unknown path, 405 with Allow for a method that the path does not have, 400 for a query parameter that the
  // route does not know. An exception of the handler becomes a 500.
  void handle(const HttpRequest& request, const Respond& respond) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Pattern {
    std::vector<std::string> segments;
  };

  void dispatch(const Route& route, Call& call, const Respond& respond) const;

  std::vector<Route> routes_;
  std::vector<Pattern> patterns_;  // by route
  Observer observer_;
};

}  // namespace tuneband::server
