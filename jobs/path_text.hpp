// What a path in a job's document says by its text alone.
#pragma once

#include <optional>
#include <string_view>

#include "core/error.hpp"

namespace tuneband {

// Why `path` is none that can be opened here, before any file is looked at: a URL ("s3://bucket/table.csv"), or a home directory
// that only a shell knows ("~/table.csv"). Without a path into the document.
std::optional<Error> unsupported_path(std::string_view path);

}  // namespace tuneband
