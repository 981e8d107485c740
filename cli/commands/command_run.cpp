#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/joined_model.hpp"
#include "cli/commands/watch.hpp"
#include "cli/format.hpp"
#include "cli/terminal/job_report.hpp"
#include "core/shell_word.hpp"

namespace tuneband::cli {

namespace {

// Our own server on our own machine answers at once, or is gone.
constexpr std::int64_t kOwnServerGoneMs = 5'000;
constexpr std::int64_t kWebhooksToldMs = 15'000;  // an answer may take 10 s
constexpr int kInterruptsAskedEveryMs = 100;

struct RunDirectory {
  std::string path;  // absolute
  bool made = false;
};

Outcome<RunDirectory> make_directory(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path).lexically_normal();
  const bool made = std::filesystem::create_directories(absolute, error);
  if (error) return bad_input("cannot be made: " + error.message(), absolute.string(), "choose another --data-dir");
  return RunDirectory{absolute.string(), made};
}

// The first of tuneband-runs/NAME, NAME-2, NAME-3... that is not there yet.
Outcome<RunDirectory> new_directory(const std::string& name) {
  for (int number = 1;; ++number) {
    const auto path = std::filesystem::path(kRunsDir) / (number == 1 ? name : fmt::format("{}-{}", name, number));
    auto directory = make_directory(path.string());
    if (!directory || directory->made) return directory;
  }
}

// Interrupted, a job in a directory that the user named is left as it is: its server gives it up in order, and the next one goes
// on.
Outcome<WatchEnd> watch_and_stop(Session session, const JobInfo& job, const RunOptions& options, const Interrupts& interrupts) {
  const auto view = make_progress_view(session.console);
  auto end = watch_job(session.api, job.id, {.interrupts = &interrupts, .server_gone_max_ms = kOwnServerGoneMs}, *view);
  if (end && *end == WatchEnd::interrupted && !options.data_dir.empty()) {
    view->close();
    const auto ends = job.max_runtime_seconds ? ", which " + latest_end_text(*job.max_runtime_seconds) : "";
    session.console.note("interrupted: the same command goes on with the job" + ends);
    return WatchEnd::interrupted;
  }
  if (end && *end == WatchEnd::interrupted) {
    const auto stopped = session.api.post(job_path(std::to_string(job.id)) + "/stop", "");
    const auto over = stopped ? watch_job(session.api, job.id, {.server_gone_max_ms = kOwnServerGoneMs}, *view)
                              : Outcome<WatchEnd>(stopped.error());
    view->close();
    session.console.note("interrupted: the job was stopped; what it found is kept");
    if (!over) return over.error();
    return WatchEnd::interrupted;
  }
  view->close();
  return end;
}

// What was found last may still be on its way when the job has ended. What finds nobody there until then, the next server on the
// directory goes on telling.
Outcome<void> let_webhooks_be_told(Session session, const std::string& job, const Interrupts& interrupts) {
  const std::int64_t deadline = steady_ms() + kWebhooksToldMs;
  while (true) {
    const auto answer = session.api.get(job_path(job) + "/findings");
    if (!answer) return answer.error();
    const Json& findings = answer->at("findings");
    const auto pending = std::count_if(findings.begin(), findings.end(), [](const Json& one) {
      const auto word = one.find("webhook");
      return word != one.end() && *word == "pending";
    });
    if (pending == 0) return {};
    if (steady_ms() >= deadline || interrupts.came()) {
      session.console.note(fmt::format("{} not taken by its web hook yet: a server on this directory tries again",
                                       pending == 1 ? "a finding was" : fmt::format("{} findings were", pending)));
      return {};
    }
    pollfd interrupted{interrupts.fd(), POLLIN, 0};
    poll(&interrupted, 1, kInterruptsAskedEveryMs);
  }
}

// Whether several of its trials have models that can become one.
bool can_be_joined(const Json& document, const JobSpec& spec, const JobInfo& job) {
  const Json& trainer = member(document, "trainer");
  const Json& tuned = member(member(document, "search_space"), "booster");
  const Json& booster = tuned.is_null() ? member(member(trainer, "parameters"), "booster") : tuned;
  const bool trees = member(trainer, "type") == "xgboost" && booster.dump().find("gblinear") == std::string::npos;
  const bool judged =
      spec.more_objectives.empty() && spec.constraints.empty() && spec.objective.metric.starts_with("validation-");
  return trees && judged && job.trials.completed + (spec.joins_completed_alone() ? 0 : job.trials.stopped) > 1;
}

// With a client of its own, so that a request that is given up is no other one. Nothing: it failed, or the user does not wait.
std::optional<JoinedReport> join_best(Session session, const JobInfo& job, const std::string& dir, bool refit,
                                      const Interrupts& interrupts) {
  constexpr std::chrono::seconds kSilentMax{1};
  auto api = session.api.another();
  if (!api) return std::nullopt;
  const std::string path = (std::filesystem::path(dir) / joined_model_name(job)).string();
  auto joining = std::async(std::launch::async, [&] { return fetch_joined_model(*api, job, {.refit = refit}, path); });
  if (joining.wait_for(kSilentMax) != std::future_status::ready)
    session.console.note(std::string(refit ? "training the best trials' models once more, on all rows, and joining them"
                                           : "joining the models of the best trials into one") +
                         "; Ctrl-C leaves it out");
  bool given_up = false;
  while (joining.wait_for(std::chrono::milliseconds(kInterruptsAskedEveryMs)) != std::future_status::ready) {
    if (interrupts.came() && !std::exchange(given_up, true)) api->cancel();
  }
  auto description = joining.get();
  if (description && refit) note_refit_in_vain(session.console, *description);
  if (description) return JoinedReport{std::move(*description), path};
  session.console.note(std::string("the best models were not ") + (refit ? "trained once more: " : "joined: ") +
                       (given_up ? std::string("interrupted") : describe(description.error().errors.front())));
  return std::nullopt;
}

// What --json says beside the summary: where all of it is, and the joined model with its file.
Json kept_in(const std::string& dir, const std::optional<JoinedReport>& joined) {
  Json kept{{"data_dir", dir}};
  if (joined) {
    kept["ensemble"] = joined->description;
    kept["ensemble"]["model"] = joined->path;
  }
  return kept;
}

struct JobToRun {
  const JobFile& file;
  const JobSpec& spec;  // as it was read
  std::string dir;      // the data directory
};

// `submitted`: there is a job from here on.
Finished run_on(Session session, const JobToRun& run, const RunOptions& options, const Interrupts& interrupts, bool& submitted) {
  const auto answer = submit_file(session, run.file);
  if (!answer) return answer.error();
  submitted = true;
  const JobInfo job = job_from_json(answer->body["job"]);
  if (!session.console.json()) session.console.note("to look at it: " + dashboard_address(session.api.url(), job.name));
  const auto end = watch_and_stop(session, job, options, interrupts);
  if (!end) return end.error();
  const std::string id = std::to_string(job.id);
  if (!options.allowed_webhooks.empty()) {
    if (const auto told = let_webhooks_be_told(session, id, interrupts); !told) return told.error();
  }
  const auto ended = session.api.job(id);
  if (!ended) return ended.error();
  std::optional<JoinedReport> joined;
  // A refit was asked for: where there can be none the server says why.
  const bool wanted = options.ensemble && (options.refit || can_be_joined(run.file.document, run.spec, *ended));
  if (wanted && *end == WatchEnd::job_ended) joined = join_best(session, *ended, run.dir, options.refit, interrupts);
  const auto printed = session.console.json() ? print_result_json(session.api, session.console, id, kept_in(run.dir, joined))
                                              : print_result(session.api, session.console, id, joined);
  if (!printed) return printed.error();
  return *end == WatchEnd::interrupted ? kExitInterrupted : exit_status_of(*ended);
}

// Enough for the widest trial, even where the machine has fewer cores. With fewer a private server, which no other worker joins,
// would wait for ever; one that stays can be joined.
Outcome<std::optional<int>> workers_for(const JobSpec& spec, const RunOptions& options) {
  const int needed = spec.replicas.back();
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!options.workers) return needed > cores ? std::optional(needed) : std::nullopt;
  if (*options.workers >= needed || options.keep) return options.workers;
  return bad_input(fmt::format("asks for {} at once for one trial: with {} it could never start", format_count(needed, "worker"),
                               *options.workers),
                   "trainer.replicas", fmt::format("give it `--workers {}`, or lower it", needed));
}

