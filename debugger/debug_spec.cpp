#include "debugger/debug_spec.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "debugger/webhook.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::int64_t kTrialMegabytesMax = 1024 * 1024;
constexpr std::int64_t kJobMegabytesMax = 1024 * kTrialMegabytesMax;
const std::vector<std::string> kActionWords{"note", "stop_trial", "stop_job"};

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const RuleType& type : rule_types()) names.push_back(type.name);
  return names;
}

void read_parameter(ObjectReader& reader, const RuleParameter& parameter, RuleSpec& rule) {
  std::optional<double> value;
  if (parameter.flag) {
    if (const auto flag = reader.boolean(parameter.name)) value = *flag ? 1 : 0;
  } else if (parameter.whole) {
    const IntegerRange range{static_cast<std::int64_t>(parameter.min), static_cast<std::int64_t>(parameter.max)};
    if (const auto whole = reader.integer(parameter.name, range)) value = static_cast<double>(*whole);
  } else {
    value = reader.number(parameter.name, {.min = parameter.min, .max = parameter.max});
  }
  if (!value) value = parameter.fallback;
  if (value) rule.parameters[parameter.name] = *value;
}

std::vector<std::string> read_names(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  if (!json.is_array() || json.empty() || json.size() > kCollectionsMax) {
    diagnostics.error(path, "expected an array of names of collections, got " + excerpt(json));
    return names;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i].is_string()) {
      names.push_back(json[i].get<std::string>());
    } else {
      diagnostics.error(join_path(path, i), "expected the name of a collection, got " + excerpt(json[i]));
    }
  }
  return names;
}

// The fields of a rule of the type `bound`.
Declared read_declared(ObjectReader& reader, RuleSpec& rule, Diagnostics& diagnostics) {
  constexpr std::int64_t kTrialMax = 1'000'000;
  constexpr std::int64_t kStepsMax = 1'000'000;
  Declared declared;
  reader.require_present("reduction");
  if (const auto index = reader.word("reduction", reduction_names())) declared.reduction = static_cast<Reduction>(*index);
  declared.above = reader.number("above");
  declared.below = reader.number("below");
  if (declared.above.has_value() == declared.below.has_value())
    diagnostics.error(reader.path(), "expected either `above` or `below`");
  declared.for_steps = static_cast<int>(reader.integer_or("for_steps", 1, {.min = 1, .max = kStepsMax}));
  if (const auto text = reader.text("relative_to", {.min = 1, .max = kPatternSizeMax})) {
    auto pattern = Pattern::create(*text);
    if (pattern) {
      declared.relative_to = std::move(*pattern);
    } else {
      diagnostics.error(reader.path_to("relative_to"), pattern.error().message);
    }
  }
  if (const auto mode = reader.word("relative_to_mode", mode_names())) {
    declared.relative_to_mode = static_cast<Mode>(*mode);
    if (rule.mode == declared.relative_to_mode && !declared.relative_to)
      diagnostics.error(reader.path_to("relative_to_mode"), "expected another mode than `mode`, or `relative_to` with it");
    if (reader.has("other_trial")) diagnostics.error(reader.path(), "expected either `relative_to_mode` or `other_trial`");
  }
  if (const auto trial = reader.integer("other_trial", {.min = 0, .max = kTrialMax})) {
    rule.parameters["other_trial"] = static_cast<double>(*trial);
    if (declared.relative_to) diagnostics.error(reader.path(), "expected either `relative_to` or `other_trial`");
  }
  return declared;
}

// The fields of a rule of the type `process`.
std::vector<std::string> read_argv(ObjectReader& reader, Diagnostics& diagnostics) {
  constexpr std::size_t kArgumentsMax = 100;
  constexpr std::size_t kArgumentSizeMax = 4096;
  std::vector<std::string> argv;
  constexpr char kExpected[] = "an array of a program and its arguments";
  const Json* json = reader.require("argv", kExpected);
  if (json == nullptr) return argv;
  const std::string path = reader.path_to("argv");
  if (!json->is_array() || json->empty() || json->size() > kArgumentsMax) {
    reader.expected("argv", kExpected, *json);
    return argv;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    const std::string text = (*json)[i].is_string() ? (*json)[i].get<std::string>() : "";
    const bool fits = (*json)[i].is_string() && text.size() <= kArgumentSizeMax && text.find('\0') == std::string::npos;
    if (!fits || (i == 0 && text.empty())) diagnostics.error(join_path(path, i), "expected a text, got " + excerpt((*json)[i]));
    argv.push_back(text);
  }
  const std::string& program = argv.front();
  if (program.find('/') != std::string::npos && !program.starts_with('/')) {
    diagnostics.error(join_path(path, 0), "expected an absolute path, or a name on PATH, got " + excerpt(program),
                      "it runs in the trial's directory");
  }
  return argv;
}

