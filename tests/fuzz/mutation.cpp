#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/random.hpp"

namespace tuneband::fuzz {

namespace {

constexpr std::size_t kChangesMax = 6;
constexpr std::size_t kPieceMax = 64;

// Where parsers go wrong.
constexpr std::array<std::string_view, 30> kTokens = {"NaN",
                                                      "Infinity",
                                                      "-Infinity",
                                                      "1e999",
                                                      "-1",
                                                      "0",
                                                      "9223372036854775807",
                                                      "9223372036854775808",
                                                      "-9223372036854775808",
                                                      "1e308",
                                                      "0.1e-400",
                                                      "null",
                                                      "true",
                                                      "\"\"",
                                                      "[",
                                                      "]",
                                                      "{",
                                                      "}",
                                                      "[[[[[[[[",
                                                      "\xff\xfe",
                                                      "\xc3\x28",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "\r\n",
                                                      "\r\n\r\n",
                                                      ":",
                                                      ",",
                                                      "Content-Length: 18446744073709551616\r\n",
                                                      "Transfer-Encoding: chunked\r\n",
                                                      "{\"a\":"};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_bits(seed_, {++thrown_}) % limit; }

 private:
  std::uint64_t seed_;
  std::uint64_t thrown_ = 0;
};

void change(std::string& text, const std::vector<std::string>& inputs, Dice& dice) {
  const std::size_t at = dice.below(text.size() + 1);
  const std::size_t size = std::min(text.size() - at, 1 + dice.below(kPieceMax));
  switch (dice.below(7)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
      return;
    case 1:
      text.erase(at, size);
      return;
    case 2:
      text.insert(at, text.substr(at, size));
      return;
    case 3:
      text.insert(at, kTokens[dice.below(kTokens.size())]);
      return;
    case 4:
      text.replace(at, size, kTokens[dice.below(kTokens.size())]);
      return;
    case 5:
      text.insert(at, std::string(1 + dice.below(3), static_cast<char>(dice.below(256))));
      return;
    default: {
      const std::string& other = inputs[dice.below(inputs.size())];
      const std::size_t from = dice.below(other.size());
      text.insert(at, other.substr(from, 1 + dice.below(kPieceMax)));
    }
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& inputs, std::size_t base, std::uint64_t seed) {
  Dice dice(seed);
  std::string text = inputs[base];
  for (std::size_t changes = 1 + dice.below(kChangesMax); changes > 0; --changes) change(text, inputs, dice);
  return text;
}

}  // namespace tuneband::fuzz
