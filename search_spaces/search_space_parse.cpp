// Reading a search space from a job document.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/ascii.hpp"
#include "core/text.hpp"
#include "search_spaces/search_space.hpp"

namespace tuneband {

namespace {

const char* const kScalarWanted = "a finite number, a boolean or a text of up to 1000 bytes";

bool valid_parameter_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  return !name.empty() && name.size() <= kParameterNameSizeMax && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || other(c); });
}

std::optional<Value> read_scalar(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  auto value = value_from_json(json);
  if (!value) diagnostics.error(path, std::string("expected ") + kScalarWanted + ", got " + excerpt(json));
  return value;
}

// Of a step that does not lead from min to max. `ends`: those that it does lead to.
void report_step(ObjectReader& reader, const std::string& min, const std::string& max, const std::vector<std::string>& ends) {
  reader.diagnostics().error(reader.path_to("step"), "does not lead from min (" + min + ") to max (" + max + ")",
                             "write " + one_of(ends) + " as max");
}

// As read, without a step.
std::optional<FloatDomain> with_step(ObjectReader& reader, FloatDomain domain) {
  if (!reader.has("step")) return domain;
  const auto refuse = [&](const std::string& message, const std::string& hint = "") -> std::optional<FloatDomain> {
    reader.diagnostics().error(reader.path_to("step"), message, hint);
    return std::nullopt;
  };
  const double range = domain.max - domain.min;
  if (domain.scale == Scale::reverse_log) return refuse("a reverse log scale has no steps", "leave it out");
  if (!std::isfinite(range)) return refuse("the range is too wide for steps", "leave it out");
  const auto step = reader.number("step");
  if (!step) return std::nullopt;
  if (!(*step >= range / kStepsMax && *step <= range * (1 + kStepTolerance)))
    return refuse("expected a number between " + short_number(range / kStepsMax) + " and " + short_number(range) + ", got " +
                  format_number(*step));
  const double steps = range / *step;
  if (std::abs(steps - std::round(steps)) > kStepTolerance) {
    const auto end = [&](double count) {
      const double sum = domain.min + count * *step;
      return format_number(as_written(sum, std::max(std::abs(domain.min), std::abs(sum))));
    };
    report_step(reader, format_number(domain.min), format_number(domain.max), {end(std::floor(steps)), end(std::ceil(steps))});
    return std::nullopt;
  }
  domain.step = *step;
  return domain;
}

std::optional<IntDomain> with_step(ObjectReader& reader, IntDomain domain) {
  if (!reader.has("step")) return domain;
  const std::int64_t range = domain.max - domain.min;
  const auto step = reader.integer("step", {1, range});
  if (!step) return std::nullopt;
  if (range % *step != 0) {
    const std::int64_t last = domain.max - range % *step;
    std::vector<std::string> ends{std::to_string(last)};
    if (last + *step <= kIntegerMax) ends.push_back(std::to_string(last + *step));
    report_step(reader, std::to_string(domain.min), std::to_string(domain.max), ends);
    return std::nullopt;
  }
  domain.step = *step;
  return domain;
}

// Whether the domain's scale tells its ends apart, and what lies between two steps is neither of them.
bool tells_values_apart(const FloatDomain& domain) {
  return unit_of(domain, domain.min) < unit_of(domain, domain.max) &&
         (domain.step == 0 || !contains(domain, domain.min + domain.step / 2));
}

std::optional<FloatDomain> read_float(ObjectReader& reader) {
  static const std::vector<std::string> kScales{"linear", "log", "reverse_log"};
  reader.has("step");  // a known field, whatever else is wrong
  reader.require_present("min");
  reader.require_present("max");
  const Scale scale = static_cast<Scale>(reader.has("scale") ? reader.word("scale", kScales).value_or(0) : 0);
  NumberRange min_range;
  NumberRange max_range;
  if (scale == Scale::log) min_range = {.min = 0, .min_excluded = true};
  if (scale == Scale::reverse_log) {
    min_range = {.min = 0, .max = 1, .max_excluded = true};
    max_range = min_range;
  }
  const auto min = reader.number("min", min_range);
  const auto max = reader.number("max", max_range);
  if (!min || !max) return std::nullopt;
  if (*min >= *max) {
    reader.diagnostics().error(reader.path_to("max"),
                               "expected more than min (" + format_number(*min) + "), got " + format_number(*max),
                               *min == *max ? "for one value write the value alone" : "");
    return std::nullopt;
  }
  const auto domain = with_step(reader, FloatDomain{*min, *max, scale});
  if (!domain || tells_values_apart(*domain)) return domain;
  reader.diagnostics().error(reader.path_to("max"), "the range from " + format_number(*min) + " to " + format_number(*max) +
                                                        " is too narrow, or too wide, for values between to be told apart");
  return std::nullopt;
}

