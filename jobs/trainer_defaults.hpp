// What a job with the trainer `xgboost` has where its document is silent. docs/xgboost-trainer.md, docs/search.md.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"

namespace tuneband {

// Writes into a job's document as it was submitted what its trainer has where the document is silent, so that a stored document
// means the same to later versions: `trainer.fidelity`, `trainer.keep`, of splits of classes `stratify`; and with `shrinkage`
// `trainer.shrinkage_max`, `trainer.adapt_eta`, `scheduler.min_resource` and, of `auto`, `scheduler.rung_audit` and
// `scheduler.first_resource`. Faults are left for the checks that follow.
void write_trainer_defaults(Json& document);

// The document as it may have been submitted: without what write_trainer_defaults() writes again. So a change of it is not held
// against what nobody asked for.
Json without_trainer_defaults(Json document);

// Warns of rungs that are known to mislead: prefixes of trainings with a tuned learning rate; and of rounds too few for the least
// learning rate. `document`: with the defaults.
void warn_of_fidelity(const Json& document, Diagnostics& diagnostics);

}  // namespace tuneband
