// `tuneband check JOB.json`: a job document against the machine, before it is submitted.
#include <fmt/format.h>

#include <algorithm>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/job_file.hpp"
#include "cli/format.hpp"
#include "os/temporary_dir.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kFaultIndent = 9;

std::string check_text(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> check_number(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

void print_faults(Console& console, const Json& answer, const char* kind, const std::string& word, Style style) {
  for (const Json& fault : answer.value(kind, Json::array())) {
    if (!fault.is_object()) continue;
    const std::string path = check_text(fault, "path");
    console.print_line(
        {{fmt::format("{:<{}}", word, kFaultIndent), style}, {path.empty() ? "" : path + ": "}, {check_text(fault, "message")}},
        kFaultIndent);
    if (const std::string hint = check_text(fault, "hint"); !hint.empty())
      console.print(fmt::format("{:<{}}what to do: {}", "", kFaultIndent, hint), kFaultIndent);
  }
}

// "about 3 min with 2 workers; 6 min beside the jobs that run (0.4 s a round, measured in direct-marketing)".
std::string time_text(const Json& capacity, const std::string& unit) {
  const auto alone = check_number(capacity, "wall_seconds");
  const auto seconds = check_number(capacity, "seconds_per_unit");
  if (!seconds) return "not known: no job with this data or command has run (--seconds-per-unit says what a unit takes)";
  const std::string job = check_text(capacity, "measured_in");
  const std::string of_unit = fmt::format("{:.3g} s a unit of {}{}", *seconds, unit, job.empty() ? "" : ", measured in " + job);
  if (!alone) return "not bounded by the document; " + of_unit;
  const auto beside = check_number(capacity, "wall_seconds_beside_others");
  return fmt::format("about {} with {}{} ({})", format_duration(*alone),
                     format_count(static_cast<std::int64_t>(check_number(capacity, "workers").value_or(0)), "worker"),
                     beside ? fmt::format(", or {} beside the jobs that run", format_duration(*beside)) : "", of_unit);
}

Finished print_check(Console& console, const Json& answer, const std::string& unit) {
  const bool ok = answer.value("ok", Json()) == true;
  if (console.json()) {
    console.print_json(answer);
    return ok ? kExitOk : kExitFailed;
  }
  print_faults(console, answer, "errors", "error", Style::bad);
  print_faults(console, answer, "warnings", "warning", Style::warning);
  if (!ok) return kExitFailed;
  const bool doubts = !answer.value("warnings", Json::array()).empty();
  console.field("check", doubts ? "it would be taken, with these warnings" : "nothing stands in its way", Style::good);
  if (const Json capacity = answer.value("capacity", Json()); capacity.is_object()) {
    console.field("starts", check_text(capacity, "starts"));
    console.field("takes", time_text(capacity, unit));
  }
  return kExitOk;
}

}  // namespace

Finished check_file(Console& console, const CheckFileOptions& options) {
  const auto file = read_job_file(options.job_file);
  if (!file) return file.error();
  std::string target = "/v1/checks?base_dir=" + percent_encoded(file->base_dir);
  if (options.seconds_per_unit) target += fmt::format("&seconds_per_unit={}", *options.seconds_per_unit);
  auto api = ApiClient::create(options.server);
  if (!api) return api.error();
  auto answer = api->post(target, file->text);
  if (!answer && answer.error().exit_status == kExitUnreachable && options.may_be_private) {
    const os::TemporaryDir directory("tuneband-check");
    const auto server = EmbeddedServer::start({options.server_program, directory.path(), std::nullopt});
    if (!server) return server.error();
    console.note("no server answers at " + options.server + ": checked by a private one on this machine");
    auto private_api = ApiClient::create((*server)->url());
    if (!private_api) return private_api.error();
    answer = private_api->post(target, file->text);
  }
  if (!answer) return answer.error();
  const auto checked = check_job_file(*file);
  return print_check(console, answer->body, checked ? checked->job.resource_name : "units");
}

}  // namespace tuneband::cli
