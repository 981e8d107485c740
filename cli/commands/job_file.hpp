// A job document on disk.
#pragma once

#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "core/json.hpp"
#include "jobs/parsed_job.hpp"

namespace tuneband::cli {

inline constexpr std::size_t kJobFileSizeMax = 16u * 1024 * 1024;  // bytes

struct JobFile {
  std::string path;
  std::string text;
  Json document;
  std::string base_dir;  // absolute: what relative paths in the document start from
};

// Reads and parses; with `changes` the text is that of the changed document. Failures: not there, not readable, too large, not
// JSON, a change that cannot be read (document_changes.hpp).
Outcome<JobFile> read_job_file(const std::string& path, const std::vector<std::string>& changes);

// The document as a server of this version reads it. Failures: every fault, with its path in the document.
struct CheckedJob {
  ParsedJob job;
  std::vector<Error> warnings;
};
Outcome<CheckedJob> check_job_file(const JobFile& file);

// Its name, fit to name a directory; "job" when there is none.
std::string directory_name(const Json& document);

}  // namespace tuneband::cli
