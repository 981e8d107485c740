// What a rung of the trainer `xgboost` trains. docs/xgboost-trainer.md, docs/search.md.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/json.hpp"

namespace tuneband {

enum class Fidelity {
  prefix,     // the first rounds of the training until max_resource; a trial that goes on goes on from there
  shrinkage,  // a training of its own, from nothing, of fewer and larger steps: shrunk_eta(). At max_resource the user's own
};

// The learning rate of a training of `rounds` rounds that shrinks what is left to learn as much as `max_rounds` rounds with `eta`
// do, but for what they do beyond a total that leaves next to nothing:
//
//   max(eta, 1 - exp(-min(S, shrinkage_max) / rounds)),  S = -max_rounds ln(1 - eta)
//
// which is 1 - (1 - eta)^(max_rounds / rounds) up to shrinkage_max. If each round took away the share eta of what is left (as it
// does of the squared error of a leaf's mean when rounds build the same tree), both would leave exp(-S) of it. `eta` itself at
// max_rounds, and outside of 0 < eta < 1. 1 <= rounds <= max_rounds; shrinkage_max > 0.
double shrunk_eta(double eta, std::int64_t rounds, std::int64_t max_rounds, double shrinkage_max);

// Of a total shrinkage of 8 a three thousandth is left to learn. docs/search-measurements.md has the measurements.
inline constexpr double kShrinkageMax = 8;

// Writes into a job's document as it was submitted what its trainer has where the document is silent, so that a stored document
// means the same to later versions: `trainer.fidelity`, `trainer.keep`; and with `shrinkage` `trainer.shrinkage_max`,
// `scheduler.min_resource` and, of `auto`, `scheduler.rung_audit`. Faults are left for the checks that follow.
void write_trainer_defaults(Json& document);

// Warns of rungs that are known to mislead: prefixes of trainings with a tuned learning rate; and of rounds too few for the least
// learning rate. `document`: with the defaults.
void warn_of_fidelity(const Json& document, Diagnostics& diagnostics);

}  // namespace tuneband