// Of a good trial as well.
void doubt_stops_of_converged(const RuleSpec& rule, const std::string& path, Diagnostics& diagnostics) {
  if (rule.action != Action::stop_trial || (rule.type != "loss_not_decreasing" && rule.type != "overtraining")) return;
  diagnostics.warning(path, "ends a trial that has converged, as good ones do: it fails, and others are trained in its place",
                      "note it, and let trials end by themselves: a command with trainer.may_end_early");
}

// A word, or {"webhook": "http://...", "also": word}.
void read_action(ObjectReader& reader, RuleSpec& rule, Diagnostics& diagnostics) {
  const Json* given = reader.find("action");
  if (given == nullptr) return;
  if (!given->is_object()) {
    if (const auto word = reader.word("action", kActionWords)) rule.action = static_cast<Action>(*word);
    return;
  }
  ObjectReader action(*given, reader.path_to("action"), diagnostics);
  action.require_present("webhook");
  if (const auto url = action.text("webhook", {.min = 1})) {
    rule.webhook = *url;
    if (const auto hook = parse_webhook(*url); !hook)
      diagnostics.error(action.path_to("webhook"), hook.error().message, hook.error().hint);
  }
  if (const auto word = action.word("also", kActionWords)) rule.action = static_cast<Action>(*word);
  action.finish();
}

void check_other_trial(const RuleSpec& rule, const std::string& path, Diagnostics& diagnostics) {
  if (rule.type == "similar_across_runs" && !rule.parameters.contains("other_trial"))
    diagnostics.error(path, "expected `parameters.other_trial`: the number of the trial to compare with");
}

void check_variance(const RuleSpec& rule, const std::string& path, Diagnostics& diagnostics) {
  if (rule.type != "tensor_variance") return;
  if (!rule.parameters.contains("min_threshold") && !rule.parameters.contains("max_threshold"))
    diagnostics.error(path, "expected `parameters.min_threshold`, `parameters.max_threshold` or both");
}

std::vector<RuleSpec> default_rules() {
  std::vector<RuleSpec> rules;
  Diagnostics none;
  for (const char* type : {"exploding_tensor", "loss_not_decreasing"})
    rules.push_back(parse_rule(Json{{"rule", type}}, "", none));
  return rules;
}

// What a rule looks at must be saved, or it would never be asked.
void check_collections_of_rules(const DebugSpec& spec, TrainerKind trainer, bool own_collections, const std::string& path,
                                Diagnostics& diagnostics) {
  std::vector<std::string> saved;
  for (const Collection& collection : spec.collections) saved.push_back(collection.name);
  for (std::size_t i = 0; i < spec.rules.size(); ++i) {
    const RuleSpec& rule = spec.rules[i];
    const std::string place = join_path(join_path(path, "rules"), i);
    for (std::size_t k = 0; k < rule.collections.size(); ++k) {
      if (std::find(saved.begin(), saved.end(), rule.collections[k]) != saved.end()) continue;
      const std::string where = join_path(join_path(place, "collections"), k);
      diagnostics.error(where, "`" + rule.collections[k] + "` is not among the collections that are saved: " + join_and(saved),
                        did_you_mean(rule.collections[k], saved));
    }
    const RuleType* type = find_rule_type(rule.type);
    if (type == nullptr || !rule.collections.empty() || !rule.tensors.empty() || type->collections.front() == "*") continue;
    const auto has_one_of = [type](const std::vector<std::string>& names) {
      return std::ranges::find_first_of(type->collections, names) != type->collections.end();
    };
    if (has_one_of(saved)) continue;
    if (trainer == TrainerKind::xgboost && !has_one_of(built_in_collections(trainer))) {
      diagnostics.error(place, "`" + rule.type + "` looks at " + one_of(type->collections) + ", which XGBoost does not have",
                        "it is for networks: leave it out");
      continue;
    }
    diagnostics.error(place, "`" + rule.type + "` looks at " + one_of(type->collections) + ", which is not saved",
                      own_collections ? "name it in `collections`" : "name it in `debug.collections`, beside those wanted");
  }
}

}  // namespace

const Collection* DebugSpec::saves(std::string_view tensor, std::int64_t step) const {
  for (const Collection& one : collections) {
    if (one.holds(tensor) && one.save.due(step)) return &one;
  }
  return nullptr;
}

const Collection* DebugSpec::collection(std::string_view name) const {
  const auto known =
      std::find_if(collections.begin(), collections.end(), [&](const Collection& one) { return one.name == name; });
  return known == collections.end() ? nullptr : &*known;
}

