// The models of a job's best trials, joined into one: by the worker program, since it alone has XGBoost.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analytics/refit.hpp"
#include "os/temporary_dir.hpp"
#include "server/api/api.hpp"
#include "server/data/trial_files.hpp"
#include "server/local/bounded_program.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kJoiningMs = kHourMs;
constexpr std::int64_t kRefitMs = 24 * kHourMs;

struct Wanted {
  std::size_t models = kModelsKept;  // at most
  bool refit = false;                // trained once more
};

struct Models {
  Json list = Json::array();             // as the worker program reads them, the job's best one first
  std::optional<double> standard_error;  // of the best one's value over the folds
};

// Nothing: it has left no model, or none that can be had as it is wanted.
std::optional<Json> model_of(const views::Trial& trial, const ParsedJob& job, const Reader::ModelPath& model_path,
                             const Wanted& wanted) {
  const auto value = trial.row.kept_value ? trial.row.kept_value : trial.row.objective;
  const auto path = model_path(trial.row.id);
  if (!value || !std::isfinite(*value) || !path) return std::nullopt;
  Json model{{"trial", trial.row.id.number},
             {"value", *value},
             {"file", *path},
             {"configuration", Json::parse(trial.configuration.text)}};
  if (!wanted.refit) return model;
  const auto kept = kept_training(job, trial.row, trial.configuration);
  if (!kept) return std::nullopt;
  const TrialTraining& training = kept->training;
  model["configuration"] = training.configuration;
  model["training"] = {
      {"seed", training.seed}, {"rounds", training.rounds}, {"max_rounds", training.max_rounds}, {"kept_rounds", kept->rounds}};
  return model;
}

// Of the best trials that have ended and left a model.
Result<Models> models_of(Reader& reader, JobId job, const Reader::ModelPath& model_path, const Wanted& wanted) {
  const auto parsed = reader.parsed_job(job);
  if (!parsed) return parsed.error();
  const bool completed_alone = (*parsed)->spec.joins_completed_alone();
  TrialsQuery query;
  query.states = {TrialState::completed};
  if (!completed_alone) query.states.insert(query.states.end(), {TrialState::stopped, TrialState::failed, TrialState::cancelled});
  query.sort = TrialsQuery::Sort::objective;
  query.limit = static_cast<int>(kModelsKept);
  const auto trials = reader.trials(job, query, read_wall_clock());
  if (!trials) return trials.error();
  Models models;
  const auto add = [&](const views::Trial& trial) {
    if (models.list.size() >= wanted.models) return;
    if (auto model = model_of(trial, **parsed, model_path, wanted)) models.list.push_back(std::move(*model));
  };
  const auto best = reader.best(job, model_path, read_wall_clock());
  const bool best_is_one = best && std::ranges::count(query.states, best->trial.row.state) > 0;
  if (best_is_one) {
    add(best->trial);
    models.standard_error = best->trial.row.standard_error;
  }
  for (const views::Trial& trial : trials->trials) {
    if (!best_is_one || trial.row.id != best->trial.row.id) add(trial);
  }
  if (models.list.empty()) {
    const std::string what = completed_alone ? "completed" : "ended";
    return Error{ErrorCode::conflict, "no trial of the job has " + what + " and left a model", "",
                 "models are of trials of the trainer `xgboost`"};
  }
  return models;
}

// As the worker program says it: {"error": {"message", "path", "hint"}}, or what came of it.
Result<void> fault_in(const ProgramRun& run) {
  if (!run.failure.empty()) return Error{ErrorCode::unavailable, "joining the models " + run.failure, "", ""};
  const Json reply = Json::parse(run.output, nullptr, false);
  if (!reply.is_object()) return Error{ErrorCode::unavailable, "the worker program said nothing that is understood", "", ""};
  const Json& error = member(reply, "error");
  if (error.is_null()) return {};
  return Error{ErrorCode::conflict, error.value("message", ""), error.value("path", ""), error.value("hint", "")};
}

Result<void> hand_over(const std::string& path, const Sink& sink) {
  constexpr std::size_t kPiece = 256 * 1024;
  std::ifstream file(path, std::ios::binary);
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    sink(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  if (file.is_open() && !file.bad()) return {};
  return Error{ErrorCode::unavailable, "the joined model cannot be read", "", ""};
}

}  // namespace

void Api::add_ensemble_routes() {
  router_.add(
      {"GET",
       "/v1/jobs/{job}/ensemble",
       {"models", "refit"},
       with_job([this](const HttpRequest& request, JobId job, const Respond& respond) { get_ensemble(request, job, respond); })});
}

void Api::get_ensemble(const HttpRequest& request, JobId job, const Respond& respond) {
  Diagnostics diagnostics;
  Wanted wanted;
  wanted.refit = query_flag(request, "refit", diagnostics);
  if (const auto models = query_integer(request, "models", 1, kModelsKept, diagnostics))
    wanted.models = static_cast<std::size_t>(*models);
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  const auto produce = [job, wanted, program = parts_.worker_program, model_path = model_files(parts_.data_dir)](
                           Reader& reader, const Sink& sink, int gone_fd) -> Result<void> {
    const auto document = reader.document(job);
    if (!document) return document.error();
    const auto models = models_of(reader, job, model_path, wanted);
    if (!models) return models.error();
    const os::TemporaryDir dir("tuneband-ensemble");
    if (dir.path().empty()) return Error{ErrorCode::unavailable, "no temporary directory can be made", "", "set TMPDIR"};
    const std::string joined = dir.path() + "/joined.ubj";
    Json order{{"job", Json::parse(*document)}, {"models", models->list}, {"output", joined}};
    if (wanted.refit) order["refit"] = true;
    if (models->standard_error) order["standard_error"] = *models->standard_error;
    const ProgramRun run = run_program(child_of_the_server(program, {"--ensemble", "--end-with-parent"}), json_line(order),
                                       {wanted.refit ? kRefitMs : kJoiningMs, gone_fd});
    if (const auto done = fault_in(run); !done) return done.error();
    return hand_over(joined, sink);
  };
  HttpReply head;
  head.content_type = "application/octet-stream";
  (wanted.refit ? refits_ : ensembles_).run(std::move(head), produce, respond);
}

}  // namespace tuneband::server
