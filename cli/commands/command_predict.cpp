// What the model of a job's best trial says of new rows. XGBoost is the worker program's, which is started for it.
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "cli/client/scratch_dir.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/commands/worker_program.hpp"

namespace tuneband::cli {

namespace {

Outcome<void> fetch_chosen_model(ApiClient& api, const PredictOptions& options, const std::string& path) {
  const auto job = api.job(options.from);
  if (!job) return job.error();
  const auto& best = job->best_known();
  if (!options.trial && !best) return bad_input("job `" + job->name + "` has no best trial yet");
  const auto trial = options.trial ? static_cast<std::int64_t>(*options.trial) : best->trial;
  return fetch_model(api, job->name, static_cast<int>(trial), path);
}

}  // namespace

Outcome<bool> names_model_file(const PredictOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(options.from, error)) {
    if (options.from.find('/') == std::string::npos) return false;
    return bad_input("there is no such file", options.from, "JOB is a job's name or number, or a model file");
  }
  if (options.trial) return bad_input("is of a job, and " + options.from + " is a file", "--trial");
  return true;
}

Finished predict(ApiClient* api, Console& console, const PredictOptions& options) {
  std::optional<ScratchDir> dir(std::in_place, "tuneband-predict");
  if (dir->path().empty()) return bad_input("no temporary directory can be made", "", "set TMPDIR");
  std::error_code error;
  // As this process sees it: /dev/stdin is another file to the worker program.
  const std::string data = std::filesystem::canonical(options.data, error).string();
  if (error || !std::filesystem::is_regular_file(data, error))
    return bad_input("is no regular file", options.data, "write the rows to a file first; it may be gzip or zstd");
  std::string model = std::filesystem::absolute(options.from, error).string();
  if (api != nullptr) {
    model = dir->path() + "/model.ubj";
    if (auto fetched = fetch_chosen_model(*api, options, model); !fetched) return fetched.error();
  }
  Json order{{"model", model}, {"data", data}};
  if (options.header) order["header"] = *options.header;
  if (!options.delimiter.empty()) order["delimiter"] = options.delimiter == "\\t" ? "\t" : options.delimiter;
  const auto answered = ask_worker_program({options.worker_program, "--predict", order, dir->path()});
  if (!answered) return answered.error();
  std::ifstream predictions(*answered, std::ios::binary);
  dir.reset();  // whoever reads may end this process, as head does
  const auto written = options.output.empty()
                           ? copy(predictions, [&console](std::string_view piece) { return console.pass_on(piece); })
                           : write_file(options.output, [&](const Sink& sink) { return copy(predictions, sink); });
  if (!written) return written.error();
  return kExitOk;
}

}  // namespace tuneband::cli
