#include <limits>

#include "core/text.hpp"
#include "debugger/step.hpp"
#include "server/api/api.hpp"
#include "server/api/tensor_pages.hpp"
#include "server/monotonic_clock.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kCheckValuesMax = 10'000;  // of JSON

}  // namespace

// What a route of tensors needs, and gives.
struct Api::TensorPage {
  Result<std::string> (*read)(const TensorQuery&);
  bool needs_name = false;
  bool needs_step = false;
  bool beside = false;  // another trial
  const char* content_type = "application/json";
};

void Api::add_tensor_routes() {
  const std::string one = "/v1/jobs/{job}/trials/{trial}";
  const auto of_job = [this](const HttpRequest&, JobId job, const Respond& respond) {
    read_json([job](Reader& reader) { return reader.findings(job, std::nullopt); }, respond);
  };
  const auto of_trial = [this](const HttpRequest&, TrialId trial, const Respond& respond) {
    read_json([trial](Reader& reader) { return reader.findings(trial.job, trial.number); }, respond);
  };
  const auto rules_of_job = [this](const HttpRequest&, JobId job, const Respond& respond) {
    read_json([job](Reader& reader) { return reader.rules_of_job(job); }, respond);
  };
  const auto rules_of_trial = [this](const HttpRequest&, TrialId trial, const Respond& respond) {
    read_json([trial](Reader& reader) { return reader.rules_of_trial(trial); }, respond);
  };
  const auto tensors = [this](const TensorPage& page) {
    return with_trial([this, page](const HttpRequest& request, TrialId trial, const Respond& respond) {
      read_tensors(request, trial, page, respond);
    });
  };
  const TensorPage page{tensors_page};
  const TensorPage series{.read = tensor_series, .needs_name = true};
  const TensorPage beside{.read = tensors_beside, .beside = true};
  const TensorPage array{
      .read = tensor_array, .needs_name = true, .needs_step = true, .content_type = "application/octet-stream"};
  router_.add({"GET", "/v1/jobs/{job}/findings", {}, with_job(of_job)});
  router_.add({"GET", one + "/findings", {}, with_trial(of_trial)});
  router_.add({"GET", "/v1/jobs/{job}/rules", {}, with_job(rules_of_job)});
  router_.add({"GET", one + "/rules", {}, with_trial(rules_of_trial)});
  router_.add({"GET", one + "/tensors", {"mode", "rank"}, tensors(page)});
  router_.add({"GET", one + "/tensors/series", {"name", "mode", "rank", "from", "until"}, tensors(series)});
  router_.add({"GET", one + "/tensors/beside", {"other", "name", "mode", "rank", "from", "until", "reduction"}, tensors(beside)});
  router_.add({"GET", one + "/tensors/array", {"name", "mode", "rank", "step"}, tensors(array)});
  router_.add(
      {"POST", one + "/check", {"rank"}, with_trial([this](const HttpRequest& request, TrialId trial, const Respond& respond) {
         check_trial(request, trial, respond);
       })});
}

// Nothing is stored: it is a question.
void Api::check_trial(const HttpRequest& request, TrialId trial, const Respond& respond) {
  Diagnostics diagnostics;
  TensorQuery query;
  query.trial_dir = parts_.data_dir.trial_dir(trial);
  query.rank = static_cast<int>(query_integer(request, "rank", 0, std::numeric_limits<int>::max(), diagnostics).value_or(0));
  auto asked = parse_json(request.body, {.values_max = kCheckValuesMax});
  if (!asked) return respond->reply(error_reply(asked.error()));
  std::vector<debugger::RuleSpec> rules;
  ObjectReader reader(*asked, "", diagnostics);
  const Json* list = reader.require("rules", "an array of rules");
  reader.finish();
  if (list != nullptr) rules = debugger::parse_rules(*list, "rules", diagnostics);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].type == "process")
      diagnostics.error(join_path("rules", i), "a process is asked by the worker alone, while the trial runs");
  }
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  run_text(
      [trial, query, rules = std::move(rules)](Reader& rows) mutable -> Result<std::string> {
        const auto row = rows.trial_row(trial);
        if (!row) return row.error();
        const auto parsed = rows.parsed_job(trial.job);
        if (!parsed) return parsed.error();
        const JobSpec& job = (*parsed)->spec;
        query.saves = job.debugger.has_value();
        query.trial_ended = ended(row->state);
        debugger::DebugSpec spec = job.debugger.value_or(debugger::DebugSpec{});
        spec.judge = {job.objective.metric, job.objective.goal == Goal::maximize};
        spec.rules = rules;
        return checked_tensors(query, spec, *row, read_wall_clock());
      },
      HttpReply{}, respond, files_);
}

void Api::read_tensors(const HttpRequest& request, TrialId trial, const TensorPage& page, const Respond& respond) {
  Diagnostics diagnostics;
  TensorQuery query;
  query.trial_dir = parts_.data_dir.trial_dir(trial);
  query.name = request.query_value("name").value_or("");
  if (const auto word = request.query_value("mode")) {
    query.mode = debugger::mode_from(*word);
    if (!query.mode) diagnostics.error("mode", "expected " + one_of(debugger::mode_names()) + ", got " + excerpt(*word));
  }
  query.rank = static_cast<int>(query_integer(request, "rank", 0, std::numeric_limits<int>::max(), diagnostics).value_or(0));
  query.from = query_integer(request, "from", 0, debugger::kStepMax, diagnostics).value_or(0);
  query.until = query_integer(request, "until", 0, debugger::kStepMax, diagnostics).value_or(debugger::kStepMax);
  query.step = query_integer(request, "step", 0, debugger::kStepMax, diagnostics).value_or(0);
  query.trial = trial.number;
  if (page.beside) {
    const auto other = query_integer(request, "other", 0, std::numeric_limits<int>::max(), diagnostics);
    if (!request.query_value("other")) diagnostics.error("other", "is missing: the other trial's number");
    query.other_trial = static_cast<int>(other.value_or(0));
    query.other_dir = parts_.data_dir.trial_dir({trial.job, query.other_trial});
    const std::string reduction = request.query_value("reduction").value_or("mean");
    if (const auto known = debugger::reduction_from(reduction)) {
      query.reduction = *known;
    } else {
      diagnostics.error("reduction", "expected one of " + join_and(debugger::reduction_names()) + ", got " + excerpt(reduction));
    }
  }
  if (page.needs_name && query.name.empty()) diagnostics.error("name", "is missing: the tensor's name");
  if (page.needs_step && !request.query_value("step")) diagnostics.error("step", "is missing");
  if (!diagnostics.ok()) return respond->reply(error_reply(diagnostics));
  const auto read = [trial, query, page = page.read](Reader& reader) mutable -> Result<std::string> {
    const auto row = reader.trial_row(trial);
    if (!row) return row.error();
    query.trial_ended = ended(row->state);
    if (const auto parsed = reader.parsed_job(trial.job)) query.saves = (*parsed)->spec.debugger.has_value();
    if (!query.other_dir.empty()) {
      const auto other = reader.trial_row({trial.job, query.other_trial});
      if (!other) return other.error();
      query.trial_ended = query.trial_ended && ended(other->state);
    }
    return page(query);
  };
  HttpReply head;
  head.content_type = page.content_type;
  run_text(read, std::move(head), respond, files_);
}

}  // namespace tuneband::server
