// What the model of a job's best trial says of new rows. XGBoost is the worker program's, which is started for it.
#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

#include "cli/client/scratch_dir.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "core/text.hpp"
#include "os/child_process.hpp"
#include "os/file_text.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kPieceSize = 64 * 1024;
constexpr const char* kStandardInput = "-";

// Of rows that are read once.
std::string rows_in(const std::string& dir) { return dir + "/rows"; }

Outcome<void> fetch_model(ApiClient& api, const PredictOptions& options, const std::string& path) {
  const auto job = api.job(options.from);
  if (!job) return job.error();
  const auto& best = job->best_known();
  if (!options.trial && !best) return bad_input("job `" + job->name + "` has no best trial yet");
  const auto trial = options.trial ? static_cast<std::int64_t>(*options.trial) : best->trial;
  const std::string target = job_path(job->name) + "/trials/" + std::to_string(trial) + "/model";
  return write_file(path, [&](const Sink& sink) { return api.stream(target, sink); });
}

// Runs the worker program in `dir`; what it wrote is in the file `predictions` there. Gives what it said beside.
Outcome<std::string> run_worker(const Json& order, const PredictOptions& options, const std::string& dir) {
  const auto open = [&dir](const char* name, int flags) {
    return os::UniqueFd(::open((dir + "/" + name).c_str(), flags | O_CLOEXEC, 0600));
  };
  std::ofstream written(dir + "/order");
  written << json_line(order) << std::flush;
  const os::UniqueFd input = open("order", O_RDONLY);
  const os::UniqueFd output = open("predictions", O_WRONLY | O_CREAT | O_TRUNC);
  const os::UniqueFd errors = open("errors", O_WRONLY | O_CREAT | O_TRUNC);
  if (!written || !input || !output || !errors) return bad_input("nothing can be written there", dir, "is the disk full?");
  const auto child = os::spawn({.program = options.worker_program,
                                .arguments = {"--predict"},
                                .stdin_fd = input.get(),
                                .stdout_fd = output.get(),
                                .stderr_fd = errors.get(),
                                .end_signal = SIGKILL});
  if (!child) return bad_input(child.error().message);
  const auto end = os::reap(P_PID, static_cast<id_t>(*child));
  std::string said = os::read_small_file(dir + "/errors").value_or("");
  while (said.ends_with('\n')) said.pop_back();
  if (options.data == kStandardInput) said = replaced(std::move(said), rows_in(dir), "standard input");
  if (end && end->how.si_code == CLD_EXITED && end->how.si_status == 0) return said;
  if (!said.empty()) return bad_input(said);
  return bad_input("the program that predicts " + (end ? os::describe_exit(end->how) : std::string("is gone")), "",
                   "is the model file whole?");
}

Outcome<void> pass_on(std::istream& from, const Sink& sink, const std::string& what) {
  std::string piece(kPieceSize, '\0');
  while (from.read(piece.data(), static_cast<std::streamsize>(piece.size())) || from.gcount() > 0) {
    if (!sink(std::string_view(piece).substr(0, static_cast<std::size_t>(from.gcount()))))
      return bad_input(what + " cannot be written", "", "is the disk full?");
  }
  if (!from.eof()) return bad_input(what + " cannot be read");
  return {};
}

// The path of the rows as this process sees it: /dev/stdin is another file to the worker program.
Outcome<std::string> path_of_rows(const PredictOptions& options, const std::string& dir) {
  if (options.data == kStandardInput) {
    std::string path = rows_in(dir);
    const auto read = write_file(path, [](const Sink& sink) { return pass_on(std::cin, sink, "the rows of standard input"); });
    if (!read) return read.error();
    return path;
  }
  std::error_code error;
  const auto path = std::filesystem::canonical(options.data, error);
  if (!error && std::filesystem::is_regular_file(path, error)) return path.string();
  return bad_input("is no regular file", options.data,
                   "write the rows to a file first, or send them to standard input and name it -; they may be gzip or zstd");
}

}  // namespace

Outcome<bool> names_model_file(const PredictOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(options.from, error)) {
    const bool may_be_a_job = options.from.find('/') == std::string::npos;
    if (may_be_a_job && !options.from.ends_with(".ubj")) return false;
    const std::string by_number = may_be_a_job ? "; a job whose name ends in .ubj goes by its number here" : "";
    return bad_input("there is no such file", options.from, "JOB is a job's name or number, or a model file" + by_number);
  }
  if (options.trial) return bad_input("is of a job, and " + options.from + " is a file", "--trial");
  return true;
}

Finished predict(ApiClient* api, Console& console, const PredictOptions& options) {
  const std::string rows = options.data == kStandardInput ? "/dev/stdin" : options.data;
  if (auto apart = apart_from_inputs(options.output, {options.from, rows}); !apart) return apart.error();
  std::optional<ScratchDir> dir(std::in_place, "tuneband-predict");
  if (dir->path().empty()) return bad_input("no temporary directory can be made", "", "set TMPDIR");
  const auto data = path_of_rows(options, dir->path());
  if (!data) return data.error();
  std::error_code error;
  std::string model = std::filesystem::absolute(options.from, error).string();
  if (api != nullptr) {
    model = dir->path() + "/model.ubj";
    if (auto fetched = fetch_model(*api, options, model); !fetched) return fetched.error();
  }
  Json order{{"model", model}, {"data", *data}};
  if (options.header) order["header"] = *options.header;
  if (!options.delimiter.empty()) order["delimiter"] = options.delimiter == "\\t" ? "\t" : options.delimiter;
  const auto said = run_worker(order, options, dir->path());
  if (!said) return said.error();
  for (const std::string_view doubt : split(*said, '\n')) {
    if (!doubt.empty()) console.note(doubt);
  }
  std::ifstream predictions(dir->path() + "/predictions", std::ios::binary);
  dir.reset();  // whoever reads may end this process, as head does
  const auto write = [&](const Sink& sink) { return pass_on(predictions, sink, "the predictions"); };
  const auto written = options.output.empty() ? write([&console](std::string_view piece) { return console.pass_on(piece); })
                                              : write_file(options.output, write);
  if (!written) return written.error();
  return kExitOk;
}

}  // namespace tuneband::cli
