// A file that a command writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.hpp"

namespace tuneband::cli {

// Takes a piece of the file; false: it cannot be written.
using Sink = std::function<bool(std::string_view)>;

// Refuses an `output` that is one of the `inputs`, by whatever name or link: what the user gave would be gone. Whoever reads
// files and writes one asks before the work. An input that is no file, and an output of "", is none.
Outcome<void> apart_from_inputs(const std::string& output, const std::vector<std::string>& inputs);

// Refuses an `output` that is the `other` one, too: the second to be written would take the place of the first.
Outcome<void> apart_from_output(const std::string& output, const std::string& other);

// `write` hands over the pieces. A file of that name is there only once it is whole.
Outcome<void> write_file(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write);

// The same of a text that is there.
Outcome<void> write_file(const std::string& path, std::string_view text);

}  // namespace tuneband::cli
