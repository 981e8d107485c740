#include "core/error.hpp"

#include <stdexcept>
#include <utility>

#include "core/text.hpp"

namespace tuneband {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string describe(const Error& error) {
  std::string text = error.path.empty() ? error.message : error.path + ": " + error.message;
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  return text;
}

void throw_exception_from_error(const Error& error, const boost::source_location&) { throw std::runtime_error(describe(error)); }

void Diagnostics::Faults::add(Error fault) {
  if (count++ < kFaultsMax) {
    for (std::string* part : {&fault.path, &fault.message, &fault.hint}) *part = shortened(std::move(*part), kFaultTextSizeMax);
    return kept.push_back(std::move(fault));
  }
  if (kept.size() == kFaultsMax) kept.push_back({ErrorCode::invalid_argument, "", "", ""});
  kept.back().message = "... and " + std::to_string(count - kFaultsMax) + " more";
}

void Diagnostics::Faults::add_all(const Faults& others) {
  for (std::size_t i = 0; i < others.count; ++i) add(i < kFaultsMax ? others.kept[i] : Error());
}

void Diagnostics::add(const Diagnostics& others) {
  errors_.add_all(others.errors_);
  warnings_.add_all(others.warnings_);
}

void Diagnostics::error(std::string path, std::string message, std::string hint) {
  errors_.add({ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)});
}

void Diagnostics::warning(std::string path, std::string message, std::string hint) {
  warnings_.add({ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)});
}

}  // namespace tuneband
