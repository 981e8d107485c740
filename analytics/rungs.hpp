// How many trials stand at each rung, and how many were planned to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analytics/views.hpp"
#include "core/ids.hpp"
#include "db/connection.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

struct RungCounts {
  std::int64_t resource = 0;
  std::optional<int> planned;  // nothing: how many come depends on the order of arrival
  int promoted = 0;
  int stopped = 0;
  int waiting = 0;
  int completed = 0;
  int failed = 0;  // on the way here: they fill their slots and did not reach it
  int reached() const { return promoted + stopped + waiting + completed; }
};

using CountsOfRungs = std::map<std::pair<int, int>, RungCounts>;  // by bracket, rung

CountsOfRungs rungs_of(Connection& connection, JobId job, const ParsedJob& parsed);

// Those of a job with a trial that has not ended.
std::set<int> open_brackets(Connection& connection, JobId job);

// Leaves at most so many brackets: first those go that are done, the oldest before the others, then the last ones, which have not
// begun. Done is what is full and decided, and what is not `open` while a later one has begun: a failure or the user may have
// left its upper rungs without all that were planned. Returns how many went.
int keep_brackets(CountsOfRungs& rungs, const std::set<int>& open, std::size_t brackets_max);

std::vector<views::Rung> rungs_shown(const CountsOfRungs& rungs);

}  // namespace tuneband
