#include "workers/protocol/sync.hpp"

#include <limits>
#include <span>

#include "core/port_number.hpp"

namespace tuneband::protocol {

namespace {

constexpr IntegerRange kNotNegative{.min = 0};
constexpr IntegerRange kPositive{.min = 1};
constexpr TextRange kNameRange{.min = 1, .max = 200};
constexpr TextRange kMetricNameRange{.min = 1, .max = kMetricNameSizeMax};
constexpr TextRange kDataKeyRange{.min = 1, .max = 10'000};
constexpr TextRange kExitRange{.min = 0, .max = 50};
constexpr TextRange kCrashRange{.min = 0, .max = 100};
constexpr TextRange kPathRange{.min = 1, .max = 4096};
constexpr TextRange kAddressRange{.min = 0, .max = 255};
constexpr std::size_t kFaultFieldSizeMax = 64 * 1024;  // bytes
constexpr IntegerRange kPortRange{.min = 0, .max = kPortMax};

Json metrics_to_json(const Observation& observation) {
  Json metrics = Json::object();
  for (const auto& [name, value] : observation.metrics) metrics[name] = number_to_json(value);
  return metrics;
}

Json finding_to_json(const debugger::Finding& finding) {
  return {{"rule", finding.rule},
          {"tensor", finding.tensor},
          {"mode", to_string(finding.mode)},
          {"step", finding.step},
          {"value", number_to_json(finding.value)},
          {"threshold", number_to_json(finding.threshold)},
          {"message", finding.message},
          {"remedy", finding.remedy}};
}

Json standing_to_json(const debugger::RuleStanding& standing) {
  return {{"rule", standing.rule},
          {"saved", standing.saved},
          {"judged", standing.judged},
          {"last_step", standing.last_step},
          {"fault", standing.fault}};
}

Json status_to_json(const AssignmentStatus& status) {
  Json observations = Json::array();
  for (const Observation& observation : status.observations) observations.push_back(observation_to_json(observation));
  Json json{{"epoch", status.epoch},
            {"observations", std::move(observations)},
            {"began_resource", status.began_resource},
            {"checkpoint_resource", status.checkpoint_resource},
            {"training_ms", status.training_ms},
            {"exit", status.exit},
            {"message", status.message},
            {"crash", status.crash},
            {"files_epoch", status.files_epoch}};
  for (const debugger::Finding& finding : status.findings) json["findings"].push_back(finding_to_json(finding));
  for (const debugger::RuleStanding& standing : status.rules) json["rules"].push_back(standing_to_json(standing));
  if (status.kept) json["kept"] = observation_to_json(*status.kept);
  if (status.test_value) json["test_value"] = *status.test_value;
  return json;
}

Json lack_to_json(const Lack& lack) { return {{"job", lack.job}, {"what", lack.what}, {"message", lack.message}}; }

Json place_to_json(const GroupPlace& place) {
  return {{"rank", place.rank},
          {"world_size", place.world_size},
          {"session", place.session},
          {"master_address", place.master_address},
          {"master_port", place.master_port},
          {"tracker_host", place.tracker_host},
          {"tracker_port", place.tracker_port}};
}

Json order_to_json(const AssignmentOrder& order) {
  Json json{{"epoch", order.epoch},
            {"job", order.job},
            {"job_name", order.job_name},
            {"trial", order.trial},
            {"configuration", order.configuration},
            {"trainer", order.trainer},
            {"objective_metric", order.objective_metric},
            {"maximize", order.maximize},
            {"from_resource", order.from_resource},
            {"until_resource", order.until_resource},
            {"max_resource", order.max_resource},
            {"files_epoch", order.files_epoch},
            {"attempt", order.attempt},
            {"seed", order.seed},
            {"trial_dir", order.trial_dir}};
  if (!order.further_metrics.empty()) json["further_metrics"] = order.further_metrics;
  if (order.kept_value) json["kept_value"] = *order.kept_value;
  if (order.best_value) json["best_value"] = *order.best_value;
  if (!order.debug.is_null()) json["debug"] = order.debug;
  if (order.group) json["group"] = place_to_json(*order.group);
  if (order.look_first) json["look_first"] = true;
  return json;
}

std::string required_text(ObjectReader& reader, const std::string& field, TextRange range) {
  reader.require_present(field);
  return reader.text_or(field, "", range);
}

std::int64_t required_integer(ObjectReader& reader, const std::string& field, IntegerRange range) {
  reader.require_present(field);
  return reader.integer_or(field, range.min, range);
}

// The elements of an array field, none when it is missing; at most `size_max`.
std::span<const Json> read_array(ObjectReader& reader, const std::string& field, std::size_t size_max) {
  const Json* array = reader.find(field);
  if (array == nullptr) return {};
  if (!array->is_array() || array->size() > size_max) {
    reader.diagnostics().error(reader.path_to(field), "expected an array of at most " + std::to_string(size_max) + " elements");
    return {};
  }
  return array->get_ref<const Json::array_t&>();
}

debugger::Finding read_finding(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  constexpr TextRange kTextRange{.min = 0, .max = kMessageSizeMax};
  ObjectReader reader(json, path, diagnostics);
  debugger::Finding finding;
  finding.rule = required_text(reader, "rule", kNameRange);
  finding.tensor = reader.text_or("tensor", "", kTextRange);
  if (const auto mode = reader.word("mode", debugger::mode_names())) finding.mode = static_cast<debugger::Mode>(*mode);
  finding.step = required_integer(reader, "step", kNotNegative);
  const auto number = [&](const std::string& field) {
    const Json* value = reader.require(field, "a number");
    const auto read = value == nullptr ? std::nullopt : number_from_json(*value);
    if (value != nullptr && !read) reader.expected(field, "a number", *value);
    return read.value_or(0);
  };
  finding.value = number("value");
  finding.threshold = number("threshold");
  finding.message = reader.text_or("message", "", kTextRange);
  finding.remedy = reader.text_or("remedy", "", kTextRange);
  reader.finish();
  return finding;
}

debugger::RuleStanding read_standing(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  debugger::RuleStanding standing;
  standing.rule = required_text(reader, "rule", kNameRange);
  standing.saved = required_integer(reader, "saved", kNotNegative);
  standing.judged = required_integer(reader, "judged", kNotNegative);
  standing.last_step = required_integer(reader, "last_step", kNotNegative);
  standing.fault = reader.text_or("fault", "", {.min = 0, .max = kMessageSizeMax});
  reader.finish();
  return standing;
}

Lack read_lack(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  Lack lack;
  lack.job = required_integer(reader, "job", kNotNegative);
  lack.what = required_text(reader, "what", kNameRange);
  lack.message = required_text(reader, "message", {.min = 1, .max = kMessageSizeMax});
  reader.finish();
  return lack;
}

AssignmentStatus read_status(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  AssignmentStatus status;
  status.epoch = required_integer(reader, "epoch", kPositive);
  const std::span<const Json> observations = read_array(reader, "observations", kObservationsPerSyncMax);
  for (std::size_t i = 0; i < observations.size() && diagnostics.errors().size() <= kFaultsMax; ++i) {
    status.observations.push_back(read_observation(observations[i], join_path(join_path(path, "observations"), i), diagnostics));
  }
  status.began_resource = reader.integer_or("began_resource", 0, kNotNegative);
  status.checkpoint_resource = reader.integer_or("checkpoint_resource", 0, kNotNegative);
  status.training_ms = reader.integer_or("training_ms", 0, kNotNegative);
  status.exit = reader.text_or("exit", "", kExitRange);
  status.message = reader.text_or("message", "", {.min = 0, .max = kMessageSizeMax});
  if (const Json* kept = reader.find("kept")) status.kept = read_observation(*kept, join_path(path, "kept"), diagnostics);
  status.test_value = reader.number("test_value");
  const std::span<const Json> findings = read_array(reader, "findings", kFindingsPerSyncMax);
  for (std::size_t i = 0; i < findings.size(); ++i)
    status.findings.push_back(read_finding(findings[i], join_path(join_path(path, "findings"), i), diagnostics));
  const std::span<const Json> rules = read_array(reader, "rules", kRulesPerSyncMax);
  for (std::size_t i = 0; i < rules.size(); ++i)
    status.rules.push_back(read_standing(rules[i], join_path(join_path(path, "rules"), i), diagnostics));
  status.crash = reader.text_or("crash", "", kCrashRange);
  status.files_epoch = reader.integer_or("files_epoch", 0, kNotNegative);
  reader.finish();
  return status;
}

}  // namespace

std::uint64_t read_seed(ObjectReader& reader) {
  constexpr char kExpected[] = "an integer of at least 0";
  const Json* seed = reader.require("seed", kExpected);
  if (seed == nullptr) return 0;
  if (!seed->is_number_unsigned()) {
    reader.expected("seed", kExpected, *seed);
    return 0;
  }
  return seed->get<std::uint64_t>();
}

namespace {

Json required_object(ObjectReader& reader, const std::string& field) {
  const Json* value = reader.require(field, "an object");
  if (value != nullptr && value->is_object()) return *value;
  if (value != nullptr) reader.expected(field, "an object", *value);
  return Json::object();
}

GroupPlace read_place(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  GroupPlace place;
  place.world_size = static_cast<int>(required_integer(reader, "world_size", {.min = 2, .max = kWorldSizeMax}));
  place.rank = static_cast<int>(required_integer(reader, "rank", {.min = 0, .max = place.world_size - 1}));
  place.session = required_integer(reader, "session", kPositive);
  place.master_address = reader.text_or("master_address", "", kAddressRange);
  place.master_port = static_cast<int>(reader.integer_or("master_port", 0, kPortRange));
  place.tracker_host = reader.text_or("tracker_host", "", kAddressRange);
  place.tracker_port = static_cast<int>(reader.integer_or("tracker_port", 0, kPortRange));
  reader.finish();
  return place;
}

std::vector<std::string> read_texts(ObjectReader& reader, const std::string& field, std::size_t count_max, std::size_t size_max,
                                    Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  const std::span<const Json> items = read_array(reader, field, count_max);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].is_string() && items[i].get_ref<const std::string&>().size() <= size_max) {
      texts.push_back(items[i].get<std::string>());
    } else {
      diagnostics.error(join_path(join_path(reader.path(), field), i), "expected a text, got " + excerpt(items[i]));
    }
  }
  return texts;
}

