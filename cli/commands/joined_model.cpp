#include "cli/commands/joined_model.hpp"

#include <fstream>

#include "cli/commands/output_file.hpp"

namespace tuneband::cli {

namespace {

// Null: it is no joined model.
Json description_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Json model = Json::from_ubjson(file, true, false);
  const Json& text = member(member(member(model, "learner"), "attributes"), "tuneband_ensemble");
  return text.is_string() ? Json::parse(text.get_ref<const std::string&>(), nullptr, false) : Json();
}

}  // namespace

std::string joined_model_name(const JobInfo& job) { return job.name + "-ensemble.ubj"; }

Outcome<Json> fetch_joined_model(ApiClient& api, const JobInfo& job, const JoinedModelOptions& options, const std::string& path) {
  std::string target = job_path(job.name) + "/ensemble?refit=" + (options.refit ? "true" : "false");
  if (options.models) target += "&models=" + std::to_string(*options.models);
  const auto written = write_file(path, [&](const Sink& sink) { return api.stream(target, sink); });
  if (!written) return written.error();
  Json description = description_in(path);
  if (!description.is_object()) return bad_input("is no model that was joined", path);
  return Outcome<Json>(boost::system::in_place_value, std::move(description));
}

}  // namespace tuneband::cli
