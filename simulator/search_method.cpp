#include "simulator/search_method.hpp"

#include <algorithm>

#include "jobs/parsed_job.hpp"
#include "jobs/trainer_defaults.hpp"

namespace tuneband {

namespace {

Error method_error(std::string message, std::string path, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)};
}

void fill_in(Json& object, const char* field, Json value) {
  if (!object.contains(field)) object[field] = std::move(value);
}

// Anything but a text is for the parser to refuse.
std::string type_of(const Json& part, const char* otherwise) {
  const bool named = part.is_object() && part.contains("type") && part["type"].is_string();
  return named ? part["type"].get<std::string>() : otherwise;
}

// `min_resource` and `rungs` say the same thing in two ways: the part's way replaces the job's own.
bool replaced(const std::string& field, const Json& part) {
  return (field == "min_resource" && part.contains("rungs")) || (field == "rungs" && part.contains("min_resource"));
}

// The job's own scheduler with another type: its ladder stays where the type has one.
Json changed_scheduler(const Json& own, const Json& part) {
  Json scheduler = part;
  const std::string type = type_of(part, "");
  const bool ladder = type != "none";
  const bool own_ladder = own.is_object() && type_of(own, "") != "none";
  for (const char* field : {"max_resource", "min_resource", "rungs", "eta"}) {
    const bool fits = std::string(field) == "max_resource" ||
                      (ladder && own_ladder && (std::string(field) != "eta" || type != "median_stopping"));
    if (fits && !replaced(field, part) && own.is_object() && own.contains(field) && !scheduler.contains(field))
      scheduler[field] = own[field];
  }
  return scheduler;
}

// Several numbers of workers to choose from are a parameter of their own, which a search space does not name.
bool tunes_replicas(const Json& trainer) {
  if (!trainer.is_object() || !trainer.contains(kReplicasParameter)) return false;
  const Json& replicas = trainer[kReplicasParameter];
  return replicas.is_array() && replicas.size() > 1;
}

// What a trainer lacks that recorded curves take the place of. One of no type goes on from where it was, as the curves do.
void complete_trainer(Json& trainer) {
  if (!trainer.is_object()) return;
  if (!trainer.contains("type")) {
    trainer["type"] = "command";
    fill_in(trainer, "resume", "checkpoint");
  }
  if (trainer["type"] == "xgboost") fill_in(trainer, "data", {{"train", "recorded.csv"}, {"label", 0}});
  if (trainer["type"] == "command") fill_in(trainer, "argv", {"recorded"});
}

// Where the document is not even made of objects the parser tells; then there is nothing to fill in.
void complete(Json& document, const CurveTable& table) {
  fill_in(document, "name", "simulated");
  fill_in(document, "trainer", Json::object());
  complete_trainer(document["trainer"]);
  document = searching_all_of(std::move(document), table);
  fill_in(document, "scheduler", Json::object());
  if (document.contains("objective") && document["objective"].is_object()) {
    fill_in(document["objective"], "metric", table.metric);
  }
  if (document["scheduler"].is_object()) fill_in(document["scheduler"], "max_resource", table.max_resource);
}

// What a table of one metric's curves, without the server's jobs, cannot answer for. Nothing: it can.
std::optional<Error> beyond_a_table(const JobSpec& spec) {
  const std::string without = "without them in the job's document searches can be compared by the objective alone";
  if (!spec.constraints.empty())
    return method_error("cannot be simulated: a table has one metric's curves", "objective.constraints", without);
  if (!spec.more_objectives.empty()) {
    return method_error("cannot be simulated: a table has one metric's curves", "objectives",
                        "give one of them as `objective`: searches can be compared by one alone");
  }
  if (!spec.warm_start.empty() && spec.priors.empty()) {
    return method_error("names jobs of a server, whose results a simulation does not have", "warm_start",
                        "leave it out; or take the `spec` that the server shows of a submitted job, which has those results");
  }
  return std::nullopt;
}

// What was recorded later is not known yet at the lowest rung: with no value there at all nothing could be told apart. Nothing:
// there is one.
std::optional<Error> before_all_measured(const SchedulerSpec& scheduler, const CurveTable& table) {
  const std::int64_t lowest = ladder(scheduler).front();
  const auto first = table.measured_from();
  if (!first || *first <= lowest) return std::nullopt;
  const std::string from = std::to_string(*first);
  const std::string but = std::to_string(lowest) + ", but the table has nothing below " + from;
  const std::string in_one_piece = ", or compare what trains in one piece: `none`";
  if (lowest == scheduler.max_resource) {
    return method_error("is " + but, "scheduler.max_resource", "give \"max_resource\": " + from + " or more");
  }
  if (scheduler.first_resource > 0) return method_error("is " + but, "scheduler.first_resource", "leave it out");
  if (!scheduler.rungs.empty()) {
    return method_error("is " + but, "scheduler.rungs[0]", "give rungs from " + from + " on" + in_one_piece);
  }
  return method_error("the lowest rung is " + but, "scheduler.min_resource", "give \"min_resource\": " + from + in_one_piece);
}

