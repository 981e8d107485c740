// Small text helpers that several layers need.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband {

// Shortest text that reads back as the same double; "nan", "inf", "-inf" for the others.
std::string format_number(double value);

// With six digits at most, for a sentence.
std::string short_number(double value);
// "0.5 s".
std::string in_seconds(std::int64_t ms);

// The whole text as a double ("nan" and "inf" in any case included), or nothing.
std::optional<double> parse_number(std::string_view text);

// The first candidate that goes on from `word` with a `_`, else the closest by edit distance, when close enough to be meant, else
// the only one that begins with `word`.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean `x`?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
// The same where candidates come from a file, whose words may be nobody's business: by edit distance alone, so that hardly more
// is told than was said.
std::string did_you_mistype(std::string_view word, std::span<const std::string> candidates);

// "a, b or c".
std::string one_of(std::span<const std::string> words);

// "a", "a and b", "a, b and c".
std::string join_and(const std::vector<std::string>& words);

// "81 rounds", "1 round".
std::string format_resource(std::int64_t resource, std::string_view resource_name);

// "local-1" of the worker's id "local-1-a63184a1292cb8c6"; an id of another form as it is.
std::string short_worker(std::string_view id);

// "a,b," by ',' is "a", "b" and "".
std::vector<std::string_view> split(std::string_view text, char separator);

// The parts one after the other.
std::string joined(std::initializer_list<std::string_view> parts);

// With `by` wherever `what`, which is not empty, stood.
std::string replaced(std::string text, std::string_view what, std::string_view by);

// At most `size_max` bytes of it, and "..." where there is more. Valid UTF-8 stays so.
std::string shortened(std::string text, std::size_t size_max);

// Without the mark by which other systems say that a file is UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

// Replaces what is not UTF-8 by U+FFFD, so that a log line can go into JSON.
std::string valid_utf8(std::string_view text);

}  // namespace tuneband
