#include "search_spaces/search_space.hpp"

#include <algorithm>
#include <optional>

#include "core/check.hpp"
#include "core/text.hpp"

namespace tuneband {

namespace {

std::string values_text(const std::vector<Value>& values) {
  std::vector<std::string> words;
  for (const Value& value : values) words.push_back(excerpt(to_json(value)));
  return one_of(words);
}

bool one_among(const std::vector<Value>& values, const Value& value) {
  return std::any_of(values.begin(), values.end(), [&](const Value& one) { return same(one, value); });
}

const char* scale_word(Scale scale) {
  switch (scale) {
    case Scale::linear:
      return "linear";
    case Scale::log:
      return "log";
    case Scale::reverse_log:
      return "reverse_log";
  }
  return "linear";
}

Json values_json(const std::vector<Value>& values) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(to_json(value));
  return json;
}

struct DomainJson {
  Json operator()(const FloatDomain& domain) const {
    Json json{{"type", "float"}, {"min", domain.min}, {"max", domain.max}, {"scale", scale_word(domain.scale)}};
    if (domain.step > 0) json["step"] = domain.step;
    return json;
  }
  Json operator()(const IntDomain& domain) const {
    Json json{{"type", "int"}, {"min", domain.min}, {"max", domain.max}, {"scale", scale_word(domain.scale)}};
    if (domain.step > 1) json["step"] = domain.step;
    return json;
  }
  Json operator()(const CategoricalDomain& domain) const {
    Json json{{"type", "categorical"}, {"values", values_json(domain.values)}};
    if (domain.ordered) json["ordered"] = true;
    return json;
  }
  Json operator()(const FixedDomain& domain) const { return {{"type", "fixed"}, {"value", to_json(domain.value)}}; }
};

// A user's value in the type of its domain: 1 for a float is 1.0, 1.0 for a category 1 is 1.
Value as_in_domain(const Domain& domain, const Value& value) {
  if (const auto* real = std::get_if<FloatDomain>(&domain)) return nearest_in(*real, *number_of(value));
  if (const auto* categories = std::get_if<CategoricalDomain>(&domain)) {
    return *std::find_if(categories->values.begin(), categories->values.end(),
                         [&](const Value& one) { return same(one, value); });
  }
  if (const auto* fixed = std::get_if<FixedDomain>(&domain)) return fixed->value;
  return value;
}

// Reads one configuration, parents first. A parameter whose parent could not be read is passed over: one fault, one message.
class ConfigurationCheck {
 public:
  // `unit`: null where nothing may be missing.
  ConfigurationCheck(const SearchSpace& space, const SearchSpace::UnitOf* unit, ObjectReader& reader)
      : space_(space), unit_(unit), reader_(reader) {}

  Configuration read() {
    if (unit_ != nullptr) find_parents_of_given();
    for (const Parameter& parameter : space_.parameters()) read(parameter);
    reader_.finish();
    return std::move(configuration_);
  }

 private:
  void read(const Parameter& parameter) {
    const Json* given = reader_.find(parameter.name);
    if (parameter.condition && unreadable_.contains(parameter.condition->parent)) {
      unreadable_.insert(parameter.name);
    } else if (!space_.active(parameter, configuration_)) {
      if (given != nullptr) report_inactive(parameter);
    } else if (given != nullptr) {
      read_value(parameter, *given);
    } else if (const auto* fixed = std::get_if<FixedDomain>(&parameter.domain)) {
      configuration_[parameter.name] = fixed->value;
    } else if (unit_ != nullptr) {
      configuration_[parameter.name] = drawn(parameter);
    } else {
      unreadable_.insert(parameter.name);
      reader_.diagnostics().error(reader_.path_to(parameter.name), "is missing", "expected " + describe(parameter.domain));
    }
  }

  // Of all that is given, however far above it. Children stand after their parents.
  void find_parents_of_given() {
    const auto& parameters = space_.parameters();
    for (auto one = parameters.rbegin(); one != parameters.rend(); ++one) {
      const bool wanted = reader_.find(one->name) != nullptr || parents_of_given_.contains(one->name);
      if (wanted && one->condition) parents_of_given_.insert(one->condition->parent);
    }
  }

  // A parent, from those of its values with which what is given is active: else it would be chance whether a user may say it.
  Value drawn(const Parameter& parameter) {
    const double unit = (*unit_)(static_cast<std::size_t>(&parameter - space_.parameters().data()));
    const auto values = parents_of_given_.contains(parameter.name) ? values_for_given(parameter) : std::vector<Value>();
    if (values.empty()) return value_at(parameter.domain, unit);
    const auto place = static_cast<std::size_t>(unit * static_cast<double>(values.size()));
    return as_in_domain(parameter.domain, values[std::min(place, values.size() - 1)]);
  }

