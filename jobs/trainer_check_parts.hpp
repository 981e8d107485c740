// check_trainer() in parts, each in a file of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"

namespace tuneband {

inline constexpr const char* kFixedPath = "trainer.parameters";

// A parameter of the job, wherever it stands, with every value that is named in the document.
struct JobParameter {
  std::string name;
  std::string path;
  const TunedParameter* tuned = nullptr;  // null: fixed
  std::vector<std::string> values;        // fixed: one; tuned: the categories
};

// Null: the job has none of that name.
const JobParameter* find_parameter(const std::vector<JobParameter>& parameters, std::string_view name);
// Whether a parameter has this value among those that are named.
bool takes(const std::vector<JobParameter>& parameters, std::string_view name, std::string_view value);

std::vector<JobParameter> job_parameters(const XgboostSpec& spec, const std::vector<TunedParameter>& tuned);

// Names, ranges and values of XGBoost's parameters, and what they do not go together with.
void check_parameters(const XgboostSpec& spec, const std::vector<JobParameter>& parameters, Diagnostics& diagnostics);

// What XGBoost would take and not follow.
void check_ignored(const std::vector<JobParameter>& parameters, int replicas_max, Diagnostics& diagnostics);

// What is trained for and what is measured.
void check_objective(const XgboostSpec& spec, const std::vector<JobParameter>& parameters,
                     const std::vector<MetricOfJob>& metrics, Diagnostics& diagnostics);

void check_xgboost(const XgboostSpec& spec, std::vector<TunedParameter> tuned, const std::vector<MetricOfJob>& metrics,
                   int replicas_max, Diagnostics& diagnostics);

void check_command(const CommandSpec& spec, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics);

}  // namespace tuneband
