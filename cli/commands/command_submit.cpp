#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/job_like.hpp"
#include "cli/commands/watch.hpp"
#include "cli/format.hpp"
#include "cli/terminal/capacity_text.hpp"
#include "cli/terminal/job_report.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

void note_warnings(Console& console, const Json& answer) {
  const auto warnings = answer.find("warnings");
  if (warnings == answer.end() || !warnings->is_array()) return;
  for (const Json& warning : *warnings) {
    if (!warning.is_object()) continue;
    const auto text = [&](const char* field) { return text_of(warning, field); };
    console.note("warning: " + describe(Error{ErrorCode::invalid_argument, text("message"), text("path"), text("hint")}));
  }
}

std::string introduction(const JobInfo& job, bool is_new) {
  if (!is_new) return fmt::format("{} is job {}, submitted before: {}", job.name, job.id, job.state);
  const std::string planned = job.trials.planned ? format_count(*job.trials.planned, "trial") + " planned" : "trials without end";
  return fmt::format("{} is job {}: {}, {}, at most {} each", job.name, job.id, job.scheduler, planned,
                     format_resource(job.max_resource, job.resource_name));
}

Finished wait_for(Session session, const JobInfo& job, const Interrupts& interrupts) {
  const auto view = make_progress_view(session.console);
  const auto end = watch_job(session.api, job.id, {.interrupts = &interrupts}, *view);
  view->close();
  if (!end) return end.error();
  if (*end == WatchEnd::interrupted) {
    session.console.note(
        fmt::format("{} goes on without this terminal: `tuneband watch {}` shows it again, `tuneband stop {}` ends it", job.name,
                    job.name, job.name));
    return kExitInterrupted;
  }
  const std::string id = std::to_string(job.id);
  const auto ended = session.api.job(id);
  if (!ended) return ended.error();
  const auto printed = session.console.json() ? print_result_json(session.api, session.console, id)
                                              : print_result(session.api, session.console, id);
  if (!printed) return printed.error();
  return exit_status_of(*ended);
}

Outcome<Answer> submit_as_asked(Session session, const SubmitOptions& options) {
  if (!options.like.empty()) return submit_like(session, options);
  const auto file = read_job_file(options.job_file, options.changes);
  if (!file) return file.error();
  return submit_file(session, *file);
}

}  // namespace

Outcome<Answer> submit_file(Session session, const JobFile& file) {
  return submit_document(session, "/v1/jobs?base_dir=" + percent_encoded(file.base_dir), file.text);
}

Outcome<Answer> submit_document(Session session, const std::string& target, std::string_view document) {
  auto answer = session.api.post(target, document);
  if (!answer) return answer.error();
  if (!answer->body.is_object() || !answer->body.contains("job")) {
    return Failure{{{ErrorCode::internal, "the server did not say which job this is", "", "is it a tuneband-server?"}},
                   kExitFailed};
  }
  note_warnings(session.console, answer->body);
  return answer;
}

Finished submit(Session session, const SubmitOptions& options) {
  const auto answer = submit_as_asked(session, options);
  if (!answer) return answer.error();
  const JobInfo job = job_from_json(answer->body["job"]);
  if (!session.console.json()) {
    session.console.print(introduction(job, answer->status == kStatusCreated));
    if (answer->status == kStatusCreated && !options.wait)
      print_capacity(session.console, answer->body.value("capacity", Json()), job.resource_name, now_ms());
    session.console.note("to look at it: " + dashboard_address(session.api.url(), job.name));
  }
  if (options.wait) return wait_for(session, job, Interrupts());
  if (session.console.json()) session.console.print_json(answer->body);
  return kExitOk;
}

Finished watch(Session session, const std::string& job) {
  const Interrupts interrupts;
  const auto found = find_job(session, job, {.interrupts = &interrupts});
  if (interrupts.came()) return kExitInterrupted;
  if (!found) return found.error();
  return wait_for(session, *found, interrupts);
}

}  // namespace tuneband::cli
