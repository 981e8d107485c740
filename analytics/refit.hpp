// How to train once more what a trial's value is of: with XGBoost alone, on other data, with other metrics.
#pragma once

#include <optional>

#include "analytics/views.hpp"
#include "jobs/parsed_job.hpp"
#include "jobs/training_parameters.hpp"

namespace tuneband {

// Its configuration has the learning rate with which the trial went on to that rung. Nothing: as refit_of().
std::optional<KeptTraining> kept_training(const ParsedJob& job, const TrialRow& trial, const RawJson& configuration);

// `trial`: its configuration is not looked at, `configuration` is. Nothing: of a command, of a trial without a value, and where
// an earlier version kept a model of a rung that is not known.
std::optional<views::Refit> refit_of(const ParsedJob& job, const TrialRow& trial, const RawJson& configuration);

}  // namespace tuneband