AssignmentOrder read_order(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  AssignmentOrder order;
  order.epoch = required_integer(reader, "epoch", kPositive);
  order.job = required_integer(reader, "job", kPositive);
  order.job_name = required_text(reader, "job_name", kNameRange);
  order.trial = static_cast<int>(required_integer(reader, "trial", {.min = 0, .max = std::numeric_limits<int>::max()}));
  order.configuration = required_object(reader, "configuration");
  order.trainer = required_object(reader, "trainer");
  if (const Json* debug = reader.find("debug")) order.debug = *debug;
  order.objective_metric = required_text(reader, "objective_metric", kMetricNameRange);
  order.maximize = reader.boolean_or("maximize", false);
  order.further_metrics = read_texts(reader, "further_metrics", kFurtherMetricsMax, kMetricNameRange.max, diagnostics);
  order.kept_value = reader.number("kept_value");
  order.best_value = reader.number("best_value");
  order.from_resource = required_integer(reader, "from_resource", kNotNegative);
  order.until_resource = required_integer(reader, "until_resource", kPositive);
  order.max_resource = required_integer(reader, "max_resource", kPositive);
  order.files_epoch = reader.integer_or("files_epoch", 0, kNotNegative);
  order.attempt = static_cast<int>(reader.integer_or("attempt", 1, {.min = 1, .max = std::numeric_limits<int>::max()}));
  order.seed = read_seed(reader);
  order.trial_dir = required_text(reader, "trial_dir", kPathRange);
  if (const Json* group = reader.find("group")) order.group = read_place(*group, join_path(path, "group"), diagnostics);
  order.look_first = reader.boolean_or("look_first", false);
  reader.finish();
  return order;
}

