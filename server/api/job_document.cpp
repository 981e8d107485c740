#include "server/api/job_document.hpp"

#include <filesystem>

#include "core/text.hpp"
#include "workers/protocol/path_text.hpp"
#include "workers/protocol/trainer_spec.hpp"

namespace tuneband::server {

namespace {

protocol::TunedParameter tuned(const Parameter& parameter) {
  protocol::TunedParameter result;
  result.name = parameter.name;
  const auto add_value = [&](const Value& value) {
    result.values.push_back(to_string(value));
    result.text = result.text || std::holds_alternative<std::string>(value);
  };
  if (const auto* domain = std::get_if<FloatDomain>(&parameter.domain)) {
    result.real = true;
    result.min = domain->min;
    result.max = domain->max;
  } else if (const auto* integers = std::get_if<IntDomain>(&parameter.domain)) {
    result.min = static_cast<double>(integers->min);
    result.max = static_cast<double>(integers->max);
  } else if (const auto* categories = std::get_if<CategoricalDomain>(&parameter.domain)) {
    for (const Value& value : categories->values) add_value(value);
  } else {
    add_value(std::get<FixedDomain>(parameter.domain).value);
  }
  return result;
}

void make_absolute(Json& value, const std::string& path, const std::string& base_dir, Diagnostics& diagnostics) {
  if (!value.is_string()) return;
  if (const auto unsupported = protocol::unsupported_path(value.get_ref<const std::string&>())) {
    diagnostics.error(path, unsupported->message, unsupported->hint);
    return;
  }
  const std::filesystem::path written(value.get_ref<const std::string&>());
  if (written.empty() || written.is_absolute()) return;
  if (base_dir.empty()) {
    diagnostics.error(path, "expected an absolute path, got " + excerpt(value),
                      "or give the directory that it starts from as the query parameter base_dir");
    return;
  }
  value = (std::filesystem::path(base_dir) / written).lexically_normal().string();
}

// The paths that a trainer has, one or an array of them, each made absolute where it stands.
void make_absolute(Json& json, const std::string& field, const std::string& path, const std::string& base_dir,
                   Diagnostics& diagnostics) {
  if (!json.is_object()) return;
  const auto found = json.find(field);
  if (found == json.end()) return;
  const std::string place = join_path(path, field);
  if (!found->is_array()) return make_absolute(*found, place, base_dir, diagnostics);
  for (std::size_t i = 0; i < found->size(); ++i) make_absolute((*found)[i], join_path(place, i), base_dir, diagnostics);
}

}  // namespace

JobDocument parse_job_document(std::string_view text, const std::string& base_dir, Diagnostics& diagnostics) {
  JobDocument document;
  auto parsed = parse_json(text, {.values_max = kSubmittedValuesMax});
  if (!parsed) {
    diagnostics.error(parsed.error().path, parsed.error().message, parsed.error().hint);
    return document;
  }
  Json& json = *parsed;
  if (!base_dir.empty() && !std::filesystem::path(base_dir).is_absolute()) {
    diagnostics.error("base_dir", "expected an absolute path, got " + excerpt(base_dir));
    return document;
  }
  if (valid_utf8(base_dir) != base_dir) {
    diagnostics.error("base_dir", "expected UTF-8, got " + excerpt(valid_utf8(base_dir)));
    return document;
  }
  if (json.is_object() && json.contains("trainer") && json["trainer"].is_object()) {
    Json& trainer = json["trainer"];
    make_absolute(trainer, "working_dir", "trainer", base_dir, diagnostics);
    if (trainer.contains("environment") && trainer["environment"].is_object()) {
      for (const auto& [name, value] : trainer["environment"].items()) {
        make_absolute(value, "file", join_path("trainer.environment", name), base_dir, diagnostics);
      }
    }
    if (trainer.contains("data") && trainer["data"].is_object()) {
      make_absolute(trainer["data"], "train", "trainer.data", base_dir, diagnostics);
      make_absolute(trainer["data"], "validation", "trainer.data", base_dir, diagnostics);
    }
  }
  protocol::write_trainer_defaults(json);
  document.spec = JobSpec::parse(json, diagnostics);
  if (!document.spec.trainer.is_object()) return document;
  const auto trainer = protocol::parse_trainer(document.spec.trainer, "trainer", "/", diagnostics);
  if (!diagnostics.ok()) return document;
  protocol::warn_of_fidelity(json, diagnostics);
  std::vector<protocol::TunedParameter> parameters;
  for (const Parameter& parameter : document.spec.search_space.parameters()) parameters.push_back(tuned(parameter));
  const Objective& objective = document.spec.objective;
  protocol::check_trainer(trainer, parameters, objective.metric, objective.goal == Goal::maximize, diagnostics,
                          document.spec.replicas.back());
  document.spec.data_key = protocol::data_key(trainer);
  document.canonical = json.dump();
  return document;
}

Result<JobSpec> reread_job_document(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return json.error();
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(*json, diagnostics);
  if (!diagnostics.ok()) return diagnostics.errors().front();
  const auto trainer = protocol::parse_trainer(spec.trainer, "trainer", "/", diagnostics);
  if (!diagnostics.ok()) return diagnostics.errors().front();
  spec.data_key = protocol::data_key(trainer);
  return spec;
}

}  // namespace tuneband::server
