// A job like another: what of that one's document is changed.
#pragma once

#include "cli/commands/commands.hpp"

namespace tuneband::cli {

// A JSON merge patch (RFC 7396) of the document `spec` of the job `options.like`, but for its name. With "+50" trials the new job
// goes on from that one: so many trials besides, which begin with what it saw (its warm start), drawn with another seed, and
// without the configurations that it was told to try first. Failures: a number or a change that cannot be read.
Outcome<Json> changes_of(const SubmitOptions& options, const JobInfo& job, const Json& spec);

// "bank-2" after "bank", "bank-3" after "bank-2".
std::string next_name(const std::string& name);

Outcome<Answer> submit_like(Session session, const SubmitOptions& options);

}  // namespace tuneband::cli