CheckOrder read_check(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  CheckOrder check;
  check.id = required_integer(reader, "id", kPositive);
  check.workers = static_cast<int>(reader.integer_or("workers", 1, {.min = 1, .max = kMachineWorkersMax}));
  check.document = required_object(reader, "document");
  reader.finish();
  return check;
}

CheckResult read_check_result(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  CheckResult result;
  result.id = required_integer(reader, "id", kPositive);
  constexpr char kExpected[] = "errors and warnings";
  const Json* found = reader.require("found", kExpected);
  if (found != nullptr && !faults_from_json(*found, result.found)) reader.expected("found", kExpected, *found);
  reader.finish();
  return result;
}

WorkerEnd read_end(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  WorkerEnd end;
  ObjectReader reader(json, path, diagnostics);
  end.message = required_text(reader, "message", {.min = 1, .max = kMessageSizeMax});
  end.crash = reader.text_or("crash", "", {.min = 0, .max = kMessageSizeMax});
  end.out_of_memory = reader.boolean_or("out_of_memory", false);
  reader.finish();
  return end;
}

}  // namespace

Json observation_to_json(const Observation& observation) {
  return {{"resource", observation.resource}, {"metrics", metrics_to_json(observation)}};
}

Observation read_observation(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  Observation observation;
  observation.resource = required_integer(reader, "resource", kNotNegative);
  const Json* metrics = reader.require("metrics", "an object of numbers by name");
  reader.finish();
  if (metrics == nullptr) return observation;
  const std::string metrics_path = join_path(path, "metrics");
  if (!metrics->is_object() || metrics->size() > kMetricsPerObservationMax) {
    diagnostics.error(metrics_path, "expected an object of at most " + std::to_string(kMetricsPerObservationMax) + " metrics");
    return observation;
  }
  for (const auto& [name, value] : metrics->items()) {
    const auto number = number_from_json(value);
    if (!number || name.size() > kMetricNameRange.max || name.empty()) {
      diagnostics.error(join_path(metrics_path, name),
                        "expected a short name and a number, \"nan\", \"inf\" or \"-inf\", got " + excerpt(value));
      continue;
    }
    observation.metrics.emplace_back(name, *number);
  }
  return observation;
}

