// The models of a job's best trials, joined into one by the server.
#include "cli/commands/commands.hpp"
#include "cli/commands/joined_model.hpp"
#include "cli/terminal/joined_report.hpp"

namespace tuneband::cli {

Finished join_models(Session session, const EnsembleOptions& options) {
  const auto job = session.api.job(options.job);
  if (!job) return job.error();
  const std::string path = options.output.empty() ? joined_model_name(*job) : options.output;
  auto ensemble = fetch_joined_model(session.api, *job, options.models, path);
  if (!ensemble) return ensemble.error();
  if (options.models.refit) note_refit_in_vain(session.console, *ensemble);
  if (session.console.json()) {
    (*ensemble)["model"] = path;
    session.console.print_json(*ensemble);
  } else {
    print_joined_alone(session.console, {*ensemble, path});
  }
  return kExitOk;
}

}  // namespace tuneband::cli
