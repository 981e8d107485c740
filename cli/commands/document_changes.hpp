// What `--set PATH=VALUE` changes in a job's document.
#pragma once

#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

// A JSON merge patch (RFC 7396) of "scheduler.max_resource=81", ...; a value that is no JSON is a text. Of two for one field the
// later counts. Failures: one that cannot be read.
Outcome<Json> changes_in_words(const std::vector<std::string>& words);

// Joins the patch `from` into the patch `to`. Unlike merge_patch() it keeps what is null: that removes a field.
void join_changes(Json& to, const Json& from);

}  // namespace tuneband::cli