std::string kept_model_file(std::int64_t resource) { return "best-" + std::to_string(resource) + ".ubj"; }

std::string checkpoint_dir(const std::string& trial_dir, std::int64_t epoch) {
  const std::string above = epoch == 0 ? trial_dir : trial_dir + "/" + kEpochsDir + "/" + std::to_string(epoch);
  return above + "/" + kCheckpointDir;
}

Json faults_to_json(const Diagnostics& found) {
  return {{"errors", faults_json(found.errors())}, {"warnings", faults_json(found.warnings())}};
}

bool faults_from_json(const Json& json, Diagnostics& found) {
  if (!json.is_object()) return false;
  for (const char* kind : {"errors", "warnings"}) {
    const auto faults = json.find(kind);
    if (faults == json.end() || !faults->is_array()) return false;
    for (const Json& fault : *faults) {
      Diagnostics unreadable;
      ObjectReader reader(fault, "", unreadable);
      const auto field = [&reader](const char* name) { return reader.text_or(name, "", {0, kFaultFieldSizeMax}); };
      const std::string path = field("path");
      const std::string message = field("message");
      const std::string hint = field("hint");
      if (!unreadable.ok()) return false;
      kind == std::string_view("errors") ? found.error(path, message, hint) : found.warning(path, message, hint);
    }
  }
  return true;
}

