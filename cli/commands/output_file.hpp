// A file that a command writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/failure.hpp"

namespace tuneband::cli {

// Takes a piece of the file; false: it cannot be written.
using Sink = std::function<bool(std::string_view)>;

// `write` hands over the pieces. A file of that name is there only once it is whole.
Outcome<void> write_file(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write);

// The same of a text that is there.
Outcome<void> write_file(const std::string& path, std::string_view text);

}  // namespace tuneband::cli