// Of a run of which nothing came.
void remove_made(const RunDirectory& directory) {
  std::error_code ignored;  // what is left of an empty run harms nobody
  if (!directory.made) return;
  std::filesystem::remove_all(directory.path, ignored);
  const auto above = std::filesystem::path(directory.path).parent_path();
  if (above.filename() == kRunsDir) std::filesystem::remove(above, ignored);  // where there is no other run
}

// What it has decided is on disk: another server goes on from there.
Failure server_went_away(const std::string& log_file, const std::string& dir, const RunOptions& options) {
  std::error_code ignored;
  const std::string how = options.data_dir.empty() ? " with --data-dir " + shell_word(dir) : "";
  const std::string hint = std::filesystem::exists(log_file, ignored)
                               ? fmt::format("see {}; the same command{} goes on with the job", log_file, how)
                               : dir + " is not there any more";
  return {{{ErrorCode::unavailable, "the private server went away", "", hint}}, kExitUnreachable};
}

void wait_for_interrupt(const Interrupts& interrupts) {
  while (!interrupts.came()) {
    pollfd interrupted{interrupts.fd(), POLLIN, 0};
    poll(&interrupted, 1, -1);
  }
}

}  // namespace

Finished run_job(Console& console, const RunOptions& options) {
  const auto file = read_job_file(options.job_file, options.changes);
  if (!file) return file.error();
  const auto checked = check_job_file(*file);
  if (!checked) return checked.error();
  const auto workers = workers_for(checked->job.spec, options);
  if (!workers) return workers.error();
  const auto directory =
      options.data_dir.empty() ? new_directory(directory_name(file->document)) : make_directory(options.data_dir);
  if (!directory) return directory.error();
  const Interrupts interrupts;
  const auto server = EmbeddedServer::start({options.server_program, directory->path, *workers, false, options.allowed_webhooks});
  if (!server) {
    Failure failure = server.error();
    if (directory->made) failure.errors.front().hint.clear();  // its log goes too
    remove_made(*directory);
    return failure;
  }
  auto api = ApiClient::create((*server)->url());
  if (!api) return api.error();

  console.name_commands_with(directory->path);
  bool submitted = false;
  auto finished = run_on({*api, console}, {*file, checked->job.spec, directory->path}, options, interrupts, submitted);
  const bool refused = !submitted && !finished && finished.error().exit_status == kExitBadInput;
  if (!finished && finished.error().exit_status == kExitUnreachable) {
    return server_went_away((*server)->log_file(), directory->path, options);
  }
  if (!refused && !console.json()) console.field("kept in", directory->path);
  if (options.keep && !refused && !interrupts.came()) {
    console.note(fmt::format("the server stays at {} until Ctrl-C", (*server)->url()));
    wait_for_interrupt(interrupts);
  }
  (*server)->stop();
  if (refused) remove_made(*directory);
  return finished;
}

}  // namespace tuneband::cli
