#include "cli/failure.hpp"

#include <stdexcept>

namespace tuneband::cli {

void throw_exception_from_error(const Failure& failure, const boost::source_location&) {
  throw std::logic_error(failure.errors.empty() ? "a failure without an error" : describe(failure.errors.front()));
}

Failure bad_input(std::string message, std::string path, std::string hint) {
  return {{{ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)}}, kExitBadInput};
}

Failure bad_document(const Diagnostics& diagnostics) { return {diagnostics.errors(), kExitBadInput}; }

}  // namespace tuneband::cli
