#include <fmt/format.h>

#include "cli/commands/answer.hpp"
#include "cli/terminal/job_comparison.hpp"

namespace tuneband::cli {

namespace {

Outcome<ComparedJob> compared(ApiClient& api, const std::string& job) {
  const auto answer = api.get(job_path(job));
  if (!answer) return answer.error();
  ComparedJob one{job_from_json(*answer), answer->value("spec", Json::object())};
  const auto columns = api.get(fmt::format("{}/columns?trials_max={}", job_path(job), kTrialsPlottedMax));
  if (!columns) return columns.error();
  one.best = best_so_far(*columns, one.info, Cost::resource, 0);
  return one;
}

}  // namespace

Finished compare_jobs(Session session, const std::vector<std::string>& names) {
  std::vector<ComparedJob> jobs;
  for (const std::string& name : names) {
    auto job = compared(session.api, name);
    if (!job) return job.error();
    jobs.push_back(std::move(*job));
  }
  if (session.console.json()) {
    session.console.print_json(comparison_json(jobs));
  } else {
    print_comparison(session.console, jobs);
  }
  return kExitOk;
}

}  // namespace tuneband::cli
