// Strong ids: a JobId never passes for a WorkerId.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace tuneband {

template <class Tag, class Value>
struct Id {
  Value value{};
  auto operator<=>(const Id&) const = default;
};

using JobId = Id<struct JobTag, std::int64_t>;       // 1, 2, 3... in order of submission
using WorkerId = Id<struct WorkerTag, std::string>;  // unique for each worker process, chosen by the worker
using Epoch = Id<struct EpochTag, std::int64_t>;     // one for each assignment, ever rising; 0 = none

// Trials are numbered 0, 1, 2... within their job.
struct TrialId {
  JobId job;
  int number = 0;
  auto operator<=>(const TrialId&) const = default;
};

}  // namespace tuneband

template <class Tag, class Value>
struct std::hash<tuneband::Id<Tag, Value>> {
  std::size_t operator()(const tuneband::Id<Tag, Value>& id) const noexcept { return std::hash<Value>{}(id.value); }
};
