#include "debugger/pattern.hpp"

#include <re2/re2.h>

#include <utility>

namespace tuneband::debugger {

Result<Pattern> Pattern::create(std::string text) {
  RE2::Options options(RE2::Quiet);
  constexpr std::int64_t kMemoryMax = 1 << 20;
  options.set_max_mem(kMemoryMax);
  Pattern pattern;
  auto expression = std::make_shared<RE2>(text, options);
  if (!expression->ok()) {
    return Error{ErrorCode::invalid_argument, "expected a regular expression (RE2): " + expression->error(), "", ""};
  }
  pattern.expression_ = std::move(expression);
  pattern.text_ = std::move(text);
  return pattern;
}

bool Pattern::found_in(std::string_view name) const {
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
}

}  // namespace tuneband::debugger