// Whether the domain's scale tells its values apart; of very many the ends are enough.
bool tells_values_apart(const IntDomain& domain) {
  constexpr std::int64_t kFew = 1'000'000'000;
  const auto is_itself = [&](std::int64_t value) { return value_at(domain, unit_of(domain, value)) == Value(value); };
  if (!is_itself(domain.min) || !is_itself(domain.max)) return false;
  const bool few = domain.max / 2 - domain.min / 2 < kFew / 2;
  return !few || (is_itself(domain.min + domain.step) && is_itself(domain.max - domain.step));
}

std::optional<IntDomain> read_int(ObjectReader& reader) {
  static const std::vector<std::string> kScales{"linear", "log"};
  reader.has("step");  // a known field, whatever else is wrong
  reader.require_present("min");
  reader.require_present("max");
  const Scale scale = static_cast<Scale>(reader.has("scale") ? reader.word("scale", kScales).value_or(0) : 0);
  const auto min = reader.integer("min", {scale == Scale::log ? 1 : -kIntegerMax, kIntegerMax});
  const auto max = reader.integer("max", {-kIntegerMax, kIntegerMax});
  if (!min || !max) return std::nullopt;
  if (*min >= *max) {
    reader.diagnostics().error(reader.path_to("max"),
                               "expected more than min (" + std::to_string(*min) + "), got " + std::to_string(*max),
                               *min == *max ? "for one value write the value alone" : "");
    return std::nullopt;
  }
  const auto domain = with_step(reader, IntDomain{*min, *max, scale});
  if (!domain || tells_values_apart(*domain)) return domain;
  reader.diagnostics().error(reader.path_to("max"), "the range from " + std::to_string(*min) + " to " + std::to_string(*max) +
                                                        " is too narrow for so large numbers to be told apart on its scale");
  return std::nullopt;
}

// A list of different scalars, at most kCategoriesMax.
std::optional<std::vector<Value>> read_values(const Json& list, const std::string& path, Diagnostics& diagnostics) {
  if (!list.is_array() || list.empty() || list.size() > kCategoriesMax) {
    const std::string got = list.is_array() ? std::to_string(list.size()) + " values" : excerpt(list);
    diagnostics.error(path, "expected a list of 1 to " + std::to_string(kCategoriesMax) + " values, got " + got);
    return std::nullopt;
  }
  std::vector<Value> values;
  bool readable = true;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto value = read_scalar(list[i], join_path(path, i), diagnostics);
    const bool repeated = value && std::any_of(values.begin(), values.end(), [&](const Value& one) { return same(one, *value); });
    if (repeated) diagnostics.error(join_path(path, i), "the value " + excerpt(list[i]) + " is given twice");
    readable = readable && value && !repeated;
    if (readable) values.push_back(*value);
  }
  if (!readable) return std::nullopt;
  return values;
}

std::optional<CategoricalDomain> read_categorical(ObjectReader& reader) {
  const Json* list = reader.require("values", "a list of values");
  if (list == nullptr) return std::nullopt;
  auto values = read_values(*list, reader.path_to("values"), reader.diagnostics());
  const bool ordered = reader.boolean("ordered").value_or(false);
  if (!values) return std::nullopt;
  return CategoricalDomain{std::move(*values), ordered};
}

std::optional<FixedDomain> read_fixed(ObjectReader& reader) {
  const Json* json = reader.require("value", kScalarWanted);
  if (json == nullptr) return std::nullopt;
  auto value = read_scalar(*json, reader.path_to("value"), reader.diagnostics());
  if (!value) return std::nullopt;
  return FixedDomain{std::move(*value)};
}