// The value that begins there and ends at a comma, or with the text (`end`): the first such piece that is JSON, for a list has
// commas of its own, or else the first one as a word.
Json field_value(const std::string& text, std::size_t begin, std::size_t& end) {
  const auto end_of_piece = [&](std::size_t from) { return std::min(text.find(',', from), text.size()); };
  const std::size_t first = end_of_piece(begin);
  for (end = first;; end = end_of_piece(end + 1)) {
    if (auto value = parse_json(text.substr(begin, end - begin))) return std::move(*value);
    if (end == text.size()) break;
  }
  end = first;
  return text.substr(begin, end - begin);
}

}  // namespace

Json searching_all_of(Json document, const CurveTable& table) {
  if (!document.is_object()) return document;
  Json space = space_of(table);
  if (tunes_replicas(member(document, "trainer"))) space.erase(kReplicasParameter);
  fill_in(document, "search_space", std::move(space));
  fill_in(document, "limits", {{"max_trials", table.curves.size()}});
  return document;
}

Result<Json> parse_part(const std::string& text) {
  std::size_t at = std::min(text.find(','), text.size());
  Json part{{"type", text.substr(0, at)}};
  while (at < text.size()) {
    const std::size_t begin = at + 1;
    const std::size_t equals = text.find('=', begin);
    if (equals == std::string::npos || equals == begin || equals > text.find(',', begin)) {
      return method_error("expected type,field=value,..., got `" + text + "`", "", "for example asha_delayed,eta=4");
    }
    part[text.substr(begin, equals - begin)] = field_value(text, equals + 1, at);
  }
  return Result<Json>(boost::system::in_place_value, std::move(part));
}

Result<SearchMethod> make_method(Json document, CurveTable& table, const MethodOptions& options, int& outside) {
  if (!document.is_object()) return method_error("expected a job's document, an object", "");
  if (options.scheduler) {
    const auto part = parse_part(*options.scheduler);
    if (!part) return part.error();
    document["scheduler"] = changed_scheduler(document.value("scheduler", Json()), *part);
  }
  if (options.sampler) {
    auto part = parse_part(*options.sampler);
    if (!part) return part.error();
    const Json own = document.value("sampler", Json());
    if (own.is_object() && own.contains("seed")) fill_in(*part, "seed", own["seed"]);
    document["sampler"] = *part;
  }
  const bool first_is_asked_for = member(document.value("scheduler", Json()), "first_resource").is_number();
  complete(document, table);
  write_trainer_defaults(document);  // as a submission of it would
  if (tunes_replicas(document["trainer"]) && std::ranges::find(table.parameters, kReplicasParameter) == table.parameters.end()) {
    return method_error("is a list to choose from, but the table has no column `replicas`", "trainer.replicas",
                        "give one number of workers");
  }
  Diagnostics diagnostics;
  SearchMethod method;
  method.spec = parse_as_written(document, diagnostics).spec;
  if (!diagnostics.ok()) return diagnostics.errors().front();
  const auto measured_from = table.measured_from();
  if (!first_is_asked_for && measured_from && *measured_from > method.spec.scheduler.first_resource)
    method.spec.scheduler.first_resource = 0;  // the trainer's default, of which the table knows nothing
  if (const auto beyond = beyond_a_table(method.spec)) return *beyond;
  if (method.spec.scheduler.max_resource > table.max_resource) {
    return method_error("is " + std::to_string(method.spec.scheduler.max_resource) + ", but the table ends at " +
                            std::to_string(table.max_resource),
                        "scheduler.max_resource");
  }
  outside = keep_within(table, method.spec.search_space);
  if (table.curves.empty()) return method_error("no configuration of the table lies in it", "search_space");
  if (const auto before = before_all_measured(method.spec.scheduler, table)) return *before;
  method.spec.enqueue.clear();
  if (options.in_order) {
    for (const Curve& curve : table.curves) method.spec.enqueue.push_back(curve.configuration);
  }
  const std::string sampler = options.in_order ? "in order" : options.sampler.value_or(type_of(document["sampler"], "auto"));
  method.name = options.scheduler.value_or(type_of(document["scheduler"], "auto")) + " / " + sampler;
  return method;
}

}  // namespace tuneband
