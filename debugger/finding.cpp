#include "debugger/finding.hpp"

#include <cstddef>

namespace tuneband::debugger {

namespace {

constexpr std::string_view kActions[] = {"note", "stop_trial", "stop_job"};

}  // namespace

std::string_view to_string(Action action) { return kActions[static_cast<std::size_t>(action)]; }

}  // namespace tuneband::debugger
