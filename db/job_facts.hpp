// What reads need of a job's document, parsed once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/job_spec.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

struct JobFacts {
  JobSpec spec;
  Plan plan;
  std::string resource_name;  // "rounds" for xgboost; what the command's trainer says, or "units"
};

// Nothing when the document is not one that this version takes.
std::shared_ptr<const JobFacts> job_facts(std::string_view spec_json);

}  // namespace tuneband
