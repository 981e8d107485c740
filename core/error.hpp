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

inline constexpr std::size_t kFaultsMax = 50;           // of a document; more than anyone reads are counted only
inline constexpr std::size_t kFaultTextSizeMax = 1000;  // bytes of a path, a message or a hint; what is longer is cut

// Collects the faults of a document, so that a user sees all of them at once: the first kFaultsMax, and then one that says how
// many more there are. So what is said stays short, whatever the document.
class Diagnostics {
 public:
  void error(std::string path, std::string message, std::string hint = {});
  void warning(std::string path, std::string message, std::string hint = {});
  void error(const Error& fault) { error(fault.path, fault.message, fault.hint); }  // its code is not kept
  void warning(const Error& fault) { warning(fault.path, fault.message, fault.hint); }
  // All of another's behind its own.
  void add(const Diagnostics& others);
  // Counts one more error where the text of it would not be kept anyway.
  void one_more_error() { errors_.add({}); }
  bool ok() const { return errors_.count == 0; }
  bool full() const { return errors_.count >= kFaultsMax; }  // the text of another error is not kept
  std::size_t error_count() const { return errors_.count; }  // those that are not kept included
  const std::vector<Error>& errors() const { return errors_.kept; }
  const std::vector<Error>& warnings() const { return warnings_.kept; }

 private:
  struct Faults {
    std::vector<Error> kept;
    std::size_t count = 0;

    void add(Error fault);
    void add_all(const Faults& others);
  };

  Faults errors_;
  Faults warnings_;
};

}  // namespace tuneband