// {"booster": ["dart"]} or {"booster": "dart"}
std::optional<Condition> read_condition(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  if (!json.is_object() || json.size() != 1) {
    diagnostics.error(path, "expected one parameter and its values, like {\"booster\": [\"dart\"]}, got " + excerpt(json));
    return std::nullopt;
  }
  const std::string& parent = json.begin().key();
  const Json& wanted = json.begin().value();
  auto values = read_values(wanted.is_array() ? wanted : Json::array({wanted}), join_path(path, parent), diagnostics);
  if (!values) return std::nullopt;
  return Condition{parent, std::move(*values)};
}

// A parameter as read; `domain` is missing when it was faulty.
struct DraftParameter {
  std::optional<Domain> domain;
  std::optional<Condition> condition;
};

template <class D>
std::optional<Domain> as_domain(std::optional<D> domain) {
  if (!domain) return std::nullopt;
  return Domain(std::move(*domain));
}

// Names that a domain's fields have in other tuners, and what they are here.
struct OtherName {
  std::string_view name;
  std::string_view here;
};

constexpr OtherName kOtherNames[] = {
    {"low", "`min`"},
    {"lower", "`min`"},
    {"MinValue", "`min`"},
    {"high", "`max`"},
    {"upper", "`max`"},
    {"MaxValue", "`max`"},
    {"choices", "`values`, of the type categorical"},
    {"options", "`values`, of the type categorical"},
    {"categories", "`values`, of the type categorical"},
    {"Values", "`values`, of the type categorical"},
    {"log", R"("scale": "log")"},
    {"log_scale", R"("scale": "log")"},
    {"ScalingType", "`scale`: linear, log or reverse_log"},
};

constexpr OtherName kOtherTypes[] = {
    {"uniform", "float"},
    {"double", "float"},
    {"continuous", "float"},
    {"loguniform", R"(float, with "scale": "log")"},
    {"quniform", "float, with a `step`"},
    {"randint", "int"},
    {"integer", "int"},
    {"lograndint", R"(int, with "scale": "log")"},
    {"choice", "categorical"},
    {"discrete", "categorical"},
    {"bool", "categorical, with the values true and false"},
    {"boolean", "categorical, with the values true and false"},
    {"constant", "fixed"},
};

// Whether it is such a type, in any case; it is told.
bool tell_other_type(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string()) return false;
  const std::string name = lower_case(type->get_ref<const std::string&>());
  const auto other =
      std::find_if(std::begin(kOtherTypes), std::end(kOtherTypes), [&](const OtherName& known) { return known.name == name; });
  if (other == std::end(kOtherTypes)) return false;
  diagnostics.error(join_path(path, "type"), excerpt(*type) + " is written as " + std::string(other->here) + " here");
  return true;
}

// Whether it has such fields; each is told.
bool tell_other_names(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  bool told = false;
  for (const OtherName& other : kOtherNames) {
    if (!json.contains(other.name)) continue;
    diagnostics.error(join_path(path, std::string(other.name)), "is written as " + std::string(other.here) + " here");
    told = true;
  }
  return told;
}

DraftParameter read_parameter(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  static const std::vector<std::string> kTypes{"float", "int", "categorical", "fixed"};
  if (json.is_primitive() && !json.is_null()) {
    auto value = read_scalar(json, path, diagnostics);
    return value ? DraftParameter{FixedDomain{std::move(*value)}, std::nullopt} : DraftParameter{};
  }
  if (!json.is_object()) {
    diagnostics.error(path, "expected an object with a `type`, or one fixed value, got " + excerpt(json),
                      json.is_array() ? "for a choice write {\"type\": \"categorical\", \"values\": [...]}" : "");
    return {};
  }
  const bool of_other_type = tell_other_type(json, path, diagnostics);
  if (tell_other_names(json, path, diagnostics) || of_other_type) return {};
  ObjectReader reader(json, path, diagnostics);
  DraftParameter draft;
  reader.require_present("type");
  const auto type = reader.word("type", kTypes);
  if (!type) return draft;
  switch (*type) {
    case 0:
      draft.domain = as_domain(read_float(reader));
      break;
    case 1:
      draft.domain = as_domain(read_int(reader));
      break;
    case 2:
      draft.domain = as_domain(read_categorical(reader));
      break;
    default:
      draft.domain = as_domain(read_fixed(reader));
      break;
  }
  if (const Json* when = reader.find("when")) {
    draft.condition = read_condition(*when, reader.path_to("when"), diagnostics);
    if (!draft.condition) draft.domain.reset();
  }
  reader.finish();
  return draft;
}

