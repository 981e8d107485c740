// The models of a job's best trials, joined into one. XGBoost is the worker program's, which is started for it.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "cli/client/scratch_dir.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/commands/worker_program.hpp"
#include "cli/format.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kCandidates = 24;  // of models of trials that were stopped the server keeps as many

// Of the best trials that have ended, their models in `dir`. A model may be gone: of a trial that was stopped, and not among the
// best.
Outcome<Json> fetch_candidates(ApiClient& api, const JobInfo& job, const std::string& dir) {
  const auto trials = api.trials(job.name, "sort=objective&state=completed,stopped,failed,cancelled", kCandidates);
  if (!trials) return trials.error();
  Json models = Json::array();
  for (const TrialInfo& trial : *trials) {
    const auto value = trial.kept_value ? trial.kept_value : trial.objective;
    if (!value || !std::isfinite(*value)) continue;
    const std::string file = fmt::format("{}/{}.ubj", dir, trial.number);
    const auto fetched = fetch_model(api, job.name, trial.number, file);
    if (fetched) {
      models.push_back({{"trial", trial.number}, {"value", *value}, {"file", file}});
    } else if (fetched.error().errors.front().code != ErrorCode::not_found) {
      return fetched.error();
    }
  }
  if (models.empty()) {
    return bad_input("no trial of job `" + job.name + "` has ended and left a model", "",
                     "models are of trials of the trainer `xgboost`");
  }
  return Outcome<Json>(boost::system::in_place_value, std::move(models));
}

std::string describe_members(const Json& members) {
  std::vector<std::string> words;
  for (const Json& member : members)
    words.push_back(fmt::format("{} ({:.0f} %)", member.at("trial").get<int>(), 100 * member.at("weight").get<double>()));
  return join(words, ", ");
}

std::string beside_best(const Json& reply, const std::string& name, const std::string& metric, Precision precision) {
  const auto value = [&](const std::string& field) { return format_value(number_from_json(reply.at(field)), precision); };
  return fmt::format("{}  {}; the best trial alone {}", value(name), metric, value(name + "_of_best"));
}

void print_ensemble(Console& console, const JobInfo& job, const Json& reply, const std::string& path) {
  const Precision precision = console.precision();
  console.field("value", beside_best(reply, "value", job.metric, precision));
  if (reply.contains("test_value"))
    console.field("test", beside_best(reply, "test_value", "on rows that no trial saw", precision));
  const Json& members = reply.at("members");
  console.field("trials", fmt::format("{} of the {} best: {}", members.size(), reply.at("candidates").get<std::size_t>(),
                                      describe_members(members)));
  console.field("model", fmt::format("{}, {} trees", path, reply.at("trees").get<std::size_t>()));
}

}  // namespace

Finished join_models(Session session, const EnsembleOptions& options) {
  const ScratchDir dir("tuneband-ensemble");
  if (dir.path().empty()) return bad_input("no temporary directory can be made", "", "set TMPDIR");
  const auto json = session.api.get(job_path(options.job));
  if (!json) return json.error();
  const JobInfo job = job_from_json(*json);
  const auto models = fetch_candidates(session.api, job, dir.path());
  if (!models) return models.error();
  const std::string joined = dir.path() + "/joined.ubj";
  const Json order{{"job", member(*json, "spec")}, {"models", *models}, {"output", joined}};
  const auto answered = ask_worker_program({options.worker_program, "--ensemble", order, dir.path()});
  if (!answered) return answered.error();
  std::ifstream text(*answered, std::ios::binary);
  Json reply = Json::parse(text, nullptr, false);
  if (!reply.is_object()) return bad_input("the worker program said nothing that is understood", options.worker_program);
  const std::string path = options.output.empty() ? job.name + "-ensemble.ubj" : options.output;
  std::ifstream model(joined, std::ios::binary);
  const auto written = write_file(path, [&model](const Sink& sink) { return copy(model, sink); });
  if (!written) return written.error();
  if (session.console.json()) {
    reply["model"] = path;
    session.console.print_json(reply);
  } else {
    print_ensemble(session.console, job, reply, path);
  }
  return kExitOk;
}

}  // namespace tuneband::cli