Diagnostics faults_in_answer(const std::string& said) {
  const Result<Json> json = parse_json(said);
  Diagnostics found;
  return json && faults_from_json(*json, found) ? found : not_checked("the check gave no answer that can be read");
}

Diagnostics not_checked(const std::string& why) {
  Diagnostics warned;
  warned.warning("", "the job's files were not checked: " + why, "trials that meet a fault will say so");
  return warned;
}

Json to_json(const SyncRequest& request) {
  Json json{{"name", request.name},       {"host", request.host},           {"pid", request.pid},
            {"version", request.version}, {"data_keys", request.data_keys}, {"draining", request.draining},
            {"address", request.address}, {"free_port", request.free_port}};
  if (request.assignment) json["assignment"] = status_to_json(*request.assignment);
  for (const Lack& lack : request.lacks) json["lacks"].push_back(lack_to_json(lack));
  if (request.checks_jobs) json["checks_jobs"] = true;
  if (request.check_result)
    json["check_result"] = {{"id", request.check_result->id}, {"found", faults_to_json(request.check_result->found)}};
  if (request.ended) {
    json["ended"] = {
        {"message", request.ended->message}, {"crash", request.ended->crash}, {"out_of_memory", request.ended->out_of_memory}};
  }
  return json;
}

Json to_json(const SyncReply& reply) {
  Json json{{"desired", reply.desired}, {"sync_within_ms", reply.sync_within_ms}};
  if (reply.order) json["order"] = order_to_json(*reply.order);
  if (reply.check)
    json["check"] = {{"id", reply.check->id}, {"workers", reply.check->workers}, {"document", reply.check->document}};
  return json;
}

SyncRequest sync_request_from_json(const Json& json, Diagnostics& diagnostics) {
  ObjectReader reader(json, "", diagnostics);
  SyncRequest request;
  request.name = required_text(reader, "name", kNameRange);
  request.host = reader.text_or("host", "", {.min = 0, .max = kNameRange.max});
  request.pid = reader.integer_or("pid", 0, kNotNegative);
  request.version = reader.text_or("version", "", {.min = 0, .max = kNameRange.max});
  request.draining = reader.boolean_or("draining", false);
  request.address = reader.text_or("address", "", kAddressRange);
  request.free_port = static_cast<int>(reader.integer_or("free_port", 0, kPortRange));
  request.data_keys = read_texts(reader, "data_keys", kDataKeysMax, kDataKeyRange.max, diagnostics);
  if (const Json* assignment = reader.find("assignment"))
    request.assignment = read_status(*assignment, "assignment", diagnostics);
  const std::span<const Json> lacks = read_array(reader, "lacks", kLacksMax);
  for (std::size_t i = 0; i < lacks.size(); ++i) request.lacks.push_back(read_lack(lacks[i], join_path("lacks", i), diagnostics));
  request.checks_jobs = reader.boolean_or("checks_jobs", false);
  if (const Json* result = reader.find("check_result"))
    request.check_result = read_check_result(*result, "check_result", diagnostics);
  if (const Json* ended = reader.find("ended")) request.ended = read_end(*ended, "ended", diagnostics);
  reader.finish();
  return request;
}

SyncReply sync_reply_from_json(const Json& json, Diagnostics& diagnostics) {
  ObjectReader reader(json, "", diagnostics);
  SyncReply reply;
  static const std::vector<std::string> kDesired{"idle", "execute", "drain"};
  reader.require_present("desired");
  if (const auto index = reader.word("desired", kDesired)) reply.desired = kDesired[*index];
  reply.sync_within_ms = reader.integer_or("sync_within_ms", reply.sync_within_ms, {.min = 1, .max = kSyncWithinMsMax});
  if (const Json* order = reader.find("order")) reply.order = read_order(*order, "order", diagnostics);
  if (const Json* check = reader.find("check")) reply.check = read_check(*check, "check", diagnostics);
  if (reply.desired == "execute" && !reply.order) diagnostics.error("order", "is missing");
  reader.finish();
  return reply;
}

}  // namespace tuneband::protocol
