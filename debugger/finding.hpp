// What a rule found, and what is to be done about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "debugger/mode.hpp"

namespace tuneband::debugger {

enum class Action { note, stop_trial, stop_job };
std::string_view to_string(Action action);

// The first time that a rule's condition held in a trial: it is not asked again.
struct Finding {
  std::string rule;        // its name in the job
  std::string tensor;      // the one that shows it; "": none does alone
  Mode mode = Mode::none;  // of this tensor
  std::int64_t step = 0;
  double value = 0;      // may be NaN
  double threshold = 0;  // that it was held against
  std::string message;   // what was found, one sentence
  std::string remedy;    // what to do about it
};

}  // namespace tuneband::debugger
