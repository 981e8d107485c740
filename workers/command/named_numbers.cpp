#include "workers/command/named_numbers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tuneband::workers {

std::string with_named_numbers(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSpecials{
      {{"-Infinity", "\"-inf\""}, {"Infinity", "\"inf\""}, {"NaN", "\"nan\""}}};
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size();) {
    const auto special =
        std::find_if(kSpecials.begin(), kSpecials.end(), [&](const auto& s) { return line.substr(i).starts_with(s.first); });
    if (!in_string && special != kSpecials.end()) {
      text += special->second;
      i += special->first.size();
      continue;
    }
    if (in_string && line[i] == '\\' && i + 1 < line.size()) {
      text += line[i++];
    } else if (line[i] == '"') {
      in_string = !in_string;
    }
    text += line[i++];
  }
  return text;
}

}  // namespace tuneband::workers
