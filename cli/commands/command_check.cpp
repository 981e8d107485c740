// `tuneband check JOB.json`: a job document against the machine, before it is submitted.
#include <fmt/format.h>

#include <algorithm>

#include "cli/client/embedded_server.hpp"
#include "cli/client/scratch_dir.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/job_file.hpp"
#include "cli/commands/rank_speed.hpp"
#include "cli/format.hpp"
#include "cli/terminal/capacity_text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kFaultIndent = 9;

void print_faults(Console& console, const Json& answer, const char* kind, const std::string& word, Style style) {
  for (const Json& fault : answer.value(kind, Json::array())) {
    if (!fault.is_object()) continue;
    const std::string path = text_of(fault, "path");
    console.print_line(
        {{fmt::format("{:<{}}", word, kFaultIndent), style}, {path.empty() ? "" : path + ": "}, {text_of(fault, "message")}},
        kFaultIndent);
    if (const std::string hint = text_of(fault, "hint"); !hint.empty())
      console.print(fmt::format("{:<{}}what to do: {}", "", kFaultIndent, hint), kFaultIndent);
  }
}

void print_check(Console& console, const Json& answer, const std::string& unit) {
  const bool ok = answer.value("ok", Json()) == true;
  print_faults(console, answer, "errors", "error", Style::bad);
  print_faults(console, answer, "warnings", "warning", Style::warning);
  if (!ok) return;
  const bool doubts = !answer.value("warnings", Json::array()).empty();
  console.field("check", doubts ? "it would be taken, with these warnings" : "nothing stands in its way", Style::good);
  print_capacity(console, answer.value("capacity", Json()), unit, now_ms());
}

// Where the document is checked: the server, or a private one where none answers.
class CheckPlace {
 public:
  explicit CheckPlace(const CheckFileOptions& options) : options_(options) {}

  Outcome<Answer> ask(Console& console, const JobFile& file, std::optional<double> seconds_per_unit) {
    std::string target = "/v1/checks?base_dir=" + percent_encoded(file.base_dir);
    if (seconds_per_unit) target += fmt::format("&seconds_per_unit={}", *seconds_per_unit);
    auto api = private_ ? ApiClient::create(private_->url()) : ApiClient::create(options_.server, options_.token);
    if (!api) return api.error();
    auto answer = api->post(target, file.text);
    const bool nobody = !answer && answer.error().exit_status == kExitUnreachable;
    if (!nobody || !options_.may_be_private || private_) return answer;
    auto server = EmbeddedServer::start({options_.server_program, directory_.path(), std::nullopt});
    if (!server) return server.error();
    private_ = std::move(*server);
    console.note("no server answers at " + options_.server + ": checked by a private one on this machine");
    return ask(console, file, seconds_per_unit);
  }

 private:
  const CheckFileOptions& options_;
  const ScratchDir directory_{"tuneband-check"};
  std::unique_ptr<EmbeddedServer> private_;
};

// What a unit takes with the fewest replicas that the job has.
std::optional<double> unit_time(const std::vector<RankSpeed>& speeds, const JobSpec& spec) {
  for (const RankSpeed& speed : speeds) {
    if (speed.ranks == spec.replicas.front() && speed.seconds_per_unit > 0) return speed.seconds_per_unit;
  }
  return std::nullopt;
}

}  // namespace

Finished check_file(Console& console, const CheckFileOptions& options) {
  const auto file = read_job_file(options.job_file, options.changes);
  if (!file) return file.error();
  CheckPlace place(options);
  auto answer = place.ask(console, *file, options.seconds_per_unit);
  if (!answer) return answer.error();
  const bool ok = answer->body.is_object() && answer->body.value("ok", Json()) == true;
  const auto checked = check_job_file(*file);
  std::vector<RankSpeed> speeds;
  if (ok && options.measure && checked) {
    const auto timings = measure_ranks(console, *file, checked->job, {options.server_program, options.measure_seconds});
    if (!timings) return timings.error();
    speeds = rank_speeds(*timings);
    const auto measured = unit_time(speeds, checked->job.spec);
    if (!options.seconds_per_unit && measured) answer = place.ask(console, *file, measured);
    if (!answer) return answer.error();
    answer->body["ranks"] = rank_speeds_json(speeds);
  }
  if (console.json()) {
    console.print_json(answer->body);
  } else {
    print_check(console, answer->body, checked ? checked->job.resource_name : "units");
    if (!speeds.empty()) print_rank_speeds(console, speeds, checked->job);
  }
  return ok ? kExitOk : kExitFailed;
}

}  // namespace tuneband::cli
