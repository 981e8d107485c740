// Configurations that a job's document gives: to be tried, and of earlier jobs.
#include <algorithm>
#include <map>
#include <string>

#include "core/random.hpp"
#include "scheduler/job_spec_parts.hpp"

namespace tuneband {

namespace {

// `read(json, path)` gives each.
template <class Read>
std::vector<Configuration> read_configurations(const Json& json, const SearchSpace& space, std::size_t most,
                                               const std::string& path, Diagnostics& diagnostics, const Read& read) {
  if (!json.is_array() || json.size() > most) {
    const std::string got = json.is_array() ? std::to_string(json.size()) : excerpt(json);
    diagnostics.error(path, "expected a list of at most " + std::to_string(most) + " configurations, got " + got);
    return {};
  }
  std::vector<Configuration> configurations;
  if (space.parameters().empty()) return configurations;  // it has faults of its own, told already
  for (std::size_t i = 0; i < json.size(); ++i) {
    configurations.push_back(read(json[i], join_path(path, i)));
  }
  return configurations;
}

// with_priors() writes an id as a text too.
bool id_as_text(const std::string& text) {
  return !text.empty() && text.size() <= kJobNameSizeMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> read_job_names(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  if (!json.is_array() || json.empty() || json.size() > kWarmStartJobsMax) {
    diagnostics.error(
        path, "expected a list of 1 to " + std::to_string(kWarmStartJobsMax) + " names or ids of jobs, got " + excerpt(json));
    return names;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool id = json[i].is_number_unsigned();
    if (id) {
      names.push_back(json[i].dump());
    } else if (json[i].is_string() &&
               (valid_job_name(json[i].get_ref<const std::string&>()) || id_as_text(json[i].get_ref<const std::string&>()))) {
      names.push_back(json[i].get<std::string>());
    } else {
      diagnostics.error(join_path(path, i), "expected the name or the id of a job, got " + excerpt(json[i]));
    }
  }
  return names;
}

std::vector<PriorObservation> read_priors(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<PriorObservation> priors;
  if (!json.is_array() || json.size() > kPriorsMax * kWarmStartJobsMax) {
    diagnostics.error(path, "expected a list of observations, got " + excerpt(json));
    return priors;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string at = join_path(path, i);
    ObjectReader reader(json[i], at, diagnostics);
    PriorObservation prior;
    if (const Json* configuration = reader.require("configuration", "an object of values by name");
        configuration != nullptr && configuration->is_object()) {
      for (const auto& [name, value] : configuration->items()) {
        if (const auto known = value_from_json(value)) prior.configuration[name] = *known;
      }
    }
    for (const char* field : {"resource_share", "score", "level_score"}) reader.require_present(field);
    prior.resource_share = reader.number_or("resource_share", 1, {.min = 0, .max = 1, .min_excluded = true});
    prior.score = reader.number_or("score", 0);
    prior.level_score = reader.number_or("level_score", 0);
    prior.counts = reader.boolean_or("counts", true);
    reader.finish();
    priors.push_back(std::move(prior));
  }
  return priors;
}

// Each is a trial of its own: a list that a program wrote may well have some twice.
void warn_of_equals(const std::vector<Configuration>& candidates, Diagnostics& diagnostics) {
  std::map<Configuration, std::size_t> first;
  std::size_t equals = 0;
  std::string which;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto [known, is_new] = first.try_emplace(candidates[i], i);
    if (!is_new && ++equals == 1) which = std::to_string(i) + " as " + std::to_string(known->second);
  }
  if (equals == 0) return;
  diagnostics.warning("candidates",
                      std::to_string(equals) + " of them " + (equals == 1 ? "is" : "are") + " equal to an earlier one (" + which +
                          "): the same is trained again",
                      "leave it out, unless that is what you want");
}

}  // namespace

std::vector<Configuration> read_enqueued(const Json& json, const JobSpec& spec, Diagnostics& diagnostics) {
  const auto& parameters = spec.search_space.parameters();
  const auto read = [&](const Json& given, const std::string& path) {
    if (given.is_object() && given.empty()) diagnostics.error(path, "expected a value of one parameter or more, got none");
    return spec.search_space.complete(
        given,
        [&](std::size_t i) {
          return random_unit(spec.sampler.seed, {stable_hash(path), stable_hash(parameters[i].name)});
        },
        path, diagnostics);
  };
  return read_configurations(json, spec.search_space, kEnqueueMax, "enqueue", diagnostics, read);
}

std::vector<Configuration> read_candidates(const Json& json, const SearchSpace& space, Diagnostics& diagnostics) {
  if (json.is_array() && json.empty()) {
    diagnostics.error("candidates", "expected at least one configuration, got an empty list", "leave it out for the whole space");
  }
  auto candidates =
      read_configurations(json, space, kCandidatesMax, "candidates", diagnostics,
                          [&](const Json& given, const std::string& path) { return space.check(given, path, diagnostics); });
  warn_of_equals(candidates, diagnostics);
  return candidates;
}

void read_warm_start(const Json& json, JobSpec& spec, Diagnostics& diagnostics) {
  if (!json.is_object()) {
    spec.warm_start = read_job_names(json, "warm_start", diagnostics);
    return;
  }
  ObjectReader reader(json, "warm_start", diagnostics);
  if (const Json* jobs = reader.require("jobs", "an array of names of jobs"))
    spec.warm_start = read_job_names(*jobs, reader.path_to("jobs"), diagnostics);
  if (const Json* observations = reader.require("observations", "an array of results")) {
    spec.priors = read_priors(*observations, reader.path_to("observations"), diagnostics);
  }
  reader.finish();
}

}  // namespace tuneband