// By name.
using DraftSpace = std::map<std::string, DraftParameter>;

// "a -> b -> a" when following conditions from `name` leads back to it; else "".
std::string circle_from(const std::string& name, const DraftSpace& space) {
  std::string text = name;
  std::string at = name;
  for (std::size_t steps = 0; steps < space.size(); ++steps) {
    const auto found = space.find(at);
    if (found == space.end() || !found->second.condition) return "";
    at = found->second.condition->parent;
    text += " -> " + at;
    if (at == name) return text;
  }
  return "";
}

void check_condition(const std::string& name, const Condition& condition, const DraftSpace& space, const std::string& path,
                     Diagnostics& diagnostics) {
  const std::string at = join_path(join_path(path, name), "when");
  const auto parent = space.find(condition.parent);
  if (parent == space.end()) {
    std::vector<std::string> names;
    for (const auto& [one, draft] : space) names.push_back(one);
    diagnostics.error(join_path(at, condition.parent), "there is no such parameter", did_you_mean(condition.parent, names));
    return;
  }
  if (const std::string circle = circle_from(name, space); !circle.empty()) {
    diagnostics.error(at, "the condition goes in a circle: " + circle);
    return;
  }
  const auto& domain = parent->second.domain;
  if (!domain) return;  // its own fault was told
  if (std::holds_alternative<FloatDomain>(*domain)) {
    diagnostics.error(join_path(at, condition.parent), "a float is almost never equal to one value",
                      "let it depend on a categorical, int or fixed parameter");
    return;
  }
  for (std::size_t i = 0; i < condition.values.size(); ++i) {
    if (contains(*domain, condition.values[i])) continue;
    diagnostics.error(join_path(join_path(at, condition.parent), i), "`" + condition.parent + "` (" + describe(*domain) +
                                                                         ") cannot be " + excerpt(to_json(condition.values[i])));
  }
}

// Parents before their children; among those that may stand next, by name.
std::vector<Parameter> ordered(DraftSpace space) {
  std::vector<Parameter> parameters;
  std::set<std::string> placed;
  while (!space.empty()) {
    const auto next = std::find_if(space.begin(), space.end(), [&](const auto& entry) {
      return !entry.second.condition || placed.contains(entry.second.condition->parent);
    });
    placed.insert(next->first);
    parameters.push_back({next->first, std::move(*next->second.domain), std::move(next->second.condition)});
    space.erase(next);
  }
  return parameters;
}

}  // namespace

SearchSpace SearchSpace::parse(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  if (!json.is_object() || json.empty() || json.size() > kParametersMax) {
    const std::string got = json.is_object() ? std::to_string(json.size()) + " parameters" : excerpt(json);
    diagnostics.error(path, "expected an object with 1 to " + std::to_string(kParametersMax) + " parameters, got " + got);
    return {};
  }
  const std::size_t faults_before = diagnostics.error_count();
  DraftSpace drafts;
  for (const auto& [name, parameter] : json.items()) {
    const std::string at = join_path(path, name);
    if (!valid_parameter_name(name)) {
      diagnostics.error(at, "expected a name of up to " + std::to_string(kParameterNameSizeMax) +
                                " letters, digits, `.`, `_` and `-` that begins with a letter or `_`");
      continue;
    }
    drafts[name] = read_parameter(parameter, at, diagnostics);
  }
  for (const auto& [name, draft] : drafts) {
    if (draft.condition) check_condition(name, *draft.condition, drafts, path, diagnostics);
  }
  SearchSpace space;
  if (diagnostics.error_count() == faults_before) space.parameters_ = ordered(std::move(drafts));
  return space;
}

}  // namespace tuneband
