// The handlers of the API, by what they are about.
#pragma once

#include <vector>

#include "server/router.hpp"

namespace tuneband::server {

struct ApiContext;

// `context` outlives the routes.
std::vector<Route> job_routes(ApiContext& context);
std::vector<Route> trial_routes(ApiContext& context);
std::vector<Route> analytics_routes(ApiContext& context);
std::vector<Route> plan_routes(ApiContext& context);
std::vector<Route> worker_routes(ApiContext& context);
std::vector<Route> system_routes(ApiContext& context);

}  // namespace tuneband::server
