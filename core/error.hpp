// Errors that are expected: bad input, not found, conflicts. One shape from the parser to the HTTP reply and the terminal.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband {

enum class ErrorCode { invalid_argument, not_found, conflict, too_large, unavailable, internal };
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // what came and what was expected, one sentence
  std::string path;     // into the document that was read, like "search_space.eta.min"; empty when there is none
  std::string hint;     // what to do, where that can be said; else empty
};

// "search_space.eta.min: expected a number, got \"x\" (hint)", for a terminal or a log.
std::string describe(const Error& error);

[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& location);

template <class T>
using Result = boost::system::result<T, Error>;

// Collects every fault of a document, so that a user sees all of them at once.
class Diagnostics {
 public:
  void error(std::string path, std::string message, std::string hint = {});
  void warning(std::string path, std::string message, std::string hint = {});
  bool ok() const { return errors_.empty(); }
  const std::vector<Error>& errors() const { return errors_; }
  const std::vector<Error>& warnings() const { return warnings_; }

 private:
  std::vector<Error> errors_;
  std::vector<Error> warnings_;
};

}  // namespace tuneband
