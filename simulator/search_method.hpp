// A way to search, made of a job's document and of what is to be different in it.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/json.hpp"
#include "simulator/comparison.hpp"
#include "simulator/curve_table.hpp"

namespace tuneband {

// "hyperband" or "asha_delayed,rungs=[9,81,243],rung_audit=true": a type, and fields with JSON values (a word may stand without
// quotes).
Result<Json> parse_part(const std::string& text);

struct MethodOptions {
  std::optional<std::string> scheduler;  // a part: instead of the job's own; what the job says of resource stays, where it fits
  std::optional<std::string> sampler;    // a part: instead of the job's own; its seed stays
  bool in_order = false;                 // the table's configurations from first to last, no sampler
};

// The document; without a search space, or limits, with those that the table spans. Methods that are to be compared have them of
// the same table: make_method() leaves curves out of it.
Json searching_all_of(Json document, const CurveTable& table);

// For simulating, a document may leave out what the table knows: name, trainer, search_space, objective.metric, the scheduler's
// max_resource; and limits, in which case nothing but the budget and the table's size ends it. Its `candidates` and `enqueue` are
// checked and not used: the table's configurations are what is tried. Leaves out curves outside of the search space (how many:
// `outside`). Errors: all faults of the document, at the first of them; constraints, several objectives, a warm start without its
// results; max_resource above the table's; nothing measured at or below the lowest rung; no curve left.
Result<SearchMethod> make_method(Json document, CurveTable& table, const MethodOptions& options, int& outside);

}  // namespace tuneband
