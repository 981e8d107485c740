// How far a rule has come in a trial: what it was given, and whether that was enough to judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tuneband::debugger {

inline constexpr std::size_t kRulesMax = 50;  // of a job

struct RuleStanding {
  std::string rule;            // its name in the job
  std::int64_t saved = 0;      // steps at which something was saved that it looks at
  std::int64_t judged = 0;     // of them: steps at which it held something against its threshold
  std::int64_t last_step = 0;  // the last one that it judged; 0: none
  std::string fault{};         // of a process: why it is over, or what it was too slow for; "": nothing
  bool operator==(const RuleStanding&) const = default;

  // Whether another word is to be said of it: numbers alone do not.
  bool says_as(const RuleStanding& other) const {
    return (saved > 0) == (other.saved > 0) && (judged > 0) == (other.judged > 0) && fault == other.fault;
  }
};

}  // namespace tuneband::debugger