  // Empty: with none of them is all of it.
  std::vector<Value> values_for_given(const Parameter& parent) {
    std::optional<std::vector<Value>> common;
    for (const Parameter& child : space_.parameters()) {
      if (!child.condition || child.condition->parent != parent.name) continue;
      if (reader_.find(child.name) == nullptr && !parents_of_given_.contains(child.name)) continue;
      const std::vector<Value>& values = child.condition->values;
      if (!common) common = values;
      std::erase_if(*common, [&](const Value& value) { return !one_among(values, value); });
    }
    return common.value_or(std::vector<Value>());
  }

  void report_inactive(const Parameter& parameter) {
    const Condition& condition = *parameter.condition;
    const auto parent = configuration_.find(condition.parent);
    const std::string is =
        parent == configuration_.end() ? "which is not active" : "which is " + excerpt(to_json(parent->second));
    reader_.diagnostics().error(
        reader_.path_to(parameter.name),
        "is not active here: it needs `" + condition.parent + "` to be " + values_text(condition.values) + ", " + is,
        "leave it out");
  }

  void read_value(const Parameter& parameter, const Json& given) {
    const bool whole = std::holds_alternative<IntDomain>(parameter.domain);
    const std::optional<Value> value = whole ? std::optional<Value>(integer_from_json(given)) : value_from_json(given);
    if (value && contains(parameter.domain, *value)) {
      configuration_[parameter.name] = as_in_domain(parameter.domain, *value);
      return;
    }
    unreadable_.insert(parameter.name);
    reader_.diagnostics().error(reader_.path_to(parameter.name),
                                "expected a value of " + describe(parameter.domain) + ", got " + excerpt(given));
  }

  const SearchSpace& space_;
  const SearchSpace::UnitOf* unit_;
  ObjectReader& reader_;
  Configuration configuration_;
  std::set<std::string> parents_of_given_;
  std::set<std::string> unreadable_;
};

}  // namespace

Json SearchSpace::to_json() const {
  Json json = Json::object();
  for (const Parameter& parameter : parameters_) {
    Json one = std::visit(DomainJson{}, parameter.domain);
    if (parameter.condition) one["when"] = {{parameter.condition->parent, values_json(parameter.condition->values)}};
    json[parameter.name] = std::move(one);
  }
  return json;
}

void SearchSpace::add(Parameter parameter) { parameters_.push_back(std::move(parameter)); }

void SearchSpace::replace_domain(const std::string& name, Domain domain) {
  const Parameter* found = find(name);
  TUNEBAND_CHECK(found != nullptr, "a domain is that of a parameter of the space");
  parameters_[static_cast<std::size_t>(found - parameters_.data())].domain = std::move(domain);
}

const Parameter* SearchSpace::find(const std::string& name) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& one) { return one.name == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

// Counted from the last parameter to the first: children stand after their parents.
double SearchSpace::configurations() const {
  std::vector<double> under(parameters_.size());  // of each parameter with what depends on it
  double all = 1;
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    const auto depends_on = [&](std::size_t child) {
      return parameters_[child].condition && parameters_[child].condition->parent == parameters_[i].name;
    };
    std::vector<Value> deciding;  // values on which something depends
    for (std::size_t child = i + 1; child < parameters_.size(); ++child) {
      if (!depends_on(child)) continue;
      for (const Value& value : parameters_[child].condition->values) {
        if (!one_among(deciding, value)) deciding.push_back(value);
      }
    }
    under[i] = count_of_values(parameters_[i].domain) - static_cast<double>(deciding.size());
    for (const Value& value : deciding) {
      double here = 1;
      for (std::size_t child = i + 1; child < parameters_.size(); ++child) {
        if (depends_on(child) && one_among(parameters_[child].condition->values, value)) here *= under[child];
      }
      under[i] += here;
    }
    if (!parameters_[i].condition) all *= under[i];
  }
  return all;
}

bool SearchSpace::active(const Parameter& parameter, const Configuration& configuration) const {
  if (!parameter.condition) return true;
  const auto parent = configuration.find(parameter.condition->parent);
  return parent != configuration.end() && one_among(parameter.condition->values, parent->second);
}

Configuration SearchSpace::check(const Json& json, const std::string& path, Diagnostics& diagnostics) const {
  ObjectReader reader(json, path, diagnostics);
  return json.is_object() ? ConfigurationCheck(*this, nullptr, reader).read() : Configuration();
}

Configuration SearchSpace::complete(const Json& json, const UnitOf& unit, const std::string& path,
                                    Diagnostics& diagnostics) const {
  ObjectReader reader(json, path, diagnostics);
  return json.is_object() ? ConfigurationCheck(*this, &unit, reader).read() : Configuration();
}

}  // namespace tuneband
