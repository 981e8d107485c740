// Whether N ranks pay: a short run of a job's training with one rank and with more, by a private server on this machine, with the
// real data and the real workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/job_file.hpp"
#include "cli/terminal/console.hpp"

namespace tuneband::cli {

// Two trainings with so many ranks: of one unit of resource and of `units`, both with their data in memory where that is kept.
struct RankTiming {
  int ranks = 1;
  double seconds_of_one = 0;
  double seconds_of_all = 0;
  std::int64_t units = 1;
  std::optional<double> value;  // of the objective, after `units`
};

struct RankSpeed {
  int ranks = 1;
  double seconds_per_unit = 0;  // what is the same however long a training is (the start, the data) is left out
  double speed_up = 1;          // against the first of them
  double efficiency = 1;        // speed_up over the ranks for one of the first
  std::optional<double> value;
};

// One for each timing, of which there is at least one; the first is what the others are held against.
std::vector<RankSpeed> rank_speeds(const std::vector<RankTiming>& timings);

// What to conclude, in sentences: whether the most ranks pay, and what they cost in the objective's value.
std::vector<std::string> conclusions(const std::vector<RankSpeed>& speeds, const Objective& objective);

// One, and those that the job names; of a job that names none two, where its trainer can.
std::vector<int> ranks_to_measure(const JobSpec& spec);

// The job with one trial of one configuration (the first that it enqueues, or the middle of its search space), with so many
// ranks, until so many units.
Json short_job(const Json& document, const JobSpec& spec, int ranks, std::int64_t units);

struct MeasureOptions {
  std::string server_program;
  double seconds = 3;  // about, of each training that counts
};
// Takes some such times as long. Failures: no server, a training that fails.
Outcome<std::vector<RankTiming>> measure_ranks(Console& console, const JobFile& file, const ParsedJob& job,
                                               const MeasureOptions& options);

void print_rank_speeds(Console& console, const std::vector<RankSpeed>& speeds, const ParsedJob& job);
Json rank_speeds_json(const std::vector<RankSpeed>& speeds);

}  // namespace tuneband::cli
