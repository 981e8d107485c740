// What reads need of a job's document, parsed once.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/job_spec.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

inline constexpr std::size_t kFactsBytesMin = 4096;

struct JobFacts {
  JobSpec spec;  // without `enqueue` and `candidates`: no read asks for them, and they make a document large
  Plan plan;
  std::string resource_name;           // "rounds" for xgboost; what the command's trainer says, or "units"
  std::size_t bytes = kFactsBytesMin;  // of memory, at most
};

// Nothing when the document is not one that this version takes.
std::shared_ptr<const JobFacts> job_facts(std::string_view spec_json);

}  // namespace tuneband