const RuleSpec* DebugSpec::rule(std::string_view name) const {
  const auto known = std::find_if(rules.begin(), rules.end(), [&](const RuleSpec& one) { return one.name == name; });
  return known == rules.end() ? nullptr : &*known;
}

Json schedules_json(const DebugSpec& spec) {
  Json json = Json::object();
  for (const Collection& one : spec.collections) {
    Json& its = json[one.name];
    its = {{"every", one.save.every}, {"from", one.save.from}, {"until", nullptr}, {"steps", one.save.steps}};
    its["derived"] = one.save.derived;
    if (one.save.until) its["until"] = *one.save.until;
    for (const Pattern& pattern : one.patterns) its["patterns"].push_back(pattern.text());
  }
  return json;
}

RuleSpec parse_rule(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  RuleSpec rule;
  ObjectReader reader(json, path, diagnostics);
  static const std::vector<std::string> kTypes = names_of_types();
  reader.require_present("rule");
  const auto index = reader.word("rule", kTypes);
  const RuleType* type = index ? &rule_types()[*index] : nullptr;
  if (type != nullptr) rule.type = type->name;
  rule.name = reader.text_or("name", rule.type, {.min = 1, .max = 100});
  read_action(reader, rule, diagnostics);
  doubt_stops_of_converged(rule, reader.path_to("action"), diagnostics);
  if (const Json* names = reader.find("collections"))
    rule.collections = read_names(*names, reader.path_to("collections"), diagnostics);
  if (const Json* tensors = reader.find("tensors"))
    rule.tensors = parse_patterns(*tensors, reader.path_to("tensors"), diagnostics);
  if (const auto mode = reader.word("mode", mode_names())) rule.mode = static_cast<Mode>(*mode);
  if (rule.type == "bound") rule.declared = read_declared(reader, rule, diagnostics);
  if (rule.type == "process") rule.argv = read_argv(reader, diagnostics);
  static const Json kNone = Json::object();
  const Json* given = reader.find("parameters");
  if (type != nullptr) {
    ObjectReader parameters(given == nullptr ? kNone : *given, reader.path_to("parameters"), diagnostics);
    for (const RuleParameter& parameter : type->parameters) read_parameter(parameters, parameter, rule);
    parameters.finish();
    check_variance(rule, path, diagnostics);
    check_other_trial(rule, path, diagnostics);
    reader.finish();
  }
  return rule;
}

std::vector<RuleSpec> parse_rules(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<RuleSpec> rules;
  if (!json.is_array() || json.size() > kRulesMax) {
    diagnostics.error(path, "expected an array of at most " + std::to_string(kRulesMax) + " rules, got " + excerpt(json));
    return rules;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string place = join_path(path, i);
    RuleSpec rule = parse_rule(json[i], place, diagnostics);
    if (!rule.name.empty() && !names.insert(rule.name).second)
      diagnostics.error(place, "another rule has the name `" + rule.name + "`", "give one of them a `name` of its own");
    rules.push_back(std::move(rule));
  }
  return rules;
}

DebugSpec parse_debug(const Json& json, const std::string& path, const DebugContext& context, Diagnostics& diagnostics) {
  DebugSpec spec;
  spec.judge = context.judge;
  ObjectReader reader(json, path, diagnostics);
  std::optional<SaveSchedule> save;
  constexpr std::int64_t kSaves = 50;
  if (const Json* schedule = reader.find("save"))
    save = parse_schedule(*schedule, reader.path_to("save"), derived_schedule(context.max_resource, kSaves), diagnostics);
  const Json* collections = reader.find("collections");
  spec.collections = collections == nullptr ? default_collections(context.trainer, context.max_resource, save)
                                            : parse_collections(*collections, reader.path_to("collections"), context.trainer,
                                                                context.max_resource, save, diagnostics);
  const Json* rules = reader.find("rules");
  spec.rules = rules == nullptr ? default_rules() : parse_rules(*rules, reader.path_to("rules"), diagnostics);
  static const std::vector<std::string> kRanksWords{"first", "all"};
  if (const auto ranks = reader.word("ranks", kRanksWords)) spec.ranks = static_cast<Ranks>(*ranks);
  spec.trial_bytes_max =
      reader.integer_or("trial_megabytes_max", spec.trial_bytes_max / kMegabyte, {.min = 1, .max = kTrialMegabytesMax}) *
      kMegabyte;
  spec.job_bytes_max =
      reader.integer_or("job_megabytes_max", spec.job_bytes_max / kMegabyte, {.min = 1, .max = kJobMegabytesMax}) * kMegabyte;
  reader.finish();
  check_collections_of_rules(spec, context.trainer, collections != nullptr, path, diagnostics);
  return spec;
}

}  // namespace tuneband::debugger
