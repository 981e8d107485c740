// JSON as programs print it: with Python's NaN and Infinity, and behind other words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace tuneband::workers {

// A line of JSON as Python's json.dumps writes it, with NaN, Infinity and -Infinity bare: with "nan", "inf" and "-inf" in their
// place.
std::string with_named_numbers(std::string_view line);

// Whether a line may be one of tensors, as TensorInbox reads them, whole or not: by its text alone, which costs little.
bool may_have_tensors(std::string_view line);

struct ObjectOnLine {
  Json json;
  std::size_t begin = 0;  // in front of it stands what a progress bar left there, or the prefix of a logger
};

// The object with which a line ends: of the first few braces that open one the first from which on the line is an object. Of two
// that two programs wrote on one line it is the second.
// Errors: none of them; that of the first brace, or that there is none.
Result<ObjectOnLine> object_at_end_of(std::string_view line, JsonBounds bounds = {});

}  // namespace tuneband::workers
