// Several jobs side by side: what each found, at what cost, and where their documents differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/api_types.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/job_plots.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

struct ComparedJob {
  JobInfo info;
  Json document;        // as submitted
  BestSoFar best = {};  // over the resource
};

struct DocumentDifference {
  std::string path;          // "limits.max_trials"
  std::vector<Json> values;  // of each document; discarded where it has none
};

struct DocumentComparison {
  std::vector<DocumentDifference> differences;  // by path; a list is one value
  std::vector<std::string> masked;              // in several documents: nobody sees whether they differ
};

// Names of jobs say nothing and are left out.
DocumentComparison compare_documents(const std::vector<Json>& documents);

// What was the best once so much had been trained; nothing: no trial had ended with a value.
std::optional<double> value_at(const BestSoFar& best, double cost);

// Quarters of what the cheapest job has trained, from the first to the whole.
std::vector<std::int64_t> costs_to_compare(const std::vector<ComparedJob>& jobs);

// Whether their values may be ranked: the same metric and goal, and the same resource.
bool comparable(const std::vector<ComparedJob>& jobs);

void print_comparison(Console& console, const std::vector<ComparedJob>& jobs);
Json comparison_json(const std::vector<ComparedJob>& jobs);

}  // namespace tuneband::cli
