// A regular expression that a user wrote, searched for anywhere in a name. RE2: linear in the text, whatever the expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace re2 {
class RE2;
}

namespace tuneband::debugger {

inline constexpr std::size_t kPatternSizeMax = 500;  // bytes

class Pattern {
 public:
  // Errors: not an expression, with what RE2 says of it.
  static Result<Pattern> create(std::string text);

  bool found_in(std::string_view name) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace tuneband::debugger
