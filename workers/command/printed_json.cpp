#include "workers/command/printed_json.hpp"

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

bool may_have_tensors(std::string_view line) { return line.find("\"tensors\"") != std::string_view::npos; }

Result<ObjectOnLine> object_at_end_of(std::string_view line, JsonBounds bounds) {
  constexpr int kBracesTriedMax = 8;
  Error fault{ErrorCode::invalid_argument, "has no object", "", ""};
  std::size_t begin = line.find('{');
  for (int tried = 0; begin != std::string_view::npos && tried < kBracesTriedMax; ++tried) {
    auto parsed = parse_json(with_named_numbers(line.substr(begin)), bounds);
    if (parsed) return ObjectOnLine{std::move(*parsed), begin};
    if (tried == 0) fault = parsed.error();
    begin = line.find('{', begin + 1);
  }
  return fault;
}

}  // namespace tuneband::workers
