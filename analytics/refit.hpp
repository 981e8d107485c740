// How to train once more what a trial's value is of: with XGBoost alone, on other data, with other metrics.
#pragma once

#include <optional>

#include "analytics/views.hpp"
#include "jobs/parsed_job.hpp"

namespace tuneband {

// `trial`: its configuration is not looked at, `configuration` is. Nothing: of a command, of a trial without a value, and where
// an earlier version kept a model of a rung that is not known.
std::optional<views::Refit> refit_of(const ParsedJob& job, const TrialRow& trial, const RawJson& configuration);

}  // namespace tuneband
