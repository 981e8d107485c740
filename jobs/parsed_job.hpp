// The one place where the text of a job's document becomes what everybody acts on: server, readers, command line, workers and
// simulator. Each process reads a document once and shares what came of it. Pure: no file is opened.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "scheduler/job_spec.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

inline constexpr std::size_t kParsedJobBytesMin = 4096;

struct ParsedJob {
  JobSpec spec;                        // with its data_key
  TrainerSpec trainer;                 // spec.trainer, read
  std::optional<Error> trainer_fault;  // of a stored document: why this version cannot train it
  std::string resource_name;           // "rounds" for xgboost; what the command's trainer says, or "units"
  Plan plan;
  std::string canonical;                   // of a submitted document: keys sorted, paths absolute, the trainer's defaults written
  std::size_t bytes = kParsedJobBytesMin;  // of memory that job_for_readers() takes, at most
};

// JSON values of a document that is submitted: a configuration for each of the 10,000 that may be enqueued, of 100 parameters.
// What has more could take hundreds of megabytes only to be refused.
inline constexpr std::size_t kSubmittedValuesMax = 1'000'000;

// A document that a user submits, or asks about: everything is checked that can be without the files, against the search space
// and XGBoost's own tables too, and `diagnostics` gets every fault and doubt. Relative paths start from `base_dir`; without one
// ("") they are an error. What is returned is a job only when `diagnostics` has no fault.
ParsedJob parse_job(std::string_view text, const std::string& base_dir, Diagnostics& diagnostics);
ParsedJob parse_job_document(Json document, const std::string& base_dir, Diagnostics& diagnostics);

// A document as it stands: nothing is filled in, and fields are not held against each other beyond what the scheduler needs.
// A job only when `diagnostics` has no fault.
ParsedJob parse_as_written(const Json& document, Diagnostics& diagnostics);

// A document that was accepted before, maybe by an earlier version. Error: why this version cannot read it; of its trainer
// alone: `trainer_fault`.
Result<ParsedJob> parse_stored_job(std::string_view text);

// Without `enqueue`, `candidates` and the canonical text: no read asks for them, and they make a document large.
std::shared_ptr<const ParsedJob> job_for_readers(ParsedJob job);

}  // namespace tuneband
