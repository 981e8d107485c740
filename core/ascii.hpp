// Letters as protocols compare them, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace tuneband {

// ASCII letters in lower case, the rest as it is.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace tuneband
