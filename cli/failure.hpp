// Why a command could not do what it was asked, and the exit status that says so.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace tuneband::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;       // the job failed, or was stopped by somebody else
inline constexpr int kExitBadInput = 2;     // usage, files, or what the server refused
inline constexpr int kExitUnreachable = 3;  // no server answers
inline constexpr int kExitInterrupted = 130;

struct Failure {
  std::vector<Error> errors;  // one or more; each becomes a line on stderr
  int exit_status = kExitBadInput;
};

[[noreturn]] void throw_exception_from_error(const Failure& failure, const boost::source_location& location);

template <class T>
using Outcome = boost::system::result<T, Failure>;

Failure bad_input(std::string message, std::string path = {}, std::string hint = {});
// All faults of a document, each path as given.
Failure bad_document(const Diagnostics& diagnostics);

}  // namespace tuneband::cli
