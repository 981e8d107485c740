// From the text of a job document to the job that the core takes. Pure: no file is opened.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::server {

struct JobDocument {
  JobSpec spec;
  std::string canonical;  // keys sorted, paths absolute
};

// JSON values of a document that is submitted: a configuration for each of the 10,000 that may be enqueued, of 100 parameters.
// What has more could take hundreds of megabytes only to be refused.
inline constexpr std::size_t kSubmittedValuesMax = 1'000'000;

// Reads and checks everything that can be checked without the files. Relative paths start from `base_dir`; without one ("") they
// are an error. What is returned is a job only when `diagnostics` has no fault.
JobDocument parse_job_document(std::string_view text, const std::string& base_dir, Diagnostics& diagnostics);

// A document that was accepted before, maybe by an earlier version: only what the core needs is read. Error: why this version
// cannot read it.
Result<JobSpec> reread_job_document(std::string_view text);

}  // namespace tuneband::server
