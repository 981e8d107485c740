#include "debugger/finding.hpp"

#include <algorithm>
#include <iterator>

namespace tuneband::debugger {

namespace {

constexpr std::string_view kActions[] = {"note", "stop_trial", "stop_job"};

}  // namespace

std::string_view to_string(Action action) { return kActions[static_cast<std::size_t>(action)]; }

std::optional<Action> action_from(std::string_view word) {
  const auto* const found = std::find(std::begin(kActions), std::end(kActions), word);
  if (found == std::end(kActions)) return std::nullopt;
  return static_cast<Action>(found - std::begin(kActions));
}

}  // namespace tuneband::debugger
