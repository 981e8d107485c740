#include "db/job_facts.hpp"

#include <utility>

namespace tuneband {

namespace {

std::string resource_name_of(const Json& trainer) {
  if (trainer.value("type", Json()) == "xgboost") return "rounds";
  const Json name = trainer.value("resource_name", Json());
  return name.is_string() ? name.get<std::string>() : "units";
}

}  // namespace

std::shared_ptr<const JobFacts> job_facts(std::string_view spec_json) {
  const Result<Json> document = parse_json(spec_json);
  if (!document) return nullptr;
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(*document, diagnostics);
  if (!diagnostics.ok() || !spec.trainer.is_object()) return nullptr;
  Plan plan = make_plan(spec);
  std::string resource_name = resource_name_of(spec.trainer);
  return std::make_shared<JobFacts>(JobFacts{std::move(spec), std::move(plan), std::move(resource_name)});
}

}  // namespace tuneband
