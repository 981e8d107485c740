// What the API says of the tensors of a trial, from its files: docs/debugger.md. Any thread; each call opens the files anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"
#include "debugger/debug_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband::server {

struct TensorQuery {
  std::string trial_dir;
  int rank = 0;
  bool trial_ended = false;
  bool saves = true;  // whether the job has a section `debug`: else nothing will ever be there
  std::string name;
  std::optional<debugger::Mode> mode;  // nothing: in any
  std::int64_t from = 0;
  std::int64_t until = 0;
  std::int64_t step = 0;
  int trial = 0;
  // tensors_beside() only.
  int other_trial = 0;
  std::string other_dir;
  debugger::Reduction reduction = debugger::Reduction::mean;  // of arrays
};

// {"rank", "ranks", "steps": {"first", "last", "count"}, "tensors": [...], "dropped": {"rows", "bytes"}}: the tensors of
// query.mode.
Result<std::string> tensors_page(const TensorQuery& query);

// {"name", "rank", "steps": [{"step", "mode", "value" or "shape" and "reductions"}]} of query.name at the steps from `from` to
// `until`; of a name with several modes each of them, where query.mode does not say which. Errors: not_found, with what there is
// that is named alike.
Result<std::string> tensor_series(const TensorQuery& query);

// Two trials side by side: {"rank", "trials": [2], "reduction", ...} and, with a name, "name" and "steps": [{"step", "values":
// [2]}] at every step at which one of them saved it; without one, "tensors": [{"name", "steps": [2], "step", "values": [2]}], the
// numbers of steps and the values at the last step that both have. A value that is not there is null. Errors: not_found, where
// neither has saved the tensor; invalid_argument, where it was saved in several modes and query.mode does not say which.
Result<std::string> tensors_beside(const TensorQuery& query);

// The tensor at query.step as an .npy file. Errors: not_found, which tells apart what is not saved yet, what never will be, and
// what was kept as reductions alone; invalid_argument as of tensors_beside().
Result<std::string> tensor_array(const TensorQuery& query);

// {"findings": [...], "rules": [...]}: what the rules of `spec` find in what was saved, from the first step on, and how each
// stands.
Result<std::string> checked_tensors(const TensorQuery& query, const debugger::DebugSpec& spec, TrialRow trial, Timestamp now);

}  // namespace tuneband::server
