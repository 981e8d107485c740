// The commands, one function each. Each gives the process's exit status, or a failure that main() reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/commands/job_file.hpp"
#include "cli/commands/joined_model.hpp"
#include "cli/terminal/console.hpp"
#include "debugger/step.hpp"

namespace tuneband::cli {

using Finished = Outcome<int>;

struct Session {
  ApiClient& api;
  Console& console;
};

struct SubmitOptions {
  std::string job_file = {};
  bool wait = false;
  std::string like = {};                  // not "": a job whose document is taken instead of a file's
  std::string name = {};                  // "": that job's name and the first number that is free
  std::string max_trials = {};            // "80", or "+50" to go on from what that job saw; "": as in that job
  std::vector<std::string> changes = {};  // of the document: "scheduler.max_resource=81"
};
Finished submit(Session session, const SubmitOptions& options);

// The live view of a job until it ends, then its result. Ctrl-C ends the view alone.
Finished watch(Session session, const std::string& job);

struct ListOptions {
  std::string state;      // "": all
  std::size_t limit = 0;  // 0: all
};
Finished list_jobs(Session session, const ListOptions& options);
// `plot`: with the best so far and the best trial's curve, unless JSON is wanted.
Finished describe_job(Session session, const std::string& job, bool plot = false);
Finished show_best(Session session, const std::string& job);
Finished show_importance(Session session, const std::string& job);
// What two jobs or more found, at what cost, and where their documents differ.
inline constexpr int kComparedMax = 10;
Finished compare_jobs(Session session, const std::vector<std::string>& jobs);

struct ChangeOptions {
  std::string job{};
  std::optional<double> weight{};
  std::optional<std::int64_t> max_parallel_trials{};
  std::optional<double> max_runtime_seconds{};
  bool no_more_trials = false;
};
Finished change_job(Session session, const ChangeOptions& options);
// False: releases it.
Finished hold_job(Session session, const std::string& job, bool held);
Finished stop_job(Session session, const std::string& job);
Finished stop_trial(Session session, const std::string& job, int trial);
Finished delete_job(Session session, const std::string& job);
Finished list_workers(Session session);

struct TrialsOptions {
  std::string job;
  std::string state;  // comma-separated; "": all
  std::string sort = "number";
  std::size_t limit = 0;  // 0: all
};
Finished list_trials(Session session, const TrialsOptions& options);
Finished explain_trial(Session session, const std::string& job, int trial);

struct LogsOptions {
  std::string job;
  int trial = 0;
  bool follow = false;
  int rank = 0;  // of a distributed trial
};
Finished show_log(Session session, const LogsOptions& options);

inline constexpr std::int64_t kStepMax = debugger::kStepMax;

struct TensorsOptions {
  std::string job = {};
  int trial = 0;
  std::string name = {};  // "": all of them, by name
  std::string mode = {};  // "": any
  std::optional<std::int64_t> step = {};
  int rank = 0;
  std::string reduction = {};      // "": mean
  std::string output = {};         // an .npy file; "": none is written
  std::optional<int> beside = {};  // another trial of the job
};
Finished show_tensors(Session session, const TensorsOptions& options);
Finished show_findings(Session session, const std::string& job, std::optional<int> trial);
Finished show_rules(Session session, const std::string& job, std::optional<int> trial);

// Rules over what was saved of a trial. Status 1 when one of them fires.
struct CheckOptions {
  std::string job;
  int trial = 0;
  std::vector<std::string> rules;  // "overfit,patience=3"
  int rank = 0;
};
Finished check_trial(Session session, const CheckOptions& options);

// Everything that a submission would say of a document, and when the job would start and end; nothing is submitted. Status 1 when
// there is an error.
struct CheckFileOptions {
  std::string job_file;
  std::optional<double> seconds_per_unit;
  bool measure = false;        // short trainings with one rank and with more
  double measure_seconds = 3;  // about, of each
  std::string server;
  std::string token;           // of it; "": it has none
  std::string server_program;  // for a private one, where none answers at `server` and
  bool may_be_private = false;
  std::vector<std::string> changes = {};  // of the document, as SubmitOptions has them
};
Finished check_file(Console& console, const CheckFileOptions& options);

struct PredictOptions {
  std::string from = {};          // a job, or the path of a model file
  std::optional<int> trial = {};  // of the job; nothing: its best
  std::string data = {};          // path of the rows; "-": standard input
  std::string output = {};        // "": standard output
  std::string delimiter = {};     // "": as the training file's, and so of the header
  std::optional<bool> header = {};
  std::string worker_program = {};
};
// Whether `from` is a model file. Error: it is neither that nor a job's name.
Outcome<bool> names_model_file(const PredictOptions& options);
// `api`: null where a model file is used.
Finished predict(ApiClient* api, Console& console, const PredictOptions& options);

struct EnsembleOptions {
  std::string job = {};
  std::string output = {};  // "": JOB-ensemble.ubj
  JoinedModelOptions models = {};
};
Finished join_models(Session session, const EnsembleOptions& options);

struct ExportOptions {
  std::string job;
  std::string output;   // "": standard output
  bool csv = false;     // else JSON
  bool curves = false;  // a table of learning curves, as `simulate` reads it
};
Finished export_job(Session session, const ExportOptions& options);

// The page's address on `server`, of a job when `job` is its name and not "".
std::string dashboard_address(const std::string& server, const std::string& job);
// Prints it, and opens it where there is a screen.
Finished open_dashboard(Session session, const std::string& job);

// A page with everything about a job in it, for a mail or an archive.
struct ReportOptions {
  std::string job;
  std::string output;  // "": the job's name, with the trial's number, and .html
  std::optional<int> trial = {};
};
Finished write_report(Session session, const ReportOptions& options);
// Of options.trial: curves, importance, confusion, ROC, residuals and contributions, from what the debugger saved.
Finished write_trial_report(Session session, const ReportOptions& options);

// Without a server: the plan is a pure function of the document.
struct PlanOptions {
  std::string job_file;
  std::optional<int> workers;
  std::optional<double> seconds_per_unit;
  std::vector<std::string> changes = {};  // of the document, as SubmitOptions has them
};
Finished show_plan(Console& console, const PlanOptions& options);

// Without a server too: the scheduler and samplers over recorded learning curves.
struct SimulateOptions {
  std::string table;
  std::string configurations;  // "": in the table, or beside it
  std::string job_file;
  std::vector<std::string> schedulers;  // instead of the job's own, as parse_part() reads them; each with each sampler
  std::vector<std::string> samplers;
  std::vector<double> budgets;  // in units of max_resource; none: the usual ones
  int workers = 1;
  int seeds = 10;
  bool in_order = false;
  std::string csv;                        // "": none is written
  std::string plot;                       // "": none is written
  std::vector<std::string> changes = {};  // of the document, as SubmitOptions has them
};
Finished simulate_job(Console& console, const SimulateOptions& options);

// With a server of its own.
struct RunOptions {
  std::string job_file;
  std::optional<int> workers;
  std::string data_dir;  // "": a new directory below kRunsDir
  bool keep = false;     // the server stays up after the job's end, until Ctrl-C
  bool ensemble = true;  // the best models are joined at the job's end, where they can be
  bool refit = false;    // each of them is trained once more, on all rows
  std::vector<std::string> allowed_webhooks = {};
  std::string server_program;
  std::vector<std::string> changes = {};  // of the document, as SubmitOptions has them
};
inline constexpr const char* kRunsDir = "tuneband-runs";
Finished run_job(Console& console, const RunOptions& options);

// Checks an installation; status 1 when something is wrong.
struct DoctorOptions {
  std::string server;
  std::string token;  // of it; "": it has none
  std::string data_dir = "./tuneband-data";
  std::optional<int> workers;  // nothing: one a core
  int worker_threads = 1;
};
Finished run_doctor(Console& console, const DoctorOptions& options);

// Copies a data directory, also beside the server that runs on it.
struct BackupOptions {
  std::string destination;
  std::string data_dir = "./tuneband-data";
};
Finished back_up(const Console& console, const BackupOptions& options);

// POST /v1/jobs; prints the warnings. Gives the server's whole answer, whose body has a job.
Outcome<Answer> submit_file(Session session, const JobFile& file);
Outcome<Answer> submit_document(Session session, const std::string& target, std::string_view document);

}  // namespace tuneband::cli
