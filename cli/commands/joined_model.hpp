// The models of a job's best trials joined into one by the server, as a file here.
#pragma once

#include <optional>
#include <string>

#include "cli/client/api_client.hpp"
#include "cli/failure.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

// "direct-marketing-ensemble.ubj"
std::string joined_model_name(const JobInfo& job);

struct JoinedModelOptions {
  std::optional<int> models = {};  // of the best trials at most; nothing: of as many as the server takes
  bool refit = false;              // each is trained once more, on all rows
};

// Writes `path`, and gives what the model says of itself: the attribute `tuneband_ensemble` of docs/api.md.
Outcome<Json> fetch_joined_model(ApiClient& api, const JobInfo& job, const JoinedModelOptions& options, const std::string& path);

}  // namespace tuneband::cli
