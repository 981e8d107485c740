// The live view as lines: what is done, the rungs, the best so far, who trains what.
#pragma once

#include <vector>

#include "cli/client/snapshot.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/terminal.hpp"

namespace tuneband::cli {

// No more lines than the terminal has rows, less one.
std::vector<Line> progress_frame(const Snapshot& snapshot, const Terminal& terminal);

// A row a bracket, a column a level of the ladder, trials in the cells. At most `rows_max` brackets: open ones before closed
// ones.
Table rung_table(const PlanInfo& plan, const std::string& resource_name, std::size_t rows_max);

}  // namespace tuneband::cli
